package catalog

import (
	"slices"
	"strings"
)

// View is a catalog compiled for reading: every look-up that routing makes is
// one map access. It is frozen; callers must not change what it returns.
type View struct {
	catalog   Catalog
	models    map[string]*Model // by canonical id
	aliases   map[string]*Model
	bare      map[string][]*Model // by the part after the slash
	providers map[string]*Provider
	endpoints map[string]Offer
	offers    map[*Model][]Offer
	rules     map[*Model][]CompiledRule
	free      []*Model
}

// Offer is an endpoint with what it belongs to.
type Offer struct {
	Model    *Model
	Endpoint *Endpoint
	Provider *Provider
}

// Compile checks a catalog and builds its view. The error is Problems and
// lists everything that is wrong.
func Compile(c Catalog) (*View, error) {
	if problems := Check(c); len(problems) > 0 {
		return nil, problems
	}
	v := &View{
		catalog:   c,
		models:    make(map[string]*Model, len(c.Models)),
		aliases:   make(map[string]*Model),
		bare:      make(map[string][]*Model, len(c.Models)),
		providers: make(map[string]*Provider, len(c.Providers)),
		endpoints: make(map[string]Offer),
		offers:    make(map[*Model][]Offer, len(c.Models)),
		rules:     make(map[*Model][]CompiledRule),
	}
	// The view owns its slices, so that sorting never reorders the caller's.
	v.catalog.Providers = slices.Clone(c.Providers)
	v.catalog.Models = slices.Clone(c.Models)
	slices.SortFunc(v.catalog.Providers, func(a, b Provider) int { return strings.Compare(a.Slug, b.Slug) })
	slices.SortFunc(v.catalog.Models, func(a, b Model) int { return strings.Compare(a.ID, b.ID) })
	for i := range v.catalog.Providers {
		p := &v.catalog.Providers[i]
		v.providers[p.Slug] = p
		for _, alias := range p.Aliases {
			v.providers[strings.ToLower(alias)] = p
		}
	}
	for i := range v.catalog.Models {
		v.addModel(&v.catalog.Models[i])
	}
	for i := range v.catalog.Models {
		v.addRules(&v.catalog.Models[i])
	}
	return v, nil
}

func (v *View) addModel(m *Model) {
	v.models[m.ID] = m
	for _, alias := range m.Aliases {
		v.aliases[alias] = m
	}
	if m.Free() {
		v.free = append(v.free, m)
	}
	m.Endpoints = slices.Clone(m.Endpoints)
	name := m.BareName()
	v.bare[name] = append(v.bare[name], m)
	offers := make([]Offer, len(m.Endpoints))
	for i := range m.Endpoints {
		e := &m.Endpoints[i]
		offers[i] = Offer{Model: m, Endpoint: e, Provider: v.providers[e.Provider]}
		v.endpoints[e.ID] = offers[i]
	}
	v.offers[m] = offers
}

// Revision is the revision that a request pins.
func (v *View) Revision() int64 { return v.catalog.Revision }

// Model returns the model with this canonical id.
func (v *View) Model(canonicalID string) (*Model, bool) {
	m, ok := v.models[canonicalID]
	return m, ok
}

// Resolve finds the models that a caller may mean by name: a canonical id, an
// alias, or a bare model name. One match is an answer; several are ambiguous
// and sorted by id; none is unknown. The result is shared and must not be
// changed.
func (v *View) Resolve(name string) []*Model {
	if m, ok := v.models[name]; ok {
		return []*Model{m}
	}
	if m, ok := v.aliases[name]; ok {
		return []*Model{m}
	}
	return v.bare[name]
}

// Provider returns the provider with this slug or alias, in any case.
func (v *View) Provider(slug string) (*Provider, bool) {
	if p, ok := v.providers[slug]; ok {
		return p, true
	}
	p, ok := v.providers[strings.ToLower(slug)]
	return p, ok
}

// Endpoint returns the endpoint with this id.
func (v *View) Endpoint(endpointID string) (Offer, bool) {
	o, ok := v.endpoints[endpointID]
	return o, ok
}

// Offers returns a model's endpoints in the catalog's order. The model must
// be one that this view returned.
func (v *View) Offers(m *Model) []Offer { return v.offers[m] }

// FreeModels are the models whose id ends in :free, sorted by id.
func (v *View) FreeModels() []*Model { return v.free }

// Providers are all providers, sorted by slug.
func (v *View) Providers() []Provider { return v.catalog.Providers }

// Models are all models, sorted by id.
func (v *View) Models() []Model { return v.catalog.Models }

// Page returns up to limit models that keep accepts, with ids after the given
// one, and the id to go on after, or "" at the end. A nil keep accepts all.
func (v *View) Page(after string, limit int, keep func(*Model) bool) (page []*Model, next string) {
	all := v.catalog.Models
	start, found := slices.BinarySearchFunc(all, after, func(m Model, id string) int {
		return strings.Compare(m.ID, id)
	})
	if found {
		start++
	}
	for i := start; i < len(all); i++ {
		if keep != nil && !keep(&all[i]) {
			continue
		}
		if len(page) == limit {
			return page, page[limit-1].ID
		}
		page = append(page, &all[i])
	}
	return page, ""
}
