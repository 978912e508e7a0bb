package decide

import (
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Decide is Input.Decide for an input that is a copy of another one.
func Decide(in Input) Plan { return in.Decide() }

// Decide answers which model, which endpoints in which order, and why. Equal
// inputs give equal plans. The input is only read.
func (in *Input) Decide() Plan {
	d := decision{in: in}
	d.plan.Record.RequestedModel = clip(in.Facts.Model)
	d.plan.Record.Seed = in.Seed
	if in.Policy == nil || in.Catalog == nil {
		return d.refuse(fault.New(fault.UpstreamUndetermined,
			"This gateway has not received its policy yet. Try again in a moment."), StageNone)
	}
	d.settings = in.Policy.Settings()
	d.plan.Record.PolicyRevision = in.Policy.Revision()
	d.plan.Record.CatalogRevision = in.Catalog.Revision()
	if in.Facts.Owner != "" {
		return d.owned()
	}
	if d.opening = in.opened(); d.opening.needs != "" {
		d.plan.NeedsPresets = []string{d.opening.needs}
		return d.plan
	}
	d.Ladder = &d.opening.Ladder
	first := &d.opening.first
	if first.walk != nil && first.walk.unknownAt != "" {
		d.met(first)
		return d.unknown(first.walk.unknownAt)
	}
	refusal := d.resolve()
	d.recognize()
	d.met(first)
	if first.refusal != nil {
		refusal = d.standing(first, first.refusal)
	}
	if refusal != nil {
		return d.refuse(refusal, StageNone)
	}
	links, refusal := d.links()
	if refusal != nil {
		return d.refuse(refusal, StageNone)
	}
	if len(d.plan.NeedsPresets) > 0 {
		return d.plan
	}
	d.recordMode(links[0].name)
	return d.walk(links)
}

// decision is the state of one Decide call.
type decision struct {
	in       *Input
	settings policy.Settings
	plan     Plan

	opening     *Opening
	*Ladder                 // of the entry at hand; it may be shared: own comes before a change of it
	apart       bool        // it is not the opening's
	permissions permissions // what is known of models so far
	matches     matches     // and of what the route's expressions find
	policyBytes int         // of the record's fields
	whole       bool        // the fields are no record's: nothing is left out of them

	// dropped is the highest stage that dropped an endpoint of the model at
	// hand: the one that emptied the pool, if it is empty.
	dropped       Stage
	droppedReason string
	tally         tally // of the chain's entry at hand
	from          int   // its first exclusion
	omitted       int   // exclusions left out of the record

	bond bond // what the ladder's part of the chain is held to

	ruled      bool // an operator's rule has decided a model of the chain
	ruledFirst bool // and that was the chain's first

	// spared: nothing of the platform's credentials may be spent any more.
	spared bool
}

// walk builds the chain: each link that something serves becomes a step. The
// first link's refusal stands when nothing serves any.
func (d *decision) walk(links []link) Plan {
	var first *fault.Error
	var firstStage Stage
	limit := d.settings.MaxModels
	if limit <= 0 {
		limit = policy.DefaultSettings().MaxModels
	}
	for i := 0; i < len(links) && len(d.plan.Chain) < limit; i++ {
		if d.plan.UnknownAt != "" {
			return d.unknown(d.plan.UnknownAt)
		}
		d.from, d.tally = len(d.plan.Record.Exclusions), tally{}
		t, refusal, ok := d.reach(&links[i], &links[0])
		if refusal != nil {
			return d.refuse(refusal, StageNone)
		}
		if !ok {
			continue
		}
		before := len(d.plan.Chain)
		rule := d.ruleOf(t.model)
		refusal, stage := d.serve(t, rule, limit)
		if d.plan.NeedsClassification {
			return d.plan
		}
		if refusal != nil && i == 0 {
			first, firstStage = refusal, stage
		}
		d.applied(before, &links[i], &t)
		switch {
		case rule != nil || d.ruled:
			links = links[:i+1] // nothing outside a rule is tried
		case refusal != nil && refusal.Code == fault.ModelRetired:
			links = d.withReplacement(links, i, t.model)
		}
	}
	if len(d.plan.Chain) == 0 {
		for i := range links {
			if links[i].unread() { // it might have served: the refusal of another is no answer
				return d.refuse(links[i].refusal, StageNone)
			}
		}
		return d.refuse(first, firstStage)
	}
	d.finish()
	return d.plan
}

// reach resolves an entry under its own ladder. A mistake in the first one's name,
// not a lack of endpoints, is the refusal; a further entry is left out.
func (d *decision) reach(l, first *link) (t target, refusal *fault.Error, ok bool) {
	if l != first {
		if refusal := d.enter(l, first); refusal != nil {
			d.exclude1(clip(l.said), "", "model", unresolved(refusal))
			return t, nil, false
		}
	}
	t, refusal = d.aim(l)
	switch {
	case refusal != nil && l == first:
		return t, d.standing(l, d.helpful(l.name, refusal)), false
	case refusal != nil:
		d.exclude1(clip(l.name), "", "model", unresolved(refusal))
	case !d.hold(l, &t, l == first):
		d.exclude1(clip(l.name), "", StageQualifier.String(), reasonOtherProvider)
	case t.anyAuto && l != first:
		d.exclude1(catalog.AutoModel, "", "model", reasonAutoFallback)
	default:
		return t, nil, true
	}
	return t, nil, false
}

// serve adds the steps of one target, or says why there are none.
func (d *decision) serve(t target, rule *catalog.CompiledRule, limit int) (*fault.Error, Stage) {
	switch {
	case t.anyFree:
		return d.serveFree(&t, limit)
	case t.anyAuto:
		return d.serveAuto(&t, limit)
	case rule != nil:
		return d.serveRule(&t, rule, limit)
	}
	pool := d.pool(&t)
	if len(pool) == 0 {
		return d.unserved(&t)
	}
	d.add(&t, pool)
	return nil, StageNone
}

// pool filters the endpoints of the target's model, recording each drop.
func (d *decision) pool(t *target) []*ranked {
	d.dropped, d.droppedReason = StageNone, ""
	return d.poolOf(t, d.in.Catalog.Offers(t.model))
}

// poolOf filters endpoints of the target's model.
func (d *decision) poolOf(t *target, offers []catalog.Offer) []*ranked {
	// Ranking moves pointers; what they point to stays in one block.
	block := make([]ranked, len(offers))
	pool := make([]*ranked, 0, len(offers))
	for i := range offers {
		o := &offers[i]
		v := d.exclude(t, o)
		if v.reason == "" && d.inChain(o.Endpoint) {
			// Not a filter: the endpoint is there, only earlier in the chain.
			d.exclude1(t.model.ID, o.Endpoint.ID, "chain", reasonAlreadyTried)
			continue
		}
		if v.reason != "" {
			d.drop(o, v)
			continue
		}
		block[i].offer = o
		pool = append(pool, &block[i])
	}
	if len(offers) == 0 {
		d.exclude1(t.model.ID, "", "model", reasonNoEndpoints)
	}
	return pool
}

func (d *decision) inChain(e *catalog.Endpoint) bool {
	for i := range d.plan.Chain {
		for j := range d.plan.Chain[i].Candidates {
			if d.plan.Chain[i].Candidates[j].Endpoint == e {
				return true
			}
		}
	}
	return false
}

// add ranks a pool and appends it to the chain and the record.
func (d *decision) add(t *target, pool []*ranked) {
	by := d.how(t)
	how, sampled := d.rank(pool, by)
	if len(d.plan.Chain) == 0 {
		d.tracePin(t, pool, by)
	}
	if !d.prefer.allowFallbacks.value {
		for _, other := range pool[1:] {
			d.exclude1(t.model.ID, other.offer.Endpoint.ID, "allow_fallbacks", reasonFallbacksOff)
		}
		pool = pool[:1]
	}
	pool, candidates := d.candidates(t.model, pool)
	if len(pool) == 0 {
		return // of a further model: the first one keeps a candidate
	}
	step := Step{Model: t.model, Candidates: candidates, Asked: t.asked}
	if state := t.model.StateAt(d.in.Facts.Now); state != catalog.Active {
		step.Lifecycle = state
	}
	d.plan.Chain = append(d.plan.Chain, step)
	d.record(t.model, pool, &how)
	if sampled {
		d.plan.Record.Ordering = Sampled
	}
}

// decided notes the first choice.
func (d *decision) decided(l *link, t *target) {
	r, step := &d.plan.Record, &d.plan.Chain[0]
	r.DecidedModel = step.Model.ID
	r.DecidedProvider = step.Candidates[0].Provider.Slug
	r.DecidedUpstream = step.Candidates[0].Endpoint.ID
	r.SwitchReason = l.reason
	d.met(l)
	switch {
	case l.reason != "":
	case t.anyAuto:
		r.SwitchReason = SwitchAuto
	case t.providerAlias:
		r.SwitchReason = SwitchProviderAlias
	}
	if d.ruledFirst {
		r.SwitchReason = SwitchRule
	}
	r.Lifecycle = step.Lifecycle
}

// met notes the part that the route and a preset have in an entry.
func (d *decision) met(l *link) {
	r := &d.plan.Record
	if r.Route, r.Preset = nil, traceOf(l.preset); l.walk != nil {
		r.Route = &l.walk.trace
	}
}

// applied notes in the steps that an entry has added, those from before on, what
// they come from.
func (d *decision) applied(before int, l *link, t *target) {
	for i := before; i < len(d.plan.Chain); i++ {
		step := &d.plan.Chain[i]
		step.Reason = l.reason
		if i > 0 && l.reason == "" {
			step.Reason = SwitchFallbackModel // of several that one name stands for
		}
		if l.walk != nil {
			step.route = &l.walk.trace
		}
		step.Preset, step.preset = l.preset, traceOf(l.preset)
	}
	if before == 0 && len(d.plan.Chain) > 0 {
		d.decided(l, t)
	}
}

// finish writes what is known once the chain stands.
func (d *decision) finish() {
	if d.apart {
		d.Ladder = &d.opening.Ladder // what holds for the whole chain is the first entry's
	}
	r := &d.plan.Record
	r.Chain = make([]string, len(d.plan.Chain))
	for i := range d.plan.Chain {
		r.Chain[i] = d.plan.Chain[i].Model.ID
	}
	if r.Ordering == "" {
		r.Ordering = Fixed
	}
	d.plan.Timeouts = policy.Timeouts{FirstByte: d.prefer.firstByte.value, Request: d.prefer.request.value}
	d.plan.Retries = d.prefer.retries.value
	d.plan.Explicit = (len(d.in.Facts.Models) > 0 || d.prefer.fallbackModels.rung == RungRoute) && !d.ruled
	d.plan.MaxAttempts = d.settings.MaxAttempts
	if d.plan.MaxAttempts <= 0 {
		d.plan.MaxAttempts = policy.DefaultSettings().MaxAttempts
	}
	if own := d.in.Facts.Routing.MaxAttempts; own > 0 {
		d.plan.MaxAttempts = min(d.plan.MaxAttempts, own)
	}
	d.recollect()
	d.bound()
}

func (d *decision) refuse(refusal *fault.Error, stage Stage) Plan {
	d.plan.Chain, d.plan.Refusal = nil, refusal
	d.plan.Record.Refusal = &RefusalRecord{
		Code: string(refusal.Code), Reason: string(refusal.Reason), Stage: stage.String(),
	}
	d.recollect()
	d.bound()
	return d.plan
}

// exclude1 records a drop; more than are ever kept are only counted.
func (d *decision) exclude1(model, endpoint, stage, reason string) {
	d.keep(Exclusion{Model: model, Endpoint: endpoint, Stage: stage, Reason: reason})
}

// drop records that a filter dropped an endpoint, and by whose demand.
func (d *decision) drop(o *catalog.Offer, v verdict) {
	if v.stage > d.dropped {
		d.dropped, d.droppedReason = v.stage, v.reason
	}
	d.tally.add(o, v.stage, v.reason)
	x := Exclusion{Model: o.Model.ID, Endpoint: o.Endpoint.ID, Stage: v.stage.String(), Reason: v.reason}
	if v.guard != nil {
		x.Rung, x.Guardrail = v.guard.rung.String(), v.guard.rail.ID.String()
	} else if by := d.restrictions.by(v.stage, v.reason, o, d.inputTokens()); by != RungPlatform {
		x.Rung = by.String()
	}
	d.keep(x)
}

func (d *decision) keep(x Exclusion) {
	if len(d.plan.Record.Exclusions) >= maxExclusions {
		d.omitted++
		return
	}
	d.plan.Record.Exclusions = append(d.plan.Record.Exclusions, x)
}
