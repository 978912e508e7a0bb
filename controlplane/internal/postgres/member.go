package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/id"
)

type userRow struct {
	ID        uuid.UUID `gorm:"column:id;primaryKey"`
	Email     string    `gorm:"column:email"`
	Name      string    `gorm:"column:name"`
	CreatedAt time.Time `gorm:"column:created_at;autoCreateTime:false"`
}

func (userRow) TableName() string { return "users" }

func userRowOf(m workspace.Member) userRow {
	return userRow{ID: m.User.UUID(), Email: m.Email, Name: m.Name, CreatedAt: m.CreatedAt}
}

type memberRow struct {
	WorkspaceID uuid.UUID `gorm:"column:workspace_id;primaryKey"`
	UserID      uuid.UUID `gorm:"column:user_id;primaryKey"`
	Role        string    `gorm:"column:role"`
	CreatedAt   time.Time `gorm:"column:created_at;autoCreateTime:false"`
}

func (memberRow) TableName() string { return "members" }

func memberRowOf(m workspace.Member) memberRow {
	return memberRow{WorkspaceID: m.Workspace.UUID(), UserID: m.User.UUID(), Role: string(m.Role), CreatedAt: m.CreatedAt}
}

// personRow is a member with what the user table says of them.
type personRow struct {
	WorkspaceID uuid.UUID `gorm:"column:workspace_id"`
	UserID      uuid.UUID `gorm:"column:user_id"`
	Email       string    `gorm:"column:email"`
	Name        string    `gorm:"column:name"`
	Role        string    `gorm:"column:role"`
	CreatedAt   time.Time `gorm:"column:created_at"`
}

func (r personRow) member() workspace.Member {
	return workspace.Member{
		Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID), User: id.FromUUID[id.UserKind](r.UserID),
		Email: r.Email, Name: r.Name, Role: workspace.Role(r.Role), CreatedAt: r.CreatedAt.UTC(),
	}
}

// people joins members and users.
func people(db *gorm.DB) *gorm.DB {
	return db.Model(&memberRow{}).
		Select("members.workspace_id, members.user_id, users.email, users.name, members.role, members.created_at").
		Joins("JOIN users ON users.id = members.user_id")
}

// Members implements workspace.Store.
func (*WorkspaceStore) Members(ctx context.Context, ws id.Workspace, q page.Query) (page.Result[workspace.Member], error) {
	return newest(people(scoped(ctx, ws)), "members.user_id", q, func(r personRow) uuid.UUID { return r.UserID }, personRow.member, "list members")
}

// Member implements workspace.Store.
func (*WorkspaceStore) Member(ctx context.Context, ws id.Workspace, user id.User) (workspace.Member, error) {
	var row personRow
	err := people(scoped(ctx, ws)).Where("members.user_id = ?", user.UUID()).Take(&row).Error
	return row.member(), translate(err, "read a member")
}
