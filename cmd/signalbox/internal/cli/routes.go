package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
	"github.com/signalbox-dev/signalbox/shared/id"
)

func (a *app) routes() *cobra.Command {
	return group("routes", "Manage dynamic routes: graphs that decide where a key's requests go",
		a.routesCreate(), a.routesList(), a.routesGet(), a.routesUpdate(), a.routesDelete(), a.routesSetKeys(),
		a.routesVersions(), a.routesDiff(), a.routesTest(), a.routesReplay(), a.routesDeploy(), a.routesRollback(), a.routesRollout())
}

// routeID is the id that a dynamic route's id, name or slug stands for.
func routeID(ctx context.Context, api *client.ClientWithResponses, text string) (string, error) {
	if isID[id.RouteKind](text) {
		return text, nil
	}
	r, err := api.ListDynamicRoutesWithResponse(ctx, &client.ListDynamicRoutesParams{Name: &text})
	if err := done(r, err); err != nil {
		return "", err
	}
	switch found := r.JSON200.Data; len(found) {
	case 0:
		return "", notFound{"dynamic route", text}
	case 1:
		return found[0].ID, nil
	}
	return "", misuse("one dynamic route has the name %s, and another has it as its slug: give the id", clean(text))
}

// routeFlags are the fields of a dynamic route that create and update take.
type routeFlags struct {
	name, slug, description, note, file string
}

func (r *routeFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&r.name, "name", "", "name")
	c.Flags().StringVar(&r.slug, "slug", "", "lower-case letters, digits and inner hyphens")
	c.Flags().StringVar(&r.description, "description", "", "what it is for")
	c.Flags().StringVarP(&r.file, "file", "f", "", "the graph, in YAML or JSON; - reads from standard input")
	c.Flags().StringVar(&r.note, "note", "", "what the version that the graph makes is for")
}

// graph reads the file, nil when there is none.
func (r *routeFlags) graph(a *app) (*client.DynamicRouteGraph, error) {
	if r.file == "" {
		return nil, nil //nolint:nilnil // no graph and no error is an answer here
	}
	body, err := a.document(r.file)
	if err != nil {
		return nil, err
	}
	graph := client.DynamicRouteGraph(body)
	return &graph, nil
}

func (a *app) routesCreate() *cobra.Command {
	var flags routeFlags
	c := &cobra.Command{
		Use: "create", Short: "Create a dynamic route, with a graph as version 1", Args: cobra.NoArgs,
		Example: "  signalbox routes create --name plans -f plans.yaml --note 'who pays gets the big model'",
	}
	flags.add(c)
	must(c.MarkFlagRequired("name"))
	paused := c.Flags().Bool("paused", false, "it does not apply until it is resumed")
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		graph, err := flags.graph(a)
		if err != nil {
			return err
		}
		api, err := a.management()
		if err != nil {
			return err
		}
		body := client.NewDynamicRoute{
			Name: flags.name, Slug: optional(flags.slug), Description: optional(flags.description), Config: graph, Note: optional(flags.note),
		}
		if *paused {
			status := client.DynamicRouteStatusPaused
			body.Status = &status
		}
		r, err := api.CreateDynamicRouteWithResponse(c.Context(),
			&client.CreateDynamicRouteParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, body)
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { changedRoute(t, either(r.JSON201, r.JSON202)) })
	}
	return c
}

func (a *app) routesList() *cobra.Command {
	return listAll(a, "List dynamic routes, the last changed first",
		func(t *table, list []client.DynamicRouteListed) {
			t.row("ID", "NAME", "SLUG", "STATUS", "LATEST", "DEPLOYED", "ROLLOUT", "KEYS", "UPDATED")
			for _, r := range list {
				t.row(r.ID, r.Name, r.Slug, r.Status, versionCell(r.LatestVersion), versionCell(r.DeployedVersion),
					underway(r.Rollout), r.KeyCount, r.UpdatedAt)
			}
		},
		func(ctx context.Context, api *client.ClientWithResponses, cursor *string, size int) (answer, error) {
			return api.ListDynamicRoutesWithResponse(ctx, &client.ListDynamicRoutesParams{Cursor: cursor, Limit: &size})
		})
}

func (a *app) routesGet() *cobra.Command {
	c := &cobra.Command{
		Use: "get ROUTE", Short: "Show a dynamic route, by id, name or slug", Args: cobra.ExactArgs(1),
		Long: `Show a dynamic route, by id, name or slug. -o yaml shows its newest graph too, that of config_version, which may be a draft
beside the deployed_version. --file writes that graph alone, to be edited and given to update -f.`,
		Example: "  signalbox routes get plans --file plans.yaml",
	}
	file := saveFlag(c, "the newest graph alone")
	c.RunE = func(c *cobra.Command, args []string) error {
		api, route, err := a.found(c.Context(), routeID, args[0])
		if err != nil {
			return err
		}
		r, err := api.GetDynamicRouteWithResponse(c.Context(), route)
		if err := done(r, err); err != nil {
			return err
		}
		d := r.JSON200.Data
		if *file == "" {
			return a.show(r, func(t *table) { routeTable(t, d) })
		}
		if d.Config == nil {
			return absent{"the dynamic route has no version yet, so there is no graph to write"}
		}
		return a.save(*file, d.Config)
	}
	return c
}

func (a *app) routesUpdate() *cobra.Command {
	var flags routeFlags
	c := &cobra.Command{
		Use: "update ROUTE", Short: "Change, pause or resume a dynamic route, or save a graph as its next version", Args: cobra.ExactArgs(1),
		Example: "  signalbox routes update plans -f plans.yaml --note 'more to the trial'\n  signalbox routes update plans --status paused",
	}
	flags.add(c)
	status := c.Flags().String("status", "", "active or paused")
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		graph, err := flags.graph(a)
		if err != nil {
			return err
		}
		body := client.DynamicRoutePatch{Name: optional(flags.name), Slug: optional(flags.slug), Config: graph, Note: optional(flags.note)}
		if c.Flags().Changed("description") {
			body.Description = &flags.description
		}
		if *status != "" {
			wanted := client.DynamicRouteStatus(*status)
			body.Status = &wanted
		}
		if body == (client.DynamicRoutePatch{}) {
			return misuse("say what to change, with a flag or a file")
		}
		api, route, err := a.found(c.Context(), routeID, args[0])
		if err != nil {
			return err
		}
		r, err := api.UpdateDynamicRouteWithResponse(c.Context(), route,
			&client.UpdateDynamicRouteParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, body)
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { changedRoute(t, either(r.JSON200, r.JSON202)) })
	}
	return c
}

func (a *app) routesDelete() *cobra.Command {
	c := &cobra.Command{Use: "delete ROUTE", Short: "Delete a dynamic route, and detach its keys", Args: cobra.ExactArgs(1)}
	confirm := c.Flags().String("confirm-name", "", "the dynamic route's name, exactly")
	must(c.MarkFlagRequired("confirm-name"))
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, route, err := a.found(c.Context(), routeID, args[0])
		if err != nil {
			return err
		}
		r, err := api.DeleteDynamicRouteWithResponse(c.Context(), route,
			&client.DeleteDynamicRouteParams{ConfirmName: *confirm, Wait: f.waitFor(), IdempotencyKey: f.key()})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { t.row("DELETED", route) })
	}
	return c
}

func (a *app) routesSetKeys() *cobra.Command {
	c := &cobra.Command{
		Use: "set-keys ROUTE [KEY...]", Short: "Attach a dynamic route to exactly these keys; a key of another moves", Args: cobra.MinimumNArgs(1),
		Example: "  signalbox routes set-keys plans ci web --wait 5s\n  signalbox routes set-keys plans --none",
	}
	none := c.Flags().Bool("none", false, "detach every key")
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if *none != (len(args) == 1) {
			return misuse("name the keys, or give --none to detach every key")
		}
		api, route, err := a.found(c.Context(), routeID, args[0])
		if err != nil {
			return err
		}
		keys, err := foundAll(c.Context(), api, keyID, args[1:])
		if err != nil {
			return err
		}
		if keys == nil {
			keys = []string{}
		}
		r, err := api.SetDynamicRouteKeysWithResponse(c.Context(), route,
			&client.SetDynamicRouteKeysParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, client.DynamicRouteKeys{KeyIds: keys})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) {
			changed := either(r.JSON200, r.JSON202)
			routeTable(t, changed.Data)
			for _, m := range changed.Moved {
				t.row("MOVED", m.KeyID+" from "+m.From)
			}
		})
	}
	return c
}
