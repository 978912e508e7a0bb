package cli

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

func (a *app) credits() *cobra.Command {
	return group("credits", "Show the wallet, and with the operator token change one",
		a.creditsShow(), a.creditsEntries(), a.creditsTopUp(), a.creditsAdjust())
}

func (a *app) creditsShow() *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "Show what the workspace paid in, was charged and has left", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := a.management()
			if err != nil {
				return err
			}
			r, err := api.GetCreditsWithResponse(c.Context())
			if err := done(r, err); err != nil {
				return err
			}
			return a.show(r, func(t *table) { creditsTable(t, r.JSON200.Data) })
		},
	}
}

func creditsTable(t *table, d client.Credits) {
	t.row("BILLING", d.Billing)
	t.row("BALANCE USD", d.BalanceUsd)
	t.row("GRANTED USD", d.GrantedUsd)
	t.row("CHARGED USD", d.ChargedUsd)
	t.row("FLOOR USD", d.FloorUsd)
	t.row("BYOK FEE MILLIONTHS", d.ByokFee.Rate)
	t.row("BYOK REQUESTS", d.ByokFee.Requests)
	t.row("BYOK FREE REMAINING", d.ByokFee.FreeRequestsRemaining)
}

func (a *app) creditsEntries() *cobra.Command {
	c := &cobra.Command{Use: "entries", Short: "List top-ups, adjustments and charges, newest first", Args: cobra.NoArgs}
	limit := limitFlag(c)
	workspace := c.Flags().String("workspace", "", "those of this workspace, with the operator token")
	c.RunE = func(c *cobra.Command, _ []string) error {
		connect := a.management
		if *workspace != "" {
			connect = a.operator
		}
		api, err := connect()
		if err != nil {
			return err
		}
		body, list, err := pages[client.CreditEntry](*limit, func(cursor *string, size int) (answer, error) {
			if *workspace != "" {
				return api.ListPlatformCreditEntriesWithResponse(c.Context(), *workspace, &client.ListPlatformCreditEntriesParams{Cursor: cursor, Limit: &size})
			}
			return api.ListCreditEntriesWithResponse(c.Context(), &client.ListCreditEntriesParams{Cursor: cursor, Limit: &size})
		})
		if err != nil {
			return err
		}
		return a.showBody(body, func(t *table) {
			t.row("NUMBER", "AT", "KIND", "AMOUNT USD", "BALANCE USD", "REQUESTS", "REFERENCE", "NOTE")
			for _, e := range list {
				t.row(e.Number, e.CreatedAt, e.Kind, e.AmountUsd, e.BalanceUsd, e.Requests, e.Reference, e.Note)
			}
		})
	}
	return c
}

func (a *app) creditsTopUp() *cobra.Command {
	c := &cobra.Command{
		Use: "top-up USD", Short: "Add what a workspace paid to its wallet", Args: cobra.ExactArgs(1),
		Long:    "Add what a workspace paid to its wallet. A reference that was given before with the same amount adds nothing.\nThis needs the operator token.",
		Example: "  signalbox credits top-up 250 --workspace ws_01kb7n0z1v8q5r2m3t4w5x6y7z --reference invoice-1042",
	}
	workspace, reference := walletFlags(c)
	note := c.Flags().String("note", "", "a note for people")
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.operator()
		if err != nil {
			return err
		}
		r, err := api.TopUpPlatformCreditsWithResponse(c.Context(), *workspace,
			&client.TopUpPlatformCreditsParams{Wait: f.waitFor(), IdempotencyKey: f.key()},
			client.NewTopUp{AmountUsd: args[0], Reference: optional(*reference), Note: optional(*note)})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { creditTable(t, cmp.Or(r.JSON200, r.JSON201, r.JSON202).Data) })
	}
	return c
}

func (a *app) creditsAdjust() *cobra.Command {
	c := &cobra.Command{
		Use: "adjust", Short: "Give a workspace credit, or take some, for a reason", Args: cobra.NoArgs,
		Long:    "Give a workspace credit, or take some, for a reason. This needs the operator token.",
		Example: "  signalbox credits adjust --amount -12.50 --workspace ws_01kb7n0z1v8q5r2m3t4w5x6y7z --reason \"charged twice\"",
	}
	workspace, reference := walletFlags(c)
	amount := c.Flags().String("amount", "", "USD; with a minus it is taken")
	reason := c.Flags().String("reason", "", "why, for people")
	must(c.MarkFlagRequired("amount"))
	must(c.MarkFlagRequired("reason"))
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		api, err := a.operator()
		if err != nil {
			return err
		}
		r, err := api.AdjustPlatformCreditsWithResponse(c.Context(), *workspace,
			&client.AdjustPlatformCreditsParams{Wait: f.waitFor(), IdempotencyKey: f.key()},
			client.NewAdjustment{AmountUsd: *amount, Reason: *reason, Reference: optional(*reference)})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { creditTable(t, cmp.Or(r.JSON200, r.JSON201, r.JSON202).Data) })
	}
	return c
}

func walletFlags(c *cobra.Command) (workspace, reference *string) {
	workspace = c.Flags().String("workspace", "", "the workspace's id")
	reference = c.Flags().String("reference", "", "unique in the workspace; given again it adds nothing")
	must(c.MarkFlagRequired("workspace"))
	return workspace, reference
}

func creditTable(t *table, e client.CreditEntry) {
	t.row("ID", e.ID)
	t.row("NUMBER", e.Number)
	t.row("KIND", e.Kind)
	t.row("AMOUNT USD", e.AmountUsd)
	t.row("BALANCE USD", e.BalanceUsd)
	t.row("REFERENCE", e.Reference)
	t.row("NOTE", e.Note)
}
