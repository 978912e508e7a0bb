package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

// usageSpend shows the windows of now, beside the budgets over them.
func (a *app) usageSpend() *cobra.Command {
	c := &cobra.Command{
		Use: "spend", Short: "Show what is spent today, this week, this month and in all, and what it comes to", Args: cobra.NoArgs,
		Long: "Show what is spent today, this week, this month and in all, the share of the budget over it, and what it comes to by the end: " +
			"at the pace so far, and by what the weekdays that are left usually cost.",
	}
	key := c.Flags().String("key", "", "of this API key, by id or name")
	department := c.Flags().String("department", "", "of what counts toward this department, by id or name")
	guardrail := c.Flags().String("guardrail", "", "of what counts toward this guardrail, by id or name")
	agent := c.Flags().String("agent", "", "of this agent")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if atOnce(*key, *department, *guardrail, *agent) {
			return misuse("give one of --key, --department, --guardrail and --agent")
		}
		api, err := a.management()
		if err != nil {
			return err
		}
		params := client.GetSpendParams{Agent: optional(*agent)}
		if params.KeyID, err = optionalID(c.Context(), api, keyID, *key); err != nil {
			return err
		}
		if params.DepartmentID, err = optionalID(c.Context(), api, departmentID, *department); err != nil {
			return err
		}
		if params.GuardrailID, err = optionalID(c.Context(), api, guardrailID, *guardrail); err != nil {
			return err
		}
		r, err := api.GetSpendWithResponse(c.Context(), &params)
		if err := done(r, err); err != nil {
			return err
		}
		over, err := a.budgetsOver(c.Context(), api, params)
		if err != nil {
			return err
		}
		return a.show(r, func(t *table) { spendTable(t, r.JSON200.Data, over) })
	}
	return c
}

// atOnce reports that more than one of texts is given.
func atOnce(texts ...string) bool {
	return len(slices.DeleteFunc(texts, func(text string) bool { return text == "" })) > 1
}

// over is a budget over what is shown: its limit and the share that is spent.
type over struct{ limit, share string }

// budgetsOver are the budgets of what p asks for, or the key's limits of cost, by
// their intervals, where a table is to name them. Who may see usage alone gets
// none.
func (a *app) budgetsOver(ctx context.Context, api *client.ClientWithResponses, p client.GetSpendParams) (map[client.BudgetInterval]over, error) {
	found := make(map[client.BudgetInterval]over)
	if a.output != "table" {
		return found, nil
	}
	if p.KeyID != nil {
		r, err := api.GetKeyWithResponse(ctx, *p.KeyID)
		if err := done(r, err); err != nil {
			return found, unlessRefused(ctx, err)
		}
		return costLimits(r.JSON200.Data), nil
	}
	if p.DepartmentID != nil {
		_, all, err := pages[client.DepartmentBudget](0, func(cursor *string, size int) (answer, error) {
			return api.ListDepartmentBudgetsWithResponse(ctx, &client.ListDepartmentBudgetsParams{Cursor: cursor, Limit: &size, DepartmentID: p.DepartmentID})
		})
		for _, b := range all {
			found[client.BudgetInterval(b.Interval)] = over{b.LimitUsd, percent(b.Share)}
		}
		return found, unlessRefused(ctx, err)
	}
	_, all, err := pages[client.Budget](0, func(cursor *string, size int) (answer, error) {
		return api.ListBudgetsWithResponse(ctx, &client.ListBudgetsParams{Cursor: cursor, Limit: &size, GuardrailID: p.GuardrailID, Agent: p.Agent})
	})
	for _, b := range all {
		if whole := p.GuardrailID == nil && p.Agent == nil; !whole || (b.GuardrailID == nil && b.Agent == nil) {
			found[b.Interval] = over{b.LimitUsd, percent(b.Share)}
		}
	}
	return found, unlessRefused(ctx, err)
}

// costLimits are those of a key, with the share that is used.
func costLimits(k client.Key) map[client.BudgetInterval]over {
	found := make(map[client.BudgetInterval]over)
	used := either(k.Usage, &client.KeyUsage{})
	for interval, w := range map[client.BudgetInterval]struct {
		limit client.KeyWindow
		used  client.KeyWindowUsage
	}{client.BudgetIntervalDaily: {k.Limits.Daily, used.Daily}, client.BudgetIntervalWeekly: {k.Limits.Weekly, used.Weekly}, client.BudgetIntervalMonthly: {k.Limits.Monthly, used.Monthly}} {
		if most, err := w.limit.CostNanos.Get(); err == nil && most > 0 {
			found[interval] = over{known(w.limit.CostUsd), percent(float64(w.used.CostNanos) / float64(most))}
		}
	}
	return found
}

func unlessRefused(ctx context.Context, err error) error {
	if exitCode(ctx, err) == ExitRefused {
		return nil
	}
	return err
}

func spendTable(t *table, s client.Spend, budgets map[client.BudgetInterval]over) {
	t.row("WINDOW", "REQUESTS", "SPENT USD", "OWN KEYS USD", "BUDGET USD", "SHARE", "PROJECTED USD", "BY WEEKDAYS USD", "RESETS")
	for _, w := range s.Windows {
		b := budgets[w.Interval]
		t.row(w.Interval, w.Requests, w.CostUsd, w.ByokCostUsd, b.limit, b.share, known(w.Projection.LinearUsd), known(w.Projection.WeekdayUsd), when(w.ResetAt))
	}
}
