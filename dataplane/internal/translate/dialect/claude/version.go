// Package claude owns what the models of the Claude family take by their
// generation, whichever API they are reached through: how they are told to
// think, and which sampling parameters they refuse. It knows no wire format.
//
// https://platform.claude.com/docs/en/build-with-claude/thinking and
// https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking
package claude

import "strings"

// Version is a generation of the family, as in "claude-opus-4-6". The zero
// value is a model that does not say, or is no Claude: it is taken for one that
// knows all that the API has had from its start.
type Version struct{ Major, Minor int }

var (
	v41 = Version{4, 1}
	v45 = Version{4, 5}
	v46 = Version{4, 6} // adaptive thinking and effort
	v47 = Version{4, 7} // no thinking budgets and no sampling parameters any more
)

// VersionOf reads the generation out of a model's name, with the numbers
// before or behind the name of the kind: "claude-3-7-sonnet-20250219",
// "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-opus-4.6".
func VersionOf(model string) Version {
	_, rest, found := strings.Cut(strings.ToLower(model), "claude")
	if !found {
		return Version{}
	}
	words := strings.FieldsFunc(rest, func(r rune) bool {
		return r == '-' || r == '.' || r == '@' || r == ':' || r == '_' || r == '/'
	})
	for i, w := range words {
		major, ok := small(w)
		if !ok {
			continue
		}
		v := Version{Major: major}
		if i+1 < len(words) {
			v.Minor, _ = small(words[i+1])
		}
		return v
	}
	return Version{}
}

// small reads a number of one or two digits: a longer one is a date.
func small(word string) (int, bool) {
	if word == "" || len(word) > 2 {
		return 0, false
	}
	n := 0
	for _, c := range word {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, true
}

// HasSchemas reports whether the generation can be held to a JSON schema. One
// that does not say is taken to.
func (v Version) HasSchemas() bool { return !v.known() || v == v41 || v.atLeast(v45) }

func (v Version) known() bool { return v != Version{} }

func (v Version) atLeast(o Version) bool {
	return v.Major > o.Major || v.Major == o.Major && v.Minor >= o.Minor
}
