package autorouting

import (
	"slices"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// maxPattern is the longest pattern of models, in characters.
const maxPattern = 200

// maxPrice is the highest price of a custom profile: below 10⁹ USD, as the
// contract's pattern has it.
const maxPrice money.PerMillion = 1_000_000_000_000_000_000 - 1

// validate reports every violation of a configuration as it would be stored,
// so that rules between fields hold whichever of them was changed. Patterns
// are not held against the catalog: they may wait for a model.
func validate(a policy.Auto) error {
	var v rule.Violations
	if !slices.Contains(policy.Objectives(), a.Objective) {
		v.Add("objective", rule.NotAllowed, "must be balanced, quality, cost or latency")
	}
	if !slices.Contains(policy.SpendProfiles(), a.Spend) {
		v.Add("spend_profile", rule.NotAllowed, "must be economy, standard, premium, any or custom")
	}
	switch custom := a.Spend == policy.SpendCustom; {
	case custom && a.Prices == nil:
		v.Add("prices", rule.Required, "is needed by spend_profile custom")
	case !custom && a.Prices != nil:
		v.Add("prices", rule.NotAllowed, "needs spend_profile custom")
	}
	if a.Prices != nil {
		price(&v, "prices.input", a.Prices.Input)
		price(&v, "prices.output", a.Prices.Output)
	}
	v.Models("models", a.Models, policy.MaxAutoPatterns, maxPattern)
	return v.Err()
}

func price(v *rule.Violations, path string, p money.PerMillion) {
	if p < 0 || p > maxPrice {
		v.Add(path, rule.OutOfRange, "must be zero or more, and below 1000000000")
	}
}
