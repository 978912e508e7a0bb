package decide

import (
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// Usable returns the endpoints of a model of in.Catalog that could serve a
// request with these facts, in the catalog's order: those that every filter
// lets pass. Discovery lists what it returns for a request that asks for
// nothing in particular; in.Ladder spares it working the ladder out for each model
// and surface. Where an operator's rule decides such a request, they
// are the rule's.
func Usable(in Input, m *catalog.Model) []catalog.Offer {
	if in.Policy == nil || in.Catalog == nil {
		return nil
	}
	d := decision{in: &in, settings: in.Policy.Settings()}
	if d.take(&in); d.refusedBy() != nil {
		return nil
	}
	t := d.about(target{}, m)
	var out []catalog.Offer
	if rule := d.ruleOf(m); rule != nil {
		for _, group := range d.ruleSteps(&t, rule) {
			for _, r := range group.pool {
				out = append(out, *r.offer)
			}
		}
		return out
	}
	offers := in.Catalog.Offers(m)
	for i := range offers {
		if d.exclude(&t, &offers[i]).reason == "" {
			out = append(out, offers[i])
		}
	}
	return out
}
