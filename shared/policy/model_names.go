package policy

import "strings"

// ModelNames are the entries of a list of models. Ids stand apart from
// patterns: what they name takes one look-up, however many there are.
type ModelNames struct {
	ids      map[string]struct{}
	patterns []string
}

// NamesOf splits a list. A name without a slash is about the bare name, and a
// pattern as those with * are.
func NamesOf(list []string) *ModelNames {
	n := &ModelNames{}
	for _, entry := range list {
		if strings.IndexByte(entry, '/') < 0 || strings.IndexByte(entry, '*') >= 0 {
			n.patterns = append(n.patterns, entry)
			continue
		}
		if n.ids == nil {
			n.ids = make(map[string]struct{}, len(list))
		}
		n.ids[entry] = struct{}{}
	}
	return n
}

// Empty reports whether nothing is listed.
func (n *ModelNames) Empty() bool { return len(n.ids)+len(n.patterns) == 0 }

// Lists reports whether an id is an entry.
func (n *ModelNames) Lists(model string) bool {
	_, ok := n.ids[model]
	return ok
}

// Patterns are the entries that are not ids.
func (n *ModelNames) Patterns() []string { return n.patterns }
