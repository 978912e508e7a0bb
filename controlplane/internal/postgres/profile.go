package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/department"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/profile"
	"github.com/signalbox-dev/signalbox/controlplane/internal/settings"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// profileRow keeps the routing fields as one document in their published form:
// they are read and written whole, and nothing is looked up by one of them.
type profileRow struct {
	ID          uuid.UUID                  `gorm:"column:id;primaryKey"`
	WorkspaceID uuid.UUID                  `gorm:"column:workspace_id"`
	Name        string                     `gorm:"column:name"`
	Routing     jsonColumn[policy.Routing] `gorm:"column:routing"`
	Version     int64                      `gorm:"column:version"`
	CreatedAt   time.Time                  `gorm:"column:created_at;autoCreateTime:false"`
	UpdatedAt   time.Time                  `gorm:"column:updated_at;autoUpdateTime:false"`
}

func (profileRow) TableName() string { return "routing_profiles" }

func profileRowOf(p profile.Profile) profileRow {
	return profileRow{
		ID: p.ID.UUID(), WorkspaceID: p.Workspace.UUID(), Name: p.Name, Routing: jsonColumn[policy.Routing]{p.Routing},
		Version: p.Version, CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt,
	}
}

func (r profileRow) profile() profile.Profile {
	return profile.Profile{
		ID: id.FromUUID[id.ProfileKind](r.ID), Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID), Name: r.Name,
		Routing: r.Routing.v, Version: r.Version, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
}

// changeable are the columns that an update writes.
func (r profileRow) changeable() map[string]any {
	return map[string]any{"name": r.Name, "routing": r.Routing, "version": r.Version, "updated_at": r.UpdatedAt}
}

// ProfileStore keeps routing profiles.
type ProfileStore struct{}

// NewProfileStore returns a store that works in the transaction of its context.
func NewProfileStore() *ProfileStore { return &ProfileStore{} }

// Create implements profile.Store.
func (*ProfileStore) Create(ctx context.Context, ws id.Workspace, p profile.Profile) error {
	row := profileRowOf(p)
	return translate(tenant(ctx, ws).Create(&row).Error, "create a routing profile")
}

// Get implements profile.Store.
func (*ProfileStore) Get(ctx context.Context, ws id.Workspace, p id.Profile) (profile.Profile, error) {
	var row profileRow
	err := scoped(ctx, ws).Where("id = ?", p.UUID()).Take(&row).Error
	return row.profile(), translate(err, "read a routing profile")
}

// List implements profile.Directory.
func (*ProfileStore) List(ctx context.Context, ws id.Workspace, q page.Query, f profile.Filter) (page.Result[profile.Profile], error) {
	return newest(called(scoped(ctx, ws), f.Name), "id", q, func(r profileRow) uuid.UUID { return r.ID }, profileRow.profile, "list routing profiles")
}

// Count implements profile.Directory.
func (*ProfileStore) Count(ctx context.Context, ws id.Workspace) (int, error) {
	return counted(scoped(ctx, ws).Model(&profileRow{}), "count routing profiles")
}

// Update implements profile.Store.
func (*ProfileStore) Update(ctx context.Context, ws id.Workspace, p profile.Profile) error {
	row := profileRowOf(p)
	own := scoped(ctx, ws).Model(&profileRow{}).Where("id = ?", row.ID)
	return updated(own, p.Version, row.changeable(), "update a routing profile")
}

// Delete implements profile.Store.
func (*ProfileStore) Delete(ctx context.Context, ws id.Workspace, p id.Profile) error {
	if err := release(ctx, ws, "routing_profile_id", p.UUID()); err != nil {
		return err
	}
	return changed(scoped(ctx, ws).Where("id = ?", p.UUID()).Delete(&profileRow{}), "delete a routing profile")
}

// Bindings implements profile.Directory.
func (*ProfileStore) Bindings(ctx context.Context, ws id.Workspace, p id.Profile) (profile.Bindings, error) {
	var b profile.Bindings
	n, err := counted(scoped(ctx, ws).Model(&settingsRow{}).Where("routing_profile_id = ?", p.UUID()), "read the bindings of a routing profile")
	if err != nil {
		return b, err
	}
	b.Workspace = n > 0
	departments, err := named(scoped(ctx, ws).Model(&departmentRow{}).Where("routing_profile_id = ?", p.UUID()), profile.MaxBindings, &b.Departments)
	if err != nil {
		return b, err
	}
	keys, err := named(scoped(ctx, ws).Model(&apiKeyRow{}).Where("routing_profile_id = ? AND status <> 'revoked'", p.UUID()), profile.MaxBindings, &b.Keys)
	b.More = departments + keys
	return b, err
}

// Bindable implements settings.Profiles, department.Profiles and
// apikey.Profiles.
func (s *ProfileStore) Bindable(ctx context.Context, ws id.Workspace, p id.Profile) error {
	return present(scoped(ctx, ws).Model(&profileRow{}).Where("id = ?", p.UUID()), "routing profile")
}

// publishedProfiles are all of the workspace, in the order of their ids. Those
// that nothing is bound to are among them: a gateway may hold the snapshot
// after an unbinding before it holds the key's document.
func publishedProfiles(ctx context.Context, ws id.Workspace) ([]policy.Profile, error) {
	return published(ctx, ws, "compile the routing profiles", func(r profileRow) policy.Profile { return r.profile().Published() })
}

var (
	_ profile.Store       = (*ProfileStore)(nil)
	_ profile.Directory   = (*ProfileStore)(nil)
	_ settings.Profiles   = (*ProfileStore)(nil)
	_ department.Profiles = (*ProfileStore)(nil)
	_ apikey.Profiles     = (*ProfileStore)(nil)
)
