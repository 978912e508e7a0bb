package cli

import (
	"context"
	"strconv"

	"github.com/oapi-codegen/nullable"
	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
	"github.com/signalbox-dev/signalbox/shared/id"
)

func (a *app) rateLimits() *cobra.Command {
	return group("rate-limits", "Manage rate-limit policies, and what they are assigned to",
		group("policies", "Manage rate-limit policies",
			a.ratePoliciesCreate(), a.ratePoliciesList(), a.ratePoliciesGet(), a.ratePoliciesUpdate(), a.ratePoliciesDelete()),
		group("assignments", "Assign rate-limit policies to keys, members, departments, guardrails and end users",
			a.rateAssignmentsCreate(), a.rateAssignmentsList(), a.rateAssignmentsDelete()))
}

// ratePolicyID is the id that a rate-limit policy's id or name stands for.
func ratePolicyID(ctx context.Context, api *client.ClientWithResponses, text string) (string, error) {
	return idByOnlyName[id.RatePolicyKind]("rate-limit policy", text, func(name *string, size int) (answer, error) {
		return api.ListRateLimitPoliciesWithResponse(ctx, &client.ListRateLimitPoliciesParams{Name: name, Limit: &size})
	})
}

// ratePolicyFlags are the flags that say what a policy limits.
type ratePolicyFlags struct {
	name, requests, tokens, concurrent, unavailable string
	closed                                          bool
}

func (r *ratePolicyFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&r.name, "name", "", "a name for people, unique in the workspace")
	f.StringVar(&r.requests, "requests", "", "requests in any 60 seconds, or none")
	f.StringVar(&r.tokens, "tokens", "", "input and output tokens in any 60 seconds, or none")
	f.StringVar(&r.concurrent, "concurrent", "", "requests at the same time, or none")
	f.BoolVar(&r.closed, "fail-closed", false, "admit requests one by one over all gateways, never one too many")
	f.StringVar(&r.unavailable, "on-unavailable", "", "when gateways cannot ask each other in time: allow, deny or local_share")
}

// patch is what the flags that were given come to.
func (r *ratePolicyFlags) patch(c *cobra.Command) (p client.RateLimitPolicyPatch, err error) {
	given := c.Flags().Changed
	if given("name") {
		p.Name = &r.name
	}
	if given("fail-closed") {
		p.FailClosed = &r.closed
	}
	if given("on-unavailable") {
		if err := oneOf("--on-unavailable", r.unavailable, "allow", "deny", "local_share"); err != nil {
			return p, err
		}
		on := client.RateLimitOnUnavailable(r.unavailable)
		p.OnUnavailable = &on
	}
	for _, l := range []struct {
		flag, text string
		field      *nullable.Nullable[int64]
	}{
		{"requests", r.requests, &p.RequestsPerMinute}, {"tokens", r.tokens, &p.TokensPerMinute}, {"concurrent", r.concurrent, &p.ConcurrentRequests},
	} {
		if !given(l.flag) {
			continue
		}
		if *l.field, err = limitOf(l.flag, l.text); err != nil {
			return p, err
		}
	}
	return p, nil
}

func limitOf(flag, text string) (nullable.Nullable[int64], error) {
	if text == "none" {
		return nullable.NewNullNullable[int64](), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return nil, misuse("--%s must be a whole number from 1, or none", flag)
	}
	return nullable.NewNullableWithValue(n), nil
}

func (a *app) ratePoliciesCreate() *cobra.Command {
	var flags ratePolicyFlags
	c := &cobra.Command{
		Use: "create", Short: "Create a rate-limit policy", Args: cobra.NoArgs,
		Long: `Create a rate-limit policy with at least one limit. It limits nothing until it is assigned. With --fail-closed, what
cannot be counted in time is refused, unless --on-unavailable local_share is given.`,
		Example: "  signalbox rate-limits policies create --name calm --requests 60 --tokens 100000",
	}
	flags.add(c)
	must(c.MarkFlagRequired("name"))
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		p, err := flags.patch(c)
		if err != nil {
			return err
		}
		api, err := a.management()
		if err != nil {
			return err
		}
		r, err := api.CreateRateLimitPolicyWithResponse(c.Context(),
			&client.CreateRateLimitPolicyParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, client.NewRateLimitPolicy{
				Name: flags.name, RequestsPerMinute: p.RequestsPerMinute, TokensPerMinute: p.TokensPerMinute, ConcurrentRequests: p.ConcurrentRequests,
				FailClosed: p.FailClosed, OnUnavailable: p.OnUnavailable,
			})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { ratePolicyTable(t, either(r.JSON201, r.JSON202).Data) })
	}
	return c
}

func (a *app) ratePoliciesList() *cobra.Command {
	return listAll(a, "List rate-limit policies, newest first",
		func(t *table, list []client.RateLimitPolicy) {
			t.row("ID", "NAME", "REQUESTS", "TOKENS", "CONCURRENT", "FAIL CLOSED", "UNAVAILABLE", "UPDATED")
			for _, p := range list {
				t.row(p.ID, p.Name, limitCell(p.RequestsPerMinute), limitCell(p.TokensPerMinute), limitCell(p.ConcurrentRequests),
					p.FailClosed, string(p.OnUnavailable), p.UpdatedAt)
			}
		},
		ratePolicyPage)
}

func ratePolicyPage(ctx context.Context, api *client.ClientWithResponses, cursor *string, size int) (answer, error) {
	return api.ListRateLimitPoliciesWithResponse(ctx, &client.ListRateLimitPoliciesParams{Cursor: cursor, Limit: &size})
}

func (a *app) ratePoliciesGet() *cobra.Command {
	return getOne(a, "get POLICY", "Show a rate-limit policy, by id or name", ratePolicyID, ratePolicyTable,
		func(ctx context.Context, api *client.ClientWithResponses, policy string) (answer, func() client.RateLimitPolicy, error) {
			r, err := api.GetRateLimitPolicyWithResponse(ctx, policy)
			return r, func() client.RateLimitPolicy { return r.JSON200.Data }, err
		})
}

func (a *app) ratePoliciesUpdate() *cobra.Command {
	var flags ratePolicyFlags
	c := &cobra.Command{
		Use: "update POLICY", Short: "Change a rate-limit policy, for everything that it is assigned to", Args: cobra.ExactArgs(1),
		Long: `Change a rate-limit policy, for everything that it is assigned to. Flags change what they name; none takes a limit
away. Switching --fail-closed on or off sets --on-unavailable too, to deny or allow, unless it is given.`,
		Example: "  signalbox rate-limits policies update calm --requests 120 --tokens none",
	}
	flags.add(c)
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		patch, err := flags.patch(c)
		if err != nil {
			return err
		}
		api, policy, err := a.found(c.Context(), ratePolicyID, args[0])
		if err != nil {
			return err
		}
		r, err := api.UpdateRateLimitPolicyWithResponse(c.Context(), policy,
			&client.UpdateRateLimitPolicyParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, patch)
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { ratePolicyTable(t, either(r.JSON200, r.JSON202).Data) })
	}
	return c
}

func (a *app) ratePoliciesDelete() *cobra.Command {
	return deleteOne(a, "delete POLICY", "Delete a rate-limit policy that is assigned to nothing", ratePolicyID,
		func(ctx context.Context, api *client.ClientWithResponses, policy string, f *change) (answer, error) {
			return api.DeleteRateLimitPolicyWithResponse(ctx, policy, &client.DeleteRateLimitPolicyParams{Wait: f.waitFor(), IdempotencyKey: f.key()})
		})
}

func ratePolicyTable(t *table, p client.RateLimitPolicy) {
	t.row("ID", p.ID)
	t.row("NAME", p.Name)
	t.row("REQUESTS PER MINUTE", limitCell(p.RequestsPerMinute))
	t.row("TOKENS PER MINUTE", limitCell(p.TokensPerMinute))
	t.row("CONCURRENT REQUESTS", limitCell(p.ConcurrentRequests))
	t.row("FAIL CLOSED", p.FailClosed)
	t.row("ON UNAVAILABLE", string(p.OnUnavailable))
	t.row("CREATED", p.CreatedAt)
	t.row("UPDATED", p.UpdatedAt)
}

// limitCell is a limit as a table shows it, "" for none.
func limitCell(n nullable.Nullable[int64]) string {
	v, err := n.Get()
	if err != nil {
		return "" // there is none
	}
	return strconv.FormatInt(v, 10)
}
