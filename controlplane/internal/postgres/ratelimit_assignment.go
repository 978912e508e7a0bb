package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/guardrail"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/ratelimit"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// rateAssignmentRow has the target in the column of its kind, so that the
// database holds that it is there.
type rateAssignmentRow struct {
	ID           uuid.UUID  `gorm:"column:id;primaryKey"`
	WorkspaceID  uuid.UUID  `gorm:"column:workspace_id"`
	PolicyID     uuid.UUID  `gorm:"column:policy_id"`
	TargetType   string     `gorm:"column:target_type"`
	KeyID        *uuid.UUID `gorm:"column:key_id"`
	UserID       *uuid.UUID `gorm:"column:user_id"`
	DepartmentID *uuid.UUID `gorm:"column:department_id"`
	GuardrailID  *uuid.UUID `gorm:"column:guardrail_id"`
	CreatedAt    time.Time  `gorm:"column:created_at;autoCreateTime:false"`
}

func (rateAssignmentRow) TableName() string { return "rate_limit_assignments" }

func rateAssignmentRowOf(a ratelimit.Assignment) rateAssignmentRow {
	t := a.Target
	return rateAssignmentRow{
		ID: a.ID.UUID(), WorkspaceID: a.Workspace.UUID(), PolicyID: a.Policy.UUID(), TargetType: string(t.Type),
		KeyID: uuidPtr(t.Key.UUID()), UserID: uuidPtr(t.Member.UUID()),
		DepartmentID: uuidPtr(t.Department.UUID()), GuardrailID: uuidPtr(t.Guardrail.UUID()), CreatedAt: a.CreatedAt,
	}
}

func (r rateAssignmentRow) assignment() ratelimit.Assignment {
	return ratelimit.Assignment{
		ID: id.FromUUID[id.RateAssignmentKind](r.ID), Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID),
		Policy: id.FromUUID[id.RatePolicyKind](r.PolicyID), CreatedAt: r.CreatedAt.UTC(),
		Target: ratelimit.Target{
			Type: ratelimit.TargetType(r.TargetType), Key: id.FromUUID[id.KeyKind](uuidOf(r.KeyID)), Member: id.FromUUID[id.UserKind](uuidOf(r.UserID)),
			Department: id.FromUUID[id.DepartmentKind](uuidOf(r.DepartmentID)), Guardrail: id.FromUUID[id.GuardrailKind](uuidOf(r.GuardrailID)),
		},
	}
}

// RateAssignmentStore keeps what rate-limit policies are assigned to.
type RateAssignmentStore struct{}

// NewRateAssignmentStore returns a store that works in the transaction of its
// context.
func NewRateAssignmentStore() *RateAssignmentStore { return &RateAssignmentStore{} }

// Add implements ratelimit.Assignments.
func (*RateAssignmentStore) Add(ctx context.Context, ws id.Workspace, a ratelimit.Assignment) error {
	row := rateAssignmentRowOf(a)
	return translate(tenant(ctx, ws).Create(&row).Error, "assign a rate-limit policy")
}

// Get implements ratelimit.Assignments.
func (*RateAssignmentStore) Get(ctx context.Context, ws id.Workspace, a id.RateAssignment) (ratelimit.Assignment, error) {
	var row rateAssignmentRow
	err := scoped(ctx, ws).Where("id = ?", a.UUID()).Take(&row).Error
	return row.assignment(), translate(err, "read an assignment of a rate-limit policy")
}

// Remove implements ratelimit.Assignments.
func (*RateAssignmentStore) Remove(ctx context.Context, ws id.Workspace, a id.RateAssignment) error {
	return changed(scoped(ctx, ws).Where("id = ?", a.UUID()).Delete(&rateAssignmentRow{}), "delete an assignment of a rate-limit policy")
}

// List implements ratelimit.Assignments.
func (*RateAssignmentStore) List(ctx context.Context, ws id.Workspace, q page.Query, f ratelimit.AssignmentFilter) (page.Result[ratelimit.Assignment], error) {
	own := targeting(scoped(ctx, ws), f.Target)
	if !f.Policy.IsZero() {
		own = own.Where("policy_id = ?", f.Policy.UUID())
	}
	if f.Type != "" {
		own = own.Where("target_type = ?", string(f.Type))
	}
	return newest(own, "id", q, func(r rateAssignmentRow) uuid.UUID { return r.ID }, rateAssignmentRow.assignment, "list assignments of rate-limit policies")
}

// Assignable implements ratelimit.Targets.
func (*RateAssignmentStore) Assignable(ctx context.Context, ws id.Workspace, t ratelimit.Target) (bool, error) {
	own := scoped(ctx, ws)
	switch t.Type {
	case ratelimit.ToKey:
		own = own.Model(&apiKeyRow{}).Where("id = ? AND status <> 'revoked'", t.Key.UUID())
	case ratelimit.ToMember:
		own = own.Model(&memberRow{}).Where("user_id = ?", t.Member.UUID())
	case ratelimit.ToDepartment:
		own = own.Model(&departmentRow{}).Where("id = ?", t.Department.UUID())
	case ratelimit.ToGuardrail:
		own = own.Model(&guardrailRow{}).Where("id = ?", t.Guardrail.UUID())
	case ratelimit.ToEndUsers:
		return true, nil
	}
	n, err := counted(own, "look for the target of a rate-limit policy")
	return n > 0, err
}

// Assigned implements ratelimit.Targets.
func (*RateAssignmentStore) Assigned(ctx context.Context, ws id.Workspace, t ratelimit.Target) (all, to int, err error) {
	own := scoped(ctx, ws).Model(&rateAssignmentRow{})
	if all, err = counted(own.Session(fresh), "count assignments of rate-limit policies"); err != nil {
		return 0, 0, err
	}
	to, err = counted(targeting(own.Session(fresh), t).Where("target_type = ?", string(t.Type)), "count the rate-limit policies of a target")
	return all, to, err
}

// Uses implements ratelimit.Targets.
func (*RateAssignmentStore) Uses(ctx context.Context, ws id.Workspace, p id.RatePolicy) (ratelimit.Uses, error) {
	var uses ratelimit.Uses
	own := scoped(ctx, ws).Model(&rateAssignmentRow{}).Where("policy_id = ?", p.UUID())
	total, err := counted(own.Session(fresh), "count the assignments of a rate-limit policy")
	if err != nil {
		return uses, err
	}
	var rows []rateAssignmentRow
	if err := own.Session(fresh).Order("id").Limit(ratelimit.MaxNamed).Find(&rows).Error; err != nil {
		return uses, translate(err, "read the assignments of a rate-limit policy")
	}
	for _, r := range rows {
		uses.Assignments = append(uses.Assignments, r.assignment())
	}
	uses.More = total - len(rows)
	return uses, nil
}

// Release implements apikey.RateLimits.
func (*RateAssignmentStore) Release(ctx context.Context, ws id.Workspace, key id.Key) ([]id.RatePolicy, error) {
	own := scoped(ctx, ws).Model(&rateAssignmentRow{}).Where("key_id = ?", key.UUID())
	policies, err := plucked[id.RatePolicyKind](own.Session(fresh).Order("policy_id"), "policy_id")
	if err != nil || len(policies) == 0 {
		return nil, err
	}
	return policies, translate(own.Session(fresh).Delete(&rateAssignmentRow{}).Error, "take rate-limit policies off a revoked key")
}

// OfGuardrail implements guardrail.RateLimits.
func (*RateAssignmentStore) OfGuardrail(ctx context.Context, ws id.Workspace, g id.Guardrail) (policies []id.RatePolicy, more int, err error) {
	more, err = policiesOf(ctx, ws, "guardrail_id", g.UUID(), guardrail.MaxNamed, &policies)
	return policies, more, err
}

// targeting narrows to the ids that are set in t.
func targeting(db *gorm.DB, t ratelimit.Target) *gorm.DB {
	for column, u := range map[string]uuid.UUID{
		"key_id": t.Key.UUID(), "user_id": t.Member.UUID(), "department_id": t.Department.UUID(), "guardrail_id": t.Guardrail.UUID(),
	} {
		if u != uuid.Nil {
			db = db.Where(map[string]any{column: u})
		}
	}
	return db
}

// policiesOf reads the ids of at most most of the policies that a target has,
// which column and its id name, and says how many there are beyond.
func policiesOf(ctx context.Context, ws id.Workspace, column string, target uuid.UUID, most int, list *[]id.RatePolicy) (more int, err error) {
	own := scoped(ctx, ws).Model(&rateAssignmentRow{}).Where(map[string]any{column: target})
	return namedBy(own, "policy_id", most, list)
}

var (
	_ ratelimit.Assignments = (*RateAssignmentStore)(nil)
	_ ratelimit.Targets     = (*RateAssignmentStore)(nil)
	_ apikey.RateLimits     = (*RateAssignmentStore)(nil)
	_ guardrail.RateLimits  = (*RateAssignmentStore)(nil)
)
