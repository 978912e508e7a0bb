package messages_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/messages"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// observed passes a stream by an observer and returns what it saw of each
// event, with the names of models cut out.
func observed(t *testing.T, o dialect.Observer, stream string) (sights []dialect.Sight, models []string) {
	t.Helper()
	r := sse.NewReader(strings.NewReader(stream), sse.MaxEvent)
	for {
		e, err := r.Next()
		if err != nil {
			return sights, models
		}
		s, err := o.Event(e.Name, e.Data)
		require.NoError(t, err)
		for _, span := range s.Models {
			models = append(models, string(e.Data[span.Start:span.End]))
		}
		s.Models = nil
		sights = append(sights, s)
	}
}

// The observer and the decoder must agree on every shared case.
func TestObserverAgreesWithTheDecoder(t *testing.T) {
	dirs, err := filepath.Glob(conversations + "/*")
	require.NoError(t, err)
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, "reply.messages.json")); err != nil {
			continue
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			body := read(t, filepath.Join(dir, "reply.messages.json"))
			plain, failure := messages.New().DecodeReply(body)
			require.Nil(t, failure)
			said := plain.Choices[0].Parts

			whole := messages.New().Observe()
			s, err := whole.Whole(body)
			require.NoError(t, err)
			require.True(t, s.Content)
			require.Nil(t, s.Failure)
			require.Len(t, s.Models, 1)
			require.Equal(t, `"claude-sonnet-4-5-20250929"`, string(body[s.Models[0].Start:s.Models[0].End]))

			stream := messages.New().Observe()
			sights, models := observed(t, stream, string(read(t, filepath.Join(dir, "stream.messages.sse"))))
			require.Equal(t, []string{`"claude-sonnet-4-5-20250929"`}, models)
			require.True(t, sights[len(sights)-1].Last)
			for _, o := range []dialect.Observer{whole, stream} {
				seen := o.Seen()
				require.Equal(t, plain.Usage, seen.Usage)
				require.Equal(t, plain.Model, seen.ServedModel)
				require.True(t, seen.Finished)
				refused := len(said) == 1 && said[0].Kind == conversation.Refusal
				require.Equal(t, !refused, seen.Output)
				require.Equal(t, !refused, seen.Tokens > 0)
			}
			end, complete := stream.Terminal()
			require.True(t, complete)
			require.Empty(t, end)
		})
	}
}

func TestObservedContent(t *testing.T) {
	for name, c := range map[string]struct {
		data    string
		content bool
		output  bool
	}{
		"start":             {start, false, false},
		"ping":              {`{"type":"ping"}`, false, false},
		"text opens":        {`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, false, false},
		"text opens whole":  {`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"x"}}`, true, true},
		"thoughts open":     {`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`, false, false},
		"hidden thoughts":   {`{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"Emw"}}`, true, false},
		"a call opens":      {`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"get","input":{}}}`, true, true},
		"a tool of its own": {`{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"a","name":"web_search","input":{}}}`, true, true},
		"text":              {hello, true, true},
		"thoughts":          {`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"x"}}`, true, false},
		"signature":         {`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"x"}}`, false, false},
		"arguments":         {`{"index":0,"delta":{"partial_json":"{","type":"input_json_delta"},"type":"content_block_delta"}`, true, true},
		"no arguments":      {`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":""}}`, false, false},
		"stop":              {`{"type":"content_block_stop","index":0}`, false, false},
		"usage alone":       {`{"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":1}}`, false, false},
		"finish":            {ended, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := messages.New().Observe()
			s, err := o.Event(nil, []byte(c.data))
			require.NoError(t, err)
			require.Equal(t, c.content, s.Content)
			require.Equal(t, c.output, o.Seen().Output)
			require.False(t, s.Last)
			require.False(t, s.Drop)
			require.Nil(t, s.Failure)
		})
	}
}

// What an upstream left out is added after a finish reason, and only then.
func TestTerminal(t *testing.T) {
	o := messages.New().Observe()
	observed(t, o, event("message_start", start)+event("content_block_delta", hello))
	end, complete := o.Terminal()
	require.False(t, complete)
	require.Empty(t, end)
	require.False(t, o.Seen().Finished)

	observed(t, o, event("message_delta", ended))
	end, complete = o.Terminal()
	require.True(t, complete)
	require.Equal(t, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", string(end))
	require.EqualValues(t, 550, o.Seen().Usage.Output)
	require.EqualValues(t, 12_304, o.Seen().Usage.CacheWrite5m)

	sights, _ := observed(t, o, event("message_stop", `{"type":"message_stop"}`))
	require.True(t, sights[0].Last)
	end, complete = o.Terminal()
	require.True(t, complete)
	require.Empty(t, end)
}

func TestObservedFailures(t *testing.T) {
	for data, class := range map[string]upstream.Class{
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`: upstream.Overloaded,
		`{"error":{"type":"rate_limit_error","message":"slow down"}}`:                 upstream.RateLimited,
	} {
		s, err := messages.New().Observe().Event(nil, []byte(data))
		require.NoError(t, err)
		require.NotNil(t, s.Failure)
		require.Equal(t, class, s.Failure.Class)
		s, err = messages.New().Observe().Whole([]byte(data))
		require.NoError(t, err)
		require.NotNil(t, s.Failure)
	}
	s, err := messages.New().Observe().Event([]byte("error"), []byte("it broke"))
	require.NoError(t, err)
	require.NotNil(t, s.Failure)
	for _, data := range []string{"[DONE]", "{", "[]", `{"type":"ping"} x`} {
		_, err := messages.New().Observe().Event(nil, []byte(data))
		require.ErrorIs(t, err, dialect.ErrMalformed, data)
		_, err = messages.New().Observe().Whole([]byte(data))
		require.ErrorIs(t, err, dialect.ErrMalformed, data)
	}
	_, err = messages.New().Observe().Whole([]byte(`{"id":"x"}`))
	require.ErrorIs(t, err, dialect.ErrMalformed)
}

// Every place of the model's name is renamed, and its escapes are understood.
func TestObservedModels(t *testing.T) {
	o := messages.New().Observe()
	_, models := observed(t, o, event("message_start", `{"type":"message_start","message":{"model":"a","mod\u0065l":"b\u00e9","content":[{"model":"c"}]},"model":"d"}`))
	require.Equal(t, []string{`"a"`, `"b\u00e9"`}, models)
	require.Equal(t, "bé", o.Seen().ServedModel)
}

func TestObserverAllocatesNothing(t *testing.T) {
	o := messages.New().Observe()
	events := [][]byte{[]byte(start), []byte(hello), []byte(ended), []byte(`{"type":"ping"}`), []byte(`{"type":"message_stop"}`)}
	_, _ = o.Event(nil, []byte(start)) // keeps the model's name
	require.Zero(t, testing.AllocsPerRun(100, func() {
		for _, e := range events {
			if _, err := o.Event(nil, e); err != nil {
				panic(err)
			}
		}
	}))
}

func BenchmarkObserve(b *testing.B) {
	o := messages.New().Observe()
	name, data := []byte("content_block_delta"), []byte(hello)
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := o.Event(name, data); err != nil {
			b.Fatal(err)
		}
	}
}
