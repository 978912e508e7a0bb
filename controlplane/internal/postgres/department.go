package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/department"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

type departmentRow struct {
	ID               uuid.UUID  `gorm:"column:id;primaryKey"`
	WorkspaceID      uuid.UUID  `gorm:"column:workspace_id"`
	Name             string     `gorm:"column:name"`
	RoutingProfileID *uuid.UUID `gorm:"column:routing_profile_id"`
	Version          int64      `gorm:"column:version"`
	CreatedAt        time.Time  `gorm:"column:created_at;autoCreateTime:false"`
	UpdatedAt        time.Time  `gorm:"column:updated_at;autoUpdateTime:false"`
}

func (departmentRow) TableName() string { return "departments" }

func departmentRowOf(d department.Department) departmentRow {
	return departmentRow{
		ID: d.ID.UUID(), WorkspaceID: d.Workspace.UUID(), Name: d.Name, RoutingProfileID: uuidPtr(d.Profile.UUID()),
		Version: d.Version, CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt,
	}
}

func (r departmentRow) department() department.Department {
	return department.Department{
		ID: id.FromUUID[id.DepartmentKind](r.ID), Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID), Name: r.Name,
		Profile: id.FromUUID[id.ProfileKind](uuidOf(r.RoutingProfileID)),
		Version: r.Version, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
}

// changeable are the columns that an update writes.
func (r departmentRow) changeable() map[string]any {
	return map[string]any{
		"name": r.Name, "routing_profile_id": r.RoutingProfileID, "version": r.Version, "updated_at": r.UpdatedAt,
	}
}

// DepartmentStore keeps departments.
type DepartmentStore struct{}

// NewDepartmentStore returns a store that works in the transaction of its context.
func NewDepartmentStore() *DepartmentStore { return &DepartmentStore{} }

// Create implements department.Store.
func (*DepartmentStore) Create(ctx context.Context, ws id.Workspace, d department.Department) error {
	row := departmentRowOf(d)
	return translate(tenant(ctx, ws).Create(&row).Error, "create a department")
}

// Get implements department.Store.
func (*DepartmentStore) Get(ctx context.Context, ws id.Workspace, d id.Department) (department.Department, error) {
	var row departmentRow
	err := scoped(ctx, ws).Where("id = ?", d.UUID()).Take(&row).Error
	return row.department(), translate(err, "read a department")
}

// List implements department.Directory.
func (*DepartmentStore) List(ctx context.Context, ws id.Workspace, q page.Query, f department.Filter) (page.Result[department.Department], error) {
	return newest(called(scoped(ctx, ws), f.Name), "id", q, func(r departmentRow) uuid.UUID { return r.ID }, departmentRow.department, "list departments")
}

// Count implements department.Directory.
func (*DepartmentStore) Count(ctx context.Context, ws id.Workspace) (int, error) {
	return counted(scoped(ctx, ws).Model(&departmentRow{}), "count departments")
}

// Update implements department.Store.
func (*DepartmentStore) Update(ctx context.Context, ws id.Workspace, d department.Department) error {
	row := departmentRowOf(d)
	own := scoped(ctx, ws).Model(&departmentRow{}).Where("id = ?", row.ID)
	return updated(own, d.Version, row.changeable(), "update a department")
}

// Delete implements department.Store.
func (*DepartmentStore) Delete(ctx context.Context, ws id.Workspace, d id.Department) error {
	if err := release(ctx, ws, "department_id", d.UUID()); err != nil {
		return err
	}
	return changed(scoped(ctx, ws).Where("id = ?", d.UUID()).Delete(&departmentRow{}), "delete a department")
}

// Uses implements department.Directory.
func (*DepartmentStore) Uses(ctx context.Context, ws id.Workspace, d id.Department) (department.Uses, error) {
	var u department.Uses
	keys, err := named(scoped(ctx, ws).Model(&apiKeyRow{}).Where("department_id = ? AND status <> 'revoked'", d.UUID()), department.MaxNamed, &u.Keys)
	if err != nil {
		return u, err
	}
	own := scoped(ctx, ws).Model(&departmentMemberRow{}).Where("department_id = ?", d.UUID())
	members, err := namedBy(own, "user_id", department.MaxNamed, &u.Members)
	if err != nil {
		return u, err
	}
	policies, err := policiesOf(ctx, ws, "department_id", d.UUID(), department.MaxNamed, &u.Policies)
	u.More = keys + members + policies
	return u, err
}

// Bindable implements apikey.Departments.
func (*DepartmentStore) Bindable(ctx context.Context, ws id.Workspace, d id.Department) error {
	return present(scoped(ctx, ws).Model(&departmentRow{}).Where("id = ?", d.UUID()), "department")
}

// publishedDepartments are all of the workspace, in the order of their ids, for
// the same reason as publishedProfiles.
func publishedDepartments(ctx context.Context, ws id.Workspace) ([]policy.Department, error) {
	return published(ctx, ws, "compile the departments", func(r departmentRow) policy.Department { return r.department().Published() })
}

var (
	_ department.Store     = (*DepartmentStore)(nil)
	_ department.Directory = (*DepartmentStore)(nil)
	_ apikey.Departments   = (*DepartmentStore)(nil)
)
