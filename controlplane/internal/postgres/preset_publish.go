package postgres

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/publish"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// publishedPresets are those of the workspace whose slugs mean something, in
// their order.
func publishedPresets(ctx context.Context, ws id.Workspace) ([]policy.Preset, error) {
	var rows []presetRow
	err := scoped(ctx, ws).Omit("draft", "ancestry").Where("deployed_version > 0 AND archived_at IS NULL").Order(`slug COLLATE "C"`).Find(&rows).Error
	if err != nil {
		return nil, translate(err, "compile the presets")
	}
	var list []policy.Preset
	for _, r := range rows {
		list = append(list, r.preset().Published())
	}
	return list, nil
}

// documentRow is a version with the slug that its document has.
type documentRow struct {
	Row  presetVersionRow `gorm:"embedded"`
	Slug string           `gorm:"column:slug"`
}

// changedPresets are the documents of versions, and of public presets, that
// changed since the workspace was last published.
func changedPresets(ctx context.Context, ws id.Workspace) ([]policy.PresetVersion, []publish.PublicPreset, error) {
	const since = "coalesce((SELECT revision FROM published_policies WHERE workspace_id = ?), 0)"
	versions, err := versionDocuments(tenant(ctx, ws), "v.workspace_id = ? AND v.revision > "+since, ws.UUID(), ws.UUID())
	if err != nil {
		return nil, nil, err
	}
	public, err := publicDocuments(tenant(ctx, ws), "workspace_id = ? AND public_revision > "+since, ws.UUID(), ws.UUID())
	return versions, public, err
}

func versionDocuments(db *gorm.DB, where string, args ...any) ([]policy.PresetVersion, error) {
	var rows []documentRow
	err := db.Raw("SELECT v.*, p.slug FROM preset_versions v JOIN presets p ON p.id = v.preset_id WHERE "+where+
		" ORDER BY v.preset_id, v.number", args...).Scan(&rows).Error
	if err != nil {
		return nil, translate(err, "compile versions of presets")
	}
	list := make([]policy.PresetVersion, len(rows))
	for i, r := range rows {
		list[i] = r.Row.version().Document(r.Slug)
	}
	return list, nil
}

func publicDocuments(db *gorm.DB, where string, args ...any) ([]publish.PublicPreset, error) {
	var rows []presetRow
	err := db.Session(fresh).Omit("draft", "ancestry").Where("public_handle <> ''").Where(where, args...).Order("id").Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return nil, translate(err, "compile public presets")
	}
	presets := make([]uuid.UUID, len(rows))
	for i, r := range rows {
		presets[i] = r.ID
	}
	var open []presetVersionRow
	err = db.Session(fresh).Select("preset_id", "number").Where("preset_id IN ? AND public_at IS NOT NULL", presets).Order("number").Find(&open).Error
	if err != nil {
		return nil, translate(err, "compile versions of public presets")
	}
	versions := make(map[uuid.UUID][]int)
	for _, v := range open {
		versions[v.PresetID] = append(versions[v.PresetID], v.Number)
	}
	list := make([]publish.PublicPreset, len(rows))
	for i, r := range rows {
		list[i] = publish.PublicPreset{Handle: r.PublicHandle, Slug: r.Slug, PublicPreset: r.preset().PublicDocument(versions[r.ID])}
	}
	return list, nil
}

// rangeSums sums up a table by the ranges of a preset's id; the formulas are
// publish.Sums's.
const rangeSums = `SELECT right(%[1]s::text, 2) AS part, count(*) AS count, max(%[2]s) AS highest,
		bit_xor(('x' || left(md5(%[1]s::text || ':' || %[2]s), 16))::bit(64)::bigint) AS hash
	FROM %[3]s GROUP BY 1`

// VersionRanges implements publish.PresetLedger.
func (l *Ledger) VersionRanges(ctx context.Context) (publish.Sums, error) {
	return l.sums(ctx, fmt.Sprintf(rangeSums, "preset_id", "number", "preset_versions"))
}

// PublicRanges implements publish.PresetLedger.
func (l *Ledger) PublicRanges(ctx context.Context) (publish.Sums, error) {
	return l.sums(ctx, fmt.Sprintf(rangeSums, "id", "public_revision", "presets WHERE public_handle <> ''"))
}

// Versions implements publish.PresetLedger.
func (l *Ledger) Versions(ctx context.Context, part string) (list []policy.PresetVersion, err error) {
	err = l.system.Read(ctx, func(ctx context.Context) (err error) {
		list, err = versionDocuments(system(ctx), "right(v.preset_id::text, 2) = ?", part)
		return err
	})
	return list, err
}

// Public implements publish.PresetLedger.
func (l *Ledger) Public(ctx context.Context, part string) (list []publish.PublicPreset, err error) {
	err = l.system.Read(ctx, func(ctx context.Context) (err error) {
		list, err = publicDocuments(system(ctx), "right(id::text, 2) = ?", part)
		return err
	})
	return list, err
}

var _ publish.PresetLedger = (*Ledger)(nil)
