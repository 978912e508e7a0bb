package cli

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

// workspacesBilling shows how a workspace pays, and changes what is given.
func (a *app) workspacesBilling() *cobra.Command {
	c := &cobra.Command{
		Use: "billing WORKSPACE_ID", Short: "Show how a workspace pays, or change it; default takes an own term away", Args: cobra.ExactArgs(1),
		Long:    "Show how a workspace pays, or change it. This needs the operator token. The word default takes a term of the\nworkspace's own away, so that it is as the deployment says.",
		Example: "  signalbox workspaces billing ws_01kb7n0z1v8q5r2m3t4w5x6y7z --billing prepaid --floor 5\n  signalbox workspaces billing ws_01kb7n0z1v8q5r2m3t4w5x6y7z --floor default",
	}
	terms := overrides{c: c}
	terms.text("billing", "billing", "off, prepaid or invoice")
	terms.text("floor", "floor_usd", "USD that must be left for managed models")
	terms.number("byok-fee-rate", "byok_fee_rate", "millionths of what a request with own credentials would have cost")
	terms.number("byok-free-requests", "byok_free_requests", "such requests of a UTC month that are without the fee")
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.operator()
		if err != nil {
			return err
		}
		body, err := terms.body()
		if err != nil {
			return err
		}
		if body == nil {
			r, err := api.GetPlatformBillingWithResponse(c.Context(), args[0])
			if err := done(r, err); err != nil {
				return err
			}
			return a.show(r, func(t *table) { billingTable(t, r.JSON200.Data) })
		}
		r, err := api.UpdatePlatformBillingWithBodyWithResponse(c.Context(), args[0],
			&client.UpdatePlatformBillingParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, "application/json", bytes.NewReader(body))
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { billingTable(t, either(r.JSON200, r.JSON202).Data) })
	}
	return c
}

func billingTable(t *table, b client.PlatformBilling) {
	t.row("WORKSPACE", b.WorkspaceID)
	creditsTable(t, b.Credits)
	t.row("PAID USD", b.PaidUsd)
	t.row("FIRST PAID", b.ToppedUpAt)
}

// workspacesAllowance shows what a workspace's users may do, and changes what
// is given.
func (a *app) workspacesAllowance() *cobra.Command {
	c := &cobra.Command{
		Use: "allowance WORKSPACE_ID", Short: "Show how much a workspace's users may do, or change it; default takes an override away", Args: cobra.ExactArgs(1),
		Long:    "Show a workspace's standing and how much its users may do, or change it. This needs the operator token. The word\ndefault takes an override away, so that it is by standing, or as the deployment says.",
		Example: "  signalbox workspaces allowance ws_01kb7n0z1v8q5r2m3t4w5x6y7z --per-minute 300 --user user_01kb7n0z1v8q5r2m3t4w5x6y7z=40",
	}
	set := overrides{c: c}
	set.number("per-minute", "requests_per_minute", "requests in any minute, for each user")
	set.number("free-per-day", "free_requests_per_day", "requests to free models on a UTC day, for each user")
	set.users = c.Flags().StringArray("user", nil, "USER_ID=REQUESTS a minute of one user; may be repeated")
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, err := a.operator()
		if err != nil {
			return err
		}
		body, err := set.body()
		if err != nil {
			return err
		}
		if body == nil {
			r, err := api.GetPlatformAllowanceWithResponse(c.Context(), args[0])
			if err := done(r, err); err != nil {
				return err
			}
			return a.show(r, func(t *table) { allowanceTable(t, r.JSON200.Data) })
		}
		r, err := api.UpdatePlatformAllowanceWithBodyWithResponse(c.Context(), args[0],
			&client.UpdatePlatformAllowanceParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, "application/json", bytes.NewReader(body))
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { allowanceTable(t, either(r.JSON200, r.JSON202).Data) })
	}
	return c
}

func allowanceTable(t *table, s client.PlatformAllowance) {
	limit := func(n int64, err error) string {
		if err != nil {
			return "no limit"
		}
		return strconv.FormatInt(n, 10)
	}
	t.row("WORKSPACE", s.WorkspaceID)
	t.row("BY STANDING", s.Enabled)
	t.row("STANDING", s.Standing)
	t.row("REASON", s.Reason)
	t.row("WORKSPACE SINCE", s.WorkspaceCreatedAt)
	t.row("PAID USD", s.PaidUsd)
	t.row("PER MINUTE", limit(s.RequestsPerMinute.Get()))
	t.row("FREE PER DAY", limit(s.FreeRequestsPerDay.Get()))
	for _, user := range slices.Sorted(maps.Keys(s.Overrides.Users)) {
		t.row("USER "+user, s.Overrides.Users[user])
	}
}

// overrides are flags of what an operator may set in place of a default. The
// word default takes one away.
type overrides struct {
	c      *cobra.Command
	fields []overrideFlag
	users  *[]string
}

type overrideFlag struct {
	flag, field string
	number      bool
	value       *string
}

func (o *overrides) text(flag, field, usage string) {
	o.fields = append(o.fields, overrideFlag{flag, field, false, o.c.Flags().String(flag, "", usage)})
}

func (o *overrides) number(flag, field, usage string) {
	o.fields = append(o.fields, overrideFlag{flag, field, true, o.c.Flags().String(flag, "", usage)})
}

// body is the patch of what is given; nil for nothing.
func (o *overrides) body() ([]byte, error) {
	patch := map[string]any{}
	for _, f := range o.fields {
		if !o.c.Flags().Changed(f.flag) {
			continue
		}
		v, err := overridden("--"+f.flag, *f.value, f.number)
		if err != nil {
			return nil, err
		}
		patch[f.field] = v
	}
	if o.users != nil && len(*o.users) > 0 {
		users := map[string]any{}
		for _, pair := range *o.users {
			user, n, ok := strings.Cut(pair, "=")
			if !ok {
				return nil, misuse("--user must be USER_ID=REQUESTS, or USER_ID=default")
			}
			v, err := overridden("--user", n, true)
			if err != nil {
				return nil, err
			}
			users[user] = v
		}
		patch["users"] = users
	}
	if len(patch) == 0 {
		return nil, nil
	}
	return json.Marshal(patch)
}

func overridden(name, text string, number bool) (any, error) {
	switch {
	case text == "default":
		return nil, nil // null is the value
	case !number:
		return text, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, misuse("%s must be a whole number, or default", name)
	}
	return n, nil
}
