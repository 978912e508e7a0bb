package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/budget"
	"github.com/signalbox-dev/signalbox/controlplane/internal/department"
	"github.com/signalbox-dev/signalbox/controlplane/internal/guardrail"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

type budgetRow struct {
	ID           uuid.UUID  `gorm:"column:id;primaryKey"`
	WorkspaceID  uuid.UUID  `gorm:"column:workspace_id"`
	DepartmentID *uuid.UUID `gorm:"column:department_id"`
	GuardrailID  *uuid.UUID `gorm:"column:guardrail_id"`
	Agent        string     `gorm:"column:agent"`
	Interval     string     `gorm:"column:interval"`
	LimitNanos   int64      `gorm:"column:limit_nanos"`
	Reserve      bool       `gorm:"column:reserve"`
	IncludeBYOK  bool       `gorm:"column:include_byok"`
	CreatedBy    *uuid.UUID `gorm:"column:created_by"`
	Version      int64      `gorm:"column:version"`
	CreatedAt    time.Time  `gorm:"column:created_at;autoCreateTime:false"`
	UpdatedAt    time.Time  `gorm:"column:updated_at;autoUpdateTime:false"`
}

func (budgetRow) TableName() string { return "budgets" }

func budgetRowOf(b budget.Budget) budgetRow {
	return budgetRow{
		ID: b.ID.UUID(), WorkspaceID: b.Workspace.UUID(),
		DepartmentID: uuidPtr(b.Target.Department.UUID()), GuardrailID: uuidPtr(b.Target.Guardrail.UUID()), Agent: b.Target.Agent,
		Interval: string(b.Interval), LimitNanos: int64(b.Limit), Reserve: b.Reserve, IncludeBYOK: b.IncludeBYOK,
		CreatedBy: uuidPtr(b.CreatedBy.UUID()), Version: b.Version, CreatedAt: b.CreatedAt, UpdatedAt: b.UpdatedAt,
	}
}

func (r budgetRow) budget() budget.Budget {
	return budget.Budget{
		ID: id.FromUUID[id.BudgetKind](r.ID), Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID),
		Target: budget.Target{
			Department: id.FromUUID[id.DepartmentKind](uuidOf(r.DepartmentID)),
			Guardrail:  id.FromUUID[id.GuardrailKind](uuidOf(r.GuardrailID)), Agent: r.Agent,
		},
		Interval: policy.Interval(r.Interval), Limit: money.Nanos(r.LimitNanos), Reserve: r.Reserve, IncludeBYOK: r.IncludeBYOK,
		CreatedBy: id.FromUUID[id.UserKind](uuidOf(r.CreatedBy)), Version: r.Version, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
}

// changeable are the columns that an update writes.
func (r budgetRow) changeable() map[string]any {
	return map[string]any{
		"limit_nanos": r.LimitNanos, "reserve": r.Reserve, "include_byok": r.IncludeBYOK, "version": r.Version, "updated_at": r.UpdatedAt,
	}
}

// BudgetStore keeps budgets.
type BudgetStore struct{}

// NewBudgetStore returns a store that works in the transaction of its context.
func NewBudgetStore() *BudgetStore { return &BudgetStore{} }

// Create implements budget.Store.
func (*BudgetStore) Create(ctx context.Context, ws id.Workspace, b budget.Budget) error {
	row := budgetRowOf(b)
	return translate(tenant(ctx, ws).Create(&row).Error, "create a budget")
}

// Get implements budget.Store.
func (*BudgetStore) Get(ctx context.Context, ws id.Workspace, b id.Budget) (budget.Budget, error) {
	var row budgetRow
	err := scoped(ctx, ws).Where("id = ?", b.UUID()).Take(&row).Error
	return row.budget(), translate(err, "read a budget")
}

// Update implements budget.Store.
func (*BudgetStore) Update(ctx context.Context, ws id.Workspace, b budget.Budget) error {
	row := budgetRowOf(b)
	own := scoped(ctx, ws).Model(&budgetRow{}).Where("id = ?", row.ID)
	return updated(own, b.Version, row.changeable(), "update a budget")
}

// Delete implements budget.Store.
func (*BudgetStore) Delete(ctx context.Context, ws id.Workspace, b id.Budget) error {
	return changed(scoped(ctx, ws).Where("id = ?", b.UUID()).Delete(&budgetRow{}), "delete a budget")
}

// Count implements budget.Store.
func (*BudgetStore) Count(ctx context.Context, ws id.Workspace) (int, error) {
	return counted(scoped(ctx, ws).Model(&budgetRow{}), "count budgets")
}

// List implements budget.Directory.
func (*BudgetStore) List(ctx context.Context, ws id.Workspace, departments bool, q page.Query, f budget.Filter) (page.Result[budget.Budget], error) {
	return newest(budgetsOf(scoped(ctx, ws), departments, f), "id", q, func(r budgetRow) uuid.UUID { return r.ID }, budgetRow.budget, "list budgets")
}

func budgetsOf(own *gorm.DB, departments bool, f budget.Filter) *gorm.DB {
	if departments {
		own = own.Where("department_id IS NOT NULL")
	} else {
		own = own.Where("department_id IS NULL")
	}
	if !f.Target.Department.IsZero() {
		own = own.Where("department_id = ?", f.Target.Department.UUID())
	}
	if !f.Target.Guardrail.IsZero() {
		own = own.Where("guardrail_id = ?", f.Target.Guardrail.UUID())
	}
	if f.Target.Agent != "" {
		own = own.Where("agent = ?", f.Target.Agent)
	}
	if f.Interval != "" {
		own = own.Where(`"interval" = ?`, string(f.Interval))
	}
	return own
}

// ReleaseDepartment implements department.Budgets.
func (*BudgetStore) ReleaseDepartment(ctx context.Context, ws id.Workspace, d id.Department) ([]id.Budget, error) {
	return releaseBudgets(scoped(ctx, ws).Where("department_id = ?", d.UUID()))
}

// ReleaseGuardrail implements guardrail.Budgets.
func (*BudgetStore) ReleaseGuardrail(ctx context.Context, ws id.Workspace, g id.Guardrail) ([]id.Budget, error) {
	return releaseBudgets(scoped(ctx, ws).Where("guardrail_id = ?", g.UUID()))
}

func releaseBudgets(selected *gorm.DB) ([]id.Budget, error) {
	var ids []id.Budget
	if _, err := named(selected.Session(fresh).Model(&budgetRow{}), budget.Most, &ids); err != nil || len(ids) == 0 {
		return nil, err
	}
	return ids, translate(selected.Session(fresh).Delete(&budgetRow{}).Error, "delete the budgets of what is deleted")
}

// BudgetTargets says what budgets can be about.
type BudgetTargets struct{}

// Department implements budget.Targets.
func (BudgetTargets) Department(ctx context.Context, ws id.Workspace, d id.Department) error {
	return NewDepartmentStore().Bindable(ctx, ws, d)
}

// Guardrail implements budget.Targets.
func (BudgetTargets) Guardrail(ctx context.Context, ws id.Workspace, g id.Guardrail) error {
	return present(scoped(ctx, ws).Model(&guardrailRow{}).Where("id = ?", g.UUID()), "guardrail")
}

// budgets are all of the workspace, in the order of their ids.
func (*Compiler) budgets(ctx context.Context, ws id.Workspace) ([]policy.Budget, error) {
	return published(ctx, ws, "compile the budgets", func(r budgetRow) policy.Budget { return r.budget().Published() })
}

var (
	_ budget.Store       = (*BudgetStore)(nil)
	_ budget.Directory   = (*BudgetStore)(nil)
	_ budget.Targets     = BudgetTargets{}
	_ department.Budgets = (*BudgetStore)(nil)
	_ guardrail.Budgets  = (*BudgetStore)(nil)
)
