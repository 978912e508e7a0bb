package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

type workspaceRow struct {
	ID        uuid.UUID `gorm:"column:id;primaryKey"`
	Name      string    `gorm:"column:name"`
	Slug      string    `gorm:"column:slug"`
	Status    string    `gorm:"column:status"`
	Tags      textArray `gorm:"column:tags"`
	Version   int64     `gorm:"column:version"`
	CreatedAt time.Time `gorm:"column:created_at;autoCreateTime:false"`
	UpdatedAt time.Time `gorm:"column:updated_at;autoUpdateTime:false"`
}

func (workspaceRow) TableName() string { return "workspaces" }

func workspaceRowOf(w workspace.Workspace) workspaceRow {
	return workspaceRow{
		ID: w.ID.UUID(), Name: w.Name, Slug: w.Slug, Status: string(w.Status), Tags: w.Tags,
		Version: w.Version, CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt,
	}
}

func (r workspaceRow) workspace() workspace.Workspace {
	return workspace.Workspace{
		ID: id.FromUUID[id.WorkspaceKind](r.ID), Name: r.Name, Slug: r.Slug, Status: policy.WorkspaceStatus(r.Status),
		Tags: r.Tags.list(), Version: r.Version, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
}

// changeable are the columns that an update writes.
func (r workspaceRow) changeable() map[string]any {
	return map[string]any{
		"name": r.Name, "slug": r.Slug, "status": r.Status, "tags": r.Tags, "version": r.Version, "updated_at": r.UpdatedAt,
	}
}

type revisionRow struct {
	WorkspaceID uuid.UUID `gorm:"column:workspace_id;primaryKey"`
	Revision    int64     `gorm:"column:revision"`
}

func (revisionRow) TableName() string { return "workspace_revisions" }

// WorkspaceStore keeps one workspace and its members.
type WorkspaceStore struct{}

// NewWorkspaceStore returns a store that works in the transaction of its context.
func NewWorkspaceStore() *WorkspaceStore { return &WorkspaceStore{} }

// Create implements workspace.Store.
func (*WorkspaceStore) Create(ctx context.Context, w workspace.Workspace, owner workspace.Member, newUser bool) error {
	row := workspaceRowOf(w)
	if err := tenant(ctx, w.ID).Create(&row).Error; err != nil {
		return translate(err, "create a workspace")
	}
	if newUser {
		user := userRowOf(owner)
		if err := tenant(ctx, w.ID).Create(&user).Error; err != nil {
			return translate(err, "create a user")
		}
	}
	member := memberRowOf(owner)
	if err := tenant(ctx, w.ID).Create(&member).Error; err != nil {
		return translate(err, "create the owner")
	}
	revision := revisionRow{WorkspaceID: w.ID.UUID()}
	return translate(tenant(ctx, w.ID).Create(&revision).Error, "create a revision row")
}

// Get implements workspace.Store.
func (*WorkspaceStore) Get(ctx context.Context, ws id.Workspace) (workspace.Workspace, error) {
	var row workspaceRow
	err := tenant(ctx, ws).Where("id = ? AND status <> ?", ws.UUID(), string(policy.WorkspaceDeleted)).Take(&row).Error
	return row.workspace(), translate(err, "read a workspace")
}

// Update implements workspace.Store.
func (*WorkspaceStore) Update(ctx context.Context, w workspace.Workspace) error {
	row := workspaceRowOf(w)
	own := tenant(ctx, w.ID).Model(&workspaceRow{}).Where("id = ?", row.ID)
	return updated(own, w.Version, row.changeable(), "update a workspace")
}

// WorkspaceDirectory looks across workspaces, as the system role.
type WorkspaceDirectory struct{}

// NewWorkspaceDirectory returns a directory that works in the system
// transaction of its context.
func NewWorkspaceDirectory() *WorkspaceDirectory { return &WorkspaceDirectory{} }

// List implements workspace.Directory.
func (*WorkspaceDirectory) List(ctx context.Context, q page.Query) (page.Result[workspace.Workspace], error) {
	return newest(system(ctx), "id", q, func(r workspaceRow) uuid.UUID { return r.ID }, workspaceRow.workspace, "list workspaces")
}

// UserByEmail implements workspace.Directory.
func (*WorkspaceDirectory) UserByEmail(ctx context.Context, email string) (id.User, error) {
	var row userRow
	err := system(ctx).Where("email = ?", email).Take(&row).Error
	return id.FromUUID[id.UserKind](row.ID), translate(err, "look a user up")
}

var (
	_ workspace.Store     = (*WorkspaceStore)(nil)
	_ workspace.Directory = (*WorkspaceDirectory)(nil)
)
