package ratelimit

import (
	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// assigned refuses the deletion of a policy and names its assignments.
func assigned(u Uses) error {
	var uses rule.Uses
	for _, a := range u.Assignments {
		uses.Add("assignments", a.Target.String()+" ("+a.ID.String()+")")
	}
	return uses.Refuse("The rate-limit policy", "is assigned to",
		"Delete each assignment first (signalbox rate-limits assignments delete ASSIGNMENT_ID).", u.More)
}

func changeOf(by audit.By, action string, policy id.RatePolicy) *deploy.Change {
	return deploy.NewChange(by, action, "rate_limit_policy", policy.String())
}

func assignmentChange(by audit.By, action string, assignment id.RateAssignment) *deploy.Change {
	return deploy.NewChange(by, action, "rate_limit_assignment", assignment.String())
}

// diff is the account of a change for the audit log.
func diff(before, after Policy) []audit.Change {
	var d audit.Diff
	d.Text("name", before.Name, after.Name)
	d.Count("requests_per_minute", before.Requests, after.Requests)
	d.Count("tokens_per_minute", before.Tokens, after.Tokens)
	d.Count("concurrent_requests", before.Concurrent, after.Concurrent)
	d.Bool("fail_closed", before.FailClosed, after.FailClosed)
	d.Text("on_unavailable", string(before.Unavailable), string(after.Unavailable))
	return d
}

func assignmentDiff(before, after Assignment) []audit.Change {
	var d audit.Diff
	d.Text("policy_id", before.Policy.String(), after.Policy.String())
	d.Text("target_type", string(before.Target.Type), string(after.Target.Type))
	d.Text("target_id", before.Target.ID(), after.Target.ID())
	return d
}
