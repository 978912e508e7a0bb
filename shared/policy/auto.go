package policy

import "github.com/signalbox-dev/signalbox/shared/money"

// Auto is how signalbox/auto chooses for a workspace. No request changes it.
type Auto struct {
	Version        int64        `json:"version"` // rises with every change, from 1
	Objective      Objective    `json:"objective"`
	Spend          SpendProfile `json:"spend_profile"`
	Prices         *SpendLimit  `json:"prices,omitempty"` // of the custom profile
	Models         []string     `json:"models,omitempty"` // patterns, at most MaxAutoPatterns; empty allows all
	AllowFallbacks bool         `json:"allow_fallbacks"`
}

// MaxAutoPatterns is how many patterns of models Auto may have.
const MaxAutoPatterns = 16

// Objective is what signalbox/auto strives for.
type Objective string

// The objectives.
const (
	ForBalance Objective = "balanced"
	ForQuality Objective = "quality"
	ForCost    Objective = "cost"
	ForLatency Objective = "latency"
)

// Objectives lists every objective.
func Objectives() []Objective { return []Objective{ForBalance, ForQuality, ForCost, ForLatency} }

// SpendProfile says how dear a model may be.
type SpendProfile string

// The spend profiles. Custom has prices of its own, and Any has no limit.
const (
	SpendEconomy  SpendProfile = "economy"
	SpendStandard SpendProfile = "standard"
	SpendPremium  SpendProfile = "premium"
	SpendAny      SpendProfile = "any"
	SpendCustom   SpendProfile = "custom"
)

// SpendProfiles lists every profile.
func SpendProfiles() []SpendProfile {
	return []SpendProfile{SpendEconomy, SpendStandard, SpendPremium, SpendAny, SpendCustom}
}

// SpendLimit is the most that a model may cost, in nano-USD per million tokens.
type SpendLimit struct {
	Input  money.PerMillion `json:"input"`
	Output money.PerMillion `json:"output"`
}

// usd is a dollar per million tokens.
const usd money.PerMillion = 1_000_000_000

// Limit is the most that a model may cost; nil is no limit. A custom profile
// without prices, which no control plane publishes, lets nothing pass but what
// is free.
func (a *Auto) Limit() *SpendLimit {
	switch a.Spend {
	case SpendEconomy:
		return &SpendLimit{Input: usd / 10, Output: usd / 2}
	case SpendStandard:
		return &SpendLimit{Input: usd * 3 / 10, Output: usd * 3 / 2}
	case SpendPremium:
		return &SpendLimit{Input: usd, Output: 5 * usd}
	case SpendAny:
		return nil
	case SpendCustom:
	}
	if a.Prices == nil {
		return &SpendLimit{}
	}
	return a.Prices
}

// DefaultAuto is the configuration of a workspace that has not set one.
func DefaultAuto() Auto {
	return Auto{Version: 1, Objective: ForBalance, Spend: SpendStandard, AllowFallbacks: true}
}
