package decide

import (
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Allows is how the patterns of a key or a credential match a model, for those
// who look at one outside of a decision. None allow every model.
func Allows(patterns []string, m *catalog.Model) bool { return allows(patterns, m) }

// allows matches a model against a key's patterns. A pattern without a slash
// is about the bare name; * stands for any text.
func allows(patterns []string, m *catalog.Model) bool {
	if len(patterns) == 0 {
		return true
	}
	for _, pattern := range patterns {
		if Matches(pattern, m) {
			return true
		}
	}
	return false
}

// Matches reports whether one pattern of a list of models, as keys and
// signalbox/auto have them, names a model.
func Matches(pattern string, m *catalog.Model) bool {
	p := policy.PatternOf(pattern)
	return p.Matches(m.ID, m.BareName())
}
