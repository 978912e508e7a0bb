package eventstream_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	aws "github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/eventstream"
	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
)

// frame encodes one frame; headers are names and values in turn.
func frame(t require.TestingT, payload string, headers ...string) []byte {
	m := aws.Message{Payload: []byte(payload)}
	for i := 0; i < len(headers); i += 2 {
		m.Headers.Set(headers[i], aws.StringValue(headers[i+1]))
	}
	var b bytes.Buffer
	require.NoError(t, aws.NewEncoder().Encode(&b, m))
	return b.Bytes()
}

func event(t require.TestingT, name, payload string) []byte {
	return frame(t, payload, ":message-type", "event", ":event-type", name, ":content-type", "application/json")
}

// seen is an event that outlives the Reader's buffer.
type seen struct{ name, data string }

func readAll(t require.TestingT, src io.Reader, limit int) ([]seen, error) {
	r := eventstream.NewReader(src, limit)
	var out []seen
	for {
		e, err := r.Next()
		if err != nil {
			_, again := r.Next()
			require.Equal(t, err, again, "the error must be sticky")
			require.False(t, r.Ready())
			return out, err
		}
		out = append(out, seen{string(e.Name), string(e.Data)})
	}
}

func TestNext(t *testing.T) {
	for name, c := range map[string]struct {
		in   []byte
		want []seen
	}{
		"nothing": {nil, nil},
		"two events": {
			append(event(t, "messageStart", `{"role":"assistant"}`), event(t, "contentBlockDelta", `{"delta":{"text":"北京🙂é"}}`)...),
			[]seen{{"messageStart", `{"role":"assistant"}`}, {"contentBlockDelta", `{"delta":{"text":"北京🙂é"}}`}},
		},
		"no payload": {event(t, "x", ""), []seen{{"x", ""}}},
		"no headers": {frame(t, "{}"), []seen{{"", "{}"}}},
		"exception": {
			frame(t, `{"message":"slow down"}`, ":message-type", "exception", ":exception-type", "throttlingException"),
			[]seen{{"throttlingException", `{"message":"slow down"}`}},
		},
		"error": {
			frame(t, "", ":message-type", "error", ":error-code", "InternalError", ":error-message", "it broke"),
			[]seen{{"error", `{"code":"InternalError","message":"it broke"}`}},
		},
		"larger than the buffer": {
			append(event(t, "a", strings.Repeat("x", 200<<10)), event(t, "b", "y")...),
			[]seen{{"a", strings.Repeat("x", 200<<10)}, {"b", "y"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for how, src := range map[string]io.Reader{
				"at once":        bytes.NewReader(c.in),
				"byte by byte":   iotest.OneByteReader(bytes.NewReader(c.in)),
				"with the error": iotest.DataErrReader(bytes.NewReader(c.in)),
				"in halves":      iotest.HalfReader(bytes.NewReader(c.in)),
			} {
				got, err := readAll(t, src, sse.MaxEvent)
				require.Equal(t, io.EOF, err, how)
				require.Equal(t, c.want, got, how)
			}
		})
	}
}

// A frame must come as soon as its last byte is there.
func TestNextDoesNotWaitForMore(t *testing.T) {
	one := event(t, "a", "{}")
	r := eventstream.NewReader(io.MultiReader(bytes.NewReader(one), failing{t}), sse.MaxEvent)
	require.False(t, r.Ready())
	e, err := r.Next()
	require.NoError(t, err)
	require.Equal(t, one, e.Raw)
}

type failing struct{ t *testing.T }

func (f failing) Read([]byte) (int, error) {
	f.t.Error("read beyond the end of the frame")
	return 0, io.EOF
}

func TestReady(t *testing.T) {
	two := append(event(t, "a", "{}"), event(t, "b", "{}")...)
	r := eventstream.NewReader(io.MultiReader(bytes.NewReader(two), failing{t}), sse.MaxEvent)
	_, err := r.Next()
	require.NoError(t, err)
	require.True(t, r.Ready())
	require.True(t, r.Ready())
	e, err := r.Next()
	require.NoError(t, err)
	require.Equal(t, "b", string(e.Name))
	require.False(t, r.Ready())
}

// Wherever the bytes end, the reader tells a cut frame from a whole stream.
func TestTruncated(t *testing.T) {
	first := event(t, "a", `{"a":1}`)
	whole := append(bytes.Clone(first), event(t, "b", `{"b":2}`)...)
	for n := range whole {
		got, err := readAll(t, bytes.NewReader(whole[:n]), sse.MaxEvent)
		switch {
		case n == 0 || n == len(first):
			require.Equal(t, io.EOF, err, "%d", n)
		default:
			require.ErrorIs(t, err, eventstream.ErrTruncated, "%d", n)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%d", n)
			require.NotErrorIs(t, err, io.EOF, "%d", n)
		}
		require.Equal(t, n >= len(first), len(got) == 1, "%d", n)
	}
}

func TestReadErrorComesAfterWhatWasRead(t *testing.T) {
	broken := errors.New("reset")
	whole := append(event(t, "a", "{}"), 0, 0, 0)
	got, err := readAll(t, io.MultiReader(bytes.NewReader(whole), iotest.ErrReader(broken)), sse.MaxEvent)
	require.ErrorIs(t, err, broken)
	require.Equal(t, []seen{{"a", "{}"}}, got)
}

// No bit can be turned over without notice: the length, the headers and the
// payload all stand under a sum.
func TestCorrupt(t *testing.T) {
	whole := event(t, "contentBlockDelta", `{"delta":{"text":"hello"}}`)
	for i := range whole {
		for bit := range 8 {
			spoiled := bytes.Clone(whole)
			spoiled[i] ^= 1 << bit
			_, err := readAll(t, bytes.NewReader(spoiled), sse.MaxEvent)
			require.ErrorIs(t, err, eventstream.ErrCorrupt, "byte %d, bit %d", i, bit)
		}
	}
}

func TestTooLarge(t *testing.T) {
	small, large := event(t, "a", "{}"), event(t, "b", strings.Repeat("x", 1000))
	got, err := readAll(t, io.MultiReader(bytes.NewReader(small), bytes.NewReader(large)), 500)
	require.ErrorIs(t, err, sse.ErrTooLarge)
	require.Len(t, got, 1)
	_, err = readAll(t, bytes.NewReader(large), len(large))
	require.Equal(t, io.EOF, err)
	_, err = readAll(t, bytes.NewReader(large), len(large)-1)
	require.ErrorIs(t, err, sse.ErrTooLarge)
}

func TestAnySplitGivesTheSameEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text []byte
		var want []seen
		for range rapid.IntRange(0, 4).Draw(t, "events") {
			name := rapid.StringMatching(`[a-zA-Z]{0,12}`).Draw(t, "name")
			data := rapid.String().Draw(t, "data")
			text, want = append(text, event(t, name, data)...), append(want, seen{name, data})
		}
		sizes := rapid.SliceOf(rapid.IntRange(1, 30)).Draw(t, "sizes")
		got, err := readAll(t, &pieces{rest: text, sizes: sizes}, sse.MaxEvent)
		require.Equal(t, io.EOF, err)
		require.Equal(t, want, got)
	})
}

// pieces gives the bytes in reads of the given sizes.
type pieces struct {
	rest  []byte
	sizes []int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := min(len(p.rest), len(b))
	if len(p.sizes) > 0 {
		n, p.sizes = min(p.sizes[0], n), p.sizes[1:]
	}
	copy(b, p.rest[:n])
	p.rest = p.rest[n:]
	return n, nil
}

func FuzzReader(f *testing.F) {
	f.Add(event(f, "messageStart", `{"role":"assistant"}`), []byte{1, 2, 3})
	f.Add(append(event(f, "a", "{}"), frame(f, `{"message":"x"}`, ":exception-type", "throttlingException")...), []byte{15, 1})
	f.Add(event(f, "a", "{}")[:20], []byte{1})
	f.Add(frame(f, "x"), []byte{})
	f.Fuzz(func(t *testing.T, text, cuts []byte) {
		sizes := make([]int, len(cuts))
		for i, c := range cuts {
			sizes[i] = int(c%16) + 1
		}
		whole, wholeErr := readAll(t, bytes.NewReader(text), 1<<10)
		split, splitErr := readAll(t, &pieces{rest: text, sizes: sizes}, 1<<10)
		require.Equal(t, whole, split)
		require.Equal(t, wholeErr.Error(), splitErr.Error())
		for _, known := range []error{io.EOF, eventstream.ErrTruncated, eventstream.ErrCorrupt, sse.ErrTooLarge} {
			if errors.Is(wholeErr, known) {
				return
			}
		}
		t.Errorf("unknown error %v", wholeErr)
	})
}

func BenchmarkNext(b *testing.B) {
	stream := bytes.Repeat(event(b, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"hello there"}}`), 1000)
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		r := eventstream.NewReader(bytes.NewReader(stream), sse.MaxEvent)
		for {
			if _, err := r.Next(); err != nil {
				break
			}
		}
	}
}
