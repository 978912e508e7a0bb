package preset

import (
	"strconv"
	"strings"
)

// name is what a caller wrote behind the @: slug or handle/slug, and #version.
type name struct {
	handle  string // of who published it; "": the workspace's own
	slug    string
	version int // that is pinned; 0: the deployed one
}

// The longest parts of a name, in bytes. What is longer names nothing.
const (
	maxHandle = 40
	maxSlug   = 100
	maxDigits = 9
)

// parse takes a name apart, without regard to case. It lets nothing through that
// could not be a key of the bucket.
func parse(text string) (n name, ok bool) {
	n.slug = strings.ToLower(text)
	if rest, version, pinned := strings.Cut(n.slug, "#"); pinned {
		number, err := strconv.Atoi(version)
		if err != nil || number < 1 || version[0] == '+' || version[0] == '0' || len(version) > maxDigits {
			return name{}, false
		}
		n.slug, n.version = rest, number
	}
	if handle, rest, foreign := strings.Cut(n.slug, "/"); foreign {
		if !isWord(handle, maxHandle, "_-") {
			return name{}, false
		}
		n.handle, n.slug = handle, rest
	}
	return n, isWord(n.slug, maxSlug, "._:-")
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
