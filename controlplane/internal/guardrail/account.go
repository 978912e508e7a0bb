package guardrail

import (
	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// inUse refuses the deletion of a guardrail and says what it binds, which presets
// name it and which rate-limit policies are assigned to it.
func inUse(workspace bool, b Bindings, presets []string, policies []id.RatePolicy) error {
	var uses rule.Uses
	if workspace {
		uses.Add("whole_workspace", "the whole workspace")
	}
	for _, m := range b.Members {
		uses.Add("members", "the member "+m.String())
	}
	for _, k := range b.Keys {
		uses.Add("keys", "the API key "+k.String())
	}
	for _, slug := range presets {
		uses.Add("presets", "the preset @"+slug)
	}
	for _, p := range policies {
		uses.Add("rate_limits", "the rate-limit policy "+p.String())
	}
	return uses.Refuse("The guardrail", "binds", "Take it off there first, or switch it off instead: versions of presets keep what they name.", b.More)
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
