package rawjson

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// IsString reports whether a value is a string.
func IsString(value []byte) bool { return len(value) > 0 && value[0] == '"' }

// IsNull reports whether a value is null, or was never there.
func IsNull(value []byte) bool { return len(value) == 0 || value[0] == 'n' }

// Text returns the text of a string value. The second result is false for any
// other.
func Text(value []byte) (string, bool) {
	s := scanner{b: value}
	if !s.at('"') || !s.text() || s.i != len(value) {
		return "", false
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1]), true
	}
	var text string
	if json.Unmarshal(value, &text) != nil {
		return "", false
	}
	return text, true
}

// String returns the text of a string value, and "" for any other.
func String(value []byte) string {
	text, _ := Text(value)
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

// isPlain reports that a text stands in JSON as it is, by encoding/json's rules
// too.
func isPlain(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' || c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}

// Quote writes text as a JSON string.
func Quote(text string) []byte {
	if isPlain(text) {
		quoted := make([]byte, 0, len(text)+2)
		return append(append(append(quoted, '"'), text...), '"')
	}
	quoted, err := json.Marshal(text)
	if err != nil { // a string always marshals
		return []byte(`""`)
	}
	return quoted
}
