package preset

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/controlplane/internal/routing"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Bounds of a configuration, beside policy.MaxPresetBytes for all of it.
const (
	maxPrompt     = 48 << 10 // bytes
	maxWeights    = 64
	minWeight     = 0.01
	maxWeight     = 100
	maxGuardrails = 20
	minTTL        = 30 * time.Second
	maxTTL        = 24 * time.Hour
)

// checkConfig notes everything that is wrong with c, with paths under
// "config", and returns it as it is to be kept: models by their ids and
// providers by their slugs.
func checkConfig(v *rule.Violations, k *routing.Checker, c policy.PresetConfig) policy.PresetConfig {
	const at = "config"
	if c.SystemPrompt != "" {
		prompt(v, at+".system_prompt", c.SystemPrompt)
	}
	c.Routing = k.Check(v, at, c.Routing)
	if c.Model != "" {
		k.CheckModel(v, at+".model", c.Model, c.Routing.Provider)
	}
	c.Models.Allow = k.CheckPatterns(v, at+".allowed_models", c.Models.Allow)
	if c.Model != "" {
		k.CheckCovered(v, at+".model", c.Model, c.Models.Allow)
	}
	for i, name := range c.Routing.FallbackModels {
		k.CheckCovered(v, fmt.Sprintf("%s.fallback_models[%d]", at, i), name, c.Models.Allow)
	}
	c.Providers.Allow = k.CheckProviders(v, at+".allowed_providers", c.Providers.Allow)
	c.Providers.Block = k.CheckProviders(v, at+".denied_providers", c.Providers.Block)
	for i, slug := range c.Providers.Block {
		if slug != "" && slices.Contains(c.Providers.Allow, slug) {
			v.Add(fmt.Sprintf("%s.denied_providers[%d]", at, i), routing.Contradiction, "is in allowed_providers too")
		}
	}
	c.ProviderWeights = weights(v, k, at+".provider_weights", c.ProviderWeights)
	checkParams(v, at+".params", c.Params)
	guardrailList(v, at+".guardrail_ids", c.Guardrails)
	if c.Cache != nil && c.Cache.TTL != 0 && (c.Cache.TTL < minTTL || c.Cache.TTL > maxTTL) {
		v.Add(at+".cache.ttl_seconds", rule.OutOfRange, "must be from 30 to 86400")
	}
	if text, err := json.Marshal(c); err == nil && len(text) > policy.MaxPresetBytes {
		v.Add(at, rule.TooLong, fmt.Sprintf("must have at most %d bytes as JSON", policy.MaxPresetBytes))
	}
	return c
}

func prompt(v *rule.Violations, path, text string) {
	switch {
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		v.Add(path, rule.Malformed, "must be UTF-8 without a zero character")
	case strings.TrimSpace(text) == "":
		v.Add(path, rule.Malformed, "must have a character that shows")
	case len(text) > maxPrompt:
		v.Add(path, rule.TooLong, fmt.Sprintf("must have at most %d bytes", maxPrompt))
	}
}

// weights keeps factors by their providers' slugs.
func weights(v *rule.Violations, k *routing.Checker, path string, by map[string]float64) map[string]float64 {
	if len(by) == 0 {
		return nil
	}
	if len(by) > maxWeights {
		v.Add(path, rule.TooLong, fmt.Sprintf("must have at most %d entries", maxWeights))
		return by
	}
	kept := make(map[string]float64, len(by))
	for i, name := range slices.Sorted(maps.Keys(by)) {
		at := fmt.Sprintf("%s[%d]", path, i) // in the order of the names, which are not repeated
		slug, ok := k.Slug(name)
		switch {
		case !ok:
			v.Add(at, routing.UnknownProvider, "no provider has this name; entries are counted in the order of their names")
			continue
		case !(by[name] >= minWeight && by[name] <= maxWeight): // a NaN too
			v.Add(path+"."+slug, rule.OutOfRange, fmt.Sprintf("must be from %v to %v", minWeight, maxWeight))
		}
		if _, twice := kept[slug]; twice {
			v.Add(path+"."+slug, rule.Duplicate, "is named twice")
		}
		kept[slug] = by[name]
	}
	return kept
}

func guardrailList(v *rule.Violations, path string, list []id.Guardrail) {
	if len(list) > maxGuardrails {
		v.Add(path, rule.TooLong, fmt.Sprintf("must have at most %d entries", maxGuardrails))
		return
	}
	for i, g := range list {
		switch {
		case g.IsZero():
			v.Add(fmt.Sprintf("%s[%d]", path, i), rule.Malformed, "must be an id that begins with guard_")
		case slices.Contains(list[:i], g):
			v.Add(fmt.Sprintf("%s[%d]", path, i), rule.Duplicate, "is in the list already")
		}
	}
}

// digestOf is the hash of a configuration's content.
func digestOf(c policy.PresetConfig) (string, error) {
	_, digest, err := policy.Encode(c)
	if err != nil {
		return "", fmt.Errorf("hash a preset's configuration: %w", err)
	}
	return digest, nil
}
