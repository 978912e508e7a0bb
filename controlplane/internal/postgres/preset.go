package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/preset"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// presetRow keeps the draft as one document in its published form.
type presetRow struct {
	ID              uuid.UUID                       `gorm:"column:id;primaryKey"`
	WorkspaceID     uuid.UUID                       `gorm:"column:workspace_id"`
	Slug            string                          `gorm:"column:slug"`
	Name            string                          `gorm:"column:name"`
	Description     string                          `gorm:"column:description"`
	Visibility      string                          `gorm:"column:visibility"`
	Versioning      string                          `gorm:"column:versioning"`
	Draft           jsonColumn[policy.PresetConfig] `gorm:"column:draft"`
	DraftDigest     string                          `gorm:"column:draft_digest"`
	CreatedBy       uuid.UUID                       `gorm:"column:created_by"`
	LatestVersion   int                             `gorm:"column:latest_version"`
	LatestDigest    string                          `gorm:"column:latest_digest"`
	DeployedVersion int                             `gorm:"column:deployed_version"`
	UpstreamPreset  *uuid.UUID                      `gorm:"column:upstream_preset"`
	UpstreamVersion *int                            `gorm:"column:upstream_version"`
	Ancestry        jsonColumn[[]originRow]         `gorm:"column:ancestry"`
	PublicHandle    string                          `gorm:"column:public_handle"`
	PublicRevision  int64                           `gorm:"column:public_revision"`
	ArchivedAt      *time.Time                      `gorm:"column:archived_at"`
	Version         int64                           `gorm:"column:version"`
	CreatedAt       time.Time                       `gorm:"column:created_at;autoCreateTime:false"`
	UpdatedAt       time.Time                       `gorm:"column:updated_at;autoUpdateTime:false"`
}

func (presetRow) TableName() string { return "presets" }

// originRow is an entry of an ancestry.
type originRow struct {
	Preset  id.Preset `json:"preset"`
	Version int       `json:"version"`
}

func originRowsOf(list []preset.Origin) []originRow {
	rows := make([]originRow, len(list))
	for i, o := range list {
		rows[i] = originRow{o.Preset, o.Version}
	}
	return rows
}

func originsOf(rows []originRow) []preset.Origin {
	var list []preset.Origin
	for _, r := range rows {
		list = append(list, preset.Origin{Preset: r.Preset, Version: r.Version})
	}
	return list
}

func presetRowOf(p preset.Preset) presetRow {
	return presetRow{
		ID: p.ID.UUID(), WorkspaceID: p.Workspace.UUID(), Slug: p.Slug, Name: p.Name, Description: p.Description,
		Visibility: string(p.Visibility), Versioning: string(p.Versioning),
		Draft: jsonColumn[policy.PresetConfig]{p.Draft}, DraftDigest: p.DraftDigest, CreatedBy: p.CreatedBy.UUID(),
		LatestVersion: p.LatestVersion, LatestDigest: p.LatestDigest, DeployedVersion: p.DeployedVersion,
		UpstreamPreset: uuidPtr(p.Upstream.Preset.UUID()), UpstreamVersion: intPtr(p.Upstream.Version),
		Ancestry:     jsonColumn[[]originRow]{originRowsOf(p.Ancestry)},
		PublicHandle: p.PublicHandle, PublicRevision: p.PublicRevision, ArchivedAt: p.ArchivedAt,
		Version: p.Version, CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt,
	}
}

func (r presetRow) preset() preset.Preset {
	return preset.Preset{
		ID: id.FromUUID[id.PresetKind](r.ID), Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID), Slug: r.Slug, Name: r.Name,
		Description: r.Description, Visibility: preset.Visibility(r.Visibility), Versioning: preset.Versioning(r.Versioning),
		Draft: r.Draft.v, DraftDigest: r.DraftDigest, CreatedBy: id.FromUUID[id.UserKind](r.CreatedBy),
		LatestVersion: r.LatestVersion, LatestDigest: r.LatestDigest, DeployedVersion: r.DeployedVersion,
		Upstream:     preset.Origin{Preset: id.FromUUID[id.PresetKind](uuidOf(r.UpstreamPreset)), Version: intOf(r.UpstreamVersion)},
		Ancestry:     originsOf(r.Ancestry.v),
		PublicHandle: r.PublicHandle, PublicRevision: r.PublicRevision, ArchivedAt: utc(r.ArchivedAt),
		Version: r.Version, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
}

// changeable are the columns that an update writes.
func (r presetRow) changeable() map[string]any {
	return map[string]any{
		"name": r.Name, "description": r.Description, "visibility": r.Visibility, "versioning": r.Versioning,
		"draft": r.Draft, "draft_digest": r.DraftDigest, "latest_version": r.LatestVersion, "latest_digest": r.LatestDigest,
		"deployed_version": r.DeployedVersion, "upstream_preset": r.UpstreamPreset, "upstream_version": r.UpstreamVersion,
		"ancestry": r.Ancestry, "public_handle": r.PublicHandle, "public_revision": r.PublicRevision, "archived_at": r.ArchivedAt,
		"version": r.Version, "updated_at": r.UpdatedAt,
	}
}

// PresetStore keeps presets.
type PresetStore struct{}

// NewPresetStore returns a store that works in the transaction of its context.
func NewPresetStore() *PresetStore { return &PresetStore{} }

// Create implements preset.Store.
func (*PresetStore) Create(ctx context.Context, ws id.Workspace, p preset.Preset) error {
	row := presetRowOf(p)
	return translate(tenant(ctx, ws).Create(&row).Error, "create a preset")
}

// Find implements preset.Store.
func (*PresetStore) Find(ctx context.Context, ws id.Workspace, r preset.Ref) (preset.Preset, error) {
	var row presetRow
	own := scoped(ctx, ws)
	if r.ID.IsZero() {
		own = own.Where("slug = ?", r.Slug)
	} else {
		own = own.Where("id = ?", r.ID.UUID())
	}
	err := own.Take(&row).Error
	return row.preset(), translate(err, "read a preset")
}

// Update implements preset.Store.
func (*PresetStore) Update(ctx context.Context, ws id.Workspace, p preset.Preset) error {
	row := presetRowOf(p)
	own := scoped(ctx, ws).Model(&presetRow{}).Where("id = ?", row.ID)
	return updated(own, p.Version, row.changeable(), "update a preset")
}

// List implements preset.Store.
func (*PresetStore) List(ctx context.Context, ws id.Workspace, q page.Query, f preset.Filter) (page.Result[preset.Preset], error) {
	own := scoped(ctx, ws)
	if f.Slug != "" {
		own = own.Where("slug = lower(?)", f.Slug)
	}
	if f.Visibility != "" {
		own = own.Where("visibility = ?", string(f.Visibility))
	}
	if !f.Archived {
		own = own.Where("archived_at IS NULL")
	}
	if !f.SeenBy.IsZero() {
		own = own.Where("(visibility <> 'private' OR created_by = ?)", f.SeenBy.UUID())
	}
	return newest(own, "id", q, func(r presetRow) uuid.UUID { return r.ID }, presetRow.preset, "list presets")
}

// Count implements preset.Store.
func (*PresetStore) Count(ctx context.Context, ws id.Workspace) (int, error) {
	return counted(scoped(ctx, ws).Model(&presetRow{}).Where("archived_at IS NULL"), "count presets")
}

// RevokeAll implements workspace.Revoker: what was public is so no more.
func (*PresetStore) RevokeAll(ctx context.Context, ws id.Workspace, revision int64, at time.Time) ([]string, error) {
	done := scoped(ctx, ws).Model(&presetRow{}).Where("archived_at IS NULL AND visibility = 'public' AND deployed_version > 0").
		Updates(map[string]any{"archived_at": at, "public_revision": revision, "updated_at": at})
	return nil, translate(done.Error, "withdraw public presets")
}

var _ preset.Store = (*PresetStore)(nil)
