package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/settings"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

type settingsRow struct {
	WorkspaceID        uuid.UUID  `gorm:"column:workspace_id;primaryKey"`
	RoutingMode        string     `gorm:"column:routing_mode"`
	DefaultModel       string     `gorm:"column:default_model"`
	FallbackModels     textArray  `gorm:"column:fallback_models"`
	BetaChannel        bool       `gorm:"column:beta_channel"`
	AlphaChannel       bool       `gorm:"column:alpha_channel"`
	BYOKFallback       bool       `gorm:"column:byok_fallback"`
	RetiredRouting     bool       `gorm:"column:retired_routing"`
	ModelsWithoutModel string     `gorm:"column:models_without_model"`
	MaxAttempts        int        `gorm:"column:max_attempts"`
	MaxModels          int        `gorm:"column:max_models"`
	CacheAwareRouting  bool       `gorm:"column:cache_aware_routing"`
	ReplayValues       bool       `gorm:"column:replay_values"`
	LogRetentionDays   int        `gorm:"column:log_retention_days"`
	RequireZDR         bool       `gorm:"column:require_zdr"`
	DenyTraining       bool       `gorm:"column:deny_training"`
	RoutingProfileID   *uuid.UUID `gorm:"column:routing_profile_id"`
	Version            int64      `gorm:"column:version"`
	UpdatedAt          time.Time  `gorm:"column:updated_at;autoUpdateTime:false"`
}

func (settingsRow) TableName() string { return "settings" }

func settingsRowOf(ws id.Workspace, s settings.Settings) settingsRow {
	return settingsRow{
		WorkspaceID: ws.UUID(), RoutingMode: string(s.RoutingMode), DefaultModel: s.DefaultModel, FallbackModels: s.FallbackModels,
		BetaChannel: s.BetaChannel, AlphaChannel: s.AlphaChannel, BYOKFallback: s.BYOKFallback, RetiredRouting: s.RetiredRouting,
		ModelsWithoutModel: s.ModelsWithoutModel, MaxAttempts: s.MaxAttempts, MaxModels: s.MaxModels,
		CacheAwareRouting: s.CacheAwareRouting, ReplayValues: s.ReplayValues, LogRetentionDays: s.LogRetentionDays,
		RequireZDR: s.RequireZDR, DenyTraining: s.DenyTraining, RoutingProfileID: uuidPtr(s.Profile.UUID()),
		Version: s.Version, UpdatedAt: s.UpdatedAt,
	}
}

func (r settingsRow) settings() settings.Settings {
	return settings.Settings{
		Settings: policy.Settings{
			RoutingMode: policy.Mode(r.RoutingMode), DefaultModel: r.DefaultModel, FallbackModels: r.FallbackModels.list(),
			BetaChannel: r.BetaChannel, AlphaChannel: r.AlphaChannel, BYOKFallback: r.BYOKFallback, RetiredRouting: r.RetiredRouting,
			ModelsWithoutModel: r.ModelsWithoutModel, MaxAttempts: r.MaxAttempts, MaxModels: r.MaxModels,
			CacheAwareRouting: r.CacheAwareRouting, ReplayValues: r.ReplayValues, LogRetentionDays: r.LogRetentionDays,
			RequireZDR: r.RequireZDR, DenyTraining: r.DenyTraining,
		},
		Profile: id.FromUUID[id.ProfileKind](uuidOf(r.RoutingProfileID)), Version: r.Version, UpdatedAt: r.UpdatedAt.UTC(),
	}
}

// changeable are the columns that an update writes.
func (r settingsRow) changeable() map[string]any {
	return map[string]any{
		"routing_mode": r.RoutingMode, "default_model": r.DefaultModel, "fallback_models": r.FallbackModels,
		"beta_channel": r.BetaChannel, "alpha_channel": r.AlphaChannel, "byok_fallback": r.BYOKFallback,
		"retired_routing": r.RetiredRouting, "models_without_model": r.ModelsWithoutModel, "max_attempts": r.MaxAttempts,
		"max_models": r.MaxModels, "cache_aware_routing": r.CacheAwareRouting, "replay_values": r.ReplayValues,
		"log_retention_days": r.LogRetentionDays, "require_zdr": r.RequireZDR, "deny_training": r.DenyTraining,
		"routing_profile_id": r.RoutingProfileID, "version": r.Version, "updated_at": r.UpdatedAt,
	}
}

// SettingsStore keeps settings.
type SettingsStore struct{}

// NewSettingsStore returns a store that works in the transaction of its context.
func NewSettingsStore() *SettingsStore { return &SettingsStore{} }

// Create implements settings.Store.
func (*SettingsStore) Create(ctx context.Context, ws id.Workspace, s settings.Settings) error {
	row := settingsRowOf(ws, s)
	return translate(tenant(ctx, ws).Create(&row).Error, "create settings")
}

// Get implements settings.Store.
func (*SettingsStore) Get(ctx context.Context, ws id.Workspace) (settings.Settings, error) {
	var row settingsRow
	err := scoped(ctx, ws).Take(&row).Error
	return row.settings(), translate(err, "read settings")
}

// Update implements settings.Store.
func (*SettingsStore) Update(ctx context.Context, ws id.Workspace, s settings.Settings) error {
	own := scoped(ctx, ws).Model(&settingsRow{})
	return updated(own, s.Version, settingsRowOf(ws, s).changeable(), "update settings")
}

var _ settings.Store = (*SettingsStore)(nil)
