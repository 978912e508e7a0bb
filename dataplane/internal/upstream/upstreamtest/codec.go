// Package upstreamtest owns the conformance suite of upstream.Codec: what
// attempt relies on, whatever the formats are. It knows no format.
package upstreamtest

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// Answers are what a codec reads: all of them sound and complete.
type Answers struct {
	New    func() upstream.Codec // a fresh one for each answer
	Whole  []byte                // nil when a plain answer is a failure
	Stream []sse.Event           // nil when a streamed answer is a failure
	Marked bool                  // Stream ends with the format's terminal marker
}

// RunCodec tests a codec.
func RunCodec(t *testing.T, a Answers) {
	t.Run("whole", a.whole)
	t.Run("stream", a.stream)
	t.Run("cut", a.cut)
	t.Run("garbage", func(t *testing.T) { rapid.Check(t, a.garbage) })
}

func (a Answers) whole(t *testing.T) {
	codec := a.New()
	w := watch(t, codec)
	body, failure := codec.Whole(bytes.Clone(a.Whole))
	w.look()
	require.NotEqual(t, body == nil, failure == nil, "a reply or a failure")
	if a.Whole == nil {
		classed(t, failure)
		return
	}
	require.Nil(t, failure)
	require.NotEmpty(t, body)
	require.True(t, codec.Seen().Finished)
}

func (a Answers) stream(t *testing.T) {
	if a.Stream == nil {
		piece, failure := a.New().Event(sse.Event{Raw: []byte("data: {}\n\n"), Data: []byte("{}")})
		classed(t, failure)
		require.Zero(t, piece)
		_, failure = a.New().End()
		classed(t, failure)
		return
	}
	codec := a.New()
	w := watch(t, codec)
	var out []byte
	last, content := false, false
	for i := range a.Stream {
		e := copied(&a.Stream[i])
		piece, failure := codec.Event(e)
		require.Nil(t, failure)
		before := bytes.Clone(piece.Bytes)
		w.look()
		require.Equal(t, before, bytes.Clone(piece.Bytes), "the bytes hold until the next call of Event")
		scribble(e) // the reader's memory serves for the next event
		if out = append(out, before...); piece.Content {
			content = true
		}
		if last = piece.Last; last {
			break
		}
	}
	if !last {
		missing, failure := codec.End()
		require.Nil(t, failure)
		out = append(out, missing...)
		w.look()
	}
	require.True(t, codec.Seen().Finished, "a whole stream is finished with its last event")
	require.True(t, content || len(out) == 0, "what a caller gets has content")
	require.Equal(t, string(a.kept()), string(out), "nothing was held of an event that went")
	require.Equal(t, a.Marked, last)
	if last {
		require.Equal(t, len(a.Stream)-1, slices.IndexFunc(a.Stream, lastOf(a.New())), "no event is called the last that is not")
	}
}

// kept is the output when the memory of all events stays as it was.
func (a Answers) kept() (out []byte) {
	codec := a.New()
	for i := range a.Stream {
		piece, _ := codec.Event(a.Stream[i])
		if out = append(out, piece.Bytes...); piece.Last {
			return out
		}
	}
	missing, _ := codec.End()
	return append(out, missing...)
}

func lastOf(codec upstream.Codec) func(sse.Event) bool {
	return func(e sse.Event) bool {
		piece, _ := codec.Event(e)
		return piece.Last
	}
}

// cut ends a stream before each of its events.
func (a Answers) cut(t *testing.T) {
	for n := range a.Stream {
		codec := a.New()
		w := watch(t, codec)
		last := false
		for i := range a.Stream[:n] {
			piece, failure := codec.Event(copied(&a.Stream[i]))
			require.Nil(t, failure)
			last = last || piece.Last
			w.look()
		}
		if last {
			return
		}
		missing, failure := codec.End()
		w.look()
		if failure != nil || !codec.Seen().Finished {
			classed(t, failure)
			require.Empty(t, missing, "a cut stream is not ended")
		}
	}
}

// garbage shows a codec what may be no answer of its format.
func (a Answers) garbage(t *rapid.T) {
	codec := a.New()
	w := watch(t, codec)
	body, failure := codec.Whole(spoiled(t, a.Whole))
	if w.look(); failure != nil {
		classed(t, failure)
		require.Nil(t, body)
	}
	var text []byte
	for _, e := range a.Stream {
		text = append(append(append(text, "event: "...), e.Name...), "\ndata: "...)
		text = append(append(text, spoiled(t, e.Data)...), "\n\n"...)
	}
	codec = a.New()
	w = watch(t, codec)
	r := sse.NewReader(bytes.NewReader(append(text, spoiled(t, nil)...)), sse.MaxEvent)
	for e, err := r.Next(); err == nil; e, err = r.Next() {
		piece, failure := codec.Event(e)
		if w.look(); failure != nil {
			classed(t, failure)
			require.Zero(t, piece)
			return
		}
		if piece.Last {
			return
		}
	}
	if _, failure := codec.End(); failure != nil {
		classed(t, failure)
	}
	w.look()
}

func spoiled(t *rapid.T, data []byte) []byte {
	noise := rapid.SliceOfN(rapid.SampledFrom([]byte(`{}[]",:0xn\ `+"\n\xff")), 0, 4).Draw(t, "noise")
	from := rapid.IntRange(0, len(data)).Draw(t, "from")
	to := rapid.IntRange(from, min(len(data), from+8)).Draw(t, "to")
	return slices.Concat(data[:from], noise, data[to:])
}

func classed(t require.TestingT, failure *upstream.Failure) {
	require.NotNil(t, failure)
	require.Contains(t, upstream.Classes(), failure.Class)
	require.NotNil(t, failure.Fault)
}

func copied(e *sse.Event) sse.Event {
	c := *e
	c.Raw, c.Data, c.Name = bytes.Clone(e.Raw), bytes.Clone(e.Data), bytes.Clone(e.Name)
	return c
}

func scribble(e sse.Event) {
	for _, b := range [][]byte{e.Raw, e.Data, e.Name} {
		for i := range b {
			b[i] = '#'
		}
	}
}
