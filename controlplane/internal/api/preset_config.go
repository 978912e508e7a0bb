package api

import (
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/authz"
	"github.com/signalbox-dev/signalbox/controlplane/internal/routing"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// presetConfigOf leaves out what the configuration does not set.
func presetConfigOf(c policy.PresetConfig) gen.PresetConfig {
	out := gen.PresetConfig{
		SystemPrompt: some(c.SystemPrompt), Model: some(c.Model), AllowedModels: filled(c.Models.Allow),
		FallbackModels: filled(c.Routing.FallbackModels), RoutingMode: some(gen.RoutingMode(c.Routing.Mode)),
		AllowedProviders: filled(c.Providers.Allow), DeniedProviders: filled(c.Providers.Block), Params: c.Params,
		GuardrailIds: filled(id.Texts(c.Guardrails)),
	}
	if p := providerOf(c.Routing.Provider); p != (gen.ProviderFields{}) {
		out.Provider = &p
	}
	if len(c.ProviderWeights) > 0 {
		out.ProviderWeights = &c.ProviderWeights
	}
	if c.Cache != nil {
		out.Cache = &gen.PresetCache{Enabled: c.Cache.Enabled, TTLSeconds: some(int(c.Cache.TTL / time.Second))}
	}
	return out
}

// presetConfigFrom reads a configuration that the contract has admitted.
func presetConfigFrom(c gen.PresetConfig) (policy.PresetConfig, error) {
	out := policy.PresetConfig{
		SystemPrompt: value(c.SystemPrompt), Model: value(c.Model),
		Routing: policy.Routing{
			FallbackModels: value(c.FallbackModels), Mode: policy.Mode(value(c.RoutingMode)), Provider: providerFrom(value(c.Provider)),
		},
		Models:          policy.Lists{Allow: value(c.AllowedModels)},
		Providers:       policy.Lists{Allow: value(c.AllowedProviders), Block: value(c.DeniedProviders)},
		ProviderWeights: value(c.ProviderWeights), Params: c.Params,
	}
	if c.DefaultModel != nil {
		if c.Model != nil && *c.Model != *c.DefaultModel {
			return out, fault.Invalid(fault.Violation{Path: "config.default_model", Code: routing.Contradiction, Message: "is another name of model, which says otherwise"})
		}
		out.Model = *c.DefaultModel
	}
	for _, text := range value(c.GuardrailIds) {
		guardrail, err := id.Parse[id.GuardrailKind](text)
		if err != nil {
			guardrail = id.Guardrail{} // which the rules for configurations refuse
		}
		out.Guardrails = append(out.Guardrails, guardrail)
	}
	if c.Cache != nil {
		out.Cache = &policy.PresetCache{Enabled: c.Cache.Enabled, TTL: time.Duration(value(c.Cache.TTLSeconds)) * time.Second}
	}
	return out, nil
}

// mergeConfig is draft with the fields that given has, as read.
func mergeConfig(draft, read policy.PresetConfig, given gen.PresetConfig) policy.PresetConfig {
	merge(given.SystemPrompt != nil, &draft.SystemPrompt, read.SystemPrompt)
	merge(given.Model != nil || given.DefaultModel != nil, &draft.Model, read.Model)
	merge(given.AllowedModels != nil, &draft.Models.Allow, read.Models.Allow)
	merge(given.FallbackModels != nil, &draft.Routing.FallbackModels, read.Routing.FallbackModels)
	merge(given.RoutingMode != nil, &draft.Routing.Mode, read.Routing.Mode)
	merge(given.Provider != nil, &draft.Routing.Provider, read.Routing.Provider)
	merge(given.AllowedProviders != nil, &draft.Providers.Allow, read.Providers.Allow)
	merge(given.DeniedProviders != nil, &draft.Providers.Block, read.Providers.Block)
	merge(given.ProviderWeights != nil, &draft.ProviderWeights, read.ProviderWeights)
	merge(given.Params != nil, &draft.Params, read.Params)
	merge(given.GuardrailIds != nil, &draft.Guardrails, read.Guardrails)
	merge(given.Cache != nil, &draft.Cache, read.Cache)
	return draft
}

func merge[T any](given bool, field *T, read T) {
	if given {
		*field = read
	}
}

// mayDeployPresets refuses to deploy at once to who may only write.
func (c caller) mayDeployPresets() error {
	_, err := authz.Check(c.Principal, "deployPresetVersion")
	return err
}

var needsPublish = fault.Invalid(fault.Violation{Path: "publish", Code: rule.Required, Message: "is required with a version_label or release_notes"})
