package api

import (
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox-dev/signalbox/shared/fault"
)

// misnamed is a violation about a name from the input, which lies in the object
// at parent. The name is repeated when it looks like one of the contract, or
// is one of known but for the case of its letters: anything else may be a key
// that slipped to the wrong side of a colon.
func misnamed(parent, name string, known []string, code, message string) fault.Violation {
	const longest = 32
	plain := len(name) <= longest && !strings.ContainsFunc(name, func(r rune) bool { return r != '_' && (r > unicode.MaxASCII || !unicode.IsLower(r)) })
	if !plain && !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
		return fault.Violation{Path: parent, Code: code, Message: message + "; its name does not look like one, and is not repeated"}
	}
	return fault.Violation{Path: join(parent, name), Code: code, Message: message}
}
