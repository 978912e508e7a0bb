package routing

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Names is what a graph may name of a catalog. It implements flow.Names.
type Names struct {
	offered *catalog.View
	now     time.Time
	shelf   *Shelf
}

// NewNames returns the names of what is offered at now, and of presets.
func NewNames(offered *catalog.View, now time.Time, shelf *Shelf) *Names {
	return &Names{offered: offered, now: now, shelf: shelf}
}

// Within returns the same names for use within a transaction of ws. Presets of
// others stand as n was told of them before.
func (n *Names) Within(ctx context.Context, presets Presets, ws id.Workspace) *Names {
	return NewNames(n.offered, n.now, n.shelf.within(ctx, presets, ws))
}

// Err is why a name could not be looked up; what was said is then worth nothing.
func (n *Names) Err() error { return n.shelf.Err() }

// Model implements flow.Names.
func (n *Names) Model(text string) flow.Standing {
	name, refusal := decide.ParseName(text)
	if refusal != nil {
		return flow.BadName
	}
	if name.Preset != "" {
		return n.shelf.Standing(name.Preset)
	}
	if name.Provider != "" {
		if standing := n.Provider(name.Provider); standing != flow.Known {
			return standing
		}
	}
	found := n.offered.Resolve(name.Model)
	switch {
	case len(found) == 0:
		return flow.Missing
	case len(found) > 1:
		return flow.Unclear
	}
	return n.standing(found[0])
}

func (n *Names) standing(m *catalog.Model) flow.Standing {
	switch m.StateAt(n.now) {
	case catalog.Retired:
		return flow.Retires
	case catalog.Deprecated:
		return flow.Deprecates
	default:
		return flow.Known
	}
}

// Provider implements flow.Names.
func (n *Names) Provider(slug string) flow.Standing {
	p, ok := n.offered.Provider(slug)
	switch {
	case !ok:
		return flow.Missing
	case p.Disabled:
		return flow.SwitchedOff
	default:
		return flow.Known
	}
}

// Region implements flow.Names.
func (n *Names) Region(name string) flow.Standing {
	if inRegion(n.offered, strings.ToLower(name)) {
		return flow.Known
	}
	return flow.Missing
}

// Surfaces implements flow.Names.
func (n *Names) Surfaces() []string {
	all := catalog.Surfaces()
	list := make([]string, len(all))
	for i, s := range all {
		list[i] = string(s)
	}
	return list
}

// inRegion reports whether some provider of the catalog can serve in a region,
// which is in lower case.
func inRegion(offered *catalog.View, region string) bool {
	for _, one := range offered.Providers() {
		if slices.ContainsFunc(one.Regions, func(r string) bool { return decide.InRegion(r, region) }) {
			return true
		}
	}
	for _, m := range offered.Models() {
		if slices.ContainsFunc(m.Endpoints, func(e catalog.Endpoint) bool { return decide.InRegion(e.Region, region) }) {
			return true
		}
	}
	return false
}
