package decide

import (
	"slices"
	"strconv"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Effective is what the policy ladder comes to.
type Effective struct {
	// Routing holds the values. Its Provider.Only is what all rungs' lists have
	// in common, Ignore what any of them lists; both hold canonical slugs. Auto
	// says that the default model is signalbox/auto.
	Routing policy.Routing
	// Regions must all hold; Routing.Provider.Region is the first of them.
	Regions []string
	// Nothing says that the rungs' lists have no provider in common: an empty
	// Routing.Provider.Only then allows none, where it else allows all.
	Nothing bool
	// Guardrails bind the request beside the ladder. What they say of providers
	// and data is in Routing; what they say of models is in Fields alone.
	Guardrails []policy.BoundGuardrail
	// Fields are the values that some rung sets, as decision records show them
	// but whole, however long the lists are, and after them what the platform adds. A restriction that several rungs
	// list is there once for each.
	Fields []ResolvedField
}

// ResolveEffective is what holds for a request of this key that says nothing
// itself: the ladder without the rungs of presets, requests and dynamic routes, which
// depend on the request. The
// refusal is what such a request would get for the ladder alone (a profile
// that is not there, or one that names a provider which is switched off);
// what was resolved until then is there beside it. Nothing else that could
// refuse a request is looked at. KeyFacts may be empty: the workspace's own.
// Without a policy or a catalog nothing is known.
func ResolveEffective(p *policy.View, c *catalog.View, key KeyFacts) (Effective, *fault.Error) {
	if p == nil || c == nil {
		return Effective{}, undetermined()
	}
	in := Input{Policy: p, Catalog: c, Facts: Facts{Key: key}}
	d := decision{in: &in, settings: p.Settings(), whole: true}
	d.Ladder = in.climbed()
	refusal := d.resolve()
	return d.effective(), refusal
}

func (d *decision) effective() Effective {
	p, have := &d.prefer, &d.restrictions
	out := Effective{Routing: policy.Routing{
		FallbackModels: p.fallbackModels.value, Mode: p.order.value.mode, Affinity: &p.affinity.value, Retries: p.retries.value,
		Timeouts: policy.Timeouts{FirstByte: p.firstByte.value, Request: p.request.value},
		Provider: policy.Preferences{
			Order: slugsOf(p.listed.value.providers), AllowFallbacks: &p.allowFallbacks.value, CacheAware: &p.cacheAware.value,
			PreferredMaxLatency: p.maxLatency.value, PreferredMinThroughput: p.minThroughput.value,
			RequireZDR: have.zdr != RungPlatform, DenyTraining: have.noTraining != RungPlatform, RequireParameters: have.parameters != RungPlatform,
			MaxInputPrice: copied(have.maxInput.limit), MaxOutputPrice: copied(have.maxOutput.limit),
		},
	}}
	if p.order.value.fixed {
		out.Routing.Provider.Sort = p.order.value.mode
	}
	if p.defaultModel.value == catalog.AutoModel {
		out.Routing.Auto = true
	} else {
		out.Routing.DefaultModel = p.defaultModel.value
	}
	out.joinProviders(have)
	out.joinGuards(have)
	for _, r := range have.regions {
		if !slices.Contains(out.Regions, r.region) {
			out.Regions = append(out.Regions, r.region)
		}
	}
	if len(out.Regions) > 0 {
		out.Routing.Provider.Region = out.Regions[0]
	}
	d.recordMode(out.Routing.DefaultModel)
	d.platformFields()
	out.Fields = d.plan.Record.Policy
	return out
}

// joinProviders intersects what the rungs' only and the guardrails allow, and
// unites what they exclude.
func (out *Effective) joinProviders(have *restrictions) {
	onlyOf, ignoreOf := have.providerLists()
	var only, ignore []*catalog.Provider
	for i, clause := range onlyOf {
		if i == 0 {
			only = slices.Clone(clause.providers)
			continue
		}
		only = slices.DeleteFunc(only, func(p *catalog.Provider) bool { return !slices.Contains(clause.providers, p) })
	}
	for _, clause := range ignoreOf {
		for _, p := range clause.providers {
			if !slices.Contains(ignore, p) {
				ignore = append(ignore, p)
			}
		}
	}
	out.Nothing = len(onlyOf) > 0 && len(only) == 0
	out.Routing.Provider.Only, out.Routing.Provider.Ignore = slugsOf(only), slugsOf(ignore)
}

// platformFields adds the defaults that no rung replaces.
func (d *decision) platformFields() {
	for _, c := range [...]struct {
		name string
		flag chosen[bool]
	}{
		{"provider.allow_fallbacks", d.prefer.allowFallbacks},
		{"provider.cache_aware_routing", d.prefer.cacheAware},
		{"affinity", d.prefer.affinity},
	} {
		if c.flag.rung == RungPlatform {
			d.field(c.name, RungPlatform, strconv.FormatBool(c.flag.value))
		}
	}
}

func slugsOf(providers []*catalog.Provider) []string {
	if len(providers) == 0 {
		return nil
	}
	slugs := make([]string, len(providers))
	for i, p := range providers {
		slugs[i] = p.Slug
	}
	return slugs
}

func copied(p *money.PerMillion) *money.PerMillion {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
