package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

// span are the flags that limit a list in time.
type span struct{ since, until string }

func spanFlags(c *cobra.Command) *span {
	var s span
	c.Flags().StringVar(&s.since, "since", "", "not before: a time, or how long ago, such as 24h")
	c.Flags().StringVar(&s.until, "until", "", "before: a time, or how long ago")
	return &s
}

func (s *span) times() (since, until *time.Time, err error) {
	now := time.Now()
	if since, err = timeFlag("since", s.since, now, -1); err != nil {
		return nil, nil, err
	}
	until, err = timeFlag("until", s.until, now, -1)
	return since, until, err
}

func (a *app) usage() *cobra.Command {
	c := &cobra.Command{Use: "usage", Short: "Show requests, tokens and cost", Args: cobra.NoArgs}
	by := c.Flags().String("by", "", "split by model, provider or key")
	every := c.Flags().String("every", "", "one row for each hour or day")
	span := spanFlags(c)
	c.AddCommand(a.usageSpend())
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := oneOf("--by", *by, "", "model", "provider", "key"); err != nil {
			return err
		}
		if err := oneOf("--every", *every, "", "hour", "day"); err != nil {
			return err
		}
		since, until, err := span.times()
		if err != nil {
			return err
		}
		api, err := a.management()
		if err != nil {
			return err
		}
		r, err := api.GetUsageWithResponse(c.Context(), &client.GetUsageParams{
			Since: since, Until: until,
			GroupBy:  (*client.GetUsageParamsGroupBy)(optional(*by)),
			Interval: (*client.GetUsageParamsInterval)(optional(*every)),
		})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { usageTable(t, r.JSON200.Data) })
	}
	return c
}

func usageTable(t *table, u client.Usage) {
	t.row("START", "GROUP", "REQUESTS", "ERRORS", "INPUT", "CACHED", "OUTPUT", "COST USD")
	for _, row := range u.Rows {
		t.row(row.Start, row.Group, row.Requests, row.Errors, row.Tokens.Input, row.Tokens.CachedRead,
			row.Tokens.Output+row.Tokens.Reasoning, row.CostUsd)
	}
	all := u.Totals
	t.row("total", "", all.Requests, all.Errors, all.Tokens.Input, all.Tokens.CachedRead,
		all.Tokens.Output+all.Tokens.Reasoning, all.CostUsd)
}
