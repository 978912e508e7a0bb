package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
	"github.com/signalbox-dev/signalbox/shared/id"
)

func (a *app) departmentsMembers() *cobra.Command {
	return group("members", "Manage who belongs to a department", a.departmentMembersList(), a.departmentMembersSet(), a.departmentMembersRemove())
}

// memberID is the user id that a member's user id or e-mail address stands for.
func memberID(ctx context.Context, api *client.ClientWithResponses, text string) (string, error) {
	if isID[id.UserKind](text) {
		return text, nil
	}
	who, err := api.GetWhoamiWithResponse(ctx)
	if err := done(who, err); err != nil {
		return "", err
	}
	if who.JSON200.Data.WorkspaceID == nil {
		return "", notFound{"member", text}
	}
	_, all, err := pages[client.Member](0, func(cursor *string, size int) (answer, error) {
		return api.ListMembersWithResponse(ctx, *who.JSON200.Data.WorkspaceID, &client.ListMembersParams{Cursor: cursor, Limit: &size})
	})
	if err != nil {
		return "", err
	}
	for _, m := range all {
		if strings.EqualFold(m.Email, text) {
			return m.UserID, nil
		}
	}
	return "", notFound{"member", text}
}

// membership is the management API, a department and a member of the workspace
// that two arguments name.
func (a *app) membership(ctx context.Context, args []string) (api *client.ClientWithResponses, department, user string, err error) {
	if api, department, err = a.found(ctx, departmentID, args[0]); err != nil {
		return api, "", "", err
	}
	user, err = memberID(ctx, api, args[1])
	return api, department, user, err
}

func (a *app) departmentMembersList() *cobra.Command {
	c := &cobra.Command{Use: "list DEPARTMENT", Short: "List the members of a department, newest first", Args: cobra.ExactArgs(1)}
	limit := limitFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, department, err := a.found(c.Context(), departmentID, args[0])
		if err != nil {
			return err
		}
		body, members, err := pages[client.DepartmentMember](*limit, func(cursor *string, size int) (answer, error) {
			return api.ListDepartmentMembersWithResponse(c.Context(), department, &client.ListDepartmentMembersParams{Cursor: cursor, Limit: &size})
		})
		if err != nil {
			return err
		}
		return a.showBody(body, func(t *table) {
			t.row("USER", "POSITION", "OVERRIDE", "ADDED")
			for _, m := range members {
				t.row(m.UserID, string(m.Position), m.Override, m.AddedAt)
			}
		})
	}
	return c
}

func (a *app) departmentMembersSet() *cobra.Command {
	c := &cobra.Command{
		Use: "set DEPARTMENT USER_ID|EMAIL", Short: "Let a member of the workspace belong to a department", Args: cobra.ExactArgs(2),
		Long: `Let a member of the workspace belong to a department. What is not given is as for a new member. What the member's own
keys use counts toward every department of theirs; with --override, toward this one alone.`,
		Example: "  signalbox departments members set research ada@example.com --position lead",
	}
	position := c.Flags().String("position", "member", "member or lead")
	override := c.Flags().Bool("override", false, "let the member's own keys count toward this department alone")
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := oneOf("--position", *position, "member", "lead"); err != nil {
			return err
		}
		api, department, user, err := a.membership(c.Context(), args)
		if err != nil {
			return err
		}
		is := client.DepartmentPosition(*position)
		r, err := api.PutDepartmentMemberWithResponse(c.Context(), department, user,
			&client.PutDepartmentMemberParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, client.DepartmentMemberPut{Position: &is, Override: override})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) {
			m := either(r.JSON200, r.JSON202).Data
			t.row("USER", m.UserID)
			t.row("POSITION", string(m.Position))
			t.row("OVERRIDE", m.Override)
			t.row("ADDED", m.AddedAt)
		})
	}
	return c
}

func (a *app) departmentMembersRemove() *cobra.Command {
	c := &cobra.Command{Use: "remove DEPARTMENT USER_ID|EMAIL", Short: "Take a member out of a department", Args: cobra.ExactArgs(2)}
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, department, user, err := a.membership(c.Context(), args)
		if err != nil {
			return err
		}
		r, err := api.RemoveDepartmentMemberWithResponse(c.Context(), department, user,
			&client.RemoveDepartmentMemberParams{Wait: f.waitFor(), IdempotencyKey: f.key()})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { t.row("REMOVED", user) })
	}
	return c
}
