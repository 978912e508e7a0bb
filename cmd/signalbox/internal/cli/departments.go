package cli

import (
	"context"

	"github.com/oapi-codegen/nullable"
	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
	"github.com/signalbox-dev/signalbox/shared/id"
)

func (a *app) departments() *cobra.Command {
	return group("departments", "Manage departments, the parts of the workspace that keys and members belong to",
		a.departmentsCreate(), a.departmentsList(), a.departmentsGet(), a.departmentsUpdate(), a.departmentsDelete(),
		a.departmentsKey("add-key DEPARTMENT NAME|KEY_ID", "Let a key belong to a department", 2),
		a.departmentsKey("remove-key NAME|KEY_ID", "Take a key out of its department", 1), a.departmentsMembers())
}

// departmentID is the id that a department's id or name stands for.
func departmentID(ctx context.Context, api *client.ClientWithResponses, text string) (string, error) {
	return idByOnlyName[id.DepartmentKind]("department", text, func(name *string, size int) (answer, error) {
		return api.ListDepartmentsWithResponse(ctx, &client.ListDepartmentsParams{Name: name, Limit: &size})
	})
}

func (a *app) departmentsCreate() *cobra.Command {
	c := &cobra.Command{Use: "create", Short: "Create a department", Args: cobra.NoArgs}
	name := c.Flags().String("name", "", "a name for people, unique in the workspace")
	profile := c.Flags().String("profile", "", "a routing profile for its keys, by id or name")
	must(c.MarkFlagRequired("name"))
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		api, err := a.management()
		if err != nil {
			return err
		}
		body := client.NewDepartment{Name: *name}
		if *profile != "" {
			id, err := profileID(c.Context(), api, *profile)
			if err != nil {
				return err
			}
			body.RoutingProfileID = &id
		}
		r, err := api.CreateDepartmentWithResponse(c.Context(),
			&client.CreateDepartmentParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, body)
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { departmentTable(t, either(r.JSON201, r.JSON202).Data) })
	}
	return c
}

func (a *app) departmentsList() *cobra.Command {
	return listAll(a, "List departments, newest first",
		func(t *table, list []client.Department) {
			t.row("ID", "NAME", "PROFILE", "UPDATED")
			for _, d := range list {
				t.row(d.ID, d.Name, d.RoutingProfileID, d.UpdatedAt)
			}
		},
		func(ctx context.Context, api *client.ClientWithResponses, cursor *string, size int) (answer, error) {
			return api.ListDepartmentsWithResponse(ctx, &client.ListDepartmentsParams{Cursor: cursor, Limit: &size})
		})
}

func (a *app) departmentsGet() *cobra.Command {
	return getOne(a, "get DEPARTMENT", "Show a department, by id or name", departmentID, departmentTable,
		func(ctx context.Context, api *client.ClientWithResponses, department string) (answer, func() client.Department, error) {
			r, err := api.GetDepartmentWithResponse(ctx, department)
			return r, func() client.Department { return r.JSON200.Data }, err
		})
}

func (a *app) departmentsUpdate() *cobra.Command {
	c := &cobra.Command{Use: "update DEPARTMENT", Short: "Rename a department", Args: cobra.ExactArgs(1)}
	name := c.Flags().String("name", "", "the new name")
	must(c.MarkFlagRequired("name"))
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, department, err := a.found(c.Context(), departmentID, args[0])
		if err != nil {
			return err
		}
		r, err := api.UpdateDepartmentWithResponse(c.Context(), department,
			&client.UpdateDepartmentParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, client.DepartmentPatch{Name: name})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { departmentTable(t, either(r.JSON200, r.JSON202).Data) })
	}
	return c
}

func (a *app) departmentsDelete() *cobra.Command {
	return deleteOne(a, "delete DEPARTMENT", "Delete a department that nothing belongs to", departmentID,
		func(ctx context.Context, api *client.ClientWithResponses, department string, f *change) (answer, error) {
			return api.DeleteDepartmentWithResponse(ctx, department, &client.DeleteDepartmentParams{Wait: f.waitFor(), IdempotencyKey: f.key()})
		})
}

// departmentsKey moves a key: into the department that the first of two
// arguments names, or out of its own.
func (a *app) departmentsKey(use, short string, args int) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(args)}
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.management()
		if err != nil {
			return err
		}
		to := nullable.NewNullNullable[string]()
		if len(args) == 2 {
			department, err := departmentID(c.Context(), api, args[0])
			if err != nil {
				return err
			}
			to = nullable.NewNullableWithValue(department)
		}
		key, err := keyID(c.Context(), api, args[len(args)-1])
		if err != nil {
			return err
		}
		r, err := api.UpdateKeyWithResponse(c.Context(), key,
			&client.UpdateKeyParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, client.KeyPatch{DepartmentID: to})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { keyTable(t, either(r.JSON200, r.JSON202).Data) })
	}
	return c
}

func departmentTable(t *table, d client.Department) {
	t.row("ID", d.ID)
	t.row("NAME", d.Name)
	t.row("PROFILE", d.RoutingProfileID)
	t.row("CREATED", d.CreatedAt)
	t.row("UPDATED", d.UpdatedAt)
}
