package dialecttest

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// StreamReader makes decoders of upstream streams.
type StreamReader interface {
	DecodeStream() dialect.StreamDecoder
}

// StreamCodec is the half of a codec that RunStreams tests.
type StreamCodec interface {
	StreamReader
	EncodeStream(as dialect.Told) dialect.StreamEncoder
}

// RunStreams tests that the events of a reply, written and read again, make
// that reply; that a stream which is cut anywhere is never taken for a whole
// one; and that no bytes make the decoder panic.
func RunStreams(t *testing.T, codec StreamCodec, s Supports) {
	t.Run("identity", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			r := streamed(t, &s)
			text := written(codec, Events(t, r))
			back, failure := Fold(codec, inChunks(t, text))
			require.Nil(t, failure, "%s", text)
			require.Equal(t, Told.Model, back.Model, "%s", text)
			require.Equal(t, NormalReply(r, &s), NormalReply(back, &s), "%s", text)
			garbled(t, codec, text)
		})
	})
	t.Run("cut", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			r := streamed(t, &s)
			events := Events(t, r)
			var text []byte
			encoder := codec.EncodeStream(Told)
			for _, e := range events {
				if e.Kind == conversation.Stopped {
					break
				}
				text = encoder.Encode(text, &e)
			}
			_, failure := Fold(codec, inChunks(t, text[:rapid.IntRange(0, len(text)).Draw(t, "cut")]))
			require.NotNil(t, failure, "%s", text)
			require.Equal(t, upstream.StreamCut, failure.Class)
		})
	})
	t.Run("garbage", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			var text []byte
			r := sse.NewReader(inChunks(t, written(codec, Events(t, streamed(t, &s)))), sse.MaxEvent)
			for e, err := r.Next(); err == nil; e, err = r.Next() {
				text = append(append(text, "event: "...), e.Name...)
				text = append(append(append(text, "\ndata: "...), spoiled(t, e.Data)...), "\n\n"...)
			}
			garbled(t, codec, text)
			garbled(t, codec, rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		})
	})
}

// garbled decodes what may be no stream, up to a failure, and writes what was
// understood: the events are in order, and what is written are whole
// server-sent events, whatever came.
func garbled(t *rapid.T, codec StreamCodec, text []byte) {
	decoder, encoder := codec.DecodeStream(), codec.EncodeStream(Told)
	var events, all []conversation.Event
	var failure *upstream.Failure
	write := func() {
		for i := range events {
			out := encoder.Encode(nil, &events[i])
			require.True(t, len(out) == 0 || bytes.HasSuffix(out, []byte("\n\n")), "%q", out)
		}
		all = append(all, events...)
	}
	r := sse.NewReader(inChunks(t, text), sse.MaxEvent)
	for e, err := r.Next(); err == nil && failure == nil; e, err = r.Next() {
		events, failure, _ = decoder.Decode(e, events[:0])
		write()
	}
	if failure == nil {
		events, failure = decoder.End(events[:0])
		write()
	}
	require.NoError(t, Sound(all, failure == nil), "%s", text)
	_ = encoder.End(nil)
}

func streamed(t *rapid.T, s *Supports) *conversation.Reply {
	r := Reply(t, s)
	r.ServiceTier, r.Fingerprint = "", "" // no event has them
	if s.Reply.NoStreamCitations {
		for i := range r.Choices {
			for j := range r.Choices[i].Parts {
				r.Choices[i].Parts[j].Citations = nil
			}
		}
	}
	return r
}

func written(codec StreamCodec, events []conversation.Event) []byte {
	encoder := codec.EncodeStream(Told)
	var text []byte
	for i := range events {
		text = encoder.Encode(text, &events[i])
	}
	return encoder.End(text)
}

// Fold reads a whole upstream stream into the reply that it makes. The failure
// is the stream's own, or that it was cut.
func Fold(codec StreamReader, stream io.Reader) (*conversation.Reply, *upstream.Failure) {
	decoder := codec.DecodeStream()
	var folder conversation.Folder
	var events []conversation.Event
	add := func() {
		for i := range events {
			folder.Add(events[i])
		}
	}
	r := sse.NewReader(stream, sse.MaxEvent)
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		var failure *upstream.Failure
		events, failure, _ = decoder.Decode(e, events[:0])
		add()
		if failure != nil {
			return folder.Reply(), failure
		}
	}
	events, failure := decoder.End(events[:0])
	add()
	return folder.Reply(), failure
}

// chunks reads a text in pieces of any length, as a network does.
type chunks struct {
	sizes []int // in turn
	next  int
	rest  []byte
}

func inChunks(t *rapid.T, text []byte) *chunks {
	return &chunks{sizes: rapid.SliceOfN(rapid.SampledFrom([]int{1, 2, 3, 7, 50, 400, 4000}), 1, 5).Draw(t, "reads"), rest: text}
}

// Read implements io.Reader.
func (c *chunks) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := min(c.sizes[c.next%len(c.sizes)], len(c.rest), len(p))
	c.next++
	copy(p, c.rest[:n])
	c.rest = c.rest[n:]
	return n, nil
}
