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
		pool    []*ranked
		rule    *catalog.CompiledRule
		cooling bool
		pinned  int // place of the conversation's pin there, MaxPins without one
		draw    uint64
	}
	var options []option
	highest, reason := StageNone, ""
	for _, m := range d.in.Catalog.FreeModels() {
		t := target{model: m, mode: named.mode, allowed: allows(d.in.Facts.Key.Models, m)}
		rule := d.ruleOf(m)
		pool := d.poolUnder(&t, rule)
		if d.dropped > highest {
			highest, reason = d.dropped, d.droppedReason
		}
		if len(pool) == 0 {
			continue
		}
		o := option{target: t, pool: pool, rule: rule, cooling: true, draw: draw(d.in.Seed, m.ID)}
		for i := range pool {
			d.measure(pool[i])
			o.cooling = o.cooling && pool[i].cooling
		}
		o.pinned = d.pinnedAt(pool)
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
			d.addRule(&o.target, o.rule, limit)
		} else {
			d.add(&o.target, o.pool)
		}
	}
	if len(options) > 1 {
		d.plan.Record.Ordering = Sampled
	}
	return nil, StageNone
}
