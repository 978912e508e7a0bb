// Package attempttest owns the conformance suite of the readers that tell the
// events of a stream apart, whatever its framing. It knows no framing.
package attempttest

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
)

// Reader is what all of them are.
type Reader interface {
	Next() (sse.Event, error)
	Ready() bool
	AtEnd() bool
}

// Framing makes readers of one framing, and what they read.
type Framing struct {
	New   func(src io.Reader, limit int) Reader
	Frame func(name, data string) []byte // one event
}

// limit is larger than what is drawn.
const limit = 64 << 10

// RunEvents tests a framing's reader.
func RunEvents(t *testing.T, f Framing) {
	for name, law := range map[string]func(*rapid.T, Framing){
		"any split": anySplit, "ready": ready, "broken": broken, "too large": tooLarge, "garbage": garbage,
	} {
		t.Run(name, func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { law(t, f) }) })
	}
}

// event is one that outlives the reader's memory.
type event struct{ raw, name, data string }

// drawn are events and the stream that they make. Some are larger than what a
// reader reads at once.
func drawn(t *rapid.T, f Framing) (events []event, text []byte) {
	for range rapid.IntRange(1, 5).Draw(t, "events") {
		e := event{
			name: rapid.StringMatching(`[a-zA-Z]{1,9}`).Draw(t, "name"),
			data: rapid.SampledFrom([]string{`{}`, `{"text":"北京🙂é"}`, string(bytes.Repeat([]byte("x"), 5000)), string(bytes.Repeat([]byte("y"), 40_000))}).Draw(t, "data"),
		}
		frame := f.Frame(e.name, e.data)
		e.raw = string(frame)
		events, text = append(events, e), append(text, frame...)
	}
	return events, text
}

// read reads everything, and asks at each step what is known beforehand.
func read(t *rapid.T, r Reader, src *pieces) (out []event, _ error) {
	for {
		before := src.reads
		at := r.Ready()
		require.Equal(t, at, r.Ready(), "asking changes nothing")
		require.Equal(t, before, src.reads, "to ask is not to read")
		ended := r.AtEnd()
		e, err := r.Next()
		require.True(t, !at || src.reads == before, "it was ready, and read")
		require.True(t, !ended || err != nil, "an event after the end")
		if err == nil {
			out = append(out, event{string(e.Raw), string(e.Name), string(e.Data)})
			continue
		}
		after := src.reads
		for range 3 {
			again, errAgain := r.Next()
			require.Equal(t, err, errAgain, "an error is sticky")
			require.Zero(t, again)
			require.False(t, r.Ready())
		}
		require.Equal(t, after, src.reads, "nothing is read after an error")
		require.Equal(t, errors.Is(err, io.EOF), r.AtEnd(), "%v", err)
		return out, err
	}
}

func anySplit(t *rapid.T, f Framing) {
	want, text := drawn(t, f)
	src := split(t, text, io.EOF)
	got, err := read(t, f.New(src, limit), src)
	require.Equal(t, io.EOF, err)
	require.Equal(t, want, got)
}

// ready: of what came in one read all that is whole is ready, and the rest not.
func ready(t *rapid.T, f Framing) {
	small := f.Frame("a", "{}")
	n := rapid.IntRange(1, 9).Draw(t, "events")
	part := small[:rapid.IntRange(0, len(small)-1).Draw(t, "part")]
	src := &pieces{rest: append(bytes.Repeat(small, n), part...), end: io.EOF}
	r := f.New(src, limit)
	require.False(t, r.Ready(), "nothing was read")
	for i := range n {
		require.Equal(t, i > 0, r.Ready())
		_, err := r.Next()
		require.NoError(t, err)
		require.False(t, r.AtEnd(), "the end was not read")
	}
	require.Equal(t, 1, src.reads)
	require.False(t, r.Ready(), "%q", part)
}

// broken: what came before the connection broke is read, then why it did.
func broken(t *rapid.T, f Framing) {
	want, text := drawn(t, f)
	reset := errors.New("reset")
	src := split(t, text, reset)
	got, err := read(t, f.New(src, limit), src)
	require.ErrorIs(t, err, reset)
	require.Equal(t, want, got)
}

func tooLarge(t *rapid.T, f Framing) {
	small, large := f.Frame("a", "{}"), f.Frame("b", string(bytes.Repeat([]byte("x"), rapid.IntRange(100, 9000).Draw(t, "size"))))
	text := append(bytes.Clone(small), large...)
	src := split(t, text, io.EOF)
	got, err := read(t, f.New(src, len(large)), src)
	require.Equal(t, io.EOF, err)
	require.Len(t, got, 2, "one of just the limit is none over it")
	src = split(t, text, io.EOF)
	got, err = read(t, f.New(src, len(large)-1), src)
	require.ErrorIs(t, err, sse.ErrTooLarge)
	require.Len(t, got, 1)
}

// garbage: what is no stream gives the same events and error in any split.
func garbage(t *rapid.T, f Framing) {
	_, text := drawn(t, f)
	at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
	text[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
	text = append(text[:rapid.IntRange(at, len(text)).Draw(t, "cut")], rapid.SliceOf(rapid.Byte()).Draw(t, "more")...)
	whole := &pieces{rest: text, end: io.EOF}
	want, wantErr := read(t, f.New(whole, limit), whole)
	src := split(t, text, io.EOF)
	got, err := read(t, f.New(src, limit), src)
	require.Equal(t, want, got)
	require.Equal(t, wantErr.Error(), err.Error())
}

// pieces gives the bytes in reads of the given sizes, in turn, and the end with
// the last of them or after it.
type pieces struct {
	rest  []byte
	sizes []int
	end   error
	early bool
	reads int
}

func split(t *rapid.T, text []byte, end error) *pieces {
	return &pieces{
		rest: text, end: end, early: rapid.Bool().Draw(t, "early end"),
		sizes: rapid.SliceOfN(rapid.SampledFrom([]int{1, 2, 7, 100, 4096, 1 << 16}), 1, 6).Draw(t, "sizes"),
	}
}

// Read implements io.Reader.
func (p *pieces) Read(b []byte) (int, error) {
	n := min(len(p.rest), len(b))
	if len(p.sizes) > 0 {
		n = min(n, p.sizes[p.reads%len(p.sizes)])
	}
	p.reads++
	n = copy(b, p.rest[:n])
	if p.rest = p.rest[n:]; len(p.rest) == 0 && (p.early || n == 0) {
		return n, p.end
	}
	return n, nil
}
