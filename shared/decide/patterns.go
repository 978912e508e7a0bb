package decide

import "github.com/signalbox-dev/signalbox/shared/catalog"

// Allows is how the patterns of a key or a credential match a model, for those
// who look at one outside of a decision. None allow every model.
func Allows(patterns []string, m *catalog.Model) bool { return allows(patterns, m) }
