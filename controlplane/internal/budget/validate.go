package budget

import (
	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// validate reports every violation of a draft.
func (d Draft) validate(departments bool) error {
	var v rule.Violations
	v.Amount("limit_usd", d.Limit, "delete the budget instead")
	switch d.Interval {
	case policy.Daily, policy.Weekly, policy.Monthly:
	case policy.Lifetime:
		if departments {
			v.Add("interval", rule.NotAllowed, "must be daily, weekly or monthly: departments have no lifetime budget")
		}
	default:
		v.Add("interval", rule.NotAllowed, "must be daily, weekly, monthly or lifetime")
	}
	switch {
	case departments && d.Target.Department.IsZero():
		v.Add("department_id", rule.Required, "is required")
	case departments && d.Reserve:
		v.Add("enforcement", rule.NotAllowed, "must be track: budgets of departments never reserve")
	}
	if d.Target.Agent != "" {
		v.Agent("agent", d.Target.Agent)
		if !d.Target.Guardrail.IsZero() {
			v.Add("agent", rule.NotAllowed, "excludes guardrail_id: a budget is about one of them")
		}
	}
	return v.Err()
}

// validate reports every violation of a patch.
func (p Patch) validate() error {
	var v rule.Violations
	if p.Limit != nil {
		v.Amount("limit_usd", *p.Limit, "delete the budget instead")
	}
	return v.Err()
}

// diff is the account of a change for the audit log.
func diff(before, after Budget) []audit.Change {
	var d audit.Diff
	d.Text("interval", string(before.Interval), string(after.Interval))
	d.Amount("limit_usd", before.Limit, after.Limit)
	d.Text("enforcement", enforcement(before), enforcement(after))
	d.Bool("include_byok", before.IncludeBYOK, after.IncludeBYOK)
	d.Text("department_id", before.Target.Department.String(), after.Target.Department.String())
	d.Text("guardrail_id", before.Target.Guardrail.String(), after.Target.Guardrail.String())
	d.Text("agent", before.Target.Agent, after.Target.Agent)
	return d
}

func enforcement(b Budget) string {
	switch {
	case b.Limit == 0: // there is none
		return ""
	case b.Reserve:
		return "reserve"
	}
	return "track"
}
