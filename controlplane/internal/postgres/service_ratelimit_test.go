package postgres

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/department"
	"github.com/signalbox-dev/signalbox/controlplane/internal/guardrail"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/ratelimit"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

func (s *services) ratePolicy(t *testing.T, ws id.Workspace, name string) ratelimit.Policy {
	t.Helper()
	p, _, err := s.rateLimits.Create(t.Context(), ws, operator, ratelimit.Draft{Name: name, Requests: 10})
	require.NoError(t, err)
	return p
}

func (s *services) assign(t *testing.T, p ratelimit.Policy, target ratelimit.Target) ratelimit.Assignment {
	t.Helper()
	a, _, err := s.rateLimits.Assign(t.Context(), p.Workspace, operator, p.ID, target)
	require.NoError(t, err)
	return a
}

func toKey(key id.Key) ratelimit.Target { return ratelimit.Target{Type: ratelimit.ToKey, Key: key} }

var toEndUsers = ratelimit.Target{Type: ratelimit.ToEndUsers}

func TestRateLimitPolicyLife(t *testing.T) {
	s := openServices(t)
	ws := s.create(t, "acme").Workspace.ID
	p, pub, err := s.rateLimits.Create(t.Context(), ws, operator, ratelimit.Draft{Name: "Calm", Requests: 60, Tokens: 100_000, Concurrent: 5, FailClosed: true})
	require.NoError(t, err)
	require.Equal(t, policy.DenyUnavailable, p.Unavailable, "which failing closed means")
	require.Equal(t, []string{"rate_limit_policy.create"}, s.stored(t, pub).Changes)
	event := s.lastEvent(t, ws)
	require.Equal(t, []string{"rate_limit_policy", p.ID.String()}, []string{event.TargetType, event.TargetID})
	require.Contains(t, event.Diff, audit.Change{Path: "requests_per_minute", After: "60"})
	require.Nil(t, s.snapshot(t, ws).Limits, "it is assigned to nothing")
	got, err := s.rateLimits.Get(t.Context(), ws, p.ID)
	require.NoError(t, err)
	require.Equal(t, p, got)

	_, _, err = s.rateLimits.Update(t.Context(), ws, p.ID, operator, ratelimit.Patch{Tokens: new(int64), IfMatch: ptr(int64(7))})
	require.True(t, fault.Is(err, fault.PreconditionFailed))
	p, _, err = s.rateLimits.Update(t.Context(), ws, p.ID, operator, ratelimit.Patch{Tokens: new(int64), FailClosed: new(bool), IfMatch: ptr(int64(1))})
	require.NoError(t, err)
	require.Equal(t, []any{int64(60), int64(0), policy.AllowUnavailable, int64(2)}, []any{p.Requests, p.Tokens, p.Unavailable, p.Version})
	require.Equal(t, []audit.Change{
		{Path: "tokens_per_minute", Before: "100000"}, {Path: "fail_closed", Before: "true", After: "false"}, {Path: "on_unavailable", Before: "deny", After: "allow"},
	}, s.lastEvent(t, ws).Diff)
	for _, wrong := range []ratelimit.Patch{
		{Requests: new(int64), Concurrent: new(int64)},
		{Requests: ptr(int64(-1))},
		{Name: ptr("")},
		{FailClosed: ptr(true), Unavailable: ptr(policy.AllowUnavailable)},
	} {
		_, _, err = s.rateLimits.Update(t.Context(), ws, p.ID, operator, wrong)
		require.True(t, fault.Is(err, fault.ValidationError), "%v", err)
	}
	got, err = s.rateLimits.Get(t.Context(), ws, p.ID)
	require.NoError(t, err)
	require.Equal(t, p, got, "what is refused changes nothing")

	_, err = s.rateLimits.Delete(t.Context(), ws, p.ID, operator, ptr(int64(1)))
	require.True(t, fault.Is(err, fault.PreconditionFailed))
	_, err = s.rateLimits.Delete(t.Context(), ws, p.ID, operator, nil)
	require.NoError(t, err)
	_, err = s.rateLimits.Get(t.Context(), ws, p.ID)
	require.True(t, fault.Is(err, fault.NotFound))
	_, err = s.rateLimits.Delete(t.Context(), ws, p.ID, operator, nil)
	require.True(t, fault.Is(err, fault.NotFound))
	_, _, err = s.rateLimits.Create(t.Context(), ws, operator, ratelimit.Draft{Name: "none"})
	require.True(t, fault.Is(err, fault.ValidationError), "it limits nothing: %v", err)
}

func TestRateLimitPoliciesAreNamedOnceAndBounded(t *testing.T) {
	s := openServices(t)
	ws, other := s.create(t, "acme").Workspace.ID, s.create(t, "other").Workspace.ID
	first := s.ratePolicy(t, ws, "Calm")
	s.ratePolicy(t, other, "Calm")
	second := s.ratePolicy(t, ws, "second")
	_, _, err := s.rateLimits.Create(t.Context(), ws, operator, ratelimit.Draft{Name: "cALM", Requests: 1})
	require.True(t, fault.Is(err, fault.Conflict))
	_, _, err = s.rateLimits.Update(t.Context(), ws, second.ID, operator, ratelimit.Patch{Name: ptr("CALM")})
	require.True(t, fault.Is(err, fault.Conflict))
	require.Equal(t, "name", fault.Of(err).Violations[0].Path)
	list, err := s.rateLimits.List(t.Context(), ws, page.Query{}, ratelimit.Filter{Name: "SECOND"})
	require.NoError(t, err)
	require.Equal(t, []ratelimit.Policy{second}, list.Items)
	list, err = s.rateLimits.List(t.Context(), ws, page.Query{Limit: 1}, ratelimit.Filter{})
	require.NoError(t, err)
	require.Equal(t, []ratelimit.Policy{second}, list.Items, "newest first")
	list, err = s.rateLimits.List(t.Context(), ws, page.Query{Limit: 1, Cursor: list.Next}, ratelimit.Filter{})
	require.NoError(t, err)
	require.Equal(t, []ratelimit.Policy{first}, list.Items)

	in(t, s.db, ws, func(ctx context.Context) error {
		for i := 2; i < ratelimit.MaxPolicies; i++ {
			p := first
			p.ID, p.Name = id.New[id.RatePolicyKind](testIDs), fmt.Sprint("p", i)
			if err := NewRateLimitStore().Create(ctx, ws, p); err != nil {
				return err
			}
		}
		return nil
	})
	_, _, err = s.rateLimits.Create(t.Context(), ws, operator, ratelimit.Draft{Name: "one more", Requests: 1})
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
}

// The snapshot has exactly what is assigned, with targets of every kind, each in
// the order of the ids.
func TestAssignedPoliciesArePublished(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws := created.Workspace.ID
	one, two := s.key(t, created, "one"), s.key(t, created, "two")
	d, _, err := s.departments.Create(t.Context(), ws, operator, department.Draft{Name: "research"})
	require.NoError(t, err)
	g := s.guardrail(t, ws, guardrail.Draft{Enabled: true, Name: "g"})
	all, some, none := s.ratePolicy(t, ws, "all"), s.ratePolicy(t, ws, "some"), s.ratePolicy(t, ws, "none")
	for _, target := range []ratelimit.Target{
		toKey(two.ID), toEndUsers,
		{Type: ratelimit.ToGuardrail, Guardrail: g.ID},
		{Type: ratelimit.ToDepartment, Department: d.ID},
		{Type: ratelimit.ToMember, Member: created.Owner.User},
		toKey(one.ID),
	} {
		s.assign(t, all, target)
	}
	last := s.assign(t, some, toKey(one.ID))
	want, rest := all.Published(), some.Published()
	want.Keys, want.Members, want.Departments, want.Guardrails, want.EndUsers = []id.Key{one.ID, two.ID},
		[]id.User{created.Owner.User}, []id.Department{d.ID}, []id.Guardrail{g.ID}, true
	rest.Keys = []id.Key{one.ID}
	snapshot := s.snapshot(t, ws)
	require.Equal(t, &policy.Limits{RatePolicies: []policy.RatePolicy{want, rest}}, snapshot.Limits)
	require.Equal(t, 4, snapshot.Schema, "not for gateways that do not know limits")

	found, err := s.rateLimits.Assigned(t.Context(), ws, page.Query{}, ratelimit.AssignmentFilter{Target: ratelimit.Target{Key: one.ID}})
	require.NoError(t, err)
	require.Len(t, found.Items, 2)
	require.Equal(t, last, found.Items[0])
	for want, f := range map[int]ratelimit.AssignmentFilter{
		7: {}, 6: {Policy: all.ID}, 0: {Policy: none.ID}, 3: {Type: ratelimit.ToKey}, 2: {Policy: all.ID, Type: ratelimit.ToKey},
	} {
		found, err := s.rateLimits.Assigned(t.Context(), ws, page.Query{}, f)
		require.NoError(t, err)
		require.Len(t, found.Items, want, "%+v", f)
	}

	pub, err := s.rateLimits.Unassign(t.Context(), ws, last.ID, operator)
	require.NoError(t, err)
	require.Equal(t, []string{"rate_limit_assignment.delete"}, s.stored(t, pub).Changes)
	require.Equal(t, []audit.Change{
		{Path: "policy_id", Before: some.ID.String()}, {Path: "target_type", Before: "key"}, {Path: "target_id", Before: one.ID.String()},
	}, s.lastEvent(t, ws).Diff)
	require.Equal(t, []policy.RatePolicy{want}, s.snapshot(t, ws).Limits.RatePolicies)
	_, err = s.rateLimits.Unassign(t.Context(), ws, last.ID, operator)
	require.True(t, fault.Is(err, fault.NotFound))
	_, err = s.rateLimits.Assignment(t.Context(), ws, last.ID)
	require.True(t, fault.Is(err, fault.NotFound))
}

func TestAssigning(t *testing.T) {
	s := openServices(t)
	created, theirs := s.create(t, "acme"), s.create(t, "theirs")
	ws := created.Workspace.ID
	k, revoked, foreign := s.key(t, created, "one"), s.key(t, created, "two"), s.key(t, theirs, "theirs")
	_, _, err := s.keys.Revoke(t.Context(), ws, revoked.ID, operator, nil)
	require.NoError(t, err)
	p, foreignPolicy := s.ratePolicy(t, ws, "p"), s.ratePolicy(t, theirs.Workspace.ID, "p")
	a := s.assign(t, p, toKey(k.ID))
	got, err := s.rateLimits.Assignment(t.Context(), ws, a.ID)
	require.NoError(t, err)
	require.Equal(t, a, got)
	for _, target := range []ratelimit.Target{toKey(k.ID), toEndUsers} {
		if target.Type == ratelimit.ToEndUsers {
			s.assign(t, p, target)
		}
		_, _, err = s.rateLimits.Assign(t.Context(), ws, operator, p.ID, target)
		require.True(t, fault.Is(err, fault.Conflict), "%s has it already: %v", target, err)
		require.Equal(t, fault.Violation{Path: "target_id", Code: "taken", Message: "has the policy already"}, fault.Of(err).Violations[0])
	}
	// What another workspace has is answered like what nobody has.
	for _, c := range []struct{ theirs, nobodys ratelimit.Target }{
		{toKey(foreign.ID), toKey(id.New[id.KeyKind](testIDs))},
		{toKey(revoked.ID), toKey(id.New[id.KeyKind](testIDs))},
		{ratelimit.Target{Type: ratelimit.ToMember, Member: theirs.Owner.User}, ratelimit.Target{Type: ratelimit.ToMember, Member: id.New[id.UserKind](testIDs)}},
	} {
		_, _, wrong := s.rateLimits.Assign(t.Context(), ws, operator, p.ID, c.theirs)
		_, _, absent := s.rateLimits.Assign(t.Context(), ws, operator, p.ID, c.nobodys)
		require.True(t, fault.Is(wrong, fault.ValidationError), "%v", wrong)
		require.Equal(t, fault.Of(absent).Violations, fault.Of(wrong).Violations)
		require.Equal(t, "target_id", fault.Of(wrong).Violations[0].Path)
	}
	_, _, wrong := s.rateLimits.Assign(t.Context(), ws, operator, foreignPolicy.ID, toKey(foreign.ID))
	_, _, absent := s.rateLimits.Assign(t.Context(), ws, operator, id.New[id.RatePolicyKind](testIDs), toKey(foreign.ID))
	require.Len(t, fault.Of(wrong).Violations, 2, "both at once")
	require.Equal(t, fault.Of(absent).Violations, fault.Of(wrong).Violations)

	for i := 1; i < ratelimit.MaxOfTarget; i++ {
		s.assign(t, s.ratePolicy(t, ws, fmt.Sprint("p", i)), toKey(k.ID))
	}
	another := s.ratePolicy(t, ws, "another")
	_, _, err = s.rateLimits.Assign(t.Context(), ws, operator, another.ID, toKey(k.ID))
	require.True(t, fault.Is(err, fault.Conflict), "too many for one key: %v", err)
	s.assign(t, another, ratelimit.Target{Type: ratelimit.ToMember, Member: created.Owner.User})
}

// At most so many assignments travel with a workspace.
func TestAssignmentsAreBounded(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws := created.Workspace.ID
	p := s.ratePolicy(t, ws, "p")
	in(t, s.db, ws, func(ctx context.Context) error {
		if err := NewRateAssignmentStore().Add(ctx, ws, ratelimit.Assignment{
			ID: id.New[id.RateAssignmentKind](testIDs), Workspace: ws, Policy: p.ID, Target: toEndUsers, CreatedAt: epoch,
		}); err != nil {
			return err
		}
		for _, statement := range []string{
			fmt.Sprintf(`INSERT INTO rate_limit_policies SELECT gen_random_uuid(), workspace_id, 'p' || n, requests_per_minute, tokens_per_minute,
				concurrent_requests, fail_closed, on_unavailable, version, created_at, updated_at
			FROM rate_limit_policies, generate_series(2, %d) n`, ratelimit.MaxAssignments),
			`INSERT INTO rate_limit_assignments SELECT gen_random_uuid(), workspace_id, id, 'end_user_default', NULL, NULL, NULL, NULL, created_at
			FROM rate_limit_policies WHERE name <> 'p'`,
		} {
			if err := tenant(ctx, ws).Exec(statement).Error; err != nil {
				return err
			}
		}
		return nil
	})
	_, _, err := s.rateLimits.Assign(t.Context(), ws, operator, p.ID, toKey(s.key(t, created, "one").ID))
	require.True(t, fault.Is(err, fault.Conflict))
	require.Contains(t, fault.Of(err).Message, "5000 times")
}

// What a policy is assigned to stays, as the policy does, until it is taken off.
// A key that is revoked lets go by itself.
func TestWhatIsAssignedIsNotDeleted(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws := created.Workspace.ID
	k := s.key(t, created, "one")
	d, _, err := s.departments.Create(t.Context(), ws, operator, department.Draft{Name: "research"})
	require.NoError(t, err)
	g := s.guardrail(t, ws, guardrail.Draft{Enabled: true, Name: "g"})
	p := s.ratePolicy(t, ws, "p")
	s.assign(t, p, toKey(k.ID))
	ofDepartment := s.assign(t, p, ratelimit.Target{Type: ratelimit.ToDepartment, Department: d.ID})
	ofGuardrail := s.assign(t, p, ratelimit.Target{Type: ratelimit.ToGuardrail, Guardrail: g.ID})

	_, err = s.rateLimits.Delete(t.Context(), ws, p.ID, operator, nil)
	require.True(t, fault.Is(err, fault.Conflict))
	require.Contains(t, fault.Of(err).Message, "the API key "+k.ID.String())
	require.Len(t, fault.Of(err).Violations, 3)
	_, err = s.departments.Delete(t.Context(), ws, d.ID, operator, nil)
	require.True(t, fault.Is(err, fault.Conflict))
	require.Equal(t, []fault.Violation{{Path: "rate_limits", Code: "in_use", Message: "has the rate-limit policy " + p.ID.String()}}, fault.Of(err).Violations)
	_, err = s.guardrails.Delete(t.Context(), ws, g.ID, operator, nil)
	require.True(t, fault.Is(err, fault.Conflict))
	require.Contains(t, fault.Of(err).Message, "the rate-limit policy "+p.ID.String())
	for name, drop := range map[string]func(context.Context) error{
		"policy":     func(ctx context.Context) error { return NewRateLimitStore().Delete(ctx, ws, p.ID) },
		"department": func(ctx context.Context) error { return NewDepartmentStore().Delete(ctx, ws, d.ID) },
		"guardrail":  func(ctx context.Context) error { return NewGuardrailStore().Delete(ctx, ws, g.ID) },
	} {
		require.True(t, fault.Is(s.db.Runner().InTx(t.Context(), ws, drop), fault.Conflict), "the database holds it too: %s", name)
	}

	_, _, err = s.keys.Revoke(t.Context(), ws, k.ID, operator, nil)
	require.NoError(t, err)
	require.Contains(t, s.lastEvent(t, ws).Diff, audit.Change{Path: "rate_limit_policies", Before: p.ID.String()})
	require.Empty(t, s.snapshot(t, ws).Limits.RatePolicies[0].Keys)
	for _, a := range []ratelimit.Assignment{ofDepartment, ofGuardrail} {
		_, err = s.rateLimits.Unassign(t.Context(), ws, a.ID, operator)
		require.NoError(t, err)
	}
	require.Nil(t, s.snapshot(t, ws).Limits)
	_, err = s.departments.Delete(t.Context(), ws, d.ID, operator, nil)
	require.NoError(t, err)
	_, err = s.guardrails.Delete(t.Context(), ws, g.ID, operator, nil)
	require.NoError(t, err)
	_, err = s.rateLimits.Delete(t.Context(), ws, p.ID, operator, nil)
	require.NoError(t, err)
}
