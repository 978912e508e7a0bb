package decide

import "github.com/signalbox-dev/signalbox/shared/fault"

// Stage is one filter between a model's endpoints and its candidates.
type Stage int

// The stages in the order in which they run.
const (
	StageNone Stage = iota
	StageQualifier
	StageOnly
	StageIgnore
	StageModelPolicy
	StageProviderPolicy
	StageChannel
	StageRollout
	StageCapability
	StageContext
	StageRegion
	StageDataPolicy
	StagePricePresent
	StageMaxPrice
	StageCredential
)

var stageNames = [...]string{
	StageNone: "", StageQualifier: "qualifier", StageOnly: "only", StageIgnore: "ignore",
	StageModelPolicy: "model_policy", StageProviderPolicy: "provider_policy", StageChannel: "channel",
	StageRollout: "rollout", StageCapability: "capability", StageContext: "context_length",
	StageRegion: "region", StageDataPolicy: "data_policy", StagePricePresent: "price_present",
	StageMaxPrice: "max_price", StageCredential: "credential",
}

// String is the stage's name in records and errors.
func (s Stage) String() string { return stageNames[s] }

// stageRoute stands in exclusions for the dynamic route, which comes before the
// filters.
const stageRoute = "route"

// Reasons of exclusions; "" means that nothing is against the endpoint.
const (
	reasonOtherProvider     = "other_provider"
	reasonNotInOnly         = "not_in_only"
	reasonIgnored           = "ignored"
	reasonAggregator        = "aggregator_cannot_enforce"
	reasonModelNotAllowed   = "model_not_allowed"
	reasonProviderDisabled  = "provider_disabled"
	reasonBetaOff           = "beta_channel_off"
	reasonAlphaOff          = "alpha_channel_off"
	reasonEndpointDisabled  = "endpoint_disabled"
	reasonFormat            = "format_not_supported"
	reasonSurface           = "surface_not_supported"
	reasonModality          = "modality_not_supported"
	reasonParameter         = "parameter_not_supported"
	reasonContext           = "context_too_small"
	reasonRegion            = "region_mismatch"
	reasonRegionUnknown     = "region_unknown"
	reasonZDR               = "zero_data_retention_not_known"
	reasonTraining          = "training_not_ruled_out"
	reasonNotFree           = "not_free"
	reasonPriceUnknown      = "price_unknown"
	reasonTooDear           = "above_max_price"
	reasonNoCredential      = "no_credential"
	reasonSpared            = "byok_fallback_disabled"
	reasonNoAddress         = "no_base_url"
	reasonFallbacksOff      = "fallbacks_off"
	reasonRouteModel        = "replaced_by_route"
	reasonRouteFallbacks    = "replaced_by_route_fallbacks"
	reasonAlreadyTried      = "already_in_chain"
	reasonNoEndpoints       = "no_endpoints"
	reasonUnresolvable      = "model_not_found"
	reasonQualifierConflict = "qualifier_conflict"
	reasonRetired           = "model_retired"
	reasonNotInAutoModels   = "not_in_auto_models"
	reasonNotProduction     = "not_for_production"
	reasonAboveProfile      = "above_spend_profile"
	reasonAutoFallback      = "auto_cannot_be_a_fallback"

	reasonRouteRejects   = "rejected_by_route"
	reasonOverridden     = "overridden_by_dynamic_route"
	reasonPresetProvider = "provider_not_in_preset"
	reasonPresetUnread   = "preset_not_readable"

	reasonPresetModel        = string(fault.PresetModelNotAllowed)
	reasonModelRestricted    = string(fault.ModelRestricted)
	reasonProviderRestricted = string(fault.ProviderRestricted)
)
