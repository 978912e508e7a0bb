package facts

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/tidwall/gjson"
)

// The kinds of violation.
const (
	wrongType = "wrong_type"
	tooLong   = "too_long"
	outOfSet  = "out_of_range"
)

// name decodes a member name; the usual one has no escapes.
func name(key []byte) string {
	if bytes.IndexByte(key, '\\') < 0 {
		return string(key)
	}
	quoted := make([]byte, 0, len(key)+2)
	quoted = append(append(append(quoted, '"'), key...), '"')
	text, _ := unquote(quoted)
	return text
}

func isNull(value []byte) bool { return len(value) == 4 && value[0] == 'n' }

// unquote decodes a JSON string.
func unquote(value []byte) (string, bool) {
	if len(value) < 2 || value[0] != '"' {
		return "", false
	}
	if inner := value[1 : len(value)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), true
	}
	var text string
	if json.Unmarshal(value, &text) != nil {
		return "", false
	}
	return text, true
}

// text reads an optional string of at most limit bytes.
func (r *reader) text(path string, value []byte, limit int) string {
	if isNull(value) {
		return ""
	}
	text, ok := unquote(value)
	switch {
	case !ok:
		r.wrong(path, wrongType, "must be a string")
	case len(text) > limit:
		r.wrong(path, tooLong, "must have at most "+strconv.Itoa(limit)+" bytes")
	default:
		return text
	}
	return ""
}

// flag reads an optional boolean.
func (r *reader) flag(path string, value []byte) bool {
	switch string(value) {
	case "true":
		return true
	case "false", "null":
	default:
		r.wrong(path, wrongType, "must be true or false")
	}
	return false
}

// count reads an optional whole number of at least 1.
func (r *reader) count(path string, value []byte) int64 {
	if isNull(value) {
		return 0
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	switch {
	case err != nil && (value[0] == '"' || value[0] > '9'):
		r.wrong(path, wrongType, "must be a whole number")
	case err != nil || n < 1:
		r.wrong(path, outOfSet, "must be a whole number of at least 1")
	default:
		return n
	}
	return 0
}

// object reports whether an optional member is an object that is there.
func (r *reader) object(path string, value []byte) bool {
	switch {
	case isNull(value):
		return false
	case value[0] != '{':
		r.wrong(path, wrongType, "must be an object")
		return false
	}
	return true
}

// primitives reads an object of strings, numbers and booleans; null entries
// are kept, as they compare differently from missing ones. Numbers stay as
// they were written.
func primitives(value []byte) (out map[string]any, ok bool) {
	out, ok = make(map[string]any), true
	gjson.ParseBytes(value).ForEach(func(key, entry gjson.Result) bool {
		switch entry.Type {
		case gjson.String:
			out[key.String()] = entry.String()
		case gjson.True, gjson.False:
			out[key.String()] = entry.Bool()
		case gjson.Number:
			out[key.String()] = json.Number(entry.Raw)
		case gjson.Null:
			out[key.String()] = nil
		default:
			ok = false
		}
		return ok
	})
	return out, ok
}
