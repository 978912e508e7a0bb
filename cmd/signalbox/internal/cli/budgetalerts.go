package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

func (a *app) alerts() *cobra.Command {
	return group("alerts", "Show what the workspace is told of", a.alertsBudgets(), a.alertsShares())
}

func (a *app) alertsShares() *cobra.Command {
	c := &cobra.Command{Use: "shares", Short: "Show the shares of limits that are told of; alerts budgets --shares sets them", Args: cobra.NoArgs}
	c.RunE = func(c *cobra.Command, _ []string) error {
		api, err := a.management()
		if err != nil {
			return err
		}
		r, err := api.GetBudgetAlertSharesWithResponse(c.Context())
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { t.row("SHARES", shareTexts(r.JSON200.Data.Shares)) })
	}
	return c
}

func (a *app) alertsBudgets() *cobra.Command {
	c := &cobra.Command{
		Use: "budgets", Short: "List the shares of limits that were reached, newest first, or set which are told of", Args: cobra.NoArgs,
		Long: `List the shares of budgets and of keys' cost limits that were reached, newest first. With --shares, set which whole
percents of a limit are told of instead: one to four, for all limits of the workspace.`,
	}
	limit := limitFlag(c)
	shares := c.Flags().IntSlice("shares", nil, "set the shares that are told of, such as 80,100")
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		api, err := a.management()
		if err != nil {
			return err
		}
		if *shares != nil {
			r, err := api.SetBudgetAlertSharesWithResponse(c.Context(),
				&client.SetBudgetAlertSharesParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, client.BudgetAlertShares{Shares: *shares})
			if err := done(r, err); err != nil {
				return err
			}
			return a.show(r, func(t *table) { t.row("SHARES", shareTexts(either(r.JSON200, r.JSON202).Data.Shares)) })
		}
		body, found, err := pages[client.BudgetAlert](*limit, func(cursor *string, size int) (answer, error) {
			return api.ListBudgetAlertsWithResponse(c.Context(), &client.ListBudgetAlertsParams{Cursor: cursor, Limit: &size})
		})
		if err != nil {
			return err
		}
		return a.showBody(body, func(t *table) {
			t.row("AT", "SHARE", "SCOPE", "TARGET", "INTERVAL", "USED", "LIMIT", "LIMIT ID", "RESETS")
			for _, b := range found {
				t.row(b.CreatedAt, shareText(b.Share), string(b.Scope), b.Target, string(b.Interval), "$"+b.UsedUsd, "$"+b.LimitUsd, b.LimitID, b.ResetAt)
			}
		})
	}
	return c
}

func shareTexts(shares []int) []string {
	list := make([]string, len(shares))
	for i, s := range shares {
		list[i] = shareText(s)
	}
	return list
}

func shareText(share int) string { return fmt.Sprintf("%d %%", share) }
