package cli

import (
	"context"

	"github.com/oapi-codegen/nullable"
	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

func (a *app) departmentBudgets() *cobra.Command {
	return group("department-budgets", "Manage what counts toward departments may spend",
		a.departmentBudgetsCreate(), a.departmentBudgetsList(), a.departmentBudgetsGet(), a.departmentBudgetsUpdate(), a.departmentBudgetsDelete())
}

// asGiven finds what has no name but its id.
func asGiven(_ context.Context, _ *client.ClientWithResponses, text string) (string, error) {
	return text, nil
}

func (a *app) departmentBudgetsCreate() *cobra.Command {
	c := &cobra.Command{
		Use: "create", Short: "Create a budget of a department", Args: cobra.NoArgs,
		Example: "  signalbox department-budgets create --department research --interval weekly --limit-usd 100",
	}
	department := c.Flags().String("department", "", "the department, by id or name")
	interval := c.Flags().String("interval", "", "daily, weekly or monthly, in UTC")
	limit := c.Flags().String("limit-usd", "", "what may be spent, such as 12.50")
	for _, name := range []string{"department", "interval", "limit-usd"} {
		must(c.MarkFlagRequired(name))
	}
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := oneOf("--interval", *interval, intervals[:3]...); err != nil {
			return err
		}
		api, of, err := a.found(c.Context(), departmentID, *department)
		if err != nil {
			return err
		}
		r, err := api.CreateDepartmentBudgetWithResponse(c.Context(),
			&client.CreateDepartmentBudgetParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, client.NewDepartmentBudget{
				DepartmentID: of, Interval: client.DepartmentBudgetInterval(*interval), LimitUsd: *limit,
			})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { departmentBudgetTable(t, either(r.JSON201, r.JSON202).Data) })
	}
	return c
}

func (a *app) departmentBudgetsList() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List budgets of departments and where they stand, newest first", Args: cobra.NoArgs}
	limit := limitFlag(c)
	department := c.Flags().String("department", "", "only those of this department, by id or name")
	interval := c.Flags().String("interval", "", "only those of this interval: daily, weekly or monthly")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := oneOf("--interval", *interval, append([]string{""}, intervals[:3]...)...); err != nil {
			return err
		}
		api, err := a.management()
		if err != nil {
			return err
		}
		of, err := optionalID(c.Context(), api, departmentID, *department)
		if err != nil {
			return err
		}
		body, budgets, err := pages[client.DepartmentBudget](*limit, func(cursor *string, size int) (answer, error) {
			return api.ListDepartmentBudgetsWithResponse(c.Context(), &client.ListDepartmentBudgetsParams{
				Cursor: cursor, Limit: &size, DepartmentID: of, Interval: (*client.DepartmentBudgetInterval)(optional(*interval)),
			})
		})
		if err != nil {
			return err
		}
		return a.showBody(body, func(t *table) {
			t.row("ID", "DEPARTMENT", "INTERVAL", "LIMIT USD", "SPENT USD", "SHARE", "PROJECTED USD", "BY WEEKDAYS USD", "RESETS")
			for _, b := range budgets {
				t.row(b.ID, b.DepartmentID, b.Interval, b.LimitUsd, b.UsageUsd, percent(b.Share), known(b.Projection.LinearUsd), known(b.Projection.WeekdayUsd), b.ResetAt)
			}
		})
	}
	return c
}

func (a *app) departmentBudgetsGet() *cobra.Command {
	return getOne(a, "get BUDGET_ID", "Show a budget of a department", asGiven, departmentBudgetTable,
		func(ctx context.Context, api *client.ClientWithResponses, budget string) (answer, func() client.DepartmentBudget, error) {
			r, err := api.GetDepartmentBudgetWithResponse(ctx, budget)
			return r, func() client.DepartmentBudget { return r.JSON200.Data }, err
		})
}

func (a *app) departmentBudgetsUpdate() *cobra.Command {
	c := &cobra.Command{Use: "update BUDGET_ID", Short: "Change the limit of a department's budget; what was spent so far counts", Args: cobra.ExactArgs(1)}
	limit := c.Flags().String("limit-usd", "", "what may be spent, such as 12.50")
	must(c.MarkFlagRequired("limit-usd"))
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.management()
		if err != nil {
			return err
		}
		r, err := api.UpdateDepartmentBudgetWithResponse(c.Context(), args[0],
			&client.UpdateDepartmentBudgetParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, client.DepartmentBudgetPatch{LimitUsd: *limit})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { departmentBudgetTable(t, either(r.JSON200, r.JSON202).Data) })
	}
	return c
}

func (a *app) departmentBudgetsDelete() *cobra.Command {
	return deleteOne(a, "delete BUDGET_ID", "Delete a budget of a department", asGiven,
		func(ctx context.Context, api *client.ClientWithResponses, budget string, f *change) (answer, error) {
			return api.DeleteDepartmentBudgetWithResponse(ctx, budget, &client.DeleteDepartmentBudgetParams{Wait: f.waitFor(), IdempotencyKey: f.key()})
		})
}

func departmentBudgetTable(t *table, b client.DepartmentBudget) {
	t.row("ID", b.ID)
	t.row("DEPARTMENT", b.DepartmentID)
	t.row("INTERVAL", b.Interval)
	t.row("LIMIT USD", b.LimitUsd)
	standingRows(t, b.UsageUsd, b.RemainingUsd, b.Share, b.Projection, nullable.NewNullableWithValue(b.ResetAt))
	t.row("CREATED", b.CreatedAt)
	t.row("UPDATED", b.UpdatedAt)
}
