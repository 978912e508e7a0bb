package guardrail

import (
	"fmt"
	"strings"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// inUse refuses the deletion of a guardrail and says what it binds.
func inUse(workspace bool, b Bindings) error {
	e := fault.New(fault.Conflict, "")
	used := func(path, what string) {
		e.Violations = append(e.Violations, fault.Violation{Path: path, Code: "in_use", Message: "binds " + what})
	}
	if workspace {
		used("whole_workspace", "the whole workspace")
	}
	for _, m := range b.Members {
		used("members", "the member "+m.String())
	}
	for _, k := range b.Keys {
		used("keys", "the API key "+k.String())
	}
	const named = 3
	var what []string
	for _, v := range e.Violations[:min(named, len(e.Violations))] {
		what = append(what, strings.TrimPrefix(v.Message, "binds "))
	}
	e.Message = "The guardrail binds " + strings.Join(what, ", ")
	if more := len(e.Violations) - named + b.More; more > 0 {
		e.Message += fmt.Sprintf(" and %d more", more)
	}
	e.Message += ". Take it off there first."
	return e
}

// diff is the account of a change for the audit log.
func diff(before, after Guardrail) []audit.Change {
	var d audit.Diff
	d.Text("name", before.Name, after.Name)
	d.Text("description", before.Description, after.Description)
	d.Bool("enabled", before.Enabled, after.Enabled)
	d.Bool("whole_workspace", before.WholeWorkspace, after.WholeWorkspace)
	b, a := before.Rules, after.Rules
	d.List("models.allow", b.Models.Allow, a.Models.Allow)
	d.List("models.block", b.Models.Block, a.Models.Block)
	d.List("providers.allow", b.Providers.Allow, a.Providers.Allow)
	d.List("providers.block", b.Providers.Block, a.Providers.Block)
	d.Bool("data_policy.require_zero_data_retention", b.RequireZDR, a.RequireZDR)
	d.Bool("data_policy.deny_training", b.DenyTraining, a.DenyTraining)
	return d
}
