package decide

import (
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// Usable returns the endpoints of a model of in.Catalog that could serve a
// request with these facts on each of the surfaces, whatever in.Facts.Surface
// says: those that every filter lets pass, in the catalog's order. Discovery
// lists what it returns for a request that asks for nothing in particular. What
// binds the request is held against the model once for all surfaces, and
// in.Ladder spares it working the ladder out for each model. Where an operator's
// rule decides such a request, they are the rule's.
func Usable(in Input, m *catalog.Model, surfaces []catalog.Surface) [][]catalog.Offer {
	if in.Policy == nil || in.Catalog == nil {
		return make([][]catalog.Offer, len(surfaces))
	}
	d := decision{in: &in, settings: in.Policy.Settings()}
	if d.Ladder = in.climbed(); d.refusedBy() != nil {
		return make([][]catalog.Offer, len(surfaces))
	}
	return d.usableOn(m, surfaces)
}

// usableOn is a decision for each surface. Each goes on with what those before
// it came to know of the model.
func (d *decision) usableOn(m *catalog.Model, surfaces []catalog.Surface) [][]catalog.Offer {
	usable := make([][]catalog.Offer, len(surfaces))
	for i, s := range surfaces {
		in, one := *d.in, *d
		in.Facts.Surface, one.in = s, &in
		usable[i] = one.usable(m)
		d.permissions = one.permissions
	}
	return usable
}

func (d *decision) usable(m *catalog.Model) (usable []catalog.Offer) {
	t := d.about(target{}, m)
	if rule := d.ruleOf(m); rule != nil {
		for _, group := range d.ruleSteps(&t, rule) {
			for _, r := range group.pool {
				usable = append(usable, *r.offer)
			}
		}
		return usable
	}
	offers := d.in.Catalog.Offers(m)
	for i := range offers {
		if d.exclude(&t, &offers[i]).reason == "" {
			usable = append(usable, offers[i])
		}
	}
	return usable
}
