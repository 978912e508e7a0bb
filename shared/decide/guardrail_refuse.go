package decide

import (
	"strings"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// What a refusal calls that which guardrails keep out.
const (
	thisModel    = "this model"
	anyFreeModel = "any free model"
	anyAutoModel = "any model that signalbox/auto could choose"
)

// unguarded is the decision without guardrails, to ask what they keep out. It
// shares no list that either writes to.
func (d *decision) unguarded() *decision {
	free := *d
	free.own()
	free.restrictions.guards, free.plan.Record.Exclusions, free.tally = nil, nil, tally{}
	free.permissions = permissions{} // those of d are under the guardrails
	return &free
}

// guardrailAlone is the refusal of a model that would be served but for the
// guardrails; nil where something else leaves nothing of it too.
func (d *decision) guardrailAlone(t *target) *fault.Error {
	if len(d.restrictions.guards) == 0 {
		return nil
	}
	free, own := d.unguarded(), *t
	own.guarded = nil
	return d.guardrailBlocked(t, free.poolUnder(&own, free.ruleOf(t.model)), thisModel)
}

// guardrailFree is the same for signalbox/free.
func (d *decision) guardrailFree(named *target) *fault.Error {
	if len(d.restrictions.guards) == 0 {
		return nil
	}
	free := d.unguarded()
	var would []*ranked
	for _, m := range d.in.Catalog.FreeModels() {
		t := free.about(target{provider: named.provider, mode: named.mode}, m)
		would = append(would, free.poolUnder(&t, free.ruleOf(m))...)
	}
	return d.guardrailBlocked(named, would, anyFreeModel)
}

// guardrailAuto is the same for signalbox/auto.
func (d *decision) guardrailAuto(config *policy.Auto) *fault.Error {
	if len(d.restrictions.guards) == 0 {
		return nil
	}
	named := target{anyAuto: true}
	u := d.unguarded().universe(config, &named)
	var would []*ranked
	for i := range u.eligible {
		would = append(would, u.eligible[i].pool...)
	}
	return d.guardrailBlocked(&named, would, anyAutoModel)
}

// guardrailBlocked is the refusal where guardrails drop everything that would
// serve otherwise. It names each that is against some of it, and as the stage
// the last at which one of them dropped something. nil where nothing would
// serve, or guardrails are not what is against it.
func (d *decision) guardrailBlocked(t *target, would []*ranked, what string) *fault.Error {
	stage := StageNone
	involved := make([]bool, len(d.restrictions.guards))
	refusing := make(barred)
	for _, r := range would {
		first := StageNone
		models := refusing.of(d.restrictions.guards, r.offer.Model, t.model)
		for i := range d.restrictions.guards {
			s := d.stopping(&d.restrictions.guards[i], models[i], r.offer)
			involved[i] = involved[i] || s != StageNone
			if s != StageNone && (first == StageNone || s < first) {
				first = s
			}
		}
		stage = max(stage, first)
	}
	if stage == StageNone {
		return nil
	}
	var ids []string
	for i, is := range involved {
		if is {
			ids = append(ids, d.restrictions.guards[i].rail.ID.String())
		}
	}
	reason, message := guardrailSays(stage, ids, what)
	d.dropped, d.droppedReason = stage, string(reason)
	return d.explained(fault.New(fault.GuardrailBlocked, message), modelOf(t)).Because(reason).With("guardrails", ids)
}

// barred remembers which guardrails refuse a model, for all of its endpoints.
type barred map[*catalog.Model][]bool

// of says of each guardrail whether it refuses the model of an endpoint, or the
// one that the request asked for: another one under a rule, nil where it named
// none.
func (b barred) of(guards []guard, m, asked *catalog.Model) []bool {
	refused, ok := b[m]
	if !ok {
		refused = make([]bool, len(guards))
		for i := range guards {
			refused[i] = guards[i].refusesModel(m) || asked != nil && asked != m && guards[i].refusesModel(asked)
		}
		b[m] = refused
	}
	return refused
}

// stopping is the stage at which a guardrail drops an endpoint for this request:
// what a provider has already it handles as it did.
func (d *decision) stopping(g *guard, model bool, o *catalog.Offer) Stage {
	stage := g.refuses(model, o)
	if stage == StageDataPolicy && d.in.Facts.Costless {
		return StageNone
	}
	return stage
}

func guardrailSays(stage Stage, ids []string, what string) (fault.Reason, string) {
	who, do, demand, it := "The guardrail "+ids[0], "does", "demands", "it"
	if len(ids) > 1 {
		who = "The guardrails " + strings.Join(ids[:min(len(ids), maxNamed)], ", ")
		do, demand, it = "do", "demand", "them"
	}
	advice := " Name a model that GET /v1/models lists, or ask a workspace admin to change " + it + "."
	switch stage {
	case StageModelPolicy:
		return fault.ModelRestricted, who + " " + do + " not allow " + what + "." + advice
	case StageProviderPolicy:
		return fault.ProviderRestricted, who + " " + do + " not allow a provider that serves " + what + "." + advice
	default:
		return fault.NoDataHandling, "No provider of " + what + " is known to handle data as t" + who[1:] + " " + demand + "." + advice
	}
}

// modelOf is what the request asked for.
func modelOf(t *target) string {
	switch {
	case t.anyAuto:
		return catalog.AutoModel
	case t.anyFree:
		return catalog.FreeModel
	}
	return t.model.ID
}
