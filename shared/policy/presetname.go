package policy

import (
	"strconv"
	"strings"
)

// PresetName is what is written behind the @: slug or handle/slug, and #version.
type PresetName struct {
	Handle  string // of who published it; "": the workspace's own
	Slug    string
	Version int // that is pinned; 0: the deployed one
}

// The longest parts of a name, in bytes. What is longer names nothing.
const (
	maxHandle = 40
	maxSlug   = 100
	maxDigits = 9
)

// ParsePresetName takes a name apart, without regard to case. It lets nothing
// through that could not be part of a document's key.
func ParsePresetName(text string) (n PresetName, ok bool) {
	n.Slug = strings.ToLower(text)
	if rest, version, pinned := strings.Cut(n.Slug, "#"); pinned {
		number, err := strconv.Atoi(version)
		if err != nil || number < 1 || version[0] == '+' || version[0] == '0' || len(version) > maxDigits {
			return PresetName{}, false
		}
		n.Slug, n.Version = rest, number
	}
	if handle, rest, foreign := strings.Cut(n.Slug, "/"); foreign {
		if !isWord(handle, maxHandle, "_-") {
			return PresetName{}, false
		}
		n.Handle, n.Slug = handle, rest
	}
	return n, isWord(n.Slug, maxSlug, "._:-")
}

// isWord reports a text of letters, digits and marks that begins with none of
// the marks.
func isWord(text string, most int, marks string) bool {
	if text == "" || len(text) > most || strings.IndexByte(marks, text[0]) >= 0 {
		return false
	}
	for i := range len(text) {
		c := text[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && strings.IndexByte(marks, c) < 0 {
			return false
		}
	}
	return true
}
