package decide

import (
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// restrictions are what all rungs demand together, resolved once for all that
// filters read. No rung can lift what another demands, and the order of the
// rungs does not matter to what is left: only to whose demand is named.
type restrictions struct {
	only    []providersOf // an endpoint's provider is in each
	ignore  []providersOf // and in none of these
	regions []regionOf    // and its region within each

	// The widest rung that demands it; RungPlatform when none does.
	zdr, noTraining, parameters Rung

	maxInput, maxOutput priceOf // the lowest limit

	guards []guard // the guardrails, widest first

	preset *presetLists // of models and providers; nil: none
}

// providersOf is a list of providers as one rung gives it, never empty.
type providersOf struct {
	rung      Rung
	providers []*catalog.Provider
	off       []string // names that a saved list has of what is switched off or gone
}

type regionOf struct {
	rung   Rung
	region string
}

// priceOf is a limit with the widest rung that sets it; nil when none does.
type priceOf struct {
	rung  Rung
	limit *money.PerMillion
}

// resolve writes down what the ladder comes to. The refusal is about a name that
// cannot be resolved and must not be ignored.
func (d *decision) resolve() *fault.Error {
	// An unknown name in a request's order costs only the preference.
	for _, v := range d.prefer.listed.value.unknown {
		d.plan.Record.Degraded = append(d.plan.Record.Degraded, v.Path+": unknown provider")
	}
	d.recordLadder()
	return d.refusedBy()
}

// climbed is the ladder of an input, which is worked out unless it was before.
func (in *Input) climbed() *Ladder {
	if in.Ladder != nil {
		return in.Ladder
	}
	return Climb(in)
}

// own makes the ladder the decision's alone.
func (d *decision) own() {
	own := *d.Ladder
	d.Ladder = &own
}

// refusedBy is what no request gets past, whatever its model.
func (l *Ladder) refusedBy() *fault.Error {
	switch {
	case l.refusal != nil:
		return l.refusal
	case len(l.unknown) > 0:
		return fault.Invalid(l.unknown...).Because(fault.UnknownProviderSlug)
	}
	return l.restrictions.contradiction()
}

// contradiction refuses a request that ignores all that it allows: it asks for
// nothing, which is never meant. Where a profile has a part in that the filters
// tell.
func (have *restrictions) contradiction() *fault.Error {
	var only, ignore []*catalog.Provider
	for _, c := range have.only {
		if c.rung == RungRequest {
			only = c.providers
		}
	}
	for _, c := range have.ignore {
		if c.rung == RungRequest {
			ignore = c.providers
		}
	}
	for _, p := range only {
		if !slices.Contains(ignore, p) {
			return nil
		}
	}
	if len(only) == 0 {
		return nil
	}
	return fault.Invalid(fault.Violation{
		Path: "provider.only", Code: string(fault.ContradictoryRestrictions),
		Message: "every provider in it is in provider.ignore too, which leaves none. Remove it from one of them.",
	}).Because(fault.ContradictoryRestrictions)
}

// restrict joins the restrictions of one rung to those before it. A list with
// a name that cannot be resolved allows no more than the rest of it.
func (c *climber) restrict(r *rung) (refusal *fault.Error) {
	p, have := &r.set.Provider, &c.restrictions
	if len(p.Only) > 0 {
		list := providersOf{rung: r.name}
		refusal = c.providers(r, p.Only, "provider.only", &list, &c.unknown)
		have.only = append(have.only, list)
	}
	if len(p.Ignore) > 0 {
		list := providersOf{rung: r.name}
		e := c.providers(r, p.Ignore, "provider.ignore", &list, &c.unknown)
		have.ignore = append(have.ignore, list)
		if refusal == nil {
			refusal = e
		}
	}
	if p.Region != "" {
		have.regions = append(have.regions, regionOf{r.name, strings.ToLower(p.Region)})
	}
	demand(&have.zdr, p.RequireZDR, r.name)
	demand(&have.noTraining, p.DenyTraining, r.name)
	demand(&have.parameters, p.RequireParameters, r.name)
	have.maxInput.lower(p.MaxInputPrice, r.name)
	have.maxOutput.lower(p.MaxOutputPrice, r.name)
	return refusal
}

func demand(by *Rung, demanded bool, rung Rung) {
	if demanded && *by == RungPlatform {
		*by = rung
	}
}

func (p *priceOf) lower(limit *money.PerMillion, rung Rung) {
	if limit != nil && (p.limit == nil || *limit < *p.limit) {
		*p = priceOf{rung, limit}
	}
}

// providers resolves a rung's list into to. A request's unknown names are violations.
// What was saved named providers that were enabled then: one that is not any
// more is refused, since what else its author would have wanted is not known.
func (c *climber) providers(r *rung, names []string, path string, to *providersOf, unknown *[]fault.Violation) (refusal *fault.Error) {
	to.providers = make([]*catalog.Provider, 0, len(names))
	for i, name := range names {
		p, ok := c.in.Catalog.Provider(name)
		switch {
		case r.saved && (!ok || p.Disabled):
			to.off = append(to.off, name)
			if refusal == nil {
				refusal = r.stale(path, name)
			}
		case !ok:
			*unknown = append(*unknown, fault.Violation{
				Path: path + "[" + strconv.Itoa(i) + "]", Code: string(fault.UnknownProviderSlug),
				Message: "no provider has this name. GET /v1/providers lists them.",
			})
		case !slices.Contains(to.providers, p):
			to.providers = append(to.providers, p)
		}
	}
	return refusal
}

// stale refuses a rung whose list names a provider that may not be used.
func (r *rung) stale(path, name string) *fault.Error {
	e := fault.Newf(fault.UnsupportedModelOrEndpoint,
		"The %s names a provider in %s that is switched off or gone. "+
			"Ask a workspace admin to take it out; nothing is put in its place.", r.name.title(), path).
		Because(fault.ProfileProviderDisabled).
		With("provider", clip(name)).With("field", path).With("rung", r.name.String())
	if r.profile != nil {
		e = e.With("profile", r.profile.ID.String())
	}
	return e
}

// title is how an error speaks of a rung: "the" goes before it.
func (r Rung) title() string {
	switch r {
	case RungWorkspace:
		return "workspace's settings"
	case RungWorkspaceProfile:
		return "workspace's routing profile"
	case RungDepartment:
		return "routing profile of the key's department"
	case RungKey:
		return "key's routing profile"
	case RungPreset:
		return "preset"
	case RungRoute:
		return "key's dynamic route"
	case RungWorkspaceGuardrail:
		return "workspace's guardrail"
	case RungMemberGuardrail:
		return "guardrail of the key's owner"
	case RungKeyGuardrail:
		return "key's guardrail"
	case RungPlatform, RungRequest, RungSuffix:
	}
	return r.String()
}

// excluding returns the first rung whose only or ignore excludes a provider,
// and the field.
func (have *restrictions) excluding(p *catalog.Provider) (Rung, string) {
	o := catalog.Offer{Provider: p}
	if by := have.outside(&o); by != RungPlatform {
		return by, "provider.only"
	}
	for _, c := range have.ignore {
		if slices.Contains(c.providers, p) {
			return c.rung, "provider.ignore"
		}
	}
	return RungPlatform, ""
}

// outside is the widest rung whose only lacks an endpoint's provider.
func (have *restrictions) outside(o *catalog.Offer) Rung {
	for i := range have.only {
		if !slices.Contains(have.only[i].providers, o.Provider) {
			return have.only[i].rung
		}
	}
	return RungPlatform
}

// ignoring is the widest rung whose ignore drops an endpoint. An aggregator
// picks a provider of its own, and may pick the ignored one.
func (have *restrictions) ignoring(o *catalog.Offer) Rung {
	for i := range have.ignore {
		if o.Provider.Aggregator || slices.Contains(have.ignore[i].providers, o.Provider) {
			return have.ignore[i].rung
		}
	}
	return RungPlatform
}

// tooDear is the rung of the limit that an endpoint's price breaks, or cannot
// be held against.
func (have *restrictions) tooDear(o *catalog.Offer, tokens int64) Rung {
	p := pricesOf(o, tokens)
	if _, reason := p.within(p.in, have.maxInput.limit); reason != "" {
		return have.maxInput.rung
	}
	return have.maxOutput.rung
}
