// Package gemini owns the wire format of Google's generateContent, as the
// Gemini API (https://ai.google.dev/api/generate-content) and Vertex AI
// (https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference)
// have it: both ways, whole and streamed, and what passes as it is. The model
// and the kind of reply stand in this format's path, not in its bodies. It
// knows no other format, no transport and no routing.
package gemini

import (
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
)

// Codec implements dialect.Codec. It has no state.
type Codec struct{}

var _ dialect.Codec = Codec{}

// New returns the codec.
func New() Codec { return Codec{} }

// is reports whether a member is the one that JSON calls name, in either of
// the spellings that Google takes: "inlineData" or "inline_data".
func is(o *rawjson.Object, name string) bool {
	if o.Is(name) {
		return true
	}
	key, at := o.Key(), 0
	for i := 0; i < len(key); i++ {
		c := key[i]
		if c == '_' && i+1 < len(key) {
			i++
			if c = key[i]; c >= 'a' && c <= 'z' {
				c -= 'a' - 'A'
			}
		}
		if at >= len(name) || name[at] != c {
			return false
		}
		at++
	}
	return at == len(name)
}

// nameOf is a member's name as JSON has it, however it was spelled.
func nameOf(o *rawjson.Object) string {
	words := strings.Split(o.Name(), "_")
	for i, word := range words[1:] {
		if word != "" && word[0] >= 'a' && word[0] <= 'z' {
			words[i+1] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}

// isAny reports whether a member is one of names.
func isAny(o *rawjson.Object, names []string) bool {
	for _, name := range names {
		if is(o, name) {
			return true
		}
	}
	return false
}
