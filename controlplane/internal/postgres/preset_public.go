package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/signalbox-dev/signalbox/controlplane/internal/preset"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

type publisherRow struct {
	WorkspaceID uuid.UUID `gorm:"column:workspace_id;primaryKey"`
	Handle      string    `gorm:"column:handle"`
	Version     int64     `gorm:"column:version"`
	CreatedAt   time.Time `gorm:"column:created_at;autoCreateTime:false"`
	UpdatedAt   time.Time `gorm:"column:updated_at;autoUpdateTime:false"`
}

func (publisherRow) TableName() string { return "publishers" }

func publisherRowOf(p preset.Publisher) publisherRow {
	return publisherRow{WorkspaceID: p.Workspace.UUID(), Handle: p.Handle, Version: p.Version, CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt}
}

func (r publisherRow) publisher() preset.Publisher {
	return preset.Publisher{
		Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID), Handle: r.Handle, Version: r.Version,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
}

// Publisher implements preset.Publishers.
func (*PresetStore) Publisher(ctx context.Context, ws id.Workspace) (preset.Publisher, error) {
	var rows []publisherRow
	err := scoped(ctx, ws).Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return preset.Publisher{}, translate(err, "read the publisher")
	}
	return rows[0].publisher(), nil
}

// PutPublisher implements preset.Publishers.
func (*PresetStore) PutPublisher(ctx context.Context, ws id.Workspace, p preset.Publisher) error {
	row := publisherRowOf(p)
	done := tenant(ctx, ws).Clauses(clause.OnConflict{
		Columns:   []clause.Column{{Name: "workspace_id"}},
		DoUpdates: clause.AssignmentColumns([]string{"handle", "version", "updated_at"}),
	}).Create(&row)
	return changed(done, "choose the publisher's handle")
}

// Used implements preset.Publishers.
func (*PresetStore) Used(ctx context.Context, ws id.Workspace) (bool, error) {
	n, err := counted(scoped(ctx, ws).Model(&presetRow{}).Where("public_handle <> ''").Limit(1), "look for public presets")
	return n > 0, err
}

// foreignRow is what the view of public versions shows.
type foreignRow struct {
	PresetID        uuid.UUID                       `gorm:"column:preset_id"`
	Name            string                          `gorm:"column:name"`
	Number          int                             `gorm:"column:number"`
	DeployedVersion int                             `gorm:"column:deployed_version"`
	Config          jsonColumn[policy.PresetConfig] `gorm:"column:config"`
	Ancestry        jsonColumn[[]originRow]         `gorm:"column:ancestry"`
}

func (foreignRow) TableName() string { return "public_preset_versions" }

func (r foreignRow) foreign() preset.Foreign {
	return preset.Foreign{
		Preset: id.FromUUID[id.PresetKind](r.PresetID), Name: r.Name, Version: r.Number, Config: r.Config.v, Ancestry: originsOf(r.Ancestry.v),
	}
}

// PresetCommons shows what any workspace may have of another's presets, as the
// system role and by one view.
type PresetCommons struct{ system *System }

// NewPresetCommons returns a reader with transactions of its own.
func NewPresetCommons(db *DB) *PresetCommons { return &PresetCommons{system: db.System()} }

// Named implements preset.Commons.
func (c *PresetCommons) Named(ctx context.Context, handle, slug string, version int) (preset.Foreign, error) {
	return c.read(ctx, version, func(db *gorm.DB) *gorm.DB { return db.Where("handle = ? AND slug = ?", handle, slug) })
}

// Of implements preset.Commons.
func (c *PresetCommons) Of(ctx context.Context, p id.Preset, version int) (preset.Foreign, error) {
	return c.read(ctx, version, func(db *gorm.DB) *gorm.DB { return db.Where("preset_id = ?", p.UUID()) })
}

func (c *PresetCommons) read(ctx context.Context, version int, where func(*gorm.DB) *gorm.DB) (preset.Foreign, error) {
	var row foreignRow
	err := c.system.Read(ctx, func(ctx context.Context) error {
		row = foreignRow{}
		db := where(system(ctx))
		if version == 0 {
			db = db.Where("number = deployed_version")
		} else {
			db = db.Where("number = ?", version)
		}
		return translate(db.Take(&row).Error, "read a public preset")
	})
	if fault.Is(err, fault.NotFound) {
		err = fault.New(fault.NotFound, "There is no such preset that you may use, or it has no such version.")
	}
	return row.foreign(), err
}

var (
	_ preset.Publishers = (*PresetStore)(nil)
	_ preset.Commons    = (*PresetCommons)(nil)
)
