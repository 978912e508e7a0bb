package condition

import (
	"strings"
	"unicode/utf8"
)

// fold is a text as tests compare it.
func fold(s string) string { return strings.ToLower(s) }

// deciding is how many bytes of a text decide whether it begins or ends with a
// folded one; one rune more than that needs may be cut in two.
func deciding(folded string) int { return utf8.UTFMax * (len(folded) + 1) }

// The three below compare fold(have) with a folded text, and make no other text
// of have where the bytes that decide are ASCII, nor ever one of all of a long
// have: a rune of at most utf8.UTFMax bytes folds to at least one.

func sameFolded(have, folded string) bool {
	if len(have) > deciding(folded) {
		return false
	}
	for i := range len(have) {
		switch {
		case have[i] >= utf8.RuneSelf:
			return fold(have) == folded
		case i >= len(folded) || lower(have[i]) != folded[i]:
			return false
		}
	}
	return len(have) == len(folded)
}

func startsFolded(have, folded string) bool {
	for i := range len(folded) {
		switch {
		case i >= len(have):
			return false
		case have[i] >= utf8.RuneSelf:
			return strings.HasPrefix(fold(have[:min(len(have), deciding(folded))]), folded)
		case lower(have[i]) != folded[i]:
			return false
		}
	}
	return true
}

func endsFolded(have, folded string) bool {
	for i := 1; i <= len(folded); i++ {
		switch at := len(have) - i; {
		case at < 0:
			return false
		case have[at] >= utf8.RuneSelf:
			return strings.HasSuffix(fold(have[max(0, len(have)-deciding(folded)):]), folded)
		case lower(have[at]) != folded[len(folded)-i]:
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
