package cli

import (
	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

// guardrailFlags are the flags that say what a guardrail restricts.
type guardrailFlags struct {
	name, description, file                                  string
	allowModels, blockModels, allowProviders, blockProviders []string
	enabled, workspace, zdr, training                        bool
}

func (g *guardrailFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&g.name, "name", "", "a name for people, unique in the workspace")
	f.StringVar(&g.description, "description", "", "what it is for")
	f.StringVarP(&g.file, "file", "f", "", "a YAML or JSON file with the guardrail, or - for the standard input")
	f.BoolVar(&g.enabled, "enabled", true, "whether it binds anything")
	f.BoolVar(&g.workspace, "workspace", false, "whether it binds every request of the workspace")
	f.StringSliceVar(&g.allowModels, "allow-models", nil, "the only models that may be used, ids or patterns with *")
	f.StringSliceVar(&g.blockModels, "block-models", nil, "models that may not be used, ids or patterns with *")
	f.StringSliceVar(&g.allowProviders, "allow-providers", nil, "the only providers that may serve")
	f.StringSliceVar(&g.blockProviders, "block-providers", nil, "providers that may not serve")
	f.BoolVar(&g.zdr, "zdr", false, "only providers that promise zero data retention")
	f.BoolVar(&g.training, "deny-training", false, "only providers that promise not to train")
}

// document is what the file and the flags come to: a file says each of its
// parts whole, a flag changes its own field of what there is.
func (g *guardrailFlags) document(a *app, c *cobra.Command, before client.GuardrailDetail) (p client.GuardrailPatch, err error) {
	if g.file != "" {
		if err := readDocument(a, g.file, "guardrail", &p); err != nil {
			return p, err
		}
	}
	given := c.Flags().Changed
	if given("name") {
		p.Name = &g.name
	}
	if given("description") {
		p.Description = &g.description
	}
	if given("enabled") {
		p.Enabled = &g.enabled
	}
	if given("workspace") {
		p.WholeWorkspace = &g.workspace
	}
	if given("allow-models") || given("block-models") {
		m := either(p.Models, &before.Models)
		setList(given("allow-models"), &m.Allow, g.allowModels)
		setList(given("block-models"), &m.Block, g.blockModels)
		p.Models = &m
	}
	if given("allow-providers") || given("block-providers") {
		m := either(p.Providers, &before.Providers)
		setList(given("allow-providers"), &m.Allow, g.allowProviders)
		setList(given("block-providers"), &m.Block, g.blockProviders)
		p.Providers = &m
	}
	if given("zdr") || given("deny-training") {
		d := either(p.DataPolicy, &before.DataPolicy)
		set(given("zdr"), &d.RequireZeroDataRetention, g.zdr)
		set(given("deny-training"), &d.DenyTraining, g.training)
		p.DataPolicy = &d
	}
	return p, nil
}
