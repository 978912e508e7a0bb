package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm/clause"

	"github.com/signalbox-dev/signalbox/controlplane/internal/department"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

type departmentMemberRow struct {
	WorkspaceID  uuid.UUID `gorm:"column:workspace_id;primaryKey"`
	DepartmentID uuid.UUID `gorm:"column:department_id;primaryKey"`
	UserID       uuid.UUID `gorm:"column:user_id;primaryKey"`
	Position     string    `gorm:"column:position"`
	Override     bool      `gorm:"column:override"`
	AddedAt      time.Time `gorm:"column:added_at"`
}

func (departmentMemberRow) TableName() string { return "department_members" }

func departmentMemberRowOf(m department.Member) departmentMemberRow {
	return departmentMemberRow{
		WorkspaceID: m.Workspace.UUID(), DepartmentID: m.Department.UUID(), UserID: m.User.UUID(),
		Position: string(m.Position), Override: m.Override, AddedAt: m.AddedAt,
	}
}

func (r departmentMemberRow) member() department.Member {
	return department.Member{
		Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID), Department: id.FromUUID[id.DepartmentKind](r.DepartmentID),
		User:       id.FromUUID[id.UserKind](r.UserID),
		Membership: department.Membership{Position: department.Position(r.Position), Override: r.Override}, AddedAt: r.AddedAt.UTC(),
	}
}

// DepartmentRoster keeps who belongs to departments.
type DepartmentRoster struct{}

// NewDepartmentRoster returns a roster that works in the transaction of its
// context.
func NewDepartmentRoster() *DepartmentRoster { return &DepartmentRoster{} }

// Put implements department.Roster.
func (*DepartmentRoster) Put(ctx context.Context, ws id.Workspace, m department.Member) error {
	row := departmentMemberRowOf(m)
	err := tenant(ctx, ws).Clauses(clause.OnConflict{
		Columns:   []clause.Column{{Name: "workspace_id"}, {Name: "department_id"}, {Name: "user_id"}},
		DoUpdates: clause.AssignmentColumns([]string{"position", "override"}),
	}).Create(&row).Error
	return translate(err, "put a member into a department")
}

// Remove implements department.Roster.
func (*DepartmentRoster) Remove(ctx context.Context, ws id.Workspace, d id.Department, user id.User) error {
	done := scoped(ctx, ws).Where("department_id = ? AND user_id = ?", d.UUID(), user.UUID()).Delete(&departmentMemberRow{})
	return changed(done, "take a member out of a department")
}

// List implements department.Roster.
func (*DepartmentRoster) List(ctx context.Context, ws id.Workspace, d id.Department, q page.Query) (page.Result[department.Member], error) {
	own := scoped(ctx, ws).Where("department_id = ?", d.UUID())
	return newest(own, "user_id", q, func(r departmentMemberRow) uuid.UUID { return r.UserID }, departmentMemberRow.member, "list the members of a department")
}

// Of implements department.Roster.
func (*DepartmentRoster) Of(ctx context.Context, ws id.Workspace, user id.User) ([]department.Member, error) {
	var rows []departmentMemberRow
	if err := scoped(ctx, ws).Where("user_id = ?", user.UUID()).Order("department_id").Find(&rows).Error; err != nil {
		return nil, translate(err, "read the departments of a member")
	}
	var list []department.Member
	for _, r := range rows {
		list = append(list, r.member())
	}
	return list, nil
}

// Count implements department.Roster.
func (*DepartmentRoster) Count(ctx context.Context, ws id.Workspace) (int, error) {
	return counted(scoped(ctx, ws).Model(&departmentMemberRow{}), "count the members of departments")
}

// Bindable implements department.People.
func (*WorkspaceStore) Bindable(ctx context.Context, ws id.Workspace, user id.User) error {
	return present(scoped(ctx, ws).Model(&memberRow{}).Where("user_id = ?", user.UUID()), "member")
}

// publishedMembers are all who belong to a department, in the order of their
// ids, each with the departments that their own keys count toward: the one of the
// override, else all.
func publishedMembers(ctx context.Context, ws id.Workspace) ([]policy.Membership, error) {
	var rows []departmentMemberRow
	if err := scoped(ctx, ws).Order("user_id, override DESC, department_id").Find(&rows).Error; err != nil {
		return nil, translate(err, "compile the members of departments")
	}
	var list []policy.Membership
	var overridden bool // the last of the list
	for _, r := range rows {
		m := r.member()
		switch last := len(list) - 1; {
		case last < 0 || list[last].User != m.User:
			list = append(list, policy.Membership{User: m.User, Departments: []id.Department{m.Department}})
			overridden = m.Override
		case !overridden:
			list[last].Departments = append(list[last].Departments, m.Department)
		}
	}
	return list, nil
}

var (
	_ department.Roster = (*DepartmentRoster)(nil)
	_ department.People = (*WorkspaceStore)(nil)
)
