// Package autorouting owns how signalbox/auto chooses for a workspace: its
// rules and how it changes. It knows nothing of SQL or HTTP, and not how a
// model is chosen.
package autorouting

import (
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/patch"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Config is a workspace's configuration at its version.
type Config struct {
	policy.Auto
	UpdatedAt time.Time // zero while nothing was ever set
}

// Default is the configuration of a workspace that never set one.
func Default() Config { return Config{Auto: policy.DefaultAuto()} }

// Patch changes a configuration; nil fields stay.
type Patch struct {
	Objective *policy.Objective
	// Spend takes away the prices of the custom profile when it names another.
	Spend          *policy.SpendProfile
	Prices         *policy.SpendLimit
	Models         *[]string // empty allows all
	AllowFallbacks *bool
}

func (p Patch) apply(c Config) Config {
	patch.Set(&c.Objective, p.Objective)
	patch.Set(&c.Spend, p.Spend)
	patch.Set(&c.Models, patch.Map(p.Models, policy.Collapsed))
	patch.Set(&c.AllowFallbacks, p.AllowFallbacks)
	switch {
	case p.Prices != nil:
		prices := *p.Prices
		c.Prices = &prices
	case p.Spend != nil && *p.Spend != policy.SpendCustom:
		c.Prices = nil
	}
	return c
}
