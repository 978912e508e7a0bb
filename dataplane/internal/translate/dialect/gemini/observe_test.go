package gemini_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/dialecttest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/gemini"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

func TestSights(t *testing.T) {
	for _, c := range []struct {
		data     string
		content  bool
		output   bool
		complete bool
	}{
		{`{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}`, true, true, false},
		{`{"candidates":[{"content":{"parts":[{"text":""}]}}]}`, false, false, false},
		{`{"candidates":[{"content":{"role":"model"}}]}`, false, false, false},
		{`{"candidates":[{"content":{"parts":[{"text":"a","thought":true}]}}]}`, true, false, false},
		{`{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"c2ln"}]}}]}`, true, false, false},
		{`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]}}]}`, true, true, false},
		{`{"candidates":[{"content":{"parts":[{"inlineData":{}}]}}]}`, true, true, false},
		{`{"candidates":[{"finishReason":"STOP"}]}`, true, false, true},
		{`{"candidates":[{"finishReason":"STOP"},{"index":1}]}`, true, false, false},
		{`{"candidates":[{"finishReason":"FINISH_REASON_UNSPECIFIED"}]}`, false, false, false},
		{`{"candidates":[{"finishReason":null}]}`, false, false, false},
		{`{"candidates":[null,5]}`, false, false, false},
		{`{"promptFeedback":{"blockReason":"SAFETY"}}`, true, false, true},
		{`{"promptFeedback":{"safetyRatings":[]}}`, false, false, false},
		{`{"usageMetadata":{"promptTokenCount":1}}`, false, false, false},
	} {
		o := gemini.New().Observe()
		sight, err := o.Event(nil, []byte(c.data))
		require.NoError(t, err)
		require.Nil(t, sight.Failure)
		require.False(t, sight.Drop || sight.Last)
		require.Equal(t, c.content, sight.Content, c.data)
		require.Equal(t, c.output, o.Seen().Output, c.data)
		missing, complete := o.Terminal()
		require.Empty(t, missing)
		require.Equal(t, c.complete, complete, c.data)
		require.Equal(t, c.complete, o.Seen().Finished, c.data)
	}
	for _, malformed := range []string{`[`, `5`, `{"candidates":[`, `[DONE]`, `{} {}`} {
		_, err := gemini.New().Observe().Event(nil, []byte(malformed))
		require.ErrorIs(t, err, dialect.ErrMalformed)
	}
	sight, err := gemini.New().Observe().Event([]byte("error"), []byte("x"))
	require.NoError(t, err)
	require.Equal(t, upstream.ErrorInStream, sight.Failure.Class)
}

// The model's name stands where the spans say, however often, and only there.
func TestSpans(t *testing.T) {
	o := gemini.New().Observe()
	data := []byte(` {"modelVersion":"gemini-3","candidates":[{"content":{"parts":[{"text":"\"modelVersion\":\"x\""}]}}],"modelVersion" : "g" ,"modelVersion":5}`)
	sight, err := o.Event(nil, data)
	require.NoError(t, err)
	var spans []string
	for _, s := range sight.Models {
		spans = append(spans, string(data[s.Start:s.End]))
	}
	require.Equal(t, []string{`"gemini-3"`, `"g"`}, spans)
}

// Watching a stream tells what translating it would have told.
func TestObserverAgreesWithDecoder(t *testing.T) {
	streams, err := filepath.Glob("../../testdata/conversations/*/stream.gemini.sse")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(streams), 12)
	for _, name := range streams {
		stream, err := os.ReadFile(name)
		require.NoError(t, err)
		folded, failure := dialecttest.Fold(gemini.New(), bytes.NewReader(stream))
		require.Nil(t, failure)
		o := gemini.New().Observe()
		observe(t, o, stream)
		_, complete := o.Terminal()
		require.True(t, complete, name)
		require.Equal(t, folded.Usage, o.Seen().Usage, name)
		require.Equal(t, folded.Model, o.Seen().ServedModel, name)
		require.Equal(t, len(folded.Choices[0].Parts) > 0, o.Seen().Output, name)

		plain, err := os.ReadFile(filepath.Join(filepath.Dir(name), "reply.gemini.json"))
		require.NoError(t, err)
		whole := gemini.New().Observe()
		sight, err := whole.Whole(plain)
		require.NoError(t, err)
		require.Len(t, sight.Models, 1)
		require.Equal(t, o.Seen().Usage, whole.Seen().Usage)
		require.True(t, whole.Seen().Finished)
	}
}

func observe(t require.TestingT, o dialect.Observer, stream []byte) {
	r := sse.NewReader(bytes.NewReader(stream), sse.MaxEvent)
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		_, _ = o.Event(e.Name, e.Data)
	}
}

// What passes as it is costs no memory, event by event.
func TestObserverAllocatesNothing(t *testing.T) {
	o := gemini.New().Observe()
	allocations := testing.AllocsPerRun(100, func() { _, _ = o.Event(nil, delta) })
	require.Zero(t, allocations)
}
