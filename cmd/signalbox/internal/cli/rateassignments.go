package cli

import (
	"context"

	"github.com/oapi-codegen/nullable"
	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

// rateTargets are the flags that name what a rate-limit policy is assigned to.
type rateTargets struct {
	key, member, department, guardrail string
	endUsers                           bool
}

func (r *rateTargets) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&r.key, "key", "", "an API key, by id or name")
	f.StringVar(&r.member, "member", "", "a member, by user id or e-mail address: all keys that they created, together")
	f.StringVar(&r.department, "department", "", "a department, by id or name: everything that counts toward it, together")
	f.StringVar(&r.guardrail, "guardrail", "", "a guardrail, by id or name: each key that it binds, by itself")
	f.BoolVar(&r.endUsers, "end-users", false, "each end user that requests name, by themselves")
}

// find is the one target that the flags name, and its id; both are "" for none.
func (r *rateTargets) find(ctx context.Context, api *client.ClientWithResponses) (kind client.RateLimitTargetType, target string, err error) {
	n := 0
	for _, one := range []struct {
		flag, text string
		kind       client.RateLimitTargetType
		find       finder
	}{
		{"--key", r.key, client.RateLimitTargetTypeKey, keyID},
		{"--member", r.member, client.RateLimitTargetTypeMember, memberID},
		{"--department", r.department, client.RateLimitTargetTypeDepartment, departmentID},
		{"--guardrail", r.guardrail, client.RateLimitTargetTypeGuardrail, guardrailID},
	} {
		if one.text == "" {
			continue
		}
		n++
		kind = one.kind
		if target, err = one.find(ctx, api, one.text); err != nil {
			return kind, target, err
		}
	}
	if r.endUsers {
		n++
		kind = client.RateLimitTargetTypeEndUserDefault
	}
	if n > 1 {
		return kind, target, misuse("give one of --key, --member, --department, --guardrail and --end-users")
	}
	return kind, target, nil
}

func (a *app) rateAssignmentsCreate() *cobra.Command {
	var targets rateTargets
	c := &cobra.Command{
		Use: "create POLICY", Short: "Let a rate-limit policy, by id or name, hold for a target", Args: cobra.ExactArgs(1),
		Example: "  signalbox rate-limits assignments create calm --department research --wait 5s",
	}
	targets.add(c)
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if targets == (rateTargets{}) {
			return misuse("give one of --key, --member, --department, --guardrail and --end-users")
		}
		api, policy, err := a.found(c.Context(), ratePolicyID, args[0])
		if err != nil {
			return err
		}
		kind, target, err := targets.find(c.Context(), api)
		if err != nil {
			return err
		}
		body := client.NewRateLimitAssignment{PolicyID: policy, TargetType: kind}
		if target != "" {
			body.TargetID = nullable.NewNullableWithValue(target)
		}
		r, err := api.CreateRateLimitAssignmentWithResponse(c.Context(),
			&client.CreateRateLimitAssignmentParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, body)
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) {
			made := either(r.JSON201, r.JSON202).Data
			t.row("ID", made.ID)
			t.row("POLICY", made.PolicyID)
			t.row("ASSIGNED TO", targetCell(made))
			t.row("CREATED", made.CreatedAt)
		})
	}
	return c
}

func (a *app) rateAssignmentsList() *cobra.Command {
	var targets rateTargets
	c := &cobra.Command{Use: "list", Short: "List what rate-limit policies are assigned to, newest first", Args: cobra.NoArgs}
	policy := c.Flags().String("policy", "", "only of this policy, by id or name")
	targets.add(c)
	limit := limitFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		api, err := a.management()
		if err != nil {
			return err
		}
		params := client.ListRateLimitAssignmentsParams{}
		if *policy != "" {
			found, err := ratePolicyID(c.Context(), api, *policy)
			if err != nil {
				return err
			}
			params.PolicyID = &found
		}
		kind, target, err := targets.find(c.Context(), api)
		if err != nil {
			return err
		}
		if kind != "" {
			params.TargetType, params.TargetID = &kind, optional(target)
		}
		body, assignments, err := pages[client.RateLimitAssignment](*limit, func(cursor *string, size int) (answer, error) {
			params.Cursor, params.Limit = cursor, &size
			return api.ListRateLimitAssignmentsWithResponse(c.Context(), &params)
		})
		if err != nil {
			return err
		}
		names, err := a.ratePolicyNames(c.Context(), api, len(assignments))
		if err != nil {
			return err
		}
		return a.showBody(body, func(t *table) {
			t.row("ID", "POLICY", "ASSIGNED TO", "CREATED")
			for _, one := range assignments {
				t.row(one.ID, names[one.PolicyID], targetCell(one), one.CreatedAt)
			}
		})
	}
	return c
}

// ratePolicyNames are the names of the policies by their ids, where a table of n
// assignments is to show them.
func (a *app) ratePolicyNames(ctx context.Context, api *client.ClientWithResponses, n int) (map[string]string, error) {
	names := make(map[string]string)
	if n == 0 || a.output != "table" {
		return names, nil
	}
	_, all, err := pages[client.RateLimitPolicy](0, func(cursor *string, size int) (answer, error) { return ratePolicyPage(ctx, api, cursor, size) })
	for _, p := range all {
		names[p.ID] = p.Name
	}
	return names, err
}

func (a *app) rateAssignmentsDelete() *cobra.Command {
	return deleteOne(a, "delete ASSIGNMENT_ID", "Take a rate-limit policy off a target", asGiven,
		func(ctx context.Context, api *client.ClientWithResponses, assignment string, f *change) (answer, error) {
			return api.DeleteRateLimitAssignmentWithResponse(ctx, assignment, &client.DeleteRateLimitAssignmentParams{Wait: f.waitFor(), IdempotencyKey: f.key()})
		})
}

// targetCell is a target as a table shows it.
func targetCell(a client.RateLimitAssignment) string {
	target, err := a.TargetID.Get()
	if err != nil {
		return "end users" // who have no id
	}
	return string(a.TargetType) + " " + target
}
