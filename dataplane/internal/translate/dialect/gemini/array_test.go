package gemini_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/gemini"
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
		var f gemini.ArrayFramer
		require.Equal(t, want, string(f.End(f.Append(nil, []byte(in)))), "%q", in)
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
		var f gemini.ArrayFramer
		var out []byte
		for rest := whole; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			out = f.Append(out, []byte(rest[:n]))
			rest = rest[n:]
		}
		require.Equal(t, text, string(out))
		require.True(t, json.Valid(f.End(out)))
	})
}
