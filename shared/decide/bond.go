package decide

import "github.com/signalbox-dev/signalbox/shared/catalog"

// bond is what the caller's name of a model says beyond the model: that one
// provider serves it, that it costs nothing. What the caller did not name, the
// ladder's fallback models and the replacement of a retired model, is held to it
// as well, or a name would promise what its fallbacks break.
type bond struct {
	provider *catalog.Provider // nil: any
	gratis   bool
}

// hold ties the chain's first entry to what the caller said of it, or a later one
// to the first. It is false for an entry at another provider.
func (d *decision) hold(l *link, t *target, first bool) bool {
	t.gratis = t.gratis || l.gratis
	switch {
	case first && (!l.caller || l.rung != RungRequest && l.rung != RungPreset): // the route's, the ladder's own, or a session's
	case first:
		d.bond = bond{provider: t.provider, gratis: t.anyFree || t.model != nil && t.model.Free()}
	case l.caller: // named too
	case l.rung == RungPreset: // by who named the first one, too
	default:
		t.gratis = t.gratis || d.bond.gratis
		if t.provider == nil {
			t.provider = d.bond.provider
		}
		return d.bond.provider == nil || t.provider == d.bond.provider
	}
	return true
}
