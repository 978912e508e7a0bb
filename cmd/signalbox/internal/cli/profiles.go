package cli

import (
	"context"
	"fmt"

	"github.com/oapi-codegen/nullable"
	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
	"github.com/signalbox-dev/signalbox/shared/id"
)

func (a *app) profiles() *cobra.Command {
	return group("profiles", "Manage routing profiles, and bind them to the workspace, departments and keys",
		a.profilesCreate(), a.profilesList(), a.profilesGet(), a.profilesUpdate(), a.profilesDelete(),
		a.profilesBind(), a.profilesUnbind(), a.profilesEffective())
}

// profileID is the id that a profile's id or name stands for.
func profileID(ctx context.Context, api *client.ClientWithResponses, text string) (string, error) {
	return idByOnlyName[id.ProfileKind]("routing profile", text, func(name *string, size int) (answer, error) {
		return api.ListRoutingProfilesWithResponse(ctx, &client.ListRoutingProfilesParams{Name: name, Limit: &size})
	})
}

func (a *app) profilesCreate() *cobra.Command {
	var flags routingFlags
	c := &cobra.Command{
		Use: "create", Short: "Create a routing profile from flags or a file", Args: cobra.NoArgs,
		Example: "  signalbox profiles create --name careful --region eu --zdr --mode price\n  signalbox profiles create -f careful.yaml",
	}
	flags.add(c)
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		name, fields, err := flags.document(a, c, client.RoutingFields{})
		if err != nil {
			return err
		}
		if name == nil {
			return misuse("name the profile with --name, or with name: in the file")
		}
		api, err := a.management()
		if err != nil {
			return err
		}
		r, err := api.CreateRoutingProfileWithResponse(c.Context(),
			&client.CreateRoutingProfileParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, client.NewRoutingProfile{Name: *name, Routing: &fields})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { profileTable(t, either(r.JSON201, r.JSON202).Data) })
	}
	return c
}

func (a *app) profilesList() *cobra.Command {
	return listAll(a, "List routing profiles, newest first",
		func(t *table, list []client.RoutingProfile) {
			t.row("ID", "NAME", "SETS", "UPDATED")
			for _, p := range list {
				t.row(p.ID, p.Name, summary(p.Routing), p.UpdatedAt)
			}
		},
		func(ctx context.Context, api *client.ClientWithResponses, cursor *string, size int) (answer, error) {
			return api.ListRoutingProfilesWithResponse(ctx, &client.ListRoutingProfilesParams{Cursor: cursor, Limit: &size})
		})
}

func (a *app) profilesGet() *cobra.Command {
	return getOne(a, "get PROFILE", "Show a routing profile, by id or name, and what it is bound to", profileID, boundProfileTable,
		func(ctx context.Context, api *client.ClientWithResponses, profile string) (answer, func() client.RoutingProfileDetail, error) {
			r, err := api.GetRoutingProfileWithResponse(ctx, profile)
			return r, func() client.RoutingProfileDetail { return r.JSON200.Data }, err
		})
}

// boundProfileTable is profileTable and what the profile is bound to.
func boundProfileTable(t *table, p client.RoutingProfileDetail) {
	profileTable(t, client.RoutingProfile{ID: p.ID, Name: p.Name, Routing: p.Routing, CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt})
	if p.Bindings.Workspace {
		t.row("BOUND TO", "the workspace")
	}
	for _, id := range append(p.Bindings.Departments, p.Bindings.Keys...) {
		t.row("BOUND TO", id)
	}
	if p.Bindings.More > 0 {
		t.row("BOUND TO MORE", p.Bindings.More)
	}
}

func (a *app) profilesUpdate() *cobra.Command {
	var flags routingFlags
	c := &cobra.Command{
		Use: "update PROFILE", Short: "Change a routing profile, for everything that is bound to it", Args: cobra.ExactArgs(1),
		Long: `Change a routing profile, for everything that is bound to it. A file replaces all routing fields. Flags change
the fields that they name and leave the others; an empty value takes a field away.`,
		Example: "  signalbox profiles update careful --region us --ignore ''\n  signalbox profiles update careful -f careful.yaml",
	}
	flags.add(c)
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, profile, err := a.found(c.Context(), profileID, args[0])
		if err != nil {
			return err
		}
		before, err := api.GetRoutingProfileWithResponse(c.Context(), profile)
		if err := done(before, err); err != nil {
			return err
		}
		name, fields, err := flags.document(a, c, before.JSON200.Data.Routing)
		if err != nil {
			return err
		}
		seen := before.HTTPResponse.Header.Get("ETag")
		r, err := api.UpdateRoutingProfileWithResponse(c.Context(), profile,
			&client.UpdateRoutingProfileParams{Wait: f.waitFor(), IdempotencyKey: f.key(), IfMatch: &seen},
			client.RoutingProfilePatch{Name: name, Routing: &fields})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { profileTable(t, either(r.JSON200, r.JSON202).Data) })
	}
	return c
}

func (a *app) profilesDelete() *cobra.Command {
	return deleteOne(a, "delete PROFILE", "Delete a routing profile that nothing is bound to", profileID,
		func(ctx context.Context, api *client.ClientWithResponses, profile string, f *change) (answer, error) {
			return api.DeleteRoutingProfileWithResponse(ctx, profile, &client.DeleteRoutingProfileParams{Wait: f.waitFor(), IdempotencyKey: f.key()})
		})
}

// bindFlags say what to bind.
type bindFlags struct {
	workspace       bool
	key, department string
}

func (b *bindFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&b.workspace, "workspace", false, "the whole workspace")
	c.Flags().StringVar(&b.department, "department", "", "a department, by its id or name")
	c.Flags().StringVar(&b.key, "key", "", "an API key, by its id or name")
}

// check wants exactly one of them.
func (b *bindFlags) check() error {
	n := 0
	for _, given := range []bool{b.workspace, b.department != "", b.key != ""} {
		if given {
			n++
		}
	}
	if n != 1 {
		return misuse("give one of --workspace, --department and --key")
	}
	return nil
}

func (a *app) profilesBind() *cobra.Command {
	var b bindFlags
	c := &cobra.Command{
		Use: "bind PROFILE", Short: "Bind a routing profile to the workspace, a department or a key", Args: cobra.ExactArgs(1),
		Example: "  signalbox profiles bind careful --key key_… --wait 5s",
	}
	b.add(c)
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := b.check(); err != nil {
			return err
		}
		api, profile, err := a.found(c.Context(), profileID, args[0])
		if err != nil {
			return err
		}
		return a.bindTo(c.Context(), api, b, f, nullable.NewNullableWithValue(profile))
	}
	return c
}

func (a *app) profilesUnbind() *cobra.Command {
	var b bindFlags
	c := &cobra.Command{Use: "unbind", Short: "Take the routing profile off the workspace, a department or a key", Args: cobra.NoArgs}
	b.add(c)
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := b.check(); err != nil {
			return err
		}
		api, err := a.management()
		if err != nil {
			return err
		}
		return a.bindTo(c.Context(), api, b, f, nullable.NewNullNullable[string]())
	}
	return c
}

func (a *app) bindTo(ctx context.Context, api *client.ClientWithResponses, b bindFlags, f *change, profile nullable.Nullable[string]) error {
	switch {
	case b.workspace:
		r, err := api.UpdateSettingsWithResponse(ctx, &client.UpdateSettingsParams{Wait: f.waitFor(), IdempotencyKey: f.key()},
			client.SettingsPatch{RoutingProfileID: profile})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { settingsTable(t, r.GetBody()) })
	case b.department != "":
		department, err := departmentID(ctx, api, b.department)
		if err != nil {
			return err
		}
		r, err := api.UpdateDepartmentWithResponse(ctx, department,
			&client.UpdateDepartmentParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, client.DepartmentPatch{RoutingProfileID: profile})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { departmentTable(t, either(r.JSON200, r.JSON202).Data) })
	}
	key, err := keyID(ctx, api, b.key)
	if err != nil {
		return err
	}
	r, err := api.UpdateKeyWithResponse(ctx, key,
		&client.UpdateKeyParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, client.KeyPatch{RoutingProfileID: profile})
	if err := done(r, err); err != nil {
		return err
	}
	return a.show(r, func(t *table) { keyTable(t, either(r.JSON200, r.JSON202).Data) })
}

func (a *app) profilesEffective() *cobra.Command {
	c := &cobra.Command{
		Use: "effective", Short: "Show what routing comes to for a key or the workspace, and which rung each field is from", Args: cobra.NoArgs,
	}
	key := c.Flags().String("key", "", "an API key's id or name; the workspace's own without it")
	c.RunE = func(c *cobra.Command, _ []string) error {
		api, err := a.management()
		if err != nil {
			return err
		}
		if *key != "" {
			if *key, err = keyID(c.Context(), api, *key); err != nil {
				return err
			}
		}
		r, err := api.GetEffectiveRoutingWithResponse(c.Context(), &client.GetEffectiveRoutingParams{Key: optional(*key)})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) {
			e := r.JSON200.Data
			t.row("FIELD", "VALUE", "RUNG", "PROFILE OR GUARDRAIL")
			for _, field := range e.Fields {
				t.row(field.Field, field.Value, field.Rung, either(field.RoutingProfileID, field.GuardrailID))
			}
			if e.NoProvider && e.Refusal == nil { // which says more
				t.row("NOTE", "the rungs and guardrails allow no provider in common")
			}
			if route := e.DynamicRoute; route != nil {
				t.row("DYNAMIC ROUTE", route.Name, standingOf(route), route.ID)
			}
			if e.Refusal != nil {
				t.row("REFUSAL", e.Refusal.Code, e.Refusal.Detail)
			}
		})
	}
	return c
}

// standingOf is what a key's dynamic route does now.
func standingOf(r *client.AttachedRoute) string {
	switch {
	case r.DeployedVersion == nil:
		return "not deployed"
	case r.Applies:
		return fmt.Sprintf("version %d", *r.DeployedVersion)
	default:
		return fmt.Sprintf("version %d, %s", *r.DeployedVersion, r.Status)
	}
}
