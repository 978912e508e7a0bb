package decide

import (
	"cmp"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// ruleOf is the first rule of a model that the request meets, or nil.
func (d *decision) ruleOf(m *catalog.Model) *catalog.CompiledRule {
	if m == nil {
		return nil
	}
	rules := d.in.Catalog.Rules(m)
	for i := range rules {
		if rules[i].Matches(ruleFacts{in: d.in, model: m}) {
			return &rules[i]
		}
	}
	return nil
}

// ruleFacts is what the rules of a model may look at.
type ruleFacts struct {
	in    *Input
	model *catalog.Model
}

// Look implements condition.Facts.
func (f ruleFacts) Look(s condition.Source, path string) []condition.Value {
	switch s {
	case condition.Model:
		return []condition.Value{condition.Text(f.model.ID)}
	case condition.WorkspaceTag:
		return textsOf(f.in.Policy.Tags())
	case condition.KeyScope:
		return textsOf(f.in.Facts.Key.Scopes)
	case condition.Metadata:
		if found, there := f.in.Facts.Metadata[path]; there {
			if v, ok := condition.Of(found); ok {
				return []condition.Value{v}
			}
		}
	default: // rules may not look at anything else
	}
	return nil
}

func textsOf(list []string) []condition.Value {
	values := make([]condition.Value, len(list))
	for i, s := range list {
		values[i] = condition.Text(s)
	}
	return values
}

// ruleStep are the candidates of a rule's targets that follow each other and
// are for the same model.
type ruleStep struct {
	target target
	pool   []*ranked
}

// ruleSteps filters what a rule leaves for a request that named t. Whatever
// restricts the request restricts the rule: it never widens.
func (d *decision) ruleSteps(t *target, rule *catalog.CompiledRule) []ruleStep {
	highest, reason := StageNone, ""
	var steps []ruleStep
	for i := range rule.Targets {
		to := &rule.Targets[i]
		own := d.under(t, to)
		d.dropped, d.droppedReason = StageNone, ""
		pool := d.poolOf(&own, to.Offers)
		if d.dropped > highest {
			highest, reason = d.dropped, d.droppedReason
		}
		for _, r := range pool {
			r.turn, r.credential = i, to.Credential
		}
		last := len(steps) - 1
		if last < 0 || steps[last].target.model != to.Model {
			steps = append(steps, ruleStep{target: own})
			last++
		}
		steps[last].pool = append(steps[last].pool, withoutTwins(steps[last].pool, pool)...)
	}
	d.dropped, d.droppedReason = highest, reason
	return slices.DeleteFunc(steps, func(s ruleStep) bool { return len(s.pool) == 0 })
}

// under is what a rule's target is for a request that named t.
func (d *decision) under(t *target, to *catalog.CompiledTarget) target {
	own := d.about(*t, to.Model)
	own.asked = t.model
	own.allowed = own.allowed && t.allowed
	own.guarded = cmp.Or(t.guarded, own.guarded)
	own.outside = own.outside || t.outside
	own.credential = to.Credential
	own.gratis = t.gratis || t.model.Free()
	return own
}

// poolUnder is the target's pool: the rule's first step where one decides.
func (d *decision) poolUnder(t *target, rule *catalog.CompiledRule) []*ranked {
	if rule == nil {
		return d.pool(t)
	}
	if steps := d.ruleSteps(t, rule); len(steps) > 0 {
		return steps[0].pool
	}
	return nil
}

// withoutTwins leaves out of more what have holds already.
func withoutTwins(have, more []*ranked) []*ranked {
	return slices.DeleteFunc(more, func(r *ranked) bool {
		return slices.ContainsFunc(have, func(h *ranked) bool {
			return h.offer.Endpoint == r.offer.Endpoint && h.credential == r.credential
		})
	})
}

// untried leaves out of a rule's steps what got a place in the chain after they
// were filtered.
func (d *decision) untried(steps []ruleStep) []ruleStep {
	for i := range steps {
		steps[i].pool = slices.DeleteFunc(steps[i].pool, func(r *ranked) bool {
			tried := d.inChain(r.offer.Endpoint)
			if tried {
				d.exclude1(r.offer.Model.ID, r.offer.Endpoint.ID, "chain", reasonAlreadyTried)
			}
			return tried
		})
	}
	return slices.DeleteFunc(steps, func(s ruleStep) bool { return len(s.pool) == 0 })
}

// serveRule adds the steps of a rule, or says why there are none.
func (d *decision) serveRule(t *target, rule *catalog.CompiledRule, limit int) (*fault.Error, Stage) {
	steps := d.ruleSteps(t, rule)
	d.addRule(t, rule, steps, limit)
	if len(steps) > 0 {
		return nil, StageNone
	}
	e, stage := d.unserved(t)
	e.Message = strings.TrimSuffix(e.Message, ".") + ". An operator's rule decides which provider serves this request, and nothing else is tried."
	return e.With("rule", rule.Name), stage
}

// addRule adds the steps of a rule, as ruleSteps has filtered them.
func (d *decision) addRule(t *target, rule *catalog.CompiledRule, steps []ruleStep, limit int) {
	d.ruled, d.ruledFirst = true, len(d.plan.Chain) == 0
	d.plan.Record.Override = t.model.ID + "#" + rule.Name
	d.own()
	d.prefer.listed = chosen[listing]{} // the rule's order takes the place of the ladder's
	for i := 0; i < len(steps) && len(d.plan.Chain) < limit; i++ {
		d.add(&steps[i].target, steps[i].pool)
	}
}
