package decide

import (
	"cmp"
	"slices"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// serveFree adds the free models that can serve, in an order drawn by the
// seed so that no one of them takes all: those with a healthy endpoint first,
// and of those the ones that the conversation is pinned to.
func (d *decision) serveFree(named *target, limit int) (*fault.Error, Stage) {
	type option struct {
		target  target
		pool    []*ranked // of a rule, that of its first step
		rule    *catalog.CompiledRule
		steps   []ruleStep
		cooling bool
		pinned  int // place of the conversation's pin there, MaxPins without one
		draw    uint64
	}
	var options []option
	highest, reason := StageNone, ""
	for _, m := range d.in.Catalog.FreeModels() {
		o := option{
			target: target{model: m, mode: named.mode, allowed: allows(d.in.Facts.Key.Models, m)},
			rule:   d.ruleOf(m), cooling: true, draw: draw(d.in.Seed, m.ID),
		}
		if o.rule == nil {
			o.pool = d.pool(&o.target)
		} else if o.steps = d.ruleSteps(&o.target, o.rule); len(o.steps) > 0 {
			o.pool = o.steps[0].pool
		}
		if d.dropped > highest {
			highest, reason = d.dropped, d.droppedReason
		}
		if len(o.pool) == 0 {
			continue
		}
		for _, r := range o.pool {
			d.measure(r)
			o.cooling = o.cooling && r.cooling
		}
		o.pinned = d.pinnedAt(o.pool)
		options = append(options, o)
	}
	if len(options) == 0 {
		d.dropped, d.droppedReason = highest, reason
		return d.noFreeModel(named), highest
	}
	slices.SortFunc(options, func(a, b option) int {
		if a.cooling != b.cooling {
			return cmp.Compare(bit(a.cooling), bit(b.cooling))
		}
		return cmp.Or(cmp.Compare(a.pinned, b.pinned), cmp.Compare(a.draw, b.draw))
	})
	for i := 0; i < len(options) && len(d.plan.Chain) < limit && !d.ruled; i++ {
		if o := &options[i]; o.rule != nil {
			d.addRule(&o.target, o.rule, d.untried(o.steps), limit)
		} else {
			d.add(&o.target, o.pool)
		}
	}
	if len(options) > 1 {
		d.plan.Record.Ordering = Sampled
	}
	return nil, StageNone
}
