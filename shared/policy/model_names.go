package policy

import "strings"

// ModelNames are the entries of a list of models, compiled. Ids and bare names
// stand apart from patterns: what they name takes one look-up, however many
// there are.
type ModelNames struct {
	ids, bare map[string]struct{} // by what is listed: a bare name has no slash
	patterns  []Pattern
}

// NamesOf compiles a list.
func NamesOf(list []string) *ModelNames {
	n := &ModelNames{}
	for _, entry := range list {
		switch {
		case strings.IndexByte(entry, '*') >= 0:
			n.patterns = append(n.patterns, PatternOf(entry))
		case strings.IndexByte(entry, '/') < 0:
			n.bare = with(n.bare, entry, len(list))
		default:
			n.ids = with(n.ids, entry, len(list))
		}
	}
	return n
}

func with(set map[string]struct{}, entry string, room int) map[string]struct{} {
	if set == nil {
		set = make(map[string]struct{}, room)
	}
	set[entry] = struct{}{}
	return set
}

// Empty reports whether nothing is listed.
func (n *ModelNames) Empty() bool { return len(n.ids)+len(n.bare)+len(n.patterns) == 0 }

// List reports whether an entry is about the model with an id and a bare name.
func (n *ModelNames) List(id, bare string) bool {
	if _, ok := n.ids[id]; ok {
		return true
	}
	if _, ok := n.bare[bare]; ok {
		return true
	}
	for i := range n.patterns {
		if n.patterns[i].Matches(id, bare) {
			return true
		}
	}
	return false
}
