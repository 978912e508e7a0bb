package postgres

import (
	"context"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// assignedPolicyRow is a policy with one of its assignments.
type assignedPolicyRow struct {
	Policy     ratePolicyRow     `gorm:"embedded"`
	Assignment rateAssignmentRow `gorm:"embedded;embeddedPrefix:assignment_"`
}

// ratePolicies are those that are assigned to something, in the order of their
// ids, each with its targets in the order of theirs.
func (*Compiler) ratePolicies(ctx context.Context, ws id.Workspace) ([]policy.RatePolicy, error) {
	var rows []assignedPolicyRow
	err := tenant(ctx, ws).Table("rate_limit_policies AS p").Where("p.workspace_id = ?", ws.UUID()).
		Select(`p.*, a.target_type AS assignment_target_type, a.key_id AS assignment_key_id, a.user_id AS assignment_user_id,
			a.department_id AS assignment_department_id, a.guardrail_id AS assignment_guardrail_id`).
		Joins("JOIN rate_limit_assignments a ON a.workspace_id = p.workspace_id AND a.policy_id = p.id").
		Order("p.id, a.key_id, a.user_id, a.department_id, a.guardrail_id").Scan(&rows).Error
	if err != nil {
		return nil, translate(err, "compile the rate-limit policies")
	}
	var list []policy.RatePolicy
	for _, r := range rows {
		p := r.Policy.policy()
		if n := len(list); n == 0 || list[n-1].ID != p.ID {
			list = append(list, p.Published())
		}
		r.Assignment.assignment().Target.Bind(&list[len(list)-1])
	}
	return list, nil
}
