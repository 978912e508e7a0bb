package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

func (a *app) managementKeys() *cobra.Command {
	return group("management-keys", "Manage management keys, the credentials of the management API",
		a.managementKeysCreate(), a.managementKeysList(), a.managementKeysGet(), a.managementKeysRotate(), a.managementKeysRevoke())
}

func (a *app) managementKeysCreate() *cobra.Command {
	c := &cobra.Command{Use: "create", Short: "Create a management key and show its plaintext, once", Args: cobra.NoArgs}
	name := c.Flags().String("name", "", "a name for people")
	must(c.MarkFlagRequired("name"))
	template := c.Flags().String("template", "", "read-only, read-write or full-control")
	scopes := c.Flags().StringSlice("scopes", nil, "scopes such as keys:read, instead of a template")
	expires := c.Flags().String("expires", "", "when it expires: a time, or a duration from now such as 720h")
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if (*template == "") == (*scopes == nil) {
			return misuse("give either --template or --scopes")
		}
		at, err := timeFlag("expires", *expires, time.Now(), 1)
		if err != nil {
			return err
		}
		api, err := a.management()
		if err != nil {
			return err
		}
		body := client.NewManagementKey{
			Name: *name, Template: (*client.ManagementKeyTemplate)(optional(*template)), ExpiresAt: at,
		}
		if *scopes != nil {
			body.Scopes = scopes
		}
		r, err := api.CreateManagementKeyWithResponse(c.Context(),
			&client.CreateManagementKeyParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, body)
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { issuedManagementKeyTable(t, either(r.JSON201, r.JSON202).Data) })
	}
	return c
}

func (a *app) managementKeysList() *cobra.Command {
	return listAll(a, "List management keys, newest first",
		func(t *table, list []client.ManagementKey) {
			t.row("ID", "NAME", "STATUS", "SUFFIX", "TEMPLATE", "EXPIRES", "LAST USED", "CREATED")
			for _, k := range list {
				t.row(k.ID, k.Name, k.Status, "…"+k.Suffix, (*string)(k.Template), k.ExpiresAt, k.LastUsedAt, k.CreatedAt)
			}
		},
		func(ctx context.Context, api *client.ClientWithResponses, cursor *string, size int) (answer, error) {
			return api.ListManagementKeysWithResponse(ctx, &client.ListManagementKeysParams{Cursor: cursor, Limit: &size})
		})
}

func (a *app) managementKeysGet() *cobra.Command {
	return getOne(a, "get MANAGEMENT_KEY_ID", "Show a management key", asGiven, managementKeyTable,
		func(ctx context.Context, api *client.ClientWithResponses, key string) (answer, func() client.ManagementKey, error) {
			r, err := api.GetManagementKeyWithResponse(ctx, key)
			return r, func() client.ManagementKey { return r.JSON200.Data }, err
		})
}

func (a *app) managementKeysRotate() *cobra.Command {
	c := &cobra.Command{Use: "rotate MANAGEMENT_KEY_ID", Short: "Replace a management key's secret and show the new plaintext, once", Args: cobra.ExactArgs(1)}
	grace := graceFlag(c)
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.management()
		if err != nil {
			return err
		}
		seconds := int64(grace.Seconds())
		r, err := api.RotateManagementKeyWithResponse(c.Context(), args[0],
			&client.RotateManagementKeyParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, client.Rotation{GraceSeconds: &seconds})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { issuedManagementKeyTable(t, either(r.JSON200, r.JSON202).Data) })
	}
	return c
}

func (a *app) managementKeysRevoke() *cobra.Command {
	return changeOne(a, "revoke MANAGEMENT_KEY_ID", "Revoke a management key for good", asGiven, managementKeyTable,
		func(ctx context.Context, api *client.ClientWithResponses, key string, f *change) (answer, func() client.ManagementKey, error) {
			r, err := api.RevokeManagementKeyWithResponse(ctx, key, &client.RevokeManagementKeyParams{Wait: f.waitFor(), IdempotencyKey: f.key()})
			return r, func() client.ManagementKey { return either(r.JSON200, r.JSON202).Data }, err
		})
}

func managementKeyTable(t *table, k client.ManagementKey) {
	t.row("ID", k.ID)
	t.row("NAME", k.Name)
	t.row("STATUS", k.Status)
	t.row("KID", k.Kid)
	t.row("SUFFIX", "…"+k.Suffix)
	t.row("TEMPLATE", (*string)(k.Template))
	t.row("SCOPES", k.Scopes)
	t.row("EXPIRES", k.ExpiresAt)
	t.row("LAST USED", k.LastUsedAt)
	t.row("CREATED BY", k.CreatedBy)
	t.row("CREATED", k.CreatedAt)
}

func issuedManagementKeyTable(t *table, k client.IssuedManagementKey) {
	managementKeyTable(t, client.ManagementKey{
		ID: k.ID, Name: k.Name, Status: k.Status, Kid: k.Kid, Suffix: k.Suffix, Template: k.Template, Scopes: k.Scopes,
		ExpiresAt: k.ExpiresAt, LastUsedAt: k.LastUsedAt, CreatedBy: k.CreatedBy, CreatedAt: k.CreatedAt,
	})
	plaintextRow(t, "key", k.Key)
}
