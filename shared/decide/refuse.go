package decide

import (
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// maxRefusalExclusions bounds what an error envelope lists.
const maxRefusalExclusions = 16

// emptied is the refusal for a model that nothing serves. It names the last
// stage that dropped something and what would have to change.
func (d *decision) emptied(t *target) *fault.Error {
	retired := t.model.StateAt(d.in.Facts.Now) == catalog.Retired
	switch {
	case retired && d.operatorEmptied():
		e := fault.New(fault.ModelRetired, "This model was retired and nothing serves it any more.").With("model", t.model.ID)
		if r := t.model.Lifecycle.Replacement; r != "" {
			e.Message += " Use " + r + " instead."
			e = e.With("replacement", r)
		}
		return e
	case t.provider != nil:
		return d.qualifiedEmptied(t)
	case d.dropped == StageRegion:
		return d.explained(fault.New(fault.ModelRegionUnavailable, remedy(d.dropped, d.droppedReason)), t.model).
			With("unmet_requirements", []string{"required_region"})
	case d.dropped == StageContext:
		return d.explained(fault.New(fault.ContextLengthExceeded, remedy(d.dropped, d.droppedReason)), t.model)
	}
	e := d.explained(fault.New(fault.UnsupportedModelOrEndpoint, remedy(d.dropped, d.droppedReason)), t.model)
	if d.droppedReason == reasonModelNotAllowed {
		return e.Because(fault.ModelNotAllowed)
	}
	if d.dropped == StageNone {
		return e.Because(reasonNoEndpoints)
	}
	return e.Because(fault.Reason(d.droppedReason))
}

// operatorEmptied reports whether nothing that the caller asked for had a
// part in emptying the pool.
func (d *decision) operatorEmptied() bool {
	switch d.dropped {
	case StageNone, StageProviderPolicy, StageRollout, StageCredential:
		return true
	default:
		return false
	}
}

func (d *decision) qualifiedEmptied(t *target) *fault.Error {
	reason := fault.QualifiedProviderUnavailable
	message := "the provider that it names does not serve this model"
	if d.dropped > StageQualifier {
		message = "the provider that it names cannot serve this request. " + remedy(d.dropped, d.droppedReason)
	}
	if t.model.Free() {
		reason = fault.QualifiedFreeProviderUnavailable
		message = "the provider that it names does not serve this model for free"
	}
	return d.explained(refuseName(reason, message), t.model).With("provider", t.provider.Slug)
}

func (d *decision) noFreeModel() *fault.Error {
	message := "No free model is available here."
	if d.dropped != StageNone {
		message += " " + remedy(d.dropped, d.droppedReason)
	}
	return fault.New(fault.UnsupportedModelOrEndpoint, message).Because(fault.NoFreeModel).
		With("stage", d.dropped.String())
}

// explained adds the model, the stage and the exclusions to an error.
func (d *decision) explained(e *fault.Error, m *catalog.Model) *fault.Error {
	e = e.With("model", m.ID)
	if d.dropped != StageNone {
		e = e.With("stage", d.dropped.String())
	}
	var own []Exclusion
	for _, x := range d.plan.Record.Exclusions {
		if x.Model == m.ID && len(own) < maxRefusalExclusions {
			own = append(own, x)
		}
	}
	if len(own) > 0 {
		e = e.With("exclusions", own)
	}
	return e
}

// remedy says what emptied the pool and what would have to change.
func remedy(stage Stage, reason string) string {
	switch stage {
	case StageNone:
		return "No provider serves this model."
	case StageQualifier:
		return "The named provider does not serve this model. Remove the provider before the colon, or choose another."
	case StageOnly:
		return "provider.only leaves no provider of this model. Add one that serves it."
	case StageIgnore:
		return "provider.ignore leaves no provider of this model. Remove an entry; aggregators cannot keep to it and are left out."
	case StageModelPolicy:
		return "This key may not use this model. Ask a workspace admin to allow it, or use one that GET /v1/models lists."
	case StageProviderPolicy:
		return "Every provider of this model is switched off. Choose another model."
	case StageChannel:
		return "This model is only in a preview channel. A workspace admin can turn the beta or alpha channel on."
	case StageRollout:
		return "Every endpoint of this model is switched off. Choose another model."
	case StageCapability:
		return capabilityRemedy(reason)
	case StageContext:
		return "The input and the requested output are longer than the context of every endpoint. Shorten the input or lower the output limit."
	case StageRegion:
		return "No endpoint of this model is certain to run in provider.required_region. Choose another region or model."
	case StageDataPolicy:
		return "No provider of this model is known to meet the required data policy (zero data retention, no training). Choose another model, or relax it."
	case StagePricePresent:
		return "No endpoint of this model has a known price to hold against the limit. Remove provider.max_price or choose another model."
	case StageMaxPrice:
		return "Every endpoint of this model costs more than provider.max_price. Raise it or choose another model."
	case StageCredential:
		if reason == reasonNoAddress {
			return "Every provider of this model lacks an address: its base URL, project or location. Choose another model, or ask the operator to complete the provider in the catalog."
		}
		return "There is no credential for any provider of this model. Choose another model, or bring a provider key of your own (signalbox byok create), or ask the operator to add one."
	}
	return "Nothing can serve this request."
}

func capabilityRemedy(reason string) string {
	switch reason {
	case reasonModality:
		return "No endpoint of this model accepts the kinds of content in the request. Choose a model that does."
	case reasonParameter:
		return "No endpoint of this model supports every parameter of the request. Remove some, or provider.require_parameters."
	}
	return "No endpoint of this model can serve this surface. GET /v1/models/{id} lists the model's surfaces, GET /v1/models?surface=… the models of a surface."
}
