// Package settings owns the workspace rung of the policy ladder and the
// switches that hold for a whole workspace: their rules and how they change.
// It knows nothing of SQL or HTTP, and not what the settings do.
package settings

import (
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/patch"
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
	patch.Set(&s.RoutingMode, p.RoutingMode)
	patch.Set(&s.DefaultModel, p.DefaultModel)
	patch.Set(&s.FallbackModels, p.FallbackModels)
	patch.Set(&s.BetaChannel, p.BetaChannel)
	patch.Set(&s.AlphaChannel, p.AlphaChannel)
	patch.Set(&s.BYOKFallback, p.BYOKFallback)
	patch.Set(&s.RetiredRouting, p.RetiredRouting)
	patch.Set(&s.ModelsWithoutModel, p.ModelsWithoutModel)
	patch.Set(&s.MaxAttempts, p.MaxAttempts)
	patch.Set(&s.MaxModels, p.MaxModels)
	patch.Set(&s.CacheAwareRouting, p.CacheAwareRouting)
	patch.Set(&s.ReplayValues, p.ReplayValues)
	patch.Set(&s.LogRetentionDays, p.LogRetentionDays)
	patch.Set(&s.RequireZDR, p.RequireZDR)
	patch.Set(&s.DenyTraining, p.DenyTraining)
	patch.Set(&s.Profile, p.Profile)
	return s
}
