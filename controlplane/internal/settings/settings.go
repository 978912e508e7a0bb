// Package settings owns the workspace rung of the policy ladder and the
// switches that hold for a whole workspace: their rules and how they change.
// It knows nothing of SQL or HTTP, and not what the settings do.
package settings

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Settings are a workspace's settings at a version.
type Settings struct {
	policy.Settings
	Profile   id.Profile // the routing profile bound to the workspace; zero for none
	Version   int64      // rises with every change, from 1
	UpdatedAt time.Time
}

// Patch changes settings; nil fields stay.
type Patch struct {
	RoutingMode        *policy.Mode
	DefaultModel       *string // "" takes it away
	FallbackModels     *[]string
	BetaChannel        *bool
	AlphaChannel       *bool
	BYOKFallback       *bool
	RetiredRouting     *bool
	ModelsWithoutModel *string
	MaxAttempts        *int
	MaxModels          *int
	CacheAwareRouting  *bool
	ReplayValues       *bool
	LogRetentionDays   *int
	RequireZDR         *bool
	DenyTraining       *bool
	Profile            *id.Profile // the zero id unbinds
}

func (p Patch) apply(s Settings) Settings {
	set(&s.RoutingMode, p.RoutingMode)
	set(&s.DefaultModel, p.DefaultModel)
	set(&s.FallbackModels, p.FallbackModels)
	set(&s.BetaChannel, p.BetaChannel)
	set(&s.AlphaChannel, p.AlphaChannel)
	set(&s.BYOKFallback, p.BYOKFallback)
	set(&s.RetiredRouting, p.RetiredRouting)
	set(&s.ModelsWithoutModel, p.ModelsWithoutModel)
	set(&s.MaxAttempts, p.MaxAttempts)
	set(&s.MaxModels, p.MaxModels)
	set(&s.CacheAwareRouting, p.CacheAwareRouting)
	set(&s.ReplayValues, p.ReplayValues)
	set(&s.LogRetentionDays, p.LogRetentionDays)
	set(&s.RequireZDR, p.RequireZDR)
	set(&s.DenyTraining, p.DenyTraining)
	set(&s.Profile, p.Profile)
	return s
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}
