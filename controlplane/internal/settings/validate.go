package settings

import (
	"slices"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

const (
	maxFallbackModels = 8
	maxModelLength    = 200
	maxAttempts       = 20
	maxModels         = 34
	maxRetentionDays  = 3650
)

// validate notes every violation of settings as they would be stored, so that
// rules between fields hold whichever of them was changed.
func validate(v *rule.Violations, s policy.Settings) {
	if !slices.Contains([]policy.Mode{policy.Balanced, policy.Price, policy.Latency, policy.Throughput}, s.RoutingMode) {
		v.Add("routing_mode", rule.NotAllowed, "must be balanced, price, latency or throughput")
	}
	if s.DefaultModel != "" {
		v.Text("default_model", s.DefaultModel, maxModelLength)
		if !rule.ModelPattern(s.DefaultModel) {
			v.Add("default_model", rule.Malformed, "must be a model id")
		}
	}
	v.Strings("fallback_models", s.FallbackModels, maxFallbackModels, maxModelLength, rule.ModelPattern)
	if s.AlphaChannel && !s.BetaChannel {
		v.Add("alpha_channel", rule.NotAllowed, "needs beta_channel")
	}
	if s.ModelsWithoutModel != policy.ModelsReject && s.ModelsWithoutModel != policy.ModelsUseFirst {
		v.Add("models_without_model", rule.NotAllowed, "must be reject or use_first")
	}
	v.Between("max_attempts", s.MaxAttempts, 1, maxAttempts)
	v.Between("max_models", s.MaxModels, 1, maxModels)
	v.Between("log_retention_days", s.LogRetentionDays, 1, maxRetentionDays)
}
