package sse_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
)

// seen is an Event that outlives the Reader's buffer.
type seen struct {
	raw, name, data string
	bare, partial   bool
}

func readAll(t require.TestingT, src io.Reader, limit int) ([]seen, error) {
	var out []seen
	r := sse.NewReader(src, limit)
	for {
		e, err := r.Next()
		if err != nil {
			_, again := r.Next()
			require.Equal(t, err, again, "the error must be sticky")
			return out, err
		}
		if len(e.Data) < 1000 {
			for i := range e.Data {
				at := e.RawOffset(i)
				if e.Data[i] != '\n' {
					require.Equal(t, e.Data[i], e.Raw[at], "offset of data byte %d", i)
				}
			}
		}
		out = append(out, seen{string(e.Raw), string(e.Name), string(e.Data), e.Bare, e.Partial})
	}
}

func TestNext(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []seen
	}{
		"one event":         {"data: a\n\n", []seen{{raw: "data: a\n\n", data: "a"}}},
		"two events":        {"data: a\n\ndata: b\n\n", []seen{{raw: "data: a\n\n", data: "a"}, {raw: "data: b\n\n", data: "b"}}},
		"no space":          {"data:{\"a\":1}\n\n", []seen{{raw: "data:{\"a\":1}\n\n", data: `{"a":1}`}}},
		"only one space":    {"data:  a\n\n", []seen{{raw: "data:  a\n\n", data: " a"}}},
		"crlf":              {"data: a\r\n\r\ndata: b\r\n\r\n", []seen{{raw: "data: a\r\n\r\n", data: "a"}, {raw: "data: b\r\n\r\n", data: "b"}}},
		"cr":                {"data: a\r\rdata: b\r\r", []seen{{raw: "data: a\r\r", data: "a"}, {raw: "data: b\r\r", data: "b"}}},
		"cr then lf":        {"data: a\r\r\ndata: b\r\r", []seen{{raw: "data: a\r\r", data: "a"}, {raw: "\ndata: b\r\r", data: "b"}}},
		"mixed ends":        {"data: a\n\r\ndata: b\r\n\n", []seen{{raw: "data: a\n\r\n", data: "a"}, {raw: "data: b\r\n\n", data: "b"}}},
		"name":              {"event: error\ndata: x\n\n", []seen{{raw: "event: error\ndata: x\n\n", name: "error", data: "x"}}},
		"lines are joined":  {"data: {\ndata: \"a\":1}\n\n", []seen{{raw: "data: {\ndata: \"a\":1}\n\n", data: "{\n\"a\":1}"}}},
		"three lines":       {"data: a\r\ndata\r\ndata:c\r\n\r\n", []seen{{raw: "data: a\r\ndata\r\ndata:c\r\n\r\n", data: "a\n\nc"}}},
		"comment alone":     {": keep-alive\n\ndata: a\n\n", []seen{{raw: ": keep-alive\n\n"}, {raw: "data: a\n\n", data: "a"}}},
		"comment inside":    {": x\ndata: a\n: y\n\n", []seen{{raw: ": x\ndata: a\n: y\n\n", data: "a"}}},
		"blank lines":       {"\n\ndata: a\n\n\n", []seen{{raw: "\n\ndata: a\n\n", data: "a"}, {raw: "\n", partial: true}}},
		"bom":               {"\xef\xbb\xbfdata: a\n\n", []seen{{raw: "\xef\xbb\xbfdata: a\n\n", data: "a"}}},
		"bom only at start": {"data: a\n\n\xef\xbb\xbfdata: b\n\n", []seen{{raw: "data: a\n\n", data: "a"}, {raw: "\xef\xbb\xbfdata: b\n\n"}}},
		"unfinished":        {"data: a\n\ndata: b", []seen{{raw: "data: a\n\n", data: "a"}, {raw: "data: b", data: "b", partial: true}}},
		"one end missing":   {"data: b\n", []seen{{raw: "data: b\n", data: "b", partial: true}}},
		"bare json":         {"{\"a\":1}\n{\"b\":2}\n", []seen{{raw: "{\"a\":1}\n", data: `{"a":1}`, bare: true}, {raw: "{\"b\":2}\n", data: `{"b":2}`, bare: true}}},
		"bare with blanks":  {"{\"a\":1}\n\n{\"b\":2}", []seen{{raw: "{\"a\":1}\n", data: `{"a":1}`, bare: true}, {raw: "\n{\"b\":2}", data: `{"b":2}`, bare: true, partial: true}}},
		"bare done":         {"{\"a\":1}\r\n[DONE]\r\n", []seen{{raw: "{\"a\":1}\r\n", data: `{"a":1}`, bare: true}, {raw: "[DONE]\r\n", data: "[DONE]", bare: true}}},
		"comment and bare":  {": c\n{\"a\":1}\n", []seen{{raw: ": c\n"}, {raw: "{\"a\":1}\n", data: `{"a":1}`, bare: true}}},
		"comment, bare cut": {": c\n[DONE]", []seen{{raw: ": c\n"}, {raw: "[DONE]", data: "[DONE]", bare: true, partial: true}}},
		"json in a block":   {"x\n{\"a\":1}\n\n", []seen{{raw: "x\n{\"a\":1}\n\n"}}},
		"unknown fields":    {"id: 7\nretry: 5\nfoo\ndata: a\n\n", []seen{{raw: "id: 7\nretry: 5\nfoo\ndata: a\n\n", data: "a"}}},
		"unicode":           {"data: 北京🙂é\n\n", []seen{{raw: "data: 北京🙂é\n\n", data: "北京🙂é"}}},
		"empty data":        {"data:\n\n", []seen{{raw: "data:\n\n"}}},
		"nothing":           {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			for how, src := range map[string]io.Reader{
				"at once":         strings.NewReader(c.in),
				"byte by byte":    iotest.OneByteReader(strings.NewReader(c.in)),
				"with the error":  iotest.DataErrReader(strings.NewReader(c.in)),
				"half the buffer": iotest.HalfReader(strings.NewReader(c.in)),
			} {
				got, err := readAll(t, src, sse.MaxEvent)
				require.ErrorIs(t, err, io.EOF, how)
				require.Equal(t, c.want, got, how)
			}
		})
	}
}

// An event must come as soon as its last byte is there: a reader that waits
// for more would hold every event back until the next.
func TestNextDoesNotWaitForMore(t *testing.T) {
	for _, event := range []string{"data: a\n\n", "data: a\r\n\r\n", "data: a\r\r", "{\"a\":1}\n", "data: a\r\n\n"} {
		r := sse.NewReader(io.MultiReader(strings.NewReader(event), failing{t}), sse.MaxEvent)
		e, err := r.Next()
		require.NoError(t, err)
		require.Equal(t, event, string(e.Raw))
	}
}

// Asking whether an event is ready must not change what comes, and what is
// ready must come without a read.
func TestReady(t *testing.T) {
	part := rapid.SampledFrom([]string{"data: a", ": c", "\n", "\r", "\r\n", "{}", "data"})
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(strings.Join(rapid.SliceOf(part).Draw(t, "parts"), ""))
		sizes := rapid.SliceOf(rapid.IntRange(1, 9)).Draw(t, "sizes")
		want, _ := readAll(t, bytes.NewReader(text), 64)
		src := &counting{src: &pieces{rest: text, sizes: sizes}}
		r := sse.NewReader(src, 64)
		var got []seen
		for {
			ready, reads := r.Ready(), src.reads
			require.Equal(t, ready, r.Ready())
			e, err := r.Next()
			if err != nil {
				require.False(t, ready)
				break
			}
			if ready {
				require.Equal(t, reads, src.reads)
			}
			got = append(got, seen{string(e.Raw), string(e.Name), string(e.Data), e.Bare, e.Partial})
		}
		require.Equal(t, want, got)
	})
}

type counting struct {
	src   io.Reader
	reads int
}

func (c *counting) Read(p []byte) (int, error) { c.reads++; return c.src.Read(p) }

type failing struct{ t *testing.T }

func (f failing) Read([]byte) (int, error) {
	f.t.Error("read beyond the end of the event")
	return 0, io.EOF
}

func TestLargeEvents(t *testing.T) {
	for _, size := range []int{200 << 10, 3 << 20, sse.MaxEvent - len("data: \n\n")} {
		big := "data: " + strings.Repeat("x", size) + "\n\n"
		got, err := readAll(t, strings.NewReader(big+"data: a\n\n"), sse.MaxEvent)
		require.ErrorIs(t, err, io.EOF)
		require.Len(t, got, 2)
		require.Len(t, got[0].raw, len(big))
		require.Equal(t, "a", got[1].data)
	}
	over := "data: " + strings.Repeat("x", sse.MaxEvent) + "\n\n"
	_, err := readAll(t, strings.NewReader(over), sse.MaxEvent)
	require.ErrorIs(t, err, sse.ErrTooLarge)
}

func TestReadErrorComesAfterWhatWasRead(t *testing.T) {
	broken := errors.New("reset")
	got, err := readAll(t, io.MultiReader(strings.NewReader("data: a\n\ndata: {"), iotest.ErrReader(broken)), sse.MaxEvent)
	require.ErrorIs(t, err, broken)
	require.Equal(t, []seen{{raw: "data: a\n\n", data: "a"}, {raw: "data: {", data: "{", partial: true}}, got)
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
	n := len(p.rest)
	if len(p.sizes) > 0 {
		n, p.sizes = min(p.sizes[0], n), p.sizes[1:]
	}
	n = copy(b, p.rest[:n])
	p.rest = p.rest[n:]
	return n, nil
}

func TestAnySplitGivesTheSameEvents(t *testing.T) {
	part := rapid.SampledFrom([]string{
		"data: ", "data:", "event: error", ": c", "\n", "\r", "\r\n", "{\"a\":1}", "[DONE]", "é", "\xef\xbb\xbf", "x", ":", "id: 1", "data",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(part).Draw(t, "parts"), "")
		sizes := rapid.SliceOf(rapid.IntRange(1, 7)).Draw(t, "sizes")
		checkSplit(t, []byte(text), sizes, 64)
	})
}

// A byte order mark is one at the start of the stream only; elsewhere it makes
// another field of the one behind it, and the offsets must agree.
func TestAMarkInsideAnEventIsPartOfAName(t *testing.T) {
	checkSplit(t, []byte("data: a\n\xef\xbb\xbfdata: b\ndata: c\ndata: d\n\n"), nil, 64)
	checkSplit(t, []byte("data: a\n\n\xef\xbb\xbfdata: b\ndata: c\ndata: d\n\n"), nil, 64)
	checkSplit(t, []byte("\xef\xbb\xbfdata: b\ndata: c\ndata: d\n\n"), nil, 64)
}

func checkSplit(t require.TestingT, text []byte, sizes []int, limit int) {
	whole, wholeErr := readAll(t, bytes.NewReader(text), limit)
	split, splitErr := readAll(t, &pieces{rest: text, sizes: sizes}, limit)
	require.Equal(t, wholeErr, splitErr)
	require.Equal(t, whole, split)
	var joined strings.Builder
	for _, e := range whole {
		require.LessOrEqual(t, len(e.raw), limit)
		joined.WriteString(e.raw)
	}
	if errors.Is(wholeErr, io.EOF) {
		require.Equal(t, string(text), joined.String())
		return
	}
	require.ErrorIs(t, wholeErr, sse.ErrTooLarge)
	require.True(t, strings.HasPrefix(string(text), joined.String()))
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("data: {\"a\":1}\n\ndata: [DONE]\n\n"), []byte{1, 2, 3})
	f.Add([]byte("\xef\xbb\xbfdata: a\r\n\r\n: c\r\rdata:b\n\n\n"), []byte{5})
	f.Add([]byte("{\"a\":1}\r\n[DONE]"), []byte{1, 1, 1, 1, 1, 1, 1, 1, 1})
	f.Add([]byte("event: error\rdata: x\rdata: y\r\r\n"), []byte{20, 1})
	f.Fuzz(func(t *testing.T, text, cuts []byte) {
		sizes := make([]int, len(cuts))
		for i, c := range cuts {
			sizes[i] = int(c%16) + 1
		}
		checkSplit(t, text, sizes, 256)
	})
}

func BenchmarkNext(b *testing.B) {
	event := "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"}}]}\n\n"
	stream := strings.Repeat(event, 1000)
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		r := sse.NewReader(strings.NewReader(stream), sse.MaxEvent)
		for {
			if _, err := r.Next(); err != nil {
				break
			}
		}
	}
}

// A reader is at its end when that was read with what it returned last.
func TestReaderKnowsThatItIsAtItsEnd(t *testing.T) {
	for name, src := range map[string]io.Reader{
		"end with the data": iotest.DataErrReader(strings.NewReader("data: a\n\ndata: b\n\n")),
		"end by itself":     strings.NewReader("data: a\n\ndata: b\n\n"),
	} {
		t.Run(name, func(t *testing.T) {
			r := sse.NewReader(src, sse.MaxEvent)
			for _, want := range []bool{false, name == "end with the data"} {
				_, err := r.Next()
				require.NoError(t, err)
				require.Equal(t, want, r.AtEnd())
			}
		})
	}
}

func TestACutBlockHasItsLastLineToo(t *testing.T) {
	e, err := sse.NewReader(strings.NewReader("data: a\ndata: b"), sse.MaxEvent).Next()
	require.NoError(t, err)
	require.True(t, e.Partial)
	require.Equal(t, "a\nb", string(e.Data))
}
