package jsonarray_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/jsonarray"
)

func TestArray(t *testing.T) {
	for in, want := range map[string]string{
		"":                    "[]\n",
		"data: {\"a\":1}\n\n": "[{\"a\":1}]\n",
		"data:{\"a\":1}\r\n\r\ndata: {\"b\":2}\r\rdata: {\"c\":3}\n\n": "[{\"a\":1},\r\n{\"b\":2},\r\n{\"c\":3}]\n",
		": alive\n\ndata: {\"a\":\ndata: 1}\n\n":                       "\n[{\"a\":\n 1}]\n",
		"event: error\nid: 1\ndata: {\"error\":{\"code\":503}}\n\n":    "[{\"error\":{\"code\":503}}]\n",
		"data: {\"a\":1}\n\ndata: [DONE]\n\n":                          "[{\"a\":1}]\n",
		"data: {\"a\":1}\n\ndata: {\"b\":":                             "[{\"a\":1}]\n",
		"data: {\"a\":1}\n\ndata: {\"b\":2}\n":                         "[{\"a\":1}]\n",
	} {
		var f jsonarray.Framer
		require.Equal(t, want, string(f.End(f.Append(nil, []byte(in)), nil)), "%q", in)
	}
}

// Each element is there as soon as its event is, wherever the stream is cut.
func TestArrayInPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		end := rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "line end")
		var whole, text string
		for i := range rapid.IntRange(0, 4).Draw(t, "events") {
			object, err := json.Marshal(map[string]string{"text": rapid.String().Draw(t, "text")})
			require.NoError(t, err)
			whole += "data: " + string(object) + end + end
			if i > 0 {
				text += ",\r\n"
			} else {
				text = "["
			}
			text += string(object)
		}
		var f jsonarray.Framer
		var out []byte
		for rest := whole; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			out = f.Append(out, []byte(rest[:n]))
			rest = rest[n:]
		}
		require.Equal(t, text, string(out))
		require.True(t, json.Valid(f.End(out, nil)))
	})
}

func TestAFailureIsTheLastElement(t *testing.T) {
	var f jsonarray.Framer
	out := f.Append(nil, []byte("data: {\"a\":1}\n\ndata: {\"cut"))
	exactly(t, "[{\"a\":1},\r\n{\"error\":{}}]\n", string(f.End(out, []byte(`{"error":{}}`))))
	var empty jsonarray.Framer
	exactly(t, "[{\"error\":{}}]\n", string(empty.End(nil, []byte(`{"error":{}}`))))
}

// FuzzFramer: it makes no difference where a stream is cut.
func FuzzFramer(f *testing.F) {
	f.Add([]byte("data: {\"a\":1}\r\n\r\n: alive\r\rdata: {\"b\":\ndata: 2}\n\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		var whole, pieces jsonarray.Framer
		at := len(stream) / 2
		want := whole.End(whole.Append(nil, stream), nil)
		got := pieces.End(pieces.Append(pieces.Append(nil, stream[:at]), stream[at:]), nil)
		require.Equal(t, string(want), string(got))
	})
}

// exactly compares JSON byte by byte: numbers and order must survive.
func exactly(t *testing.T, want, got string) {
	t.Helper()
	require.Equal(t, want, got)
}
