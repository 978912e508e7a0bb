package decide

import (
	"slices"
	"strings"
)

// remedy says what a stage left out and what would have to change. Where the
// restriction is not the request's own, it says whose it is.
func (d *decision) remedy(stage Stage, reason string) string {
	rungs := d.restrictions.setting(stage, reason)
	switch reason {
	case reasonModelRestricted:
		return "A guardrail does not allow this model. Use one that GET /v1/models lists, or ask a workspace admin to change it."
	case reasonProviderRestricted:
		return "Guardrails leave no provider of this model. Choose another model, or ask a workspace admin to change them."
	case reasonPresetModel:
		return "The preset does not allow this model. Use one that it allows, or ask its owner to change it."
	case reasonPresetProvider:
		return "The preset's lists of providers leave none that serves this model. Choose another model, or ask the preset's owner to change them."
	}
	switch stage {
	case StageNone:
		return "No provider serves this model."
	case StageQualifier:
		return "The named provider does not serve this model. Remove the provider before the colon, or choose another."
	case StageOnly:
		if len(rungs) > 1 {
			return whose("provider.only", rungs) + " have no provider of this model in common. " + change(rungs, "Add one that serves it")
		}
		return whose("provider.only", rungs) + " leaves no provider of this model. " + change(rungs, "Add one that serves it")
	case StageIgnore:
		return whose("provider.ignore", rungs) + " leaves no provider of this model. " +
			change(rungs, "Remove an entry; aggregators cannot keep to it and are left out")
	case StageModelPolicy:
		return "This key may not use this model. Ask a workspace admin to allow it, or use one that GET /v1/models lists."
	case StageProviderPolicy:
		return "Every provider of this model is switched off. Choose another model."
	case StageChannel:
		return "This model is only in a preview channel. A workspace admin can turn the beta or alpha channel on."
	case StageRollout:
		return "Every endpoint of this model is switched off. Choose another model."
	case StageCapability:
		return capabilityRemedy(reason, rungs)
	case StageContext:
		return "The input and the requested output are longer than the context of every endpoint. Shorten the input or lower the output limit."
	case StageRegion:
		return "No endpoint of this model is certain to run in " + whose("provider.required_region", rungs) + ". " +
			change(rungs, "Choose another region or model")
	case StageDataPolicy, StagePricePresent, StageMaxPrice:
		return policyRemedy(stage, reason, rungs)
	case StageCredential:
		if reason == reasonNoAddress {
			return "Every provider of this model lacks an address: its base URL, project or location. Choose another model, or ask the operator to complete the provider in the catalog."
		}
		return "There is no credential for any provider of this model. Choose another model, or bring a provider key of your own (signalbox byok create), or ask the operator to add one."
	}
	return "Nothing can serve this request."
}

func policyRemedy(stage Stage, reason string, rungs []Rung) string {
	switch {
	case reason == reasonNotFree:
		return "No endpoint of this model is proven to cost nothing: input and output need a price, and every price has to be zero. Use the model without :free, or choose another."
	case stage == StagePricePresent:
		return "No endpoint of this model has a known price to hold against " + whose("provider.max_price", rungs) + ". " +
			change(rungs, "Remove it or choose another model")
	case stage == StageMaxPrice:
		return "Every endpoint of this model costs more than " + whose("provider.max_price", rungs) + ". " +
			change(rungs, "Raise it or choose another model")
	case reason == reasonTraining:
		return "No provider of this model is known not to train on what it is sent, as " + whose("provider.deny_training", rungs) + " demands. " +
			change(rungs, "Choose another model, or send data_collection: allow")
	}
	return "No provider of this model is known to retain nothing, as " + whose("provider.require_zero_data_retention", rungs) + " demands. " +
		change(rungs, "Choose another model, or leave it out")
}

func capabilityRemedy(reason string, rungs []Rung) string {
	switch reason {
	case reasonModality:
		return "No endpoint of this model accepts the kinds of content in the request. Choose a model that does."
	case reasonParameter:
		return "No endpoint of this model supports every parameter of the request, as " + whose("provider.require_parameters", rungs) + " demands. " +
			change(rungs, "Remove some, or it")
	}
	return "No endpoint of this model can serve this surface. GET /v1/models/{id} lists the model's surfaces, GET /v1/models?surface=… the models of a surface."
}

// whose names a field, and the rungs that set it unless that is the request
// alone.
func whose(field string, rungs []Rung) string {
	if saved(rungs) == nil {
		return field
	}
	titles := make([]string, len(rungs))
	for i, r := range rungs {
		titles[i] = "the " + r.title()
	}
	return field + " of " + strings.Join(titles, " and ")
}

// change is the advice for a field: to the caller what only the request sets.
func change(rungs []Rung, advice string) string {
	others := saved(rungs)
	if others == nil {
		return advice + "."
	}
	return "Choose another model, or ask a workspace admin to change the " + others[0].title() + "."
}

// saved are the rungs that the caller cannot change.
func saved(rungs []Rung) []Rung {
	var out []Rung
	for _, r := range rungs {
		if r != RungRequest {
			out = append(out, r)
		}
	}
	return out
}

// setting are the rungs with a part in what a stage demands, widest first.
func (have *restrictions) setting(stage Stage, reason string) (rungs []Rung) {
	add := func(r Rung) {
		if r != RungPlatform && !slices.Contains(rungs, r) {
			rungs = append(rungs, r)
		}
	}
	switch stage {
	case StageOnly:
		for _, c := range have.only {
			add(c.rung)
		}
	case StageIgnore:
		for _, c := range have.ignore {
			add(c.rung)
		}
	case StageRegion:
		for _, r := range have.regions {
			add(r.rung)
		}
	case StageCapability:
		add(have.parameters)
	case StageDataPolicy:
		if reason == reasonTraining {
			add(have.noTraining)
		} else {
			add(have.zdr)
		}
		for i := range have.guards {
			if rules := &have.guards[i].rail.Rules; reason == reasonTraining && rules.DenyTraining || reason != reasonTraining && rules.RequireZDR {
				add(have.guards[i].rung)
			}
		}
	case StagePricePresent, StageMaxPrice:
		add(have.maxInput.rung)
		add(have.maxOutput.rung)
	default: // what no rung can set
	}
	slices.Sort(rungs)
	return rungs
}
