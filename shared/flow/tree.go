package flow

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"
)

// tree is a JSON value with its members in the order in which they stand, those
// that stand twice too.
type tree struct {
	kind    byte // '{', '[', '"', '0' for a number, 't' for a boolean, 'n' for null
	text    string
	on      bool
	names   []string // of an object's members
	members []tree   // of an object or a list
}

// maxNesting is how deep objects and lists stand within each other: deeper than
// in any graph, and no deeper than reading them is cheap.
const maxNesting = 64

var errNesting = errors.New("nested too deep")

// parse reads one JSON value. Its failures are a json.SyntaxError, and texts
// that say nothing of the input.
func parse(raw []byte) (tree, error) {
	if !utf8.Valid(raw) {
		return tree{}, errors.New("not UTF-8")
	}
	var whole json.RawMessage
	if err := json.Unmarshal(raw, &whole); err != nil {
		return tree{}, err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	return value(decoder, 0)
}

// value reads the next value of what is known to be JSON.
func value(decoder *json.Decoder, depth int) (tree, error) {
	if depth > maxNesting {
		return tree{}, errNesting
	}
	token, err := decoder.Token()
	if err != nil {
		return tree{}, errors.Join(io.ErrUnexpectedEOF, err)
	}
	switch v := token.(type) {
	case string:
		return tree{kind: '"', text: v}, nil
	case json.Number:
		return tree{kind: '0', text: v.String()}, nil
	case bool:
		return tree{kind: 't', on: v}, nil
	case json.Delim:
		return inside(decoder, byte(v), depth)
	}
	return tree{kind: 'n'}, nil
}

// inside reads what stands between brackets, and the closing one.
func inside(decoder *json.Decoder, bracket byte, depth int) (tree, error) {
	t := tree{kind: bracket}
	for decoder.More() {
		if bracket == '{' {
			name, err := decoder.Token()
			if err != nil {
				return tree{}, err
			}
			text, _ := name.(string) // of an object's members, the first token is a text
			t.names = append(t.names, text)
		}
		member, err := value(decoder, depth+1)
		if err != nil {
			return tree{}, err
		}
		t.members = append(t.members, member)
	}
	_, err := decoder.Token()
	return t, err
}

// member is the first of a name; ok is false where there is none.
func (t *tree) member(name string) (found tree, ok bool) {
	for i, one := range t.names {
		if one == name {
			return t.members[i], true
		}
	}
	return tree{}, false
}
