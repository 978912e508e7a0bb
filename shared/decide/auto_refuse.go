package decide

import (
	"fmt"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// maxAutoRemedies bounds what a refusal explains: the reasons that leave out
// most models.
const maxAutoRemedies = 3

// noAutoModel is the refusal when nothing is eligible. Where the required
// region leaves no production model whatever else is asked, and nothing else
// would, it is residency's; else the reasons are told with what would have to
// change.
func (d *decision) noAutoModel(config *policy.Auto, u *universe) (*fault.Error, Stage) {
	if u.size == 0 {
		return fault.New(fault.UnsupportedModelOrEndpoint,
			"signalbox/auto finds no model here: none has a stable endpoint with a known price and a credential. Ask the operator to add a provider key, or name a model.").
			Because(fault.NoAutoModel), StageNone
	}
	if refusal := d.guardrailAuto(config); refusal != nil {
		return refusal, d.dropped
	}
	listed := d.plan.Record.Auto.Exclusions
	if len(d.restrictions.regions) > 0 && !u.resident && d.wouldServeElsewhere(config) {
		return fault.New(fault.ModelRegionUnavailable,
			"No model that signalbox/auto may choose is certain to run in provider.required_region. Choose another region, or ask the operator for an endpoint there.").
			With("unmet_requirements", []string{"required_region"}).With("exclusions", listed), StageRegion
	}
	var text strings.Builder
	fmt.Fprintf(&text, "signalbox/auto finds no model for this request among %d.", u.size)
	stage := StageNone
	for i, x := range u.dropped {
		if i < maxAutoRemedies {
			fmt.Fprintf(&text, " %s (%d).", d.autoRemedy(config, x), x.models)
		}
		stage = max(stage, x.stage)
	}
	return fault.New(fault.UnsupportedModelOrEndpoint, text.String()).Because(fault.NoAutoModel).With("exclusions", listed), stage
}

// wouldServeElsewhere reports whether something is eligible once no region is
// required.
func (d *decision) wouldServeElsewhere(config *policy.Auto) bool {
	free := *d
	free.own()
	free.restrictions.regions = nil
	u := free.universe(config, &target{anyAuto: true})
	return len(u.eligible) > 0
}

// autoRemedy says what left models out and what would bring them back.
func (d *decision) autoRemedy(config *policy.Auto, x autoDrop) string {
	switch x.reason {
	case reasonAboveProfile:
		return "The spend profile " + clip(string(config.Spend)) + " leaves out dearer models: it is the workspace's to widen, or name a model"
	case reasonNotInAutoModels:
		return "The workspace's model patterns for signalbox/auto leave models out: they are the workspace's to change, or name a model"
	case reasonModelNotAllowed:
		return "The key may not use some models: a workspace admin can allow them"
	case reasonPresetModel, reasonPresetProvider:
		return "The preset leaves out models or providers: they are its owner's to change"
	case reasonModelRestricted, reasonProviderRestricted:
		return "Guardrails leave out models or providers: they are a workspace admin's to change"
	}
	switch x.stage {
	case StageOnly:
		return "provider.only leaves models out: add providers"
	case StageIgnore:
		return "provider.ignore leaves models out: remove entries"
	case StageCapability:
		return "Models that cannot take this content or these parameters are left out: remove some"
	case StageContext:
		return "The request is too long for models: shorten it, or ask for less output"
	case StageRegion:
		return "Models that are not certain to run in provider.required_region are left out: choose another region"
	case StageDataPolicy:
		return "Models whose provider is not known to meet the required data policy are left out: relax it"
	case StageMaxPrice:
		return "provider.max_price leaves models out: raise it"
	default:
		return "The stage " + x.stage.String() + " leaves models out (" + x.reason + ")"
	}
}
