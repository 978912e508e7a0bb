package rawjson

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// str returns the offset after the string that starts at b[i], or -1. Bytes
// that are not UTF-8 pass, as encoding/json lets them.
func str(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	for i++; i < len(b); {
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c < 0x20:
			return -1
		case c == '\\':
			if i = escape(b, i+1); i < 0 {
				return -1
			}
		default:
			i++
		}
	}
	return -1
}

// escape skips what follows a backslash.
func escape(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	if b[i] != 'u' {
		if bytes.IndexByte([]byte(`"\/bfnrt`), b[i]) < 0 {
			return -1
		}
		return i + 1
	}
	if len(b)-i < 5 {
		return -1
	}
	for _, c := range b[i+1 : i+5] {
		if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
			return -1
		}
	}
	return i + 5
}

// IsString reports whether a value is a string.
func IsString(value []byte) bool { return len(value) > 0 && value[0] == '"' }

// IsNull reports whether a value is null, or was never there.
func IsNull(value []byte) bool { return len(value) == 0 || value[0] == 'n' }

// String returns the text of a string value, and "" for any other.
func String(value []byte) string {
	if str(value, 0) != len(value) {
		return ""
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1])
	}
	var text string
	if json.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}

// Int returns a number value as a count: whole, not negative, 0 for anything
// else.
func Int(value []byte) int64 {
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		f, ferr := strconv.ParseFloat(string(value), 64)
		if ferr != nil || f < 0 || f > 1<<53 {
			return 0
		}
		return int64(f)
	}
	return max(n, 0)
}

// Quote writes text as a JSON string.
func Quote(text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil { // a string always marshals
		return []byte(`""`)
	}
	return quoted
}

// Member returns the value of the last member called name, nil when there is
// none or the text is no sound object.
func Member(text []byte, name string) []byte {
	o := NewObject(text)
	var found []byte
	for o.Next() {
		if o.Is(name) {
			found = o.Value()
		}
	}
	if !o.OK() {
		return nil
	}
	return found
}
