package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/guardrail"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// guardrailRow keeps the rules as one document in their published form: they
// are read whole, and nothing is looked up by one of them.
type guardrailRow struct {
	ID             uuid.UUID                         `gorm:"column:id;primaryKey"`
	WorkspaceID    uuid.UUID                         `gorm:"column:workspace_id"`
	Name           string                            `gorm:"column:name"`
	Description    string                            `gorm:"column:description"`
	Enabled        bool                              `gorm:"column:enabled"`
	WholeWorkspace bool                              `gorm:"column:whole_workspace"`
	Rules          jsonColumn[policy.GuardrailRules] `gorm:"column:rules"`
	Version        int64                             `gorm:"column:version"`
	CreatedAt      time.Time                         `gorm:"column:created_at;autoCreateTime:false"`
	UpdatedAt      time.Time                         `gorm:"column:updated_at;autoUpdateTime:false"`
}

func (guardrailRow) TableName() string { return "guardrails" }

func guardrailRowOf(g guardrail.Guardrail) guardrailRow {
	return guardrailRow{
		ID: g.ID.UUID(), WorkspaceID: g.Workspace.UUID(), Name: g.Name, Description: g.Description, Enabled: g.Enabled,
		WholeWorkspace: g.WholeWorkspace, Rules: jsonColumn[policy.GuardrailRules]{g.Rules},
		Version: g.Version, CreatedAt: g.CreatedAt, UpdatedAt: g.UpdatedAt,
	}
}

func (r guardrailRow) guardrail() guardrail.Guardrail {
	return guardrail.Guardrail{
		ID: id.FromUUID[id.GuardrailKind](r.ID), Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID), Name: r.Name,
		Description: r.Description, Enabled: r.Enabled, WholeWorkspace: r.WholeWorkspace, Rules: r.Rules.v,
		Version: r.Version, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
}

// changeable are the columns that an update writes.
func (r guardrailRow) changeable() map[string]any {
	return map[string]any{
		"name": r.Name, "description": r.Description, "enabled": r.Enabled, "whole_workspace": r.WholeWorkspace, "rules": r.Rules,
		"version": r.Version, "updated_at": r.UpdatedAt,
	}
}

// GuardrailStore keeps guardrails.
type GuardrailStore struct{}

// NewGuardrailStore returns a store that works in the transaction of its
// context.
func NewGuardrailStore() *GuardrailStore { return &GuardrailStore{} }

// Create implements guardrail.Store.
func (*GuardrailStore) Create(ctx context.Context, ws id.Workspace, g guardrail.Guardrail) error {
	row := guardrailRowOf(g)
	return translate(tenant(ctx, ws).Create(&row).Error, "create a guardrail")
}

// Get implements guardrail.Store.
func (*GuardrailStore) Get(ctx context.Context, ws id.Workspace, g id.Guardrail) (guardrail.Guardrail, error) {
	var row guardrailRow
	err := scoped(ctx, ws).Where("id = ?", g.UUID()).Take(&row).Error
	return row.guardrail(), translate(err, "read a guardrail")
}

// Update implements guardrail.Store.
func (*GuardrailStore) Update(ctx context.Context, ws id.Workspace, g guardrail.Guardrail) error {
	row := guardrailRowOf(g)
	own := scoped(ctx, ws).Model(&guardrailRow{}).Where("id = ?", row.ID)
	return updated(own, g.Version, row.changeable(), "update a guardrail")
}

// Delete implements guardrail.Store.
func (*GuardrailStore) Delete(ctx context.Context, ws id.Workspace, g id.Guardrail) error {
	return changed(scoped(ctx, ws).Where("id = ?", g.UUID()).Delete(&guardrailRow{}), "delete a guardrail")
}

// Release implements apikey.Guardrails. What a guardrail is bound to is part of
// its version.
func (*GuardrailStore) Release(ctx context.Context, ws id.Workspace, key id.Key, at time.Time) ([]id.Guardrail, error) {
	bindings := bound(ctx, ws, guardrailKeys).Where("target_id = ?", key.UUID())
	guardrails, err := plucked[id.GuardrailKind](bindings.Session(fresh).Order("guardrail_id"), "guardrail_id")
	if err != nil || len(guardrails) == 0 {
		return nil, err
	}
	if err := bindings.Session(fresh).Delete(&boundRow{}).Error; err != nil {
		return nil, translate(err, "release a revoked key")
	}
	err = scoped(ctx, ws).Model(&guardrailRow{}).Where("id IN ?", uuidsOf(guardrails)).
		Updates(map[string]any{"version": gorm.Expr("version + 1"), "updated_at": at}).Error
	return guardrails, translate(err, "release a revoked key")
}

// List implements guardrail.Directory.
func (*GuardrailStore) List(ctx context.Context, ws id.Workspace, q page.Query, f guardrail.Filter) (page.Result[guardrail.Guardrail], error) {
	return newest(called(scoped(ctx, ws), f.Name), "id", q, func(r guardrailRow) uuid.UUID { return r.ID }, guardrailRow.guardrail, "list guardrails")
}

// Count implements guardrail.Directory.
func (*GuardrailStore) Count(ctx context.Context, ws id.Workspace) (int, error) {
	return counted(scoped(ctx, ws).Model(&guardrailRow{}), "count guardrails")
}

// Patterns implements guardrail.Directory.
func (*GuardrailStore) Patterns(ctx context.Context, ws id.Workspace, but id.Guardrail) (int, error) {
	const patterns = `$.models.*[*] ? (@ like_regex "[*]")`
	var n int
	err := scoped(ctx, ws).Model(&guardrailRow{}).Where("id <> ?", but.UUID()).
		Select("coalesce(sum(jsonb_array_length(jsonb_path_query_array(rules, ?::jsonpath))), 0)", patterns).Scan(&n).Error
	return n, translate(err, "count the patterns of guardrails")
}

// Absent implements preset.Guardrails.
func (*GuardrailStore) Absent(ctx context.Context, ws id.Workspace, list []id.Guardrail) ([]id.Guardrail, error) {
	var there []uuid.UUID
	if err := scoped(ctx, ws).Model(&guardrailRow{}).Where("id IN ?", uuidsOf(list)).Pluck("id", &there).Error; err != nil {
		return nil, translate(err, "look for guardrails")
	}
	var absent []id.Guardrail
	for _, g := range list {
		if !slices.Contains(there, g.UUID()) {
			absent = append(absent, g)
		}
	}
	return absent, nil
}

// Bindings implements guardrail.Directory.
func (*GuardrailStore) Bindings(ctx context.Context, ws id.Workspace, g id.Guardrail) (guardrail.Bindings, error) {
	var b guardrail.Bindings
	members, err := some(boundTo(ctx, ws, guardrailMembers, g), &b.Members)
	if err != nil {
		return b, err
	}
	keys, err := some(boundTo(ctx, ws, guardrailKeys, g), &b.Keys)
	b.More = members + keys
	return b, err
}

// Presets implements guardrail.Store.
func (*GuardrailStore) Presets(ctx context.Context, ws id.Workspace, g id.Guardrail) (slugs []string, more int, err error) {
	const names = `EXISTS (SELECT 1 FROM json_array_elements_text(%s->'guardrail_ids') AS named WHERE named = @guardrail)`
	naming := scoped(ctx, ws).Model(&presetRow{}).Where("archived_at IS NULL").Where(
		fmt.Sprintf(names, "draft")+` OR EXISTS (SELECT 1 FROM preset_versions v
			WHERE v.preset_id = presets.id AND `+fmt.Sprintf(names, "v.config")+`)`, sql.Named("guardrail", g.String()))
	var all []string
	if err := naming.Order("slug").Pluck("slug", &all).Error; err != nil {
		return nil, 0, translate(err, "look for the presets that name a guardrail")
	}
	shown := min(len(all), guardrail.MaxNamed)
	return all[:shown], len(all) - shown, nil
}

// Bound implements guardrail.Directory.
func (*GuardrailStore) Bound(ctx context.Context, ws id.Workspace) (int, error) {
	members, err := counted(bound(ctx, ws, guardrailMembers), "count the members that guardrails bind")
	if err != nil {
		return 0, err
	}
	keys, err := counted(bound(ctx, ws, guardrailKeys), "count the keys that guardrails bind")
	return members + keys, err
}

// some is named for bindings.
func some[K id.Kind](selected *gorm.DB, list *[]id.ID[K]) (more int, err error) {
	return namedBy(selected, "target_id", guardrail.MaxNamed, list)
}

// publishedGuardrails are the enabled ones, in the order of their ids, each
// with what it is bound to.
func publishedGuardrails(ctx context.Context, ws id.Workspace) ([]policy.Guardrail, error) {
	var rows []guardrailRow
	if err := scoped(ctx, ws).Where("enabled").Order("id").Find(&rows).Error; err != nil {
		return nil, translate(err, "compile the guardrails")
	}
	if len(rows) == 0 {
		return nil, nil
	}
	members, err := allBound[id.UserKind](bound(ctx, ws, guardrailMembers))
	if err != nil {
		return nil, err
	}
	keys, err := allBound[id.KeyKind](bound(ctx, ws, guardrailKeys))
	if err != nil {
		return nil, err
	}
	list := make([]policy.Guardrail, len(rows))
	for i, r := range rows {
		list[i] = r.guardrail().Published(members[r.ID], keys[r.ID])
	}
	return list, nil
}

var (
	_ guardrail.Store     = (*GuardrailStore)(nil)
	_ guardrail.Directory = (*GuardrailStore)(nil)
	_ apikey.Guardrails   = (*GuardrailStore)(nil)
)
