package responses_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/responses"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/tokens"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// What is seen of what passes is what is read of it.
func TestObserverSeesWhatIsRead(t *testing.T) {
	streams, err := filepath.Glob(recorded + "stream.responses.sse")
	require.NoError(t, err)
	for _, path := range streams {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			events, _, _ := decoded(t, string(text))
			reply := folded(events)

			o := responses.New().Observe()
			r := sse.NewReader(strings.NewReader(string(text)), sse.MaxEvent)
			models, last := 0, false
			for e, err := r.Next(); err == nil; e, err = r.Next() {
				require.False(t, last, "the last event comes last")
				sight, err := o.Event(e.Name, e.Data)
				require.NoError(t, err)
				require.Nil(t, sight.Failure)
				for _, m := range sight.Models {
					require.Equal(t, `"gpt-5-2025-08-07"`, string(e.Data[m.Start:m.End]))
					models++
				}
				last = sight.Last
			}
			require.True(t, last)
			require.Equal(t, 3, models, "created, in_progress and the end")
			seen := o.Seen()
			require.Equal(t, reply.Usage, seen.Usage)
			require.True(t, seen.Finished)
			require.True(t, seen.Output)
			require.Equal(t, "gpt-5-2025-08-07", seen.ServedModel)
			said := ""
			for _, p := range reply.Choices[0].Parts {
				said += p.Text
				if p.Call != nil {
					said += p.Call.Arguments
				}
				if p.Thought != nil {
					said += p.Thought.Text
				}
			}
			// Escapes are counted as they stand.
			require.InDelta(t, tokens.Of(said), seen.Tokens, float64(4+strings.Count(said, `"`)))
			missing, whole := o.Terminal()
			require.Nil(t, missing)
			require.True(t, whole)

			body, err := os.ReadFile(filepath.Join(filepath.Dir(path), "reply.responses.json"))
			require.NoError(t, err)
			plain := responses.New().Observe()
			sight, err := plain.Whole(body)
			require.NoError(t, err)
			require.Len(t, sight.Models, 1)
			require.Equal(t, `"gpt-5-2025-08-07"`, string(body[sight.Models[0].Start:sight.Models[0].End]))
			require.Equal(t, seen.Usage, plain.Seen().Usage)
			require.True(t, plain.Seen().Finished)
			require.True(t, plain.Seen().Output)
			require.NotZero(t, plain.Seen().Tokens)
		})
	}
}

func TestSights(t *testing.T) {
	for _, c := range []struct {
		name, data string
		content    bool
		last       bool
		class      upstream.Class
	}{
		{"", `{"type":"response.created","response":{"status":"in_progress"}}`, false, false, ""},
		{"", `{"type":"response.output_item.added","item":{"type":"message","content":[]}}`, false, false, ""},
		{"", `{"type":"response.output_item.added","item":{"type":"reasoning","summary":[]}}`, false, false, ""},
		{"", `{"type":"response.output_item.added","item":{"type":"function_call","arguments":""}}`, true, false, ""},
		{"", `{"type":"response.output_item.added","item":{"type":"web_search_call"}}`, true, false, ""},
		{"", `{"type":"response.output_item.done","item":{"type":"reasoning","summary":[],"encrypted_content":"x"}}`, true, false, ""},
		{"", `{"type":"response.content_part.added","part":{"type":"output_text","text":""}}`, false, false, ""},
		{"", `{"type":"response.content_part.added","part":{"type":"output_text","text":"x"}}`, true, false, ""},
		{"", `{"type":"response.output_text.delta","delta":""}`, false, false, ""},
		{"", `{"type":"response.output_text.delta","delta":"x"}`, true, false, ""},
		{"response.refusal.delta", `{"delta":"x"}`, true, false, ""},
		{"", `{"type":"response.reasoning_summary_text.delta","delta":"x"}`, true, false, ""},
		{"", `{"type":"response.function_call_arguments.delta","delta":"{"}`, true, false, ""},
		{"", `{"type":"keepalive"}`, false, false, ""},
		{"", `[DONE]`, false, false, ""},
		{"", `{"type":"response.completed","response":{"status":"completed"}}`, true, true, ""},
		{"", `{"type":"response.incomplete","response":{"status":"incomplete"}}`, true, true, ""},
		{"", `{"type":"response.failed","response":{"error":{"code":"server_error"}}}`, false, true, upstream.ErrorInStream},
		{"", `{"type":"response.completed","response":{"status":"failed"}}`, false, true, upstream.ErrorInStream},
		{"", `{"type":"error","code":"rate_limit_exceeded","message":"x"}`, false, true, upstream.RateLimited},
		{"error", `exploded`, false, true, upstream.ErrorInStream},
	} {
		sight, err := responses.New().Observe().Event([]byte(c.name), []byte(c.data))
		require.NoError(t, err, c.data)
		require.Equal(t, c.content, sight.Content, c.data)
		require.Equal(t, c.last, sight.Last, c.data)
		require.Equal(t, c.class != "", sight.Failure != nil, c.data)
		if c.class != "" {
			require.Equal(t, c.class, sight.Failure.Class, c.data)
		}
	}
	for _, data := range []string{`{"type":"response.output_text.delta"`, `[]`, `x`, `{} {}`} {
		_, err := responses.New().Observe().Event(nil, []byte(data))
		require.ErrorIs(t, err, dialect.ErrMalformed, data)
	}
}

// A name in what the model says is not the model's.
func TestOnlyTheModelsNameIsReplaced(t *testing.T) {
	o := responses.New().Observe()
	data := `{"type":"response.completed","model":"x","response":{"model":"a","output":[{"type":"message","model":"b","content":[{"type":"output_text","text":"\"model\":\"c\""}]}],"model" : "d","status":"completed"}}`
	sight, err := o.Event(nil, []byte(data))
	require.NoError(t, err)
	var names []string
	for _, m := range sight.Models {
		names = append(names, data[m.Start:m.End])
	}
	require.Equal(t, []string{`"a"`, `"d"`}, names)
	require.True(t, o.Seen().Output, "what came only with the end counts")
	require.NotZero(t, o.Seen().Tokens)

	cut := responses.New().Observe()
	_, err = cut.Event(nil, []byte(`{"type":"response.output_text.delta","delta":"x"}`))
	require.NoError(t, err)
	_, err = cut.Event(nil, []byte(`[DONE]`))
	require.NoError(t, err)
	_, whole := cut.Terminal()
	require.False(t, whole, "nobody can make up the whole response")
}

func TestADeltaCostsTheObserverNothing(t *testing.T) {
	o := responses.New().Observe()
	name, data := []byte("response.output_text.delta"), []byte(textDelta)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if _, err := o.Event(name, data); err != nil {
			t.Fatal(err)
		}
	}))
}
