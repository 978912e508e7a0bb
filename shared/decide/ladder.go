package decide

import (
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/policy"
)

// maxPolicyBytes bounds the resolved fields of a record, beside the ids of the
// guardrails: seven rungs may each list 64 providers.
const maxPolicyBytes = 3 << 10

// fieldBase is an upper estimate of a field's JSON beside its texts.
const fieldBase = 40

// recordLadder writes the fields that some rung sets; recordMode adds the mode. A
// restriction is there once for each rung that lists something, a demand once,
// by the widest.
func (d *decision) recordLadder() {
	p, have := &d.prefer, &d.restrictions
	if !d.whole {
		d.recordGuards(have.guards)
	}
	if c := &p.listed.value; len(c.providers)+len(c.off) > 0 {
		d.fieldSlugs("provider.order", &c.providersOf)
	}
	for i := range have.only {
		d.fieldSlugs("provider.only", &have.only[i])
	}
	for i := range have.ignore {
		d.fieldSlugs("provider.ignore", &have.ignore[i])
	}
	for _, r := range have.regions {
		d.field("provider.required_region", r.rung, r.region)
	}
	d.demanded("provider.require_zero_data_retention", have.zdr)
	d.demanded("provider.deny_training", have.noTraining)
	d.demanded("provider.require_parameters", have.parameters)
	if m := have.maxInput; m.limit != nil {
		d.field("provider.max_price.input", m.rung, m.limit.String())
	}
	if m := have.maxOutput; m.limit != nil {
		d.field("provider.max_price.output", m.rung, m.limit.String())
	}
	d.recordChosen()
	d.recordPreset()
	for i := range have.guards {
		if !d.whole && d.policyBytes >= maxPolicyBytes-fieldBase {
			d.omitted += len(have.guards) - i
			break
		}
		d.recordGuard(&have.guards[i])
	}
}

// recordChosen writes the fields that one rung alone decides.
func (d *decision) recordChosen() {
	p := &d.prefer
	d.flag("provider.allow_fallbacks", p.allowFallbacks)
	d.flag("provider.cache_aware_routing", p.cacheAware)
	d.flag("affinity", p.affinity)
	if c := p.maxLatency; c.rung != RungPlatform {
		d.field("provider.preferred_max_latency", c.rung, c.value.String())
	}
	if c := p.minThroughput; c.rung != RungPlatform {
		d.field("provider.preferred_min_throughput", c.rung, strconv.FormatFloat(c.value, 'g', 6, 64))
	}
	if c := p.firstByte; c.rung != RungPlatform {
		d.field("timeouts.first_byte", c.rung, c.value.String())
	}
	if c := p.request; c.rung != RungPlatform {
		d.field("timeouts.request", c.rung, c.value.String())
	}
	if c := p.retries; c.value != nil {
		d.field("retries", c.rung, strconv.Itoa(*c.value))
	}
	if o := d.opening; o != nil && (o.first.rung == RungRoute || o.first.rung == RungPreset) {
		d.field("model", o.first.rung, o.first.name)
	}
	if c := p.defaultModel; c.rung != RungPlatform {
		d.field("default_model", c.rung, c.value)
	}
	if c := p.fallbackModels; c.rung != RungPlatform {
		d.field("fallback_models", c.rung, strings.Join(c.value, ","))
	}
}

// recordMode writes, before the other fields, how the candidates of the first
// model are ordered, whose name may end in a suffix.
func (d *decision) recordMode(first string) {
	others := d.plan.Record.Policy
	d.plan.Record.Policy = nil
	name, _ := ParseName(first)
	c := d.prefer.order
	switch {
	case name.Mode != "":
		d.field("routing_mode", RungSuffix, string(name.Mode))
	case c.value.fixed:
		d.field("provider.sort", c.rung, string(c.value.mode))
	case c.rung != RungPlatform:
		d.field("routing_mode", c.rung, string(c.value.mode))
	default:
		d.field("routing_mode", RungPlatform, string(policy.Balanced))
	}
	d.plan.Record.Policy = append(d.plan.Record.Policy, others...)
}

// field adds a resolved field. Values come from configuration and requests:
// they are cut, and hold nothing that JSON would escape.
func (d *decision) field(name string, rung Rung, value string) {
	d.keepField(ResolvedField{Field: name, Rung: rung.String()}, value)
}

func (d *decision) keepField(f ResolvedField, value string) {
	if d.whole {
		f.Value = clipTo(value, len(value))
		d.plan.Record.Policy = append(d.plan.Record.Policy, f)
		return
	}
	room := maxPolicyBytes - d.policyBytes - f.size()
	if room <= 0 {
		d.omitted++
		return
	}
	f.Value = clipTo(value, min(room, maxFieldValue))
	d.policyBytes += f.size()
	d.plan.Record.Policy = append(d.plan.Record.Policy, f)
}

// size is an upper estimate of the JSON.
func (f *ResolvedField) size() int {
	size := fieldBase + len(f.Field) + len(f.Rung) + len(f.Value)
	if f.Guardrail != "" {
		size += len(`,"guardrail":""`) + len(f.Guardrail)
	}
	return size
}

// fieldSlugs lists providers as a rung does; what it names and may not be used
// stands there with the mark that it is off.
func (d *decision) fieldSlugs(name string, list *providersOf) {
	if len(list.providers) == 1 && len(list.off) == 0 {
		d.field(name, list.rung, list.providers[0].Slug)
		return
	}
	slugs := slugsOf(list.providers)
	for _, off := range list.off {
		slugs = append(slugs, clip(off)+"(off)")
	}
	d.field(name, list.rung, strings.Join(slugs, ","))
}

func (d *decision) demanded(name string, by Rung) {
	if by != RungPlatform {
		d.field(name, by, "true")
	}
}

func (d *decision) flag(name string, c chosen[bool]) {
	if c.rung != RungPlatform {
		d.field(name, c.rung, strconv.FormatBool(c.value))
	}
}
