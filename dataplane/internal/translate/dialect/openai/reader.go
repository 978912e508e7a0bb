// Package openai owns what OpenAI's two formats of conversations, chat
// completions and Responses, have in common: how values are read and what is
// wrong with them listed, media in data URLs, and counts of tokens. It knows
// neither of the formats.
package openai

import (
	"strconv"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// The kinds of violation.
const (
	WrongType    = "wrong_type"
	UnknownValue = "unknown_value"
	Missing      = "missing"
)

// Reader reads values and lists what is wrong with them. Null is a value that
// was not said. Of an upstream's reply nobody looks at the list. The zero value
// is ready.
type Reader struct{ Violations []fault.Violation }

// Wrong lists what is wrong at a path.
func (r *Reader) Wrong(path, code, message string) {
	r.Violations = append(r.Violations, fault.Violation{Path: path, Code: code, Message: message})
}

// Text reads a string.
func (r *Reader) Text(path string, v []byte) string {
	if rawjson.IsNull(v) {
		return ""
	}
	text, ok := rawjson.Text(v)
	if !ok {
		r.Wrong(path, WrongType, "must be a string")
	}
	return text
}

// Need reads a string that must say something.
func (r *Reader) Need(path string, v []byte, message string) string {
	text := r.Text(path, v)
	if IsBlank(v) {
		r.Wrong(path, Missing, message)
	}
	return text
}

// Number reads a number as it is written.
func (r *Reader) Number(path string, v []byte) conversation.Number {
	if rawjson.IsNull(v) {
		return ""
	}
	if !IsNumber(v) {
		r.Wrong(path, WrongType, "must be a number")
		return ""
	}
	return conversation.Number(v)
}

// Count reads a whole number that is not negative.
func (r *Reader) Count(path string, v []byte) int64 {
	if rawjson.IsNull(v) {
		return 0
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil { // such as 1e3
		f, err := strconv.ParseFloat(string(v), 64)
		if n = int64(f); err != nil || float64(n) != f {
			n = -1
		}
	}
	if n < 0 {
		r.Wrong(path, WrongType, "must be a whole number")
		return 0
	}
	return n
}

// Flag reads true or false; nil is not said.
func (r *Reader) Flag(path string, v []byte) *bool {
	var flag bool
	switch {
	case rawjson.IsNull(v):
		return nil
	case string(v) == "true":
		flag = true
	case string(v) != "false":
		r.Wrong(path, WrongType, "must be true or false")
	}
	return &flag
}

// Each calls visit for the elements of an array.
func (r *Reader) Each(path string, v []byte, visit func(path string, v []byte)) {
	if rawjson.IsNull(v) {
		return
	}
	if v[0] != '[' {
		r.Wrong(path, WrongType, "must be an array")
		return
	}
	a := rawjson.NewArray(v)
	for i := 0; a.Next(); i++ {
		visit(path+"."+strconv.Itoa(i), a.Value())
	}
}

// Object returns a walker over an object's members, of none when v is
// something else.
func (r *Reader) Object(path string, v []byte) rawjson.Object {
	if rawjson.IsNull(v) {
		return rawjson.Object{}
	}
	if v[0] != '{' {
		r.Wrong(path, WrongType, "must be an object")
	}
	return rawjson.NewObject(v)
}

// IsNumber reports a value that begins as a number does.
func IsNumber(v []byte) bool {
	return len(v) > 0 && (v[0] == '-' || '0' <= v[0] && v[0] <= '9')
}

// IsBlank reports null, "", [] and {}, and what was never there.
func IsBlank(v []byte) bool { return rawjson.IsNull(v) || len(v) == 2 && !IsNumber(v) }

// IsProblem reports an "error" member that says something.
func IsProblem(v []byte) bool { return len(v) > 2 && (v[0] == '{' || v[0] == '"' || v[0] == '[') }

// Member returns a member's value of an object, nil when it has none. The last
// of several counts, as with most readers of JSON.
func Member(v []byte, name string) []byte {
	var found []byte
	o := rawjson.NewObject(v)
	for o.Next() {
		if o.Is(name) {
			found = o.Value()
		}
	}
	return found
}
