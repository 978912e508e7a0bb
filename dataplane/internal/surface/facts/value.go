package facts

import (
	"encoding/json"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
)

// The kinds of violation.
const (
	wrongType = "wrong_type"
	tooLong   = "too_long"
	outOfSet  = "out_of_range"
	duplicate = "duplicate"
)

// text reads an optional string of at most limit bytes.
func (r *reader) text(path string, value []byte, limit int) string {
	if rawjson.IsNull(value) {
		return ""
	}
	text, ok := rawjson.Text(value)
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

// string reports whether an optional member is a string that is there, of any
// length.
func (r *reader) string(path string, value []byte) bool {
	switch {
	case rawjson.IsNull(value):
		return false
	case value[0] != '"':
		r.wrong(path, wrongType, "must be a string")
		return false
	}
	return true
}

// array reports whether an optional member is an array that is there.
func (r *reader) array(path string, value []byte) bool {
	switch {
	case rawjson.IsNull(value):
		return false
	case value[0] != '[':
		r.wrong(path, wrongType, "must be an array")
		return false
	}
	return true
}

// textOrArray is for what may be written as one string or in parts.
func (r *reader) textOrArray(path string, value []byte) bool {
	switch {
	case rawjson.IsNull(value):
		return false
	case value[0] != '"' && value[0] != '[':
		r.wrong(path, wrongType, "must be a string or an array")
		return false
	}
	return true
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
	if rawjson.IsNull(value) {
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
	case rawjson.IsNull(value):
		return false
	case value[0] != '{':
		r.wrong(path, wrongType, "must be an object")
		return false
	}
	return true
}

// distinct refuses an object in which a name stands twice.
func (r *reader) distinct(path string, value []byte) {
	seen := make(map[string]bool)
	for o := rawjson.NewObject(value); o.Next(); {
		name := o.Name()
		if seen[name] {
			r.wrong(path, duplicate, "must not hold anything twice")
			return
		}
		seen[name] = true
	}
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
