package chat_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/chat"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/tokens"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

func TestObservedEvents(t *testing.T) {
	usage := `"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}`
	for name, c := range map[string]struct {
		name, data string
		want       dialect.Sight
		models     []string
	}{
		"role":                {data: `{"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`, models: []string{`"m"`}},
		"content":             {data: `{"model":"m","choices":[{"index":0,"delta":{"content":"x"}}]}`, models: []string{`"m"`}, want: dialect.Sight{Content: true}},
		"legacy text":         {data: `{"model":"m","choices":[{"index":0,"text":"x"}]}`, models: []string{`"m"`}, want: dialect.Sight{Content: true}},
		"reasoning":           {data: `{"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.text","text":"x"}]}}]}`, want: dialect.Sight{Content: true}},
		"call":                {data: `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0}]}}]}`, want: dialect.Sight{Content: true}},
		"image":               {data: `{"choices":[{"index":0,"delta":{"images":[{"type":"image_url"}]}}]}`, want: dialect.Sight{Content: true}},
		"finish":              {data: `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, want: dialect.Sight{Content: true}},
		"escaped, two models": {data: `{"mod\u0065l":"a","choices":[],"model": "b" }`, models: []string{`"a"`, `"b"`}},
		"usage chunk":         {data: `{"choices":[],` + usage + `}`, want: dialect.Sight{Drop: true}},
		"usage, null choices": {data: `{"choices":null,` + usage + `}`, want: dialect.Sight{Drop: true}},
		"usage with content":  {data: `{"choices":[{"index":0,"delta":{"content":"x"}}],` + usage + `}`, want: dialect.Sight{Content: true}},
		"null usage":          {data: `{"choices":[],"usage":null}`, want: dialect.Sight{Cut: dialect.Span{Start: 13, End: 26}}},
		"done":                {data: ` [DONE] `, want: dialect.Sight{Last: true}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := chat.New().Observe().Event([]byte(c.name), []byte(c.data))
			require.NoError(t, err)
			var models []string
			for _, m := range got.Models {
				models = append(models, c.data[m.Start:m.End])
			}
			require.Equal(t, c.models, models)
			got.Models = nil
			require.Equal(t, c.want, got)
		})
	}
	_, err := chat.New().Observe().Event(nil, []byte(`{"choices":[`))
	require.ErrorIs(t, err, dialect.ErrMalformed)
}

func TestObservedUsageChunkIsKeptWhenAskedFor(t *testing.T) {
	sight, err := chat.NewObserver(true).Event(nil, []byte(`{"choices":[],"usage":{"prompt_tokens":3}}`))
	require.NoError(t, err)
	require.False(t, sight.Drop)
}

func TestObservedFailures(t *testing.T) {
	for name, c := range map[string]struct{ name, data string }{
		"event":   {"error", "upstream exploded"},
		"object":  {"", `{"error":{"message":"x"}}`},
		"loose":   {"", `{"message":"x"}`},
		"type":    {"", `{"type":"error","x":1}`},
		"finish":  {"", `{"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}`},
		"message": {"", `{"detail":"x","choices":null,"error":"why"}`},
	} {
		t.Run(name, func(t *testing.T) {
			sight, err := chat.New().Observe().Event([]byte(c.name), []byte(c.data))
			require.NoError(t, err)
			require.NotNil(t, sight.Failure)
			require.Equal(t, upstream.ErrorInStream, sight.Failure.Class)
		})
	}
	o := chat.New().Observe()
	_, err := o.Whole([]byte(`{"id":"x"}`))
	require.Error(t, err, "no choices")
	_, err = o.Whole([]byte(`[]`))
	require.ErrorIs(t, err, dialect.ErrMalformed)
	sight, err := o.Whole([]byte(`{"error":{"message":"x"}}`))
	require.NoError(t, err)
	require.Equal(t, upstream.ErrorInReply, sight.Failure.Class)
	sight, err = o.Whole([]byte(`{"error":null,"model":"m","choices":[]}`))
	require.NoError(t, err)
	require.Nil(t, sight.Failure)
}

func TestObservedEnd(t *testing.T) {
	for name, c := range map[string]struct {
		events   []string
		terminal string
		complete bool
	}{
		"nothing":    {nil, "", false},
		"done":       {[]string{`[DONE]`}, "", true},
		"finished":   {[]string{`{"choices":[{"index":0,"finish_reason":"stop"}]}`}, "data: [DONE]\n\n", true},
		"one of two": {[]string{`{"choices":[{"index":0,"finish_reason":"stop"},{"index":1}]}`}, "", false},
		"both": {
			[]string{`{"choices":[{"index":0,"finish_reason":"stop"},{"index":1}]}`, `{"choices":[{"index":1,"finish_reason":"length"}]}`},
			"data: [DONE]\n\n", true,
		},
		"empty finish": {[]string{`{"choices":[{"index":0,"finish_reason":""}]}`}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			o := chat.New().Observe()
			for _, e := range c.events {
				_, err := o.Event(nil, []byte(e))
				require.NoError(t, err)
			}
			terminal, complete := o.Terminal()
			require.Equal(t, c.terminal, string(terminal))
			require.Equal(t, c.complete, complete)
			require.Equal(t, c.complete && name != "done", o.Seen().Finished)
		})
	}
}

func TestObservedSeen(t *testing.T) {
	o := chat.New().Observe()
	require.False(t, o.Seen().Usage.Known)
	for _, e := range []string{
		`{"model":"` + strings.Repeat("é", 200) + `","choices":[{"index":0,"delta":{"reasoning":"abc"}}]}`,
		`{"model":"other","choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0}}`,
	} {
		_, err := o.Event(nil, []byte(e))
		require.NoError(t, err)
	}
	seen := o.Seen()
	require.Equal(t, strings.Repeat("é", 128), seen.ServedModel, "of the first, and bounded")
	require.False(t, seen.Usage.Known, "zeros say nothing")
	require.False(t, seen.Output, "thoughts are none")
	require.Equal(t, tokens.Of("abc"), seen.Tokens, "but they are output")

	_, err := o.Event(nil, []byte(`{"choices":[{"index":0,"delta":{"content":"hello"}}],"usage":{"prompt_tokens":30,"completion_tokens":5,"total_tokens":35,"prompt_tokens_details":{"cached_tokens":10,"image_tokens":4}}}`))
	require.NoError(t, err)
	seen = o.Seen()
	require.True(t, seen.Output)
	require.Equal(t, meter.Usage{Input: 16, CachedRead: 10, Image: 4, Output: 5}, seen.Usage.Usage)
}

func TestObservingCostsNoAllocation(t *testing.T) {
	o := chat.New().Observe()
	for _, event := range []string{contentEvent, usageEvent} {
		data := []byte(event)
		_, err := o.Event(nil, data)
		require.NoError(t, err)
		require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = o.Event(nil, data) }), event)
	}
}

// Chunks that begin as those before them are not read again up to there; what
// is seen of each must be what an observer sees that knows no other.
func TestObservedChunksAreReadAlikeWhateverCameBefore(t *testing.T) {
	chunks := []string{
		`{"id":"a","created":17,"model":"m","choices":[{"index":0,"delta":{"content":"x"}}]}`,
		`{"id":"a","created":17,"model":"m","choices":[{"index":0,"delta":{"content":"y"}}]}`,
		`{"id":"a","created":17,"model":"m","choices":[],"usage":{"prompt_tokens":3}}`,
		`{"id":"a","created":17,"model":"m","choices":[],"error":{"message":"x"}}`,
		`{"id":"a","created":17,"model":"m","choices":[],"model":"n"}`,
		`{"id":"a","created":17,"model":"m","choices":null,"message":"x"}`,
		`{"id":"a","created":17,"model":"m","choices":[`,
		`{"id":"a","created":17,"model":"m","choices":`,
		`{"id":"a","created":17,"model":"m","choices":[]}x`,
		`{"id":"a","created":170,"model":"m","choices":[]}`,
		`{"id":"a","created":17,"model":"mm","choices":[]}`,
		`{"choices":[{"index":0,"delta":{"content":"x"}}],"model":"m"}`,
		`{"choices":[{"index":1,"finish_reason":"stop"}],"model":"mmm"}`,
		`{"model":"a","model":"b","choices":[{"index":0,"text":"x"}]}`,
		`{"model":"a","model":"b","choices":[]}`,
		`{"error":{"message":"x"},"choices":[]}`,
		`{"error":null,"choices":[]}`,
		`{"usage":{"prompt_tokens":3},"choices":[]}`,
		`{"object":"x","choices":[{"index":0,"delta":{"refusal":"x"}}]}`,
		`{}`, `[]`, ` {"choices":[]}`, `[DONE]`,
	}
	rapid.Check(t, func(t *rapid.T) {
		o := chat.New().Observe()
		for _, chunk := range rapid.SliceOfN(rapid.SampledFrom(chunks), 1, 12).Draw(t, "chunks") {
			want, wantErr := chat.New().Observe().Event(nil, []byte(chunk))
			got, err := o.Event(nil, []byte(chunk))
			require.Equal(t, wantErr, err, chunk)
			require.Len(t, got.Models, len(want.Models), chunk)
			for i := range want.Models {
				require.Equal(t, want.Models[i], got.Models[i], chunk)
			}
			want.Models, got.Models = nil, nil
			require.Equal(t, want, got, chunk)
		}
	})
}
