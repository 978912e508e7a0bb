package responses

import (
	"strconv"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// The kinds of violation.
const (
	wrongType    = "wrong_type"
	unknownValue = "unknown_value"
	missing      = "missing"
)

// reader reads values and lists what is wrong with them. Null is a value that
// was not said. Of an upstream's reply nobody looks at the list.
type reader struct{ violations []fault.Violation }

func (r *reader) wrong(path, code, message string) {
	r.violations = append(r.violations, fault.Violation{Path: path, Code: code, Message: message})
}

func (r *reader) text(path string, v []byte) string {
	if rawjson.IsNull(v) {
		return ""
	}
	text, ok := rawjson.Text(v)
	if !ok {
		r.wrong(path, wrongType, "must be a string")
	}
	return text
}

// need reads a string that must say something.
func (r *reader) need(path string, v []byte, message string) string {
	text := r.text(path, v)
	if isBlank(v) {
		r.wrong(path, missing, message)
	}
	return text
}

func (r *reader) number(path string, v []byte) conversation.Number {
	if rawjson.IsNull(v) {
		return ""
	}
	if !isNumber(v) {
		r.wrong(path, wrongType, "must be a number")
		return ""
	}
	return conversation.Number(v)
}

func (r *reader) count(path string, v []byte) int64 {
	if rawjson.IsNull(v) {
		return 0
	}
	n := rawjson.Int(v)
	if f, err := strconv.ParseFloat(string(v), 64); err != nil || f != float64(n) {
		r.wrong(path, wrongType, "must be a whole number")
	}
	return n
}

func (r *reader) flag(path string, v []byte) *bool {
	var flag bool
	switch {
	case rawjson.IsNull(v):
		return nil
	case string(v) == "true":
		flag = true
	case string(v) != "false":
		r.wrong(path, wrongType, "must be true or false")
	}
	return &flag
}

// each calls visit for the elements of an array.
func (r *reader) each(path string, v []byte, visit func(path string, v []byte)) {
	if rawjson.IsNull(v) {
		return
	}
	if v[0] != '[' {
		r.wrong(path, wrongType, "must be an array")
		return
	}
	a := rawjson.NewArray(v)
	for i := 0; a.Next(); i++ {
		visit(path+"."+strconv.Itoa(i), a.Value())
	}
}

// object returns a walker over an object's members, of none when v is
// something else.
func (r *reader) object(path string, v []byte) rawjson.Object {
	if rawjson.IsNull(v) {
		return rawjson.Object{}
	}
	if v[0] != '{' {
		r.wrong(path, wrongType, "must be an object")
	}
	return rawjson.NewObject(v)
}

func isNumber(v []byte) bool {
	return len(v) > 0 && (v[0] == '-' || '0' <= v[0] && v[0] <= '9')
}

// isBlank reports null, "", [] and {}, and what was never there.
func isBlank(v []byte) bool { return rawjson.IsNull(v) || len(v) == 2 && !isNumber(v) }

// member returns a member's value of an object, nil when it has none. The last
// of several counts, as with most readers of JSON.
func member(v []byte, name string) []byte {
	var found []byte
	o := rawjson.NewObject(v)
	for o.Next() {
		if o.Is(name) {
			found = o.Value()
		}
	}
	return found
}
