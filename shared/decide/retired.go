package decide

import (
	"slices"

	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// gone reports whether a model was retired and nothing serves it any more,
// whatever a request asks. One that a rule decides about is served by what the
// rule names, so that it is only gone when no demand took that away.
func (d *decision) gone(t *target) bool {
	if t.model.StateAt(d.in.Facts.Now) != catalog.Retired {
		return false
	}
	if d.ruled {
		return d.tally.present == 0
	}
	offers := d.in.Catalog.Offers(t.model)
	for i := range offers {
		o := &offers[i]
		if o.Provider.Disabled || o.Endpoint.Disabled {
			continue
		}
		if _, reason := d.excludeByAccess(t, o); reason == "" {
			return false
		}
	}
	return true
}

// withReplacement puts the replacement of a model that is gone after the
// request's own models, where the workspace wants that: of the first model, of a
// fallback, and of a replacement that was retired too. One that is in the chain
// already is not put there again, so that replacements which name each other
// come to an end.
func (d *decision) withReplacement(links []link, of int, m *catalog.Model) []link {
	if m == nil || !d.settings.RetiredRouting || m.Lifecycle.Replacement == "" {
		return links
	}
	replacement := d.replacement(&links[of], m)
	if slices.ContainsFunc(links, func(l link) bool { return l.name == replacement.name && l.preset == replacement.preset }) {
		return links
	}
	at := of + 1
	for at < len(links) && (links[at].caller || links[at].replaced) {
		at++
	}
	return slices.Insert(links, at, replacement)
}

// replacement names a model's replacement as the model was named: at the same
// provider, with the same suffix, and at no cost where the model had none.
func (d *decision) replacement(of *link, m *catalog.Model) link {
	to := link{name: m.Lifecycle.Replacement, reason: SwitchRetired, rung: RungWorkspace, gratis: of.gratis || m.Free(), walk: of.walk, preset: of.preset}
	if _, there := d.in.Catalog.Model(to.name + catalog.FreeSuffix); to.gratis && there {
		to.name += catalog.FreeSuffix
	}
	to.name = renamed(of.name, to.name)
	to.said = to.name
	return to
}
