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

type presetVersionRow struct {
	WorkspaceID uuid.UUID                       `gorm:"column:workspace_id"`
	PresetID    uuid.UUID                       `gorm:"column:preset_id;primaryKey"`
	Number      int                             `gorm:"column:number;primaryKey;autoIncrement:false"`
	Label       string                          `gorm:"column:label"`
	Notes       string                          `gorm:"column:notes"`
	Config      jsonColumn[policy.PresetConfig] `gorm:"column:config"`
	Digest      string                          `gorm:"column:digest"`
	PublishedBy uuid.UUID                       `gorm:"column:published_by"`
	PublishedAt time.Time                       `gorm:"column:published_at"`
	Revision    int64                           `gorm:"column:revision"`
	Status      string                          `gorm:"column:status"`
	PublicAt    *time.Time                      `gorm:"column:public_at"`
}

func (presetVersionRow) TableName() string { return "preset_versions" }

func presetVersionRowOf(v preset.Version) presetVersionRow {
	return presetVersionRow{
		WorkspaceID: v.Workspace.UUID(), PresetID: v.Preset.UUID(), Number: v.Number, Label: v.Label, Notes: v.Notes,
		Config: jsonColumn[policy.PresetConfig]{v.Config}, Digest: v.Digest, PublishedBy: v.PublishedBy.UUID(),
		PublishedAt: v.PublishedAt, Revision: v.Revision, Status: string(v.Status), PublicAt: v.PublicAt,
	}
}

func (r presetVersionRow) version() preset.Version {
	return preset.Version{
		Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID), Preset: id.FromUUID[id.PresetKind](r.PresetID), Number: r.Number,
		Label: r.Label, Notes: r.Notes, Config: r.Config.v, Digest: r.Digest, PublishedBy: id.FromUUID[id.UserKind](r.PublishedBy),
		PublishedAt: r.PublishedAt.UTC(), Revision: r.Revision, Status: preset.Status(r.Status), PublicAt: utc(r.PublicAt),
	}
}

// PresetVersions keeps the published versions of presets.
type PresetVersions struct{}

// NewPresetVersions returns a store that works in the transaction of its
// context.
func NewPresetVersions() *PresetVersions { return &PresetVersions{} }

// Add implements preset.Versions.
func (*PresetVersions) Add(ctx context.Context, ws id.Workspace, v preset.Version) error {
	row := presetVersionRowOf(v)
	return translate(tenant(ctx, ws).Create(&row).Error, "add a version of a preset")
}

// Get implements preset.Versions.
func (*PresetVersions) Get(ctx context.Context, ws id.Workspace, p id.Preset, number int) (preset.Version, error) {
	var row presetVersionRow
	err := scoped(ctx, ws).Where("preset_id = ? AND number = ?", p.UUID(), number).Take(&row).Error
	return row.version(), translate(err, "read a version of a preset")
}

// Mark implements preset.Versions.
func (*PresetVersions) Mark(ctx context.Context, ws id.Workspace, v preset.Version) error {
	done := scoped(ctx, ws).Model(&presetVersionRow{}).Where("preset_id = ? AND number = ?", v.Preset.UUID(), v.Number).
		Updates(map[string]any{"status": string(v.Status), "public_at": v.PublicAt})
	return changed(done, "mark a version of a preset")
}

// List implements preset.Versions.
func (*PresetVersions) List(ctx context.Context, ws id.Workspace, p id.Preset, q page.Query) (page.Result[preset.Version], error) {
	db, err := highestFirst(scoped(ctx, ws).Where("preset_id = ?", p.UUID()), q)
	if err != nil {
		return page.Result[preset.Version]{}, err
	}
	return paged(db, q, func(r presetVersionRow) uuid.UUID { return placeOf(r.Number) }, presetVersionRow.version, "list versions of a preset")
}

// Labels implements preset.Versions.
func (*PresetVersions) Labels(ctx context.Context, ws id.Workspace, p id.Preset) ([]string, error) {
	var list []string
	err := scoped(ctx, ws).Model(&presetVersionRow{}).Where("preset_id = ?", p.UUID()).Order("number DESC").Pluck("label", &list).Error
	return list, translate(err, "read labels of a preset")
}

type deploymentRow struct {
	WorkspaceID uuid.UUID `gorm:"column:workspace_id"`
	PresetID    uuid.UUID `gorm:"column:preset_id;primaryKey"`
	Seq         int       `gorm:"column:seq;primaryKey;autoIncrement:false"`
	Version     int       `gorm:"column:version"`
	Beneath     *int      `gorm:"column:beneath"`
	Rollback    bool      `gorm:"column:rollback"`
	DeployedBy  uuid.UUID `gorm:"column:deployed_by"`
	DeployedAt  time.Time `gorm:"column:deployed_at"`
}

func (deploymentRow) TableName() string { return "preset_deployments" }

func deploymentRowOf(ws id.Workspace, p id.Preset, d preset.Deployment) deploymentRow {
	return deploymentRow{
		WorkspaceID: ws.UUID(), PresetID: p.UUID(), Seq: d.Seq, Version: d.Version, Beneath: intPtr(d.Beneath), Rollback: d.Rollback,
		DeployedBy: d.By.UUID(), DeployedAt: d.At,
	}
}

func (r deploymentRow) deployment() preset.Deployment {
	return preset.Deployment{
		Seq: r.Seq, Version: r.Version, Beneath: intOf(r.Beneath), Rollback: r.Rollback,
		By: id.FromUUID[id.UserKind](r.DeployedBy), At: r.DeployedAt.UTC(),
	}
}

// PresetDeployments keeps what was deployed of presets.
type PresetDeployments struct{}

// NewPresetDeployments returns a store that works in the transaction of its
// context.
func NewPresetDeployments() *PresetDeployments { return &PresetDeployments{} }

// Append implements preset.Deployments.
func (*PresetDeployments) Append(ctx context.Context, ws id.Workspace, p id.Preset, d preset.Deployment) error {
	row := deploymentRowOf(ws, p, d)
	return translate(tenant(ctx, ws).Create(&row).Error, "note a deployment of a preset")
}

// Present implements preset.Deployments.
func (*PresetDeployments) Present(ctx context.Context, ws id.Workspace, p id.Preset) (preset.Deployment, error) {
	var rows []deploymentRow
	err := scoped(ctx, ws).Where("preset_id = ?", p.UUID()).Order("seq DESC").Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return preset.Deployment{}, translate(err, "read the deployment of a preset")
	}
	return rows[0].deployment(), nil
}

// At implements preset.Deployments.
func (*PresetDeployments) At(ctx context.Context, ws id.Workspace, p id.Preset, seq int) (preset.Deployment, error) {
	var row deploymentRow
	err := scoped(ctx, ws).Where("preset_id = ? AND seq = ?", p.UUID(), seq).Take(&row).Error
	return row.deployment(), translate(err, "read a deployment of a preset")
}

var (
	_ preset.Versions    = (*PresetVersions)(nil)
	_ preset.Deployments = (*PresetDeployments)(nil)
)
