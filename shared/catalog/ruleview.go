package catalog

import (
	"strconv"

	"github.com/signalbox-dev/signalbox/shared/condition"
)

// CompiledRule is a rule ready to be evaluated; frozen.
type CompiledRule struct {
	Name    string
	Targets []CompiledTarget // in the order in which they are tried; never empty
	when    *condition.Program
}

// Matches reports whether a request meets the rule's condition.
func (r *CompiledRule) Matches(f condition.Facts) bool { return r.when.Holds(f) }

// CompiledTarget is a target with the endpoints that it leaves.
type CompiledTarget struct {
	Model      *Model
	Offers     []Offer
	Credential Credential
}

// Rules are the model's rules in order, without those that are switched off.
// The model must be one that this view returned.
func (v *View) Rules(m *Model) []CompiledRule { return v.rules[m] }

// addRules compiles the rules of a model. Every model and provider is in
// place, and Check has found nothing wrong.
func (v *View) addRules(m *Model) {
	for i := range m.Rules {
		r := &m.Rules[i]
		if r.Disabled {
			continue
		}
		program, err := condition.Compile(r.When, RuleSources()...)
		if err != nil {
			continue // Check has refused it: such a rule never matches
		}
		c := CompiledRule{Name: r.Name, when: program}
		for j, t := range r.Then.Targets() {
			c.Targets = append(c.Targets, v.ruleTarget(m, r.Name, j, &t))
		}
		v.rules[m] = append(v.rules[m], c)
	}
}

// ruleTarget finds the endpoints that the n-th target of a rule leaves. One
// that asks for another upstream model is an endpoint of its own, so that what
// is measured there does not count for the other.
func (v *View) ruleTarget(own *Model, rule string, n int, t *Target) CompiledTarget {
	c := CompiledTarget{Model: own, Credential: t.Credential}
	if t.Model != "" {
		c.Model = v.models[t.Model]
	}
	if t.Provider == "" {
		c.Offers = v.offers[c.Model]
		return c
	}
	p := v.providers[t.Provider]
	for _, i := range c.Model.endpointsAt(t.Provider, t.Region) {
		e := &c.Model.Endpoints[i]
		if t.UpstreamModel != "" {
			e = v.renamed(*e, own, rule, n, t.UpstreamModel)
		}
		c.Offers = append(c.Offers, v.offerOf(c.Model, e, p))
	}
	if len(c.Offers) == 0 {
		bare := Endpoint{ID: EndpointID(p.Slug, c.Model.ID, t.Region), Provider: p.Slug, Region: t.Region}
		c.Offers = []Offer{v.offerOf(c.Model, v.renamed(bare, own, rule, n, t.UpstreamModel), p)}
	}
	return c
}

func (v *View) offerOf(m *Model, e *Endpoint, p *Provider) Offer {
	o := Offer{Model: m, Endpoint: e, Provider: p}
	v.endpoints[e.ID] = o
	return o
}

// renamed is an endpoint that asks for another upstream model. Its id names
// the rule, and the rule's model where that is another one.
func (v *View) renamed(e Endpoint, own *Model, rule string, n int, upstream string) *Endpoint {
	e.UpstreamModel = upstream
	e.ID += "~" + rule
	if n > 0 {
		e.ID += "." + strconv.Itoa(n)
	}
	if taken, ok := v.endpoints[e.ID]; ok && taken.Endpoint.UpstreamModel != upstream {
		e.ID += "~" + own.ID // a rule of the same name on another model
	}
	return &e
}
