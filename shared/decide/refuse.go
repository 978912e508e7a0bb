package decide

import (
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// maxRefusalExclusions bounds what an error envelope lists.
const maxRefusalExclusions = 16

// unserved is the refusal for a model that nothing serves, with its stage.
func (d *decision) unserved(t *target) (*fault.Error, Stage) {
	if refusal := d.guardrailAlone(t); refusal != nil {
		return refusal, d.dropped
	}
	return d.emptied(t), d.dropped
}

// emptied is the refusal for a model that nothing serves. It names the last
// stage that dropped something and what would have to change, and the same for
// every stage before it.
func (d *decision) emptied(t *target) *fault.Error {
	switch {
	case d.gone(t):
		e := fault.New(fault.ModelRetired, "This model was retired and nothing serves it any more.").With("model", t.model.ID)
		if r := t.model.Lifecycle.Replacement; r != "" {
			e.Message += " Use " + r + " instead."
			e = e.With("replacement", r)
		}
		return e
	case d.residencyAlone(t):
		return d.explained(d.homeless(), t.model.ID)
	case d.dropped == StageContext:
		return d.explained(fault.New(fault.ContextLengthExceeded, d.said()), t.model.ID)
	case d.droppedReason == reasonModelNotAllowed:
		return d.explained(fault.New(fault.UnsupportedModelOrEndpoint, d.said()), t.model.ID).Because(fault.ModelNotAllowed)
	case d.droppedReason == reasonPresetModel:
		return d.explained(fault.New(fault.UnsupportedModelOrEndpoint, d.said()), t.model.ID).Because(fault.PresetModelNotAllowed)
	case d.droppedReason == reasonPresetProvider:
		return d.explained(fault.New(fault.UnsupportedModelOrEndpoint, d.said()), t.model.ID).Because(fault.NoProvidersAfterPresetFilter)
	case t.provider != nil:
		return d.qualifiedEmptied(t)
	}
	e := d.explained(fault.New(fault.UnsupportedModelOrEndpoint, d.said()), t.model.ID)
	if d.dropped == StageNone {
		return e.Because(reasonNoEndpoints)
	}
	return e.Because(fault.Reason(d.droppedReason))
}

func (d *decision) qualifiedEmptied(t *target) *fault.Error {
	reason := fault.QualifiedProviderUnavailable
	message := "the provider that it names does not serve this model"
	if d.dropped > StageQualifier {
		message = "the provider that it names cannot serve this request. " + d.said()
	}
	if t.model.Free() {
		reason = fault.QualifiedFreeProviderUnavailable
		if d.droppedReason == reasonNotFree {
			message = "the provider that it names does not serve this model for free: input and output need a price, and every price has to be zero"
		}
	}
	return d.explained(refuseName(reason, message), t.model.ID).With("provider", t.provider.Slug)
}

// noFreeModel is the refusal of signalbox/free.
func (d *decision) noFreeModel(t *target) *fault.Error {
	if refusal := d.guardrailFree(t); refusal != nil {
		return refusal
	}
	if d.residencyAlone(t) {
		return d.explained(d.homeless(), catalog.FreeModel)
	}
	message := "No free model is available here."
	if d.dropped != StageNone {
		message += " " + d.said()
	}
	return d.explained(fault.New(fault.UnsupportedModelOrEndpoint, message), catalog.FreeModel).Because(fault.NoFreeModel)
}

// explained adds the model, the stages and the exclusions to an error.
func (d *decision) explained(e *fault.Error, model string) *fault.Error {
	e = e.With("model", model)
	if d.dropped != StageNone {
		e = e.With("stage", d.dropped.String()).With("stages", d.fallen())
	}
	if own := d.plan.Record.Exclusions[d.from:]; len(own) > 0 {
		e = e.With("exclusions", own[:min(len(own), maxRefusalExclusions)])
	}
	return e
}

// Fallen is how many endpoints one stage dropped.
type Fallen struct {
	Stage   string `json:"stage"`
	Dropped int    `json:"dropped"`
	Remedy  string `json:"remedy"` // what would have to change
}

// fallen goes over the stages that dropped something, in their order.
func (d *decision) fallen() (stages []Fallen) {
	for stage := StageQualifier; stage <= d.dropped; stage++ {
		if f := &d.tally.stages[stage]; f.dropped > 0 {
			stages = append(stages, Fallen{stage.String(), f.dropped, d.remedy(stage, f.reason)})
		}
	}
	return stages
}

// said is the remedy at the stage that emptied the pool, and what fell before.
func (d *decision) said() string {
	text := d.remedy(d.dropped, d.droppedReason)
	var before []string
	for _, f := range d.fallen() {
		if f.Stage != d.dropped.String() && f.Stage != StageQualifier.String() {
			before = append(before, strconv.Itoa(f.Dropped)+" at "+f.Stage)
		}
	}
	if len(before) > 0 {
		text += " Other endpoints were left out before: " + strings.Join(before, ", ") + "."
	}
	return text
}
