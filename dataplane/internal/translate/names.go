package translate

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

// Names of tools may be longer in one format than in another, and of other
// letters: agents make them of a server's name and a tool's, and Anthropic takes
// twice what the others do. A name that does not fit is shortened on the way to
// the upstream, the same way in every request, and put back in the answer.

// longestName is how long a name of a tool may be in a format, in bytes
// (https://platform.openai.com/docs/api-reference/chat/create,
// https://ai.google.dev/api/caching#FunctionDeclaration,
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html,
// https://docs.anthropic.com/en/api/messages).
func longestName(f format) int {
	if f == messagesFormat {
		return 128
	}
	return 64
}

// markLength is that of what ends a fitted name: "_" and a sum in hexadecimal.
const markLength = 9

// fitting is a name of at most most bytes, of the letters that all formats take.
func fitting(name string, most int) string {
	plain := strings.Map(func(r rune) rune {
		if isNameLetter(r) {
			return r
		}
		return '_'
	}, name)
	if plain == name && len(name) <= most {
		return name
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name)) // never fails
	return fmt.Sprintf("%s_%08x", plain[:min(len(plain), most-markLength)], sum.Sum32())
}

func isNameLetter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

// isFitted reports a name that may be one that fitting made.
func isFitted(name string) bool {
	at := len(name) - markLength
	return at >= 0 && name[at] == '_' && strings.Trim(name[at+1:], "0123456789abcdef") == ""
}

// fitNames gives what a request names a fitting name, and calls seen, if there
// is one, for each that changes.
func fitNames(r *conversation.Request, most int, seen func(fitted, name string)) {
	fit := func(name *string) {
		if next := fitting(*name, most); next != *name {
			if seen != nil {
				seen(next, *name)
			}
			*name = next
		}
	}
	for i := range r.Tools {
		if r.Tools[i].Kind != conversation.Builtin {
			fit(&r.Tools[i].Name)
		}
	}
	fit(&r.ToolChoice.Name)
	for i := range r.ToolChoice.Allowed {
		fit(&r.ToolChoice.Allowed[i])
	}
	for i := range r.Messages {
		for j := range r.Messages[i].Parts {
			switch p := &r.Messages[i].Parts[j]; {
			case p.Call != nil:
				fit(&p.Call.Name)
			case p.Result != nil:
				fit(&p.Result.Name)
			}
		}
	}
}

// names put back what fitNames changed. The request is read again only when an
// answer calls a tool by a name that looks fitted.
type names struct {
	most    int
	request func() *conversation.Request
	known   map[string]string
}

// original is the caller's name of a tool.
func (n *names) original(name string) string {
	if n == nil || !isFitted(name) {
		return name
	}
	if n.known == nil {
		n.known = make(map[string]string)
		if r := n.request(); r != nil {
			fitNames(r, n.most, func(fitted, name string) { n.known[fitted] = name })
		}
	}
	if original, ok := n.known[name]; ok {
		return original
	}
	return name
}

func (n *names) restore(p *conversation.Part) {
	if p.Call != nil {
		p.Call.Name = n.original(p.Call.Name)
	}
}
