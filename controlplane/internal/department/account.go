package department

import (
	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// inUse refuses the deletion of a department and says what uses it.
func inUse(u Uses) error {
	var uses rule.Uses
	for _, k := range u.Keys {
		uses.Add("keys", "the API key "+k.String())
	}
	for _, m := range u.Members {
		uses.Add("members", "the member "+m.String())
	}
	for _, p := range u.Policies {
		uses.Add("rate_limits", "the rate-limit policy "+p.String())
	}
	return uses.Refuse("The department", "has", "Take keys and members out of it first (signalbox departments remove-key KEY_ID, "+
		"signalbox departments members remove DEPARTMENT USER_ID), and policies off it (signalbox rate-limits assignments delete ASSIGNMENT_ID).", u.More)
}

func changeOf(by audit.By, action string, department id.Department) *deploy.Change {
	return deploy.NewChange(by, action, "department", department.String())
}

func diff(before, after Department) []audit.Change {
	var d audit.Diff
	d.Text("name", before.Name, after.Name)
	d.Text("routing_profile_id", before.Profile.String(), after.Profile.String())
	return d
}
