package gemini

import (
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// partialCall is a call whose arguments Vertex streams when it is asked to
// (streamFunctionCallArguments): each piece names its place by a JSON path
// (RFC 9535, only names and indexes) and has a value, strings in pieces
// (https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling).
type partialCall struct {
	id, name string
	root     argument
}

// argument is one value: a list, an object, or what was written for a leaf.
type argument struct {
	key    string
	list   bool
	inner  []*argument
	raw    []byte // of a leaf that is no string
	isText bool
	text   []byte
}

// maxPath is how deep a path may go, in names and indexes.
const maxPath = 64

func (p *partialCall) add(pieces []byte) {
	for list := rawjson.NewArray(pieces); list.Next(); {
		var path string
		var text, raw []byte
		for o := rawjson.NewObject(list.Value()); o.Next(); {
			switch {
			case is(&o, "jsonPath"):
				path = rawjson.String(o.Value())
			case is(&o, "stringValue"):
				text = o.Value()
			case is(&o, "numberValue"), is(&o, "boolValue"):
				raw = o.Value()
			case is(&o, "nullValue"):
				raw = []byte("null")
			}
		}
		at := p.root.at(path)
		switch {
		case at == nil || at == &p.root:
		case rawjson.IsString(text):
			at.isText = true
			at.text = append(at.text, rawjson.String(text)...)
		case raw != nil && raw[0] != '"' && raw[0] != '{' && raw[0] != '[':
			at.raw = append(at.raw[:0], raw...)
		}
	}
}

// arguments are the whole arguments so far.
func (p *partialCall) arguments() []byte {
	var b jsonappend.Buffer
	p.root.list = false
	p.root.write(&b)
	return b
}

func (a *argument) write(b *jsonappend.Buffer) {
	switch {
	case a.isText:
		*b = jsonappend.AppendString(*b, string(a.text))
	case a.raw != nil:
		*b = append(*b, a.raw...)
	case a.list:
		b.Open('[')
		for _, inner := range a.inner {
			b.Next()
			inner.write(b)
		}
		b.Close(']')
	default:
		b.Open('{')
		for _, inner := range a.inner {
			b.Next()
			*b = append(jsonappend.AppendString(*b, inner.key), ':')
			inner.write(b)
		}
		b.Close('}')
	}
}

// at returns the value at a path such as $.a.b[0]['c'], made when it is not
// there; nil for a path that cannot be read.
func (a *argument) at(path string) *argument {
	rest, found := strings.CutPrefix(path, "$")
	if !found {
		return nil
	}
	for depth := 0; rest != ""; depth++ {
		if depth == maxPath {
			return nil
		}
		var key string
		var index int
		var ok bool
		switch {
		case strings.HasPrefix(rest, "['"), strings.HasPrefix(rest, `["`):
			end := strings.Index(rest[2:], rest[1:2]+"]")
			if end < 0 {
				return nil
			}
			key, rest = rest[2:2+end], rest[end+4:]
			a = a.member(key)
			continue
		case rest[0] == '[':
			if index, rest, ok = pathIndex(rest); !ok {
				return nil
			}
			a = a.element(index)
			continue
		case rest[0] != '.':
			return nil
		}
		rest = rest[1:]
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		if end == 0 {
			return nil
		}
		key, rest = rest[:end], rest[end:]
		a = a.member(key)
	}
	return a
}

func pathIndex(rest string) (index int, after string, ok bool) {
	inside, after, found := strings.Cut(rest[1:], "]")
	index, err := strconv.Atoi(inside)
	return index, after, found && err == nil && index >= 0
}

func (a *argument) member(key string) *argument {
	for _, inner := range a.inner {
		if inner.key == key {
			return inner
		}
	}
	inner := &argument{key: key}
	a.inner = append(a.inner, inner)
	return inner
}

// element returns an element of a list; one beyond the end is the next.
func (a *argument) element(index int) *argument {
	a.list = true
	if index < len(a.inner) {
		return a.inner[index]
	}
	inner := &argument{}
	a.inner = append(a.inner, inner)
	return inner
}
