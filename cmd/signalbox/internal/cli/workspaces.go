package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

func (a *app) workspaces() *cobra.Command {
	return group("workspaces", "Show and create workspaces, and say how they pay",
		a.workspacesList(), a.workspacesGet(), a.workspacesMembers(), a.workspacesCreate(), a.workspacesDelete(),
		a.workspacesBilling(), a.workspacesAllowance())
}

func (a *app) workspacesList() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List the workspaces that you can see", Args: cobra.NoArgs}
	limit := limitFlag(c)
	all := c.Flags().Bool("all", false, "list every workspace, with the operator token")
	c.RunE = func(c *cobra.Command, _ []string) error {
		connect := a.management
		if *all {
			connect = a.operator
		}
		api, err := connect()
		if err != nil {
			return err
		}
		body, list, err := pages[client.Workspace](*limit, func(cursor *string, size int) (answer, error) {
			if *all {
				return api.ListPlatformWorkspacesWithResponse(c.Context(), &client.ListPlatformWorkspacesParams{Cursor: cursor, Limit: &size})
			}
			return api.ListWorkspacesWithResponse(c.Context(), &client.ListWorkspacesParams{Cursor: cursor, Limit: &size})
		})
		if err != nil {
			return err
		}
		return a.showBody(body, func(t *table) {
			t.row("ID", "NAME", "SLUG", "STATUS", "CREATED")
			for _, w := range list {
				t.row(w.ID, w.Name, w.Slug, w.Status, w.CreatedAt)
			}
		})
	}
	return c
}

func (a *app) workspacesGet() *cobra.Command {
	return getOne(a, "get WORKSPACE_ID", "Show a workspace", asGiven, workspaceTable,
		func(ctx context.Context, api *client.ClientWithResponses, workspace string) (answer, func() client.Workspace, error) {
			r, err := api.GetWorkspaceWithResponse(ctx, workspace)
			return r, func() client.Workspace { return r.JSON200.Data }, err
		})
}

func (a *app) workspacesMembers() *cobra.Command {
	c := &cobra.Command{Use: "members WORKSPACE_ID", Short: "List the members of a workspace", Args: cobra.ExactArgs(1)}
	limit := limitFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.management()
		if err != nil {
			return err
		}
		body, list, err := pages[client.Member](*limit, func(cursor *string, size int) (answer, error) {
			return api.ListMembersWithResponse(c.Context(), args[0], &client.ListMembersParams{Cursor: cursor, Limit: &size})
		})
		if err != nil {
			return err
		}
		return a.showBody(body, func(t *table) {
			t.row("USER ID", "E-MAIL", "NAME", "ROLE", "SINCE")
			for _, m := range list {
				t.row(m.UserID, m.Email, m.Name, m.Role, m.CreatedAt)
			}
		})
	}
	return c
}

func (a *app) workspacesCreate() *cobra.Command {
	c := &cobra.Command{
		Use: "create", Short: "Create a workspace with its owner and a first management key",
		Long: "Create a workspace with its owner and a first management key, whose plaintext is shown once.\nThis needs the operator token.",
		Args: cobra.NoArgs,
	}
	name := c.Flags().String("name", "", "a name for people")
	slug := c.Flags().String("slug", "", "a short unique name; made from the name when absent")
	email := c.Flags().String("owner-email", "", "the owner's e-mail address")
	owner := c.Flags().String("owner-name", "", "the owner's name")
	must(c.MarkFlagRequired("name"))
	must(c.MarkFlagRequired("owner-email"))
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		api, err := a.operator()
		if err != nil {
			return err
		}
		r, err := api.CreatePlatformWorkspaceWithResponse(c.Context(),
			&client.CreatePlatformWorkspaceParams{Wait: f.waitFor(), IdempotencyKey: f.key()},
			client.NewWorkspace{Name: *name, Slug: optional(*slug), Owner: client.NewOwner{Email: *email, Name: optional(*owner)}})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) {
			made := either(r.JSON201, r.JSON202).Data
			workspaceTable(t, made.Workspace)
			t.row("OWNER", made.Owner.Email)
			t.row("MANAGEMENT KEY ID", made.ManagementKey.ID)
			plaintextRow(t, "key", made.ManagementKey.Key)
		})
	}
	return c
}

func (a *app) workspacesDelete() *cobra.Command {
	c := &cobra.Command{Use: "delete WORKSPACE_ID", Short: "Delete a workspace; every key in it is refused from then on", Args: cobra.ExactArgs(1)}
	confirm := c.Flags().String("confirm-name", "", "the workspace's name, exactly")
	must(c.MarkFlagRequired("confirm-name"))
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.management()
		if err != nil {
			return err
		}
		r, err := api.DeleteWorkspaceWithResponse(c.Context(), args[0],
			&client.DeleteWorkspaceParams{ConfirmName: *confirm, Wait: f.waitFor(), IdempotencyKey: f.key()})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) {
			t.row("ID", args[0])
			t.row("DELETED", true)
		})
	}
	return c
}

func workspaceTable(t *table, w client.Workspace) {
	t.row("ID", w.ID)
	t.row("NAME", w.Name)
	t.row("SLUG", w.Slug)
	t.row("STATUS", w.Status)
	t.row("CREATED", w.CreatedAt)
}

func (a *app) whoami() *cobra.Command {
	return &cobra.Command{
		Use: "whoami", Short: "Show whose credential is used and what it may do", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := a.management()
			if err != nil {
				return err
			}
			r, err := api.GetWhoamiWithResponse(c.Context())
			if err := done(r, err); err != nil {
				return err
			}
			return a.show(r, func(t *table) {
				w := r.JSON200.Data
				t.row("WORKSPACE", w.WorkspaceID)
				t.row("KEY", w.ManagementKeyID)
				t.row("NAME", w.Name)
				if w.User != nil {
					t.row("USER", w.User.Email)
				}
				t.row("ROLE", (*string)(w.Role))
				t.row("EXPIRES", w.ExpiresAt)
				t.row("SCOPES", w.Scopes)
			})
		},
	}
}
