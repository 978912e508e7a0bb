package gemini

import (
	"math"
	"strconv"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// The kinds of violation.
const (
	wrongType    = "wrong_type"
	outOfRange   = "out_of_range"
	required     = "required"
	notSupported = "not_supported"
)

// reader reads values of a caller's body and lists those that are wrong. A
// null is a member that was never there.
type reader struct {
	violations []fault.Violation
}

func (r *reader) wrong(at, code, message string) {
	r.violations = append(r.violations, fault.Violation{Path: at, Code: code, Message: message})
}

func (r *reader) text(at string, v []byte) string {
	if rawjson.IsNull(v) {
		return ""
	}
	text, ok := rawjson.Text(v)
	if !ok {
		r.wrong(at, wrongType, "must be a string")
	}
	return text
}

func (r *reader) flag(at string, v []byte) bool {
	switch {
	case string(v) == "true":
		return true
	case string(v) != "false" && !rawjson.IsNull(v):
		r.wrong(at, wrongType, "must be true or false")
	}
	return false
}

// number keeps a number as it was written. Google takes numbers in quotes too.
func (r *reader) number(at string, v []byte) conversation.Number {
	if rawjson.IsNull(v) {
		return ""
	}
	if quoted, ok := rawjson.Text(v); ok {
		v = []byte(quoted)
	}
	if len(v) == 0 || v[0] != '-' && !isDigit(v[0]) || !isDigit(v[len(v)-1]) || !isValue(v) {
		r.wrong(at, wrongType, "must be a number")
		return ""
	}
	return conversation.Number(v)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isValue reports whether v is one JSON value and nothing else.
func isValue(v []byte) bool {
	list := rawjson.NewArray(append(append([]byte{'['}, v...), ']'))
	n := 0
	for list.Next() {
		n++
	}
	return list.OK() && n == 1
}

// whole reads a whole number of at least lowest, 0 when there is none.
func (r *reader) whole(at string, v []byte, lowest int64) int64 {
	text := r.number(at, v)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		f, ferr := strconv.ParseFloat(string(text), 64) // Google's own clients write 100.0
		if ferr != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			r.wrong(at, wrongType, "must be a whole number")
			return 0
		}
		n = int64(f)
	}
	if n < lowest {
		r.wrong(at, outOfRange, "must be a whole number of at least "+strconv.FormatInt(lowest, 10))
		return 0
	}
	return n
}

func (r *reader) texts(at string, v []byte) []string {
	var out []string
	r.each(at, v, func(at string, v []byte) {
		if rawjson.IsNull(v) {
			r.wrong(at, wrongType, "must be a string")
			return
		}
		out = append(out, r.text(at, v))
	})
	return out
}

// each calls f for the elements of an array. Google takes a single element
// without the brackets, and its own examples write one so.
func (r *reader) each(at string, v []byte, f func(at string, v []byte)) {
	switch {
	case rawjson.IsNull(v):
	case v[0] != '[':
		f(at, v)
	default:
		list := rawjson.NewArray(v)
		for i := 0; list.Next(); i++ {
			f(at+"."+strconv.Itoa(i), list.Value())
		}
	}
}

// object reports whether a value is an object that is there.
func (r *reader) object(at string, v []byte) bool {
	switch {
	case rawjson.IsNull(v):
		return false
	case v[0] != '{':
		r.wrong(at, wrongType, "must be an object")
		return false
	}
	return true
}

// element reports whether an element of an array is an object.
func (r *reader) element(at string, v []byte) bool {
	if len(v) > 0 && v[0] == '{' {
		return true
	}
	r.wrong(at, wrongType, "must be an object")
	return false
}
