package cli

import (
	"context"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
	"github.com/signalbox-dev/signalbox/shared/id"
)

func (a *app) guardrails() *cobra.Command {
	return group("guardrails", "Manage guardrails, and bind them to the workspace, members and keys",
		a.guardrailsCreate(), a.guardrailsList(), a.guardrailsGet(), a.guardrailsUpdate(), a.guardrailsDelete(),
		a.guardrailsBind(), a.guardrailsUnbind())
}

// guardrailID is the id that a guardrail's id or name stands for.
func guardrailID(ctx context.Context, api *client.ClientWithResponses, text string) (string, error) {
	if isID[id.GuardrailKind](text) {
		return text, nil
	}
	r, err := api.ListGuardrailsWithResponse(ctx, &client.ListGuardrailsParams{Name: &text})
	if err := done(r, err); err != nil {
		return "", err
	}
	if len(r.JSON200.Data) == 0 {
		return "", refusal{status: http.StatusNotFound, problem: client.Problem{
			Code: "not_found", Detail: "There is no guardrail with the name " + clean(text) + ".",
		}}
	}
	return r.JSON200.Data[0].ID, nil
}

func (a *app) guardrailsCreate() *cobra.Command {
	var flags guardrailFlags
	c := &cobra.Command{
		Use: "create", Short: "Create a guardrail from flags or a file", Args: cobra.NoArgs,
		Example: "  signalbox guardrails create --name interns --allow-models 'openai/*' --block-providers acme --deny-training",
	}
	flags.add(c)
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		p, err := flags.document(a, c, client.GuardrailDetail{})
		if err != nil {
			return err
		}
		if p.Name == nil {
			return misuse("name the guardrail with --name, or with name: in the file")
		}
		api, err := a.management()
		if err != nil {
			return err
		}
		r, err := api.CreateGuardrailWithResponse(c.Context(),
			&client.CreateGuardrailParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, client.NewGuardrail{
				Name: *p.Name, Description: p.Description, Enabled: p.Enabled, WholeWorkspace: p.WholeWorkspace,
				Models: p.Models, Providers: p.Providers, DataPolicy: p.DataPolicy,
			})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { guardrailTable(t, either(r.JSON201, r.JSON202).Data) })
	}
	return c
}

func (a *app) guardrailsList() *cobra.Command {
	return listAll(a, "List guardrails, newest first",
		func(t *table, list []client.Guardrail) {
			t.row("ID", "NAME", "ENABLED", "WORKSPACE", "RESTRICTS", "UPDATED")
			for _, g := range list {
				var names []string
				for _, f := range restricted(g) {
					names = append(names, f.name)
				}
				t.row(g.ID, g.Name, g.Enabled, g.WholeWorkspace, strings.Join(names, ","), g.UpdatedAt)
			}
		},
		func(ctx context.Context, api *client.ClientWithResponses, cursor *string, size int) (answer, error) {
			return api.ListGuardrailsWithResponse(ctx, &client.ListGuardrailsParams{Cursor: cursor, Limit: &size})
		})
}

func (a *app) guardrailsGet() *cobra.Command {
	return getOne(a, "get GUARDRAIL", "Show a guardrail, by id or name, and what it is bound to", guardrailID, boundTable,
		func(ctx context.Context, api *client.ClientWithResponses, guardrail string) (answer, func() client.GuardrailDetail, error) {
			r, err := api.GetGuardrailWithResponse(ctx, guardrail)
			return r, func() client.GuardrailDetail { return r.JSON200.Data }, err
		})
}

func (a *app) guardrailsUpdate() *cobra.Command {
	var flags guardrailFlags
	c := &cobra.Command{
		Use: "update GUARDRAIL", Short: "Change a guardrail, for everything that it binds", Args: cobra.ExactArgs(1),
		Long: `Change a guardrail, for everything that it binds. What a file says of models, providers or data policy replaces all
of that part. Flags change the fields that they name and leave the others; an empty value takes a list away.`,
		Example: "  signalbox guardrails update interns --block-models openai/gpt-5 --allow-providers ''",
	}
	flags.add(c)
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, guardrail, err := a.found(c.Context(), guardrailID, args[0])
		if err != nil {
			return err
		}
		before, err := api.GetGuardrailWithResponse(c.Context(), guardrail)
		if err := done(before, err); err != nil {
			return err
		}
		patch, err := flags.document(a, c, before.JSON200.Data)
		if err != nil {
			return err
		}
		seen := before.HTTPResponse.Header.Get("ETag")
		r, err := api.UpdateGuardrailWithResponse(c.Context(), guardrail,
			&client.UpdateGuardrailParams{Wait: f.waitFor(), IdempotencyKey: f.key(), IfMatch: &seen}, patch)
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { guardrailTable(t, either(r.JSON200, r.JSON202).Data) })
	}
	return c
}

func (a *app) guardrailsDelete() *cobra.Command {
	return deleteOne(a, "delete GUARDRAIL", "Delete a guardrail that binds nothing", guardrailID,
		func(ctx context.Context, api *client.ClientWithResponses, guardrail string, f *change) (answer, error) {
			return api.DeleteGuardrailWithResponse(ctx, guardrail, &client.DeleteGuardrailParams{Wait: f.waitFor(), IdempotencyKey: f.key()})
		})
}

// restricted lists what a guardrail says, with the names that a file has.
func restricted(g client.Guardrail) []setField {
	var list []setField
	add := func(name string, entries *[]string) {
		if entries != nil && len(*entries) > 0 {
			list = append(list, setField{name, strings.Join(*entries, ",")})
		}
	}
	add("models.allow", g.Models.Allow)
	add("models.block", g.Models.Block)
	add("providers.allow", g.Providers.Allow)
	add("providers.block", g.Providers.Block)
	demand := func(name string, on *bool) {
		if on != nil && *on {
			list = append(list, setField{name, "true"})
		}
	}
	demand("data_policy.require_zero_data_retention", g.DataPolicy.RequireZeroDataRetention)
	demand("data_policy.deny_training", g.DataPolicy.DenyTraining)
	return list
}

func guardrailTable(t *table, g client.Guardrail) {
	t.row("ID", g.ID)
	t.row("NAME", g.Name)
	if g.Description != "" {
		t.row("DESCRIPTION", g.Description)
	}
	t.row("ENABLED", g.Enabled)
	for _, f := range restricted(g) {
		t.row(f.name, f.value)
	}
	if g.WholeWorkspace {
		t.row("BOUND TO", "the workspace")
	}
	t.row("CREATED", g.CreatedAt)
	t.row("UPDATED", g.UpdatedAt)
}

// boundTable is guardrailTable and what the guardrail is bound to.
func boundTable(t *table, g client.GuardrailDetail) {
	guardrailTable(t, client.Guardrail{
		ID: g.ID, Name: g.Name, Description: g.Description, Enabled: g.Enabled, WholeWorkspace: g.WholeWorkspace,
		Models: g.Models, Providers: g.Providers, DataPolicy: g.DataPolicy, CreatedAt: g.CreatedAt, UpdatedAt: g.UpdatedAt,
	})
	for _, id := range append(g.Bindings.Members, g.Bindings.Keys...) {
		t.row("BOUND TO", id)
	}
	if g.Bindings.More > 0 {
		t.row("BOUND TO MORE", g.Bindings.More)
	}
}
