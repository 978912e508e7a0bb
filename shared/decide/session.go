package decide

import "github.com/signalbox-dev/signalbox/shared/catalog"

// sessionModel names the model that the session's earlier turns without a model
// went to, while something can serve it; else the ladder's default counts. Where
// that default is signalbox/auto, the model has to be one that it may choose
// today: a workspace that narrows what its turns may cost does not wait for its
// sessions to end.
func (d *decision) sessionModel() (l link, pinned bool) {
	id := d.in.Conversation.Model
	if id == "" || d.in.Conversation.Source != FromSession {
		return link{}, false
	}
	trace := d.plan.Record.Affinity
	m, known := d.in.Catalog.Model(id)
	if !known {
		trace.ModelBreak = BreakGone
		return link{}, false
	}
	l = link{name: d.rungsName(m), reason: SwitchSessionPin, rung: RungRequest}
	t, refusal := d.target(l.name)
	if refusal != nil || !d.servable(&t) {
		trace.ModelBreak = BreakPolicy
		return link{}, false
	}
	if isAuto(d.prefer.defaultModel.value) {
		config := d.in.Policy.Auto()
		l.auto = d.autoFilter(&config)
		t.auto = l.auto
		if !d.inUniverse(m) || !allows(config.Models, m) || !d.servable(&t) {
			trace.ModelBreak = BreakAuto
			return link{}, false
		}
	}
	trace.Model = m.ID
	return l, true
}

// rungsName names a session's model as the rung does that its turns come from:
// the default model or the fallback that it is, at the same provider and in the
// same order; one that neither is, such as a choice of signalbox/auto, like the
// default. A pin keeps to a model and lifts nothing that its name says.
func (d *decision) rungsName(m *catalog.Model) string {
	standing := &d.prefer.defaultModel
	if standing.rung == RungPlatform {
		return m.ID
	}
	if d.stands(standing.value, m) {
		return standing.value
	}
	for _, name := range d.prefer.fallbackModels.value {
		if d.stands(name, m) {
			return name
		}
	}
	return renamed(standing.value, m.ID)
}

// stands reports whether a name is a model's.
func (d *decision) stands(name string, m *catalog.Model) bool {
	t, refusal := d.target(name)
	return refusal == nil && t.model == m
}

// servable reports whether the filters leave any endpoint of a target, or of
// what a rule puts in its place.
func (d *decision) servable(t *target) bool {
	rule := d.ruleOf(t.model)
	if rule == nil {
		return d.passes(t, d.in.Catalog.Offers(t.model))
	}
	for i := range rule.Targets {
		if own := d.under(t, &rule.Targets[i]); d.passes(&own, rule.Targets[i].Offers) {
			return true
		}
	}
	return false
}

func (d *decision) passes(t *target, offers []catalog.Offer) bool {
	for i := range offers {
		if d.exclude(t, &offers[i]).reason == "" {
			return true
		}
	}
	return false
}
