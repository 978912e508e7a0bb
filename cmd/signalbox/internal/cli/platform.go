package cli

import (
	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

// platform holds what the operator token opens.
func (a *app) platform() *cobra.Command {
	return group("platform", "Manage the platform, with the operator token",
		group("catalog", "The operator's catalog, over the embedded one and the catalog files",
			a.catalogGet(), a.catalogApply(false), a.catalogApply(true), a.catalogRemove()),
		group("rules", "Rules that replace the chain of a model's requests",
			a.rulesList(), a.rulesPut(), a.rulesOrder(), a.rulesRemove()),
		group("tags", "Tags of workspaces, which rules can test", a.tagsGet(), a.tagsSet()),
		a.platformAudit(),
	)
}

func (a *app) tagsGet() *cobra.Command {
	return &cobra.Command{
		Use: "get WORKSPACE_ID", Short: "Show a workspace's tags", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			api, err := a.operator()
			if err != nil {
				return err
			}
			r, err := api.GetPlatformWorkspaceTagsWithResponse(c.Context(), args[0])
			if err := done(r, err); err != nil {
				return err
			}
			return a.show(r, func(t *table) { tagsTable(t, r.JSON200.Data) })
		},
	}
}

func (a *app) tagsSet() *cobra.Command {
	c := &cobra.Command{
		Use: "set WORKSPACE_ID [TAG…]", Short: "Replace a workspace's tags; none takes them all away", Args: cobra.MinimumNArgs(1),
		Example: "  signalbox platform tags set ws_01kb7n0z1v8q5r2m3t4w5x6y7z gold eu",
	}
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.operator()
		if err != nil {
			return err
		}
		r, err := api.SetPlatformWorkspaceTagsWithResponse(c.Context(), args[0],
			&client.SetPlatformWorkspaceTagsParams{Wait: f.waitFor(), IdempotencyKey: f.key()},
			client.WorkspaceTagsPatch{Tags: append([]string{}, args[1:]...)})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { tagsTable(t, either(r.JSON200, r.JSON202).Data) })
	}
	return c
}

func tagsTable(t *table, w client.WorkspaceTags) {
	t.row("WORKSPACE", w.WorkspaceID)
	t.row("NAME", w.Name)
	if len(w.Tags) == 0 {
		t.row("TAGS", "none")
		return
	}
	t.row("TAGS", w.Tags)
}

func (a *app) platformAudit() *cobra.Command {
	c := &cobra.Command{Use: "audit", Short: "List what operators changed of the catalog, newest first", Args: cobra.NoArgs}
	limit := limitFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		api, err := a.operator()
		if err != nil {
			return err
		}
		body, list, err := pages[client.AuditEvent](*limit, func(cursor *string, size int) (answer, error) {
			return api.ListPlatformAuditEventsWithResponse(c.Context(), &client.ListPlatformAuditEventsParams{Cursor: cursor, Limit: &size})
		})
		if err != nil {
			return err
		}
		return a.showBody(body, func(t *table) {
			t.row("AT", "ACTION", "TARGET", "VERSION", "CHANGES")
			for _, e := range list {
				t.row(e.At, e.Action, e.TargetID, e.Revision, changedPaths(e.Diff))
			}
		})
	}
	return c
}
