package cli

import (
	"bytes"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

func (a *app) rulesList() *cobra.Command {
	return &cobra.Command{
		Use: "list MODEL", Short: "List a model's rules in the order in which they are looked at", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			author, model, err := modelParts(args[0])
			if err != nil {
				return err
			}
			api, err := a.operator()
			if err != nil {
				return err
			}
			r, err := api.ListPlatformRulesWithResponse(c.Context(), author, model)
			if err := done(r, err); err != nil {
				return err
			}
			return a.show(r, func(t *table) {
				t.row("NAME", "FROM", "ON", "WHEN", "THEN")
				for _, rule := range r.JSON200.Data {
					var parts struct {
						When json.RawMessage `json:"when"`
						Then json.RawMessage `json:"then"`
					}
					_ = json.Unmarshal(rule.Rule, &parts) // what is no object shows as nothing
					t.row(rule.Name, string(rule.Origin), !rule.Disabled, string(parts.When), string(parts.Then))
				}
			})
		},
	}
}

func (a *app) rulesPut() *cobra.Command {
	c := &cobra.Command{
		Use: "put MODEL NAME", Short: "Add a rule to a model, or replace one", Args: cobra.ExactArgs(2),
		Long:    "Add a rule to a model, or replace one. The file has when and then, as a catalog file writes them.",
		Example: "  echo 'when: {source: workspace_tag, op: equals, value: gold}\nthen: {provider: north}' | signalbox platform rules put acme/small gold -f -",
	}
	file := fileFlag(c)
	position := c.Flags().Int("position", -1, "the place among the operator's rules of the model, from 0")
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		author, model, err := modelParts(args[0])
		if err != nil {
			return err
		}
		body, err := a.document(*file)
		if err != nil {
			return err
		}
		api, err := a.operator()
		if err != nil {
			return err
		}
		params := &client.PutPlatformRuleParams{Wait: f.waitFor(), IdempotencyKey: f.key()}
		if *position >= 0 {
			params.Position = position
		}
		r, err := api.PutPlatformRuleWithBodyWithResponse(c.Context(), author, model, args[1], params, "application/json", bytes.NewReader(body))
		return a.changedCatalog(r, err)
	}
	return c
}

func (a *app) rulesOrder() *cobra.Command {
	c := &cobra.Command{
		Use: "order MODEL NAME…", Short: "Put the operator's rules of a model in another order", Args: cobra.MinimumNArgs(2),
	}
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		author, model, err := modelParts(args[0])
		if err != nil {
			return err
		}
		api, err := a.operator()
		if err != nil {
			return err
		}
		r, err := api.OrderPlatformRulesWithResponse(c.Context(), author, model,
			&client.OrderPlatformRulesParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, client.ModelRuleOrder{Order: args[1:]})
		return a.changedCatalog(r, err)
	}
	return c
}

func (a *app) rulesRemove() *cobra.Command {
	c := &cobra.Command{Use: "rm MODEL NAME", Short: "Take a rule of the operator away", Args: cobra.ExactArgs(2)}
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		author, model, err := modelParts(args[0])
		if err != nil {
			return err
		}
		api, err := a.operator()
		if err != nil {
			return err
		}
		r, err := api.DeletePlatformRuleWithResponse(c.Context(), author, model, args[1],
			&client.DeletePlatformRuleParams{Wait: f.waitFor(), IdempotencyKey: f.key()})
		return a.changedCatalog(r, err)
	}
	return c
}
