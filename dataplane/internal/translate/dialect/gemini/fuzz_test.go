package gemini_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/gemini"
)

// seeds adds the files of the golden folders.
func seeds(f *testing.F, patterns ...string) {
	for _, pattern := range patterns {
		names, err := filepath.Glob(pattern)
		require.NoError(f, err)
		require.NotEmpty(f, names)
		for _, name := range names {
			seed, err := os.ReadFile(name)
			require.NoError(f, err)
			f.Add(seed)
		}
	}
}

// A body that is taken can be written, and means the same then.
func FuzzRequest(f *testing.F) {
	seeds(f, "testdata/request/*/in.json", "../../testdata/conversations/*/request.gemini.json")
	f.Fuzz(func(t *testing.T, body []byte) {
		r, violations := gemini.New().DecodeRequest(body)
		if len(violations) > 0 || !json.Valid(body) {
			return
		}
		encoded, err := gemini.New().EncodeRequest(r, dialect.Target{})
		if err != nil {
			_, unable := errors.AsType[*dialect.Unable](err)
			require.True(t, unable, err)
			return
		}
		require.True(t, json.Valid(encoded.Body), "%s", encoded.Body)
		again, violations := gemini.New().DecodeRequest(encoded.Body)
		if len(r.Messages) == 0 { // of nothing but a model's silence
			return
		}
		require.Empty(t, violations, "%s", encoded.Body)
		once, err := gemini.New().EncodeRequest(again, dialect.Target{})
		require.NoError(t, err)
		require.Equal(t, string(encoded.Body), string(once.Body), "written once more it is the same")
	})
}

func FuzzReply(f *testing.F) {
	seeds(f, "testdata/reply/*/in.json", "../../testdata/conversations/*/reply.gemini.json")
	f.Fuzz(func(t *testing.T, body []byte) {
		r, failure := gemini.New().DecodeReply(body)
		_, err := gemini.New().Observe().Whole(body)
		if failure != nil {
			return
		}
		require.NoError(t, err, "what can be read can be passed on")
		out := gemini.New().EncodeReply(r, told)
		if json.Valid(body) {
			require.True(t, json.Valid(out), "%s", out)
		}
	})
}

// Whatever comes, what goes out is events with one line of JSON each, and
// only a stream with finish reasons is complete.
func FuzzStream(f *testing.F) {
	seeds(f, "testdata/stream/*/in.sse", "../../testdata/conversations/*/stream.gemini.sse")
	f.Fuzz(func(t *testing.T, stream []byte) {
		decoder, encoder, observer := gemini.New().DecodeStream(), gemini.New().EncodeStream(told), gemini.New().Observe()
		var events []conversation.Event
		var out []byte
		r := sse.NewReader(bytes.NewReader(stream), sse.MaxEvent)
		for {
			e, err := r.Next()
			if errors.Is(err, io.EOF) || err != nil {
				break
			}
			var malformed error
			events, _, malformed = decoder.Decode(e, events[:0])
			for i := range events {
				out = encoder.Encode(out, &events[i])
			}
			if data := bytes.TrimSpace(e.Data); len(data) > 0 && string(data) != "[DONE]" {
				_, err := observer.Event(e.Name, e.Data)
				require.Equal(t, malformed, err)
			}
		}
		events, failure := decoder.End(events[:0])
		for i := range events {
			out = encoder.Encode(out, &events[i])
		}
		out = encoder.End(out)
		if json.Valid(bytes.ReplaceAll(stream, []byte("data:"), nil)) {
			eventsOf(t, string(out))
		}
		if failure == nil {
			require.Contains(t, string(out), `"finishReason":"`)
		}
	})
}
