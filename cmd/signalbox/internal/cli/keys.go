package cli

import (
	"context"
	"strings"
	"time"

	"github.com/oapi-codegen/nullable"
	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

func (a *app) keys() *cobra.Command {
	return group("keys", "Manage API keys, the credentials of the inference API",
		a.keysCreate(), a.keysList(), a.keysGet(), a.keysUpdate(), a.keysPause(), a.keysResume(), a.keysRotate(), a.keysRevoke())
}

// keyScope are the flags that say what a key may be used for.
type keyScope struct {
	name, expires    string
	models, surfaces []string
}

func (s *keyScope) flags(c *cobra.Command) {
	c.Flags().StringVar(&s.name, "name", "", "a name for people")
	c.Flags().StringVar(&s.expires, "expires", "", "when it expires: a time, or a duration from now such as 720h")
	c.Flags().StringSliceVar(&s.models, "models", nil, "model ids or patterns with * that it may use; none allows all")
	c.Flags().StringSliceVar(&s.surfaces, "surfaces", nil, "surfaces that it may use, such as chat; none allows all")
}

func surfacesOf(names []string) *client.SurfaceScopes {
	list := make(client.SurfaceScopes, len(names))
	for i, n := range names {
		list[i] = client.Surface(n)
	}
	return &list
}

func (a *app) keysCreate() *cobra.Command {
	var scope keyScope
	var limits keyLimits
	c := &cobra.Command{Use: "create", Short: "Create a key and show its plaintext, once", Args: cobra.NoArgs}
	scope.flags(c)
	limits.flags(c)
	must(c.MarkFlagRequired("name"))
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		expires, err := timeFlag("expires", scope.expires, time.Now(), 1)
		if err != nil {
			return err
		}
		var limited client.KeyPatch
		if err := limits.patch(c, &limited); err != nil {
			return err
		}
		api, err := a.management()
		if err != nil {
			return err
		}
		body := client.NewKey{
			Name: scope.name, ExpiresAt: expires, Limits: limited.Limits, Enforcement: limited.Enforcement,
			IncludeByokInLimit: limited.IncludeByokInLimit, SoftBlocked: limited.SoftBlocked,
		}
		if agent, err := limited.Agent.Get(); err == nil {
			body.Agent = &agent
		}
		if scope.models != nil {
			body.Models = &scope.models
		}
		if scope.surfaces != nil {
			body.Surfaces = surfacesOf(scope.surfaces)
		}
		r, err := api.CreateKeyWithResponse(c.Context(), &client.CreateKeyParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, body)
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { issuedKeyTable(t, either(r.JSON201, r.JSON202).Data) })
	}
	return c
}

func (a *app) keysList() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List keys, newest first", Args: cobra.NoArgs}
	limit := limitFlag(c)
	status := c.Flags().String("status", "", "only keys in this state: active, paused, revoked or expired")
	c.RunE = func(c *cobra.Command, _ []string) error {
		api, err := a.management()
		if err != nil {
			return err
		}
		body, keys, err := pages[client.Key](*limit, func(cursor *string, size int) (answer, error) {
			return api.ListKeysWithResponse(c.Context(), &client.ListKeysParams{
				Cursor: cursor, Limit: &size, Status: (*client.KeyStatus)(optional(*status)),
			})
		})
		if err != nil {
			return err
		}
		routes, err := a.routeNames(c.Context(), api, keys...)
		if err != nil {
			return err
		}
		return a.showBody(body, func(t *table) {
			t.row("ID", "NAME", "STATUS", "SUFFIX", "MODELS", "ROUTE", "EXPIRES", "LAST USED", "CREATED")
			for _, k := range keys {
				t.row(k.ID, k.Name, k.Status, "…"+k.Suffix, k.Models, routes.of(k), k.ExpiresAt, k.LastUsedAt, k.CreatedAt)
			}
		})
	}
	return c
}

func (a *app) keysGet() *cobra.Command {
	return &cobra.Command{
		Use: "get NAME|KEY_ID", Short: "Show a key", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			api, key, err := a.found(c.Context(), keyID, args[0])
			if err != nil {
				return err
			}
			r, err := api.GetKeyWithResponse(c.Context(), key)
			if err := done(r, err); err != nil {
				return err
			}
			found := r.JSON200.Data
			routes, err := a.routeNames(c.Context(), api, found)
			if err != nil {
				return err
			}
			return a.show(r, func(t *table) {
				found.DynamicRouteID = routes.of(found)
				keyTable(t, found)
			})
		},
	}
}

func (a *app) keysUpdate() *cobra.Command {
	var scope keyScope
	var limits keyLimits
	c := &cobra.Command{Use: "update NAME|KEY_ID", Short: "Change what a key is called or may be used for, and how much", Args: cobra.ExactArgs(1)}
	scope.flags(c)
	limits.flags(c)
	never := c.Flags().Bool("no-expiry", false, "take the expiry away")
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		body, err := scope.patch(c, *never, limits.given(c))
		if err != nil {
			return err
		}
		if err := limits.patch(c, &body); err != nil {
			return err
		}
		api, key, err := a.found(c.Context(), keyID, args[0])
		if err != nil {
			return err
		}
		r, err := api.UpdateKeyWithResponse(c.Context(), key, &client.UpdateKeyParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, body)
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { keyTable(t, either(r.JSON200, r.JSON202).Data) })
	}
	return c
}

// patch names the fields whose flags were given. There must be one of them,
// unless others are.
func (s *keyScope) patch(c *cobra.Command, never, others bool) (client.KeyPatch, error) {
	var body client.KeyPatch
	given := c.Flags().Changed
	if given("name") {
		body.Name = &s.name
	}
	if given("models") {
		body.Models = &s.models
	}
	if given("surfaces") {
		body.Surfaces = surfacesOf(s.surfaces)
	}
	switch {
	case never && given("expires"):
		return body, misuse("--expires and --no-expiry exclude each other")
	case never:
		body.ExpiresAt = nullable.NewNullNullable[time.Time]()
	case given("expires"):
		at, err := timeFlag("expires", s.expires, time.Now(), 1)
		if err != nil {
			return body, err
		}
		if at == nil {
			return body, misuse("--expires must not be empty; --no-expiry takes the expiry away")
		}
		body.ExpiresAt = nullable.NewNullableWithValue(*at)
	case !given("name") && !given("models") && !given("surfaces") && !others:
		return body, misuse("nothing to change: give --name, --expires, --no-expiry, --models, --surfaces or a limit")
	}
	return body, nil
}

func (a *app) keysPause() *cobra.Command {
	return changeOne(a, "pause NAME|KEY_ID", "Refuse a key until it is resumed", keyID, keyTable,
		func(ctx context.Context, api *client.ClientWithResponses, key string, f *change) (answer, func() client.Key, error) {
			r, err := api.PauseKeyWithResponse(ctx, key, &client.PauseKeyParams{Wait: f.waitFor(), IdempotencyKey: f.key()})
			return r, func() client.Key { return either(r.JSON200, r.JSON202).Data }, err
		})
}

func (a *app) keysResume() *cobra.Command {
	return changeOne(a, "resume NAME|KEY_ID", "Accept a paused key again", keyID, keyTable,
		func(ctx context.Context, api *client.ClientWithResponses, key string, f *change) (answer, func() client.Key, error) {
			r, err := api.ResumeKeyWithResponse(ctx, key, &client.ResumeKeyParams{Wait: f.waitFor(), IdempotencyKey: f.key()})
			return r, func() client.Key { return either(r.JSON200, r.JSON202).Data }, err
		})
}

func (a *app) keysRevoke() *cobra.Command {
	return changeOne(a, "revoke NAME|KEY_ID", "Revoke a key for good", keyID, keyTable,
		func(ctx context.Context, api *client.ClientWithResponses, key string, f *change) (answer, func() client.Key, error) {
			r, err := api.RevokeKeyWithResponse(ctx, key, &client.RevokeKeyParams{Wait: f.waitFor(), IdempotencyKey: f.key()})
			return r, func() client.Key { return either(r.JSON200, r.JSON202).Data }, err
		})
}

func (a *app) keysRotate() *cobra.Command {
	c := &cobra.Command{Use: "rotate NAME|KEY_ID", Short: "Replace a key's secret and show the new plaintext, once", Args: cobra.ExactArgs(1)}
	grace := graceFlag(c)
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.management()
		if err != nil {
			return err
		}
		seconds := int64(grace.Seconds())
		key, err := keyID(c.Context(), api, args[0])
		if err != nil {
			return err
		}
		r, err := api.RotateKeyWithResponse(c.Context(), key,
			&client.RotateKeyParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, client.Rotation{GraceSeconds: &seconds})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { issuedKeyTable(t, either(r.JSON200, r.JSON202).Data) })
	}
	return c
}

func graceFlag(c *cobra.Command) *time.Duration {
	return c.Flags().Duration("grace", 0, "how long the old secret stays valid, at most 168h")
}

func keyTable(t *table, k client.Key) {
	t.row("ID", k.ID)
	t.row("NAME", k.Name)
	t.row("STATUS", k.Status)
	t.row("KID", k.Kid)
	t.row("SUFFIX", "…"+k.Suffix)
	t.row("MODELS", k.Models)
	t.row("SURFACES", surfaceNames(k.Surfaces))
	t.row("PROFILE", k.RoutingProfileID)
	t.row("DEPARTMENT", k.DepartmentID)
	t.row("ROUTE", k.DynamicRouteID)
	limitRows(t, k)
	t.row("EXPIRES", k.ExpiresAt)
	if k.PreviousSecretUntil != nil {
		t.row("OLD SECRET UNTIL", k.PreviousSecretUntil)
	}
	t.row("LAST USED", k.LastUsedAt)
	t.row("CREATED BY", k.CreatedBy)
	t.row("CREATED", k.CreatedAt)
}

func issuedKeyTable(t *table, k client.IssuedKey) {
	keyTable(t, client.Key{
		ID: k.ID, Name: k.Name, Status: k.Status, Kid: k.Kid, Suffix: k.Suffix, Models: k.Models, Surfaces: k.Surfaces,
		RoutingProfileID: k.RoutingProfileID, DepartmentID: k.DepartmentID, DynamicRouteID: k.DynamicRouteID,
		Limits: k.Limits, Enforcement: k.Enforcement, IncludeByokInLimit: k.IncludeByokInLimit, SoftBlocked: k.SoftBlocked, Agent: k.Agent,
		ExpiresAt: k.ExpiresAt, PreviousSecretUntil: k.PreviousSecretUntil, LastUsedAt: k.LastUsedAt,
		CreatedBy: k.CreatedBy, CreatedAt: k.CreatedAt,
	})
	plaintextRow(t, "key", k.Key)
}

// plaintextRow is the only place where a table shows a secret, which it calls
// what.
func plaintextRow(t *table, what string, plaintext *string) {
	if plaintext == nil {
		t.row(strings.ToUpper(what), "not shown again: it was in the first answer for this idempotency key")
		return
	}
	t.row(strings.ToUpper(what), *plaintext)
	t.row("NOTE", "Keep the "+what+" now; it is not shown again.")
}

func surfaceNames(list []client.Surface) []string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = string(s)
	}
	return names
}

// either is the body of the two statuses that a change can have.
func either[T any](first, second *T) T {
	if first != nil {
		return *first
	}
	if second != nil {
		return *second
	}
	var zero T
	return zero
}

// must is for mistakes of the program.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
