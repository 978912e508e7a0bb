package messages_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/messages"
)

// seed adds the shared cases' files of the name.
func seed(f *testing.F, name string) {
	files, err := filepath.Glob(filepath.Join(conversations, "*", name))
	require.NoError(f, err)
	require.NotEmpty(f, files)
	for _, file := range files {
		body, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(body)
	}
}

// Whatever is read as a request is written as sound JSON, and reads the same
// again, or says what it cannot carry.
func FuzzRequest(f *testing.F) {
	seed(f, "request.messages.json")
	for _, particular := range []string{"blocks", "server_tools", "tools", "marks", "system", "proofs"} {
		body, err := os.ReadFile(filepath.Join("testdata", "request", particular, "in.json"))
		require.NoError(f, err)
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if !json.Valid(body) {
			_, _ = messages.New().DecodeRequest(body)
			return
		}
		r, violations := messages.New().DecodeRequest(body)
		require.Equal(t, r == nil, len(violations) > 0)
		if r == nil {
			return
		}
		for _, model := range []string{"", "claude-opus-4-6", "claude-opus-5"} {
			encoded, err := messages.New().EncodeRequest(r, dialect.Target{Model: model, MaxOutput: 32_000})
			if err != nil {
				_, ok := errors.AsType[*dialect.Unable](err)
				require.True(t, ok)
				continue
			}
			require.True(t, json.Valid(encoded.Body), "%s", encoded.Body)
			require.True(t, slices.IsSorted(encoded.Degraded))
		}
	})
}

func FuzzReply(f *testing.F) {
	seed(f, "reply.messages.json")
	f.Add([]byte(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, failure := messages.New().DecodeReply(body)
		require.Equal(t, r == nil, failure != nil)
		s, _ := messages.New().Observe().Whole(body)
		for _, span := range s.Models {
			require.True(t, json.Valid(body[span.Start:span.End]))
		}
		if r == nil {
			return
		}
		require.True(t, json.Valid(messages.New().EncodeReply(r, told)))
	})
}

// A stream is read and written without panics, its blocks come out in order,
// and the observer and the decoder agree on whether it is complete.
func FuzzStream(f *testing.F) {
	seed(f, "stream.messages.sse")
	f.Fuzz(func(t *testing.T, stream []byte) {
		decoder, encoder, observer := messages.New().DecodeStream(), messages.New().EncodeStream(told), messages.New().Observe()
		var out []byte
		r := sse.NewReader(bytes.NewReader(stream), 1<<16)
		for {
			e, err := r.Next()
			if err != nil {
				break
			}
			if len(e.Data) > 0 {
				s, err := observer.Event(e.Name, e.Data)
				require.Condition(t, func() bool { return err == nil || errors.Is(err, dialect.ErrMalformed) })
				for _, span := range s.Models {
					require.True(t, json.Valid(e.Data[span.Start:span.End]))
				}
			}
			events, failure, _ := decoder.Decode(e, nil)
			if failure != nil {
				return
			}
			for i := range events {
				out = encoder.Encode(out, &events[i])
			}
		}
		var rest []conversation.Event
		rest, _ = decoder.End(rest)
		for i := range rest {
			out = encoder.Encode(out, &rest[i])
		}
		checkOrder(t, encoder.End(out))
	})
}

// checkOrder demands blocks one after the other, numbered from 0.
func checkOrder(t *testing.T, stream []byte) {
	next, open := 0, false
	r := sse.NewReader(bytes.NewReader(stream), sse.MaxEvent)
	for {
		e, err := r.Next()
		if err != nil {
			return
		}
		var v struct {
			Type  string
			Index int
		}
		require.NoError(t, json.Unmarshal(e.Data, &v))
		switch v.Type {
		case "content_block_start":
			require.False(t, open)
			require.Equal(t, next, v.Index)
			open = true
		case "content_block_delta":
			require.True(t, open)
			require.Equal(t, next, v.Index)
		case "content_block_stop":
			require.True(t, open)
			require.Equal(t, next, v.Index)
			next, open = next+1, false
		}
	}
}
