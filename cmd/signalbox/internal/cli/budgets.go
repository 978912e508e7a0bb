package cli

import (
	"context"
	"time"

	"github.com/oapi-codegen/nullable"
	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

func (a *app) budgets() *cobra.Command {
	return group("budgets", "Manage what the workspace, guardrails and agents may spend",
		a.budgetsCreate(), a.budgetsList(), a.budgetsGet(), a.budgetsUpdate(), a.budgetsDelete())
}

// intervals are those of budgets.
var intervals = []string{"daily", "weekly", "monthly", "lifetime"}

// budgetID is the id that a budget's id, or the interval of one of the whole
// workspace, stands for.
func budgetID(ctx context.Context, api *client.ClientWithResponses, text string) (string, error) {
	if oneOf("", text, intervals...) != nil {
		return text, nil
	}
	interval := client.BudgetInterval(text)
	_, all, err := pages[client.Budget](0, func(cursor *string, size int) (answer, error) {
		return api.ListBudgetsWithResponse(ctx, &client.ListBudgetsParams{Cursor: cursor, Limit: &size, Interval: &interval})
	})
	if err != nil {
		return "", err
	}
	for _, b := range all {
		if b.GuardrailID == nil && b.Agent == nil {
			return b.ID, nil
		}
	}
	return "", notFound{"budget", text}
}

// budgetFlags are those that say what a budget is.
type budgetFlags struct {
	limit, enforcement string
	byok               bool
}

func (b *budgetFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&b.limit, "limit-usd", "", "what may be spent, such as 12.50")
	c.Flags().StringVar(&b.enforcement, "enforcement", "",
		"how requests are held to it: track what is spent, or reserve what a request can cost at most, so that it is never passed")
	c.Flags().BoolVar(&b.byok, "include-byok", false, "whether what your own provider keys are charged counts too")
}

// patch names the fields whose flags were given.
func (b *budgetFlags) patch(c *cobra.Command) (p client.BudgetPatch, err error) {
	if err := oneOf("--enforcement", b.enforcement, "", "track", "reserve"); err != nil {
		return p, err
	}
	given := c.Flags().Changed
	if given("limit-usd") {
		p.LimitUsd = &b.limit
	}
	if given("enforcement") {
		p.Enforcement = (*client.Enforcement)(&b.enforcement)
	}
	if given("include-byok") {
		p.IncludeByok = &b.byok
	}
	return p, nil
}

func (a *app) budgetsCreate() *cobra.Command {
	var flags budgetFlags
	c := &cobra.Command{
		Use: "create", Short: "Create a budget of the workspace, or of a guardrail or agent", Args: cobra.NoArgs,
		Example: "  signalbox budgets create --interval monthly --limit-usd 500\n  signalbox budgets create --interval daily --limit-usd 5 --agent night-bot --enforcement reserve",
	}
	flags.add(c)
	interval := c.Flags().String("interval", "", "daily, weekly, monthly or lifetime, in UTC")
	guardrail := c.Flags().String("guardrail", "", "the guardrail that it is about, by id or name")
	agent := c.Flags().String("agent", "", "the agent that it is about")
	must(c.MarkFlagRequired("interval"))
	must(c.MarkFlagRequired("limit-usd"))
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := oneOf("--interval", *interval, intervals...); err != nil {
			return err
		}
		p, err := flags.patch(c)
		if err != nil {
			return err
		}
		api, err := a.management()
		if err != nil {
			return err
		}
		of, err := optionalID(c.Context(), api, guardrailID, *guardrail)
		if err != nil {
			return err
		}
		r, err := api.CreateBudgetWithResponse(c.Context(), &client.CreateBudgetParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, client.NewBudget{
			Interval: client.BudgetInterval(*interval), LimitUsd: flags.limit, Enforcement: p.Enforcement, IncludeByok: p.IncludeByok,
			GuardrailID: of, Agent: optional(*agent),
		})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { budgetTable(t, either(r.JSON201, r.JSON202).Data) })
	}
	return c
}

func (a *app) budgetsList() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List budgets and where they stand, newest first", Args: cobra.NoArgs}
	limit := limitFlag(c)
	interval := c.Flags().String("interval", "", "only those of this interval: daily, weekly, monthly or lifetime")
	guardrail := c.Flags().String("guardrail", "", "only those of this guardrail, by id or name")
	agent := c.Flags().String("agent", "", "only those of this agent")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := oneOf("--interval", *interval, append([]string{""}, intervals...)...); err != nil {
			return err
		}
		api, err := a.management()
		if err != nil {
			return err
		}
		of, err := optionalID(c.Context(), api, guardrailID, *guardrail)
		if err != nil {
			return err
		}
		body, budgets, err := pages[client.Budget](*limit, func(cursor *string, size int) (answer, error) {
			return api.ListBudgetsWithResponse(c.Context(), &client.ListBudgetsParams{
				Cursor: cursor, Limit: &size, GuardrailID: of, Agent: optional(*agent), Interval: (*client.BudgetInterval)(optional(*interval)),
			})
		})
		if err != nil {
			return err
		}
		return a.showBody(body, func(t *table) {
			t.row("ID", "OF", "INTERVAL", "LIMIT USD", "SPENT USD", "SHARE", "PROJECTED USD", "BY WEEKDAYS USD", "RESETS")
			for _, b := range budgets {
				t.row(b.ID, budgetOwner(b), b.Interval, b.LimitUsd, b.UsageUsd, percent(b.Share), known(b.Projection.LinearUsd), known(b.Projection.WeekdayUsd), when(b.ResetAt))
			}
		})
	}
	return c
}

const budgetArg = "BUDGET_ID|INTERVAL"

func (a *app) budgetsGet() *cobra.Command {
	return getOne(a, "get "+budgetArg, "Show a budget, by id, or the workspace's own by its interval", budgetID, budgetTable,
		func(ctx context.Context, api *client.ClientWithResponses, budget string) (answer, func() client.Budget, error) {
			r, err := api.GetBudgetWithResponse(ctx, budget)
			return r, func() client.Budget { return r.JSON200.Data }, err
		})
}

func (a *app) budgetsUpdate() *cobra.Command {
	var flags budgetFlags
	c := &cobra.Command{Use: "update " + budgetArg, Short: "Change a budget; what was spent so far counts", Args: cobra.ExactArgs(1)}
	flags.add(c)
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		p, err := flags.patch(c)
		if err != nil {
			return err
		}
		if p == (client.BudgetPatch{}) {
			return misuse("nothing to change: give --limit-usd, --enforcement or --include-byok")
		}
		api, budget, err := a.found(c.Context(), budgetID, args[0])
		if err != nil {
			return err
		}
		r, err := api.UpdateBudgetWithResponse(c.Context(), budget, &client.UpdateBudgetParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, p)
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { budgetTable(t, either(r.JSON200, r.JSON202).Data) })
	}
	return c
}

func (a *app) budgetsDelete() *cobra.Command {
	return deleteOne(a, "delete "+budgetArg, "Delete a budget", budgetID,
		func(ctx context.Context, api *client.ClientWithResponses, budget string, f *change) (answer, error) {
			return api.DeleteBudgetWithResponse(ctx, budget, &client.DeleteBudgetParams{Wait: f.waitFor(), IdempotencyKey: f.key()})
		})
}

// optionalID is nil where text is empty.
func optionalID(ctx context.Context, api *client.ClientWithResponses, find finder, text string) (*string, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // absent and no error is an answer here
	}
	id, err := find(ctx, api, text)
	return &id, err
}

func budgetOwner(b client.Budget) string {
	switch {
	case b.GuardrailID != nil:
		return *b.GuardrailID
	case b.Agent != nil:
		return "agent " + *b.Agent
	}
	return "the workspace"
}

func budgetTable(t *table, b client.Budget) {
	t.row("ID", b.ID)
	t.row("OF", budgetOwner(b))
	t.row("INTERVAL", b.Interval)
	t.row("LIMIT USD", b.LimitUsd)
	t.row("ENFORCEMENT", b.Enforcement)
	t.row("OWN PROVIDER KEYS", map[bool]string{true: "count", false: "do not count"}[b.IncludeByok])
	standingRows(t, b.UsageUsd, b.RemainingUsd, b.Share, b.Projection, b.ResetAt)
	t.row("CREATED", b.CreatedAt)
	t.row("UPDATED", b.UpdatedAt)
}

// standingRows tell where a budget stands.
func standingRows(t *table, spent, remaining string, share float64, p client.SpendProjection, reset nullable.Nullable[time.Time]) {
	t.row("SPENT USD", spent)
	t.row("REMAINING USD", remaining)
	t.row("SHARE", percent(share))
	t.row("PROJECTED USD", known(p.LinearUsd))
	t.row("BY WEEKDAYS USD", known(p.WeekdayUsd))
	t.row("RESETS", when(reset))
}

// known is "" where there is nothing to say.
func known(text nullable.Nullable[string]) string {
	value, err := text.Get()
	if err != nil {
		return ""
	}
	return value
}

func when(at nullable.Nullable[time.Time]) string {
	value, err := at.Get()
	if err != nil {
		return "never"
	}
	return moment(value)
}
