package policy

import "strings"

// The bounds of patterns. What a request costs rises with all that bind it, and
// each is matched against every model of the catalog.
const (
	MaxPatternStars       = 8     // of one pattern, whose runs of * count as one
	MaxGuardrailPatterns  = 1_000 // in all lists of models of a workspace's guardrails
	MaxCredentialPatterns = 1_000 // in all scopes of a workspace's credentials
)

// Pattern is an entry of a list of models, compiled: an id or a bare name, or
// one in which * stands for any text. Without a slash it is about the bare name.
type Pattern struct {
	text string
	// Lengths of what a name begins and ends with, and of all that it has at
	// least. They are small: a request goes through many patterns.
	prefix, suffix, literal int32
	bare                    bool
}

// PatternOf compiles an entry.
func PatternOf(text string) Pattern {
	text = CollapseStars(text)
	size, stars := len(text), strings.Count(text, "*")
	p := Pattern{text: text, prefix: int32(size), suffix: int32(size), literal: int32(size - stars), bare: strings.IndexByte(text, '/') < 0}
	if stars > 0 {
		p.prefix, p.suffix = int32(strings.IndexByte(text, '*')), int32(size-1-strings.LastIndexByte(text, '*'))
	}
	return p
}

// Matches reports whether the entry is about the model with an id and a bare
// name. Most are told apart by how they begin and end, or how long they are.
func (p *Pattern) Matches(id, bare string) bool {
	name := id
	if p.bare {
		name = bare
	}
	return len(name) >= int(p.literal) && strings.HasPrefix(name, p.text[:p.prefix]) &&
		strings.HasSuffix(name, p.text[len(p.text)-int(p.suffix):]) && matches(p.text, name)
}

// matches takes at most the text's length of steps for each character of the
// subject: after a mismatch only the last star is widened.
func matches(pattern, subject string) bool {
	p, s, star, mark := 0, 0, -1, 0
	for s < len(subject) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, s
			p++
		case p < len(pattern) && pattern[p] == subject[s]:
			p, s = p+1, s+1
		case star >= 0:
			mark++
			p, s = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// CollapseStars makes one * of each run, which says the same.
func CollapseStars(text string) string {
	if !strings.Contains(text, "**") {
		return text
	}
	var out strings.Builder
	for i := range len(text) {
		if text[i] != '*' || i == 0 || text[i-1] != '*' {
			out.WriteByte(text[i])
		}
	}
	return out.String()
}

// Collapsed is a list with one * for each run; nil stays nil.
func Collapsed(list []string) []string {
	if list == nil {
		return nil
	}
	out := make([]string, len(list))
	for i, text := range list {
		out[i] = CollapseStars(text)
	}
	return out
}

// Patterns counts the entries of lists that are matched one by one: those with *.
func Patterns(lists ...[]string) (n int) {
	for _, list := range lists {
		for _, text := range list {
			if strings.IndexByte(text, '*') >= 0 {
				n++
			}
		}
	}
	return n
}
