package decide

import "github.com/signalbox-dev/signalbox/shared/catalog"

// Known is Usable by a decision that knows already, whatever the lists say, that
// the key may not have the model, nor any credential.
func Known(in Input, m *catalog.Model, surfaces []catalog.Surface) [][]catalog.Offer {
	d := decision{in: &in, settings: in.Policy.Settings(), permissions: permissions{
		models: map[*catalog.Model]permission{m: {}}, scopes: map[scope]bool{},
	}}
	d.Ladder = in.climbed()
	for _, c := range in.Policy.Credentials(in.Catalog.Offers(m)[0].Provider.Slug) {
		d.permissions.scopes[scope{c, m}] = false
	}
	return d.usableOn(m, surfaces)
}

// Rejected is the refusal that a reject node asks for.
var Rejected = rejected

// Permissions is of how many models a decision on some surfaces came to know what
// the lists of the key and the guardrails say, and what scopes of credentials do.
func Permissions(in Input, surfaces []catalog.Surface) (models, scopes int) {
	d := decision{in: &in, settings: in.Policy.Settings()}
	d.Ladder = in.climbed()
	all := in.Catalog.Models()
	for i := range all {
		d.usableOn(&all[i], surfaces)
	}
	return len(d.permissions.models), len(d.permissions.scopes)
}
