package postgres

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/department"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/ratelimit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
)

// ratePolicyOf is a rate-limit policy that a workspace may have.
func ratePolicyOf(ws id.Workspace) ratelimit.Policy {
	p := fill.Value[ratelimit.Policy](1)
	p.ID, p.Workspace, p.Version, p.Unavailable = id.FromUUID[id.RatePolicyKind](ws.UUID()), ws, 1, policy.ShareUnavailable
	return p
}

// rateAssignmentOf is its assignment to a key.
func rateAssignmentOf(ws id.Workspace, key id.Key) ratelimit.Assignment {
	return ratelimit.Assignment{
		ID: id.FromUUID[id.RateAssignmentKind](ws.UUID()), Workspace: ws, Policy: ratePolicyOf(ws).ID,
		Target: ratelimit.Target{Type: ratelimit.ToKey, Key: key}, CreatedAt: epoch,
	}
}

// departmentMemberOf is how the owner of a workspace may belong to its department.
func departmentMemberOf(m workspace.Member) department.Member {
	return department.Member{
		Workspace: m.Workspace, Department: departmentOf(m.Workspace).ID, User: m.User,
		Membership: department.Membership{Position: department.Lead, Override: true}, AddedAt: epoch,
	}
}

// storeLimits stores all of them.
func storeLimits(ctx context.Context, t *testing.T, m workspace.Member, key id.Key) {
	t.Helper()
	require.NoError(t, NewRateLimitStore().Create(ctx, m.Workspace, ratePolicyOf(m.Workspace)))
	require.NoError(t, NewRateAssignmentStore().Add(ctx, m.Workspace, rateAssignmentOf(m.Workspace, key)))
	require.NoError(t, NewDepartmentRoster().Put(ctx, m.Workspace, departmentMemberOf(m)))
}

// What workspace A limits, and who belongs to its departments, is invisible and
// untouchable under B, in every method of every store.
func TestLimitsShowNothingOfOthers(t *testing.T) {
	db := openTest(t)
	a, ownerA := newWorkspace(t, db)
	b, _ := newWorkspace(t, db)
	key := filledKey(t, ownerA, 1)
	in(t, db, a.ID, func(ctx context.Context) error {
		require.NoError(t, NewAPIKeyStore().Create(ctx, a.ID, key))
		storeLimits(ctx, t, ownerA, key.ID)
		return nil
	})
	p, assignment, member := ratePolicyOf(a.ID), rateAssignmentOf(a.ID, key.ID), departmentMemberOf(ownerA)
	policies, assignments, roster := NewRateLimitStore(), NewRateAssignmentStore(), NewDepartmentRoster()
	notFound := func(err error) { t.Helper(); require.True(t, fault.Is(err, fault.NotFound), "%v", err) }
	in(t, db, b.ID, func(ctx context.Context) error {
		_, err := policies.Get(ctx, b.ID, p.ID)
		notFound(err)
		stolen := p
		stolen.Version++
		notFound(policies.Update(ctx, b.ID, stolen))
		notFound(policies.Delete(ctx, b.ID, p.ID))
		list, err := policies.List(ctx, b.ID, page.Query{}, ratelimit.Filter{})
		require.NoError(t, err)
		require.Empty(t, list.Items)
		n, err := policies.Count(ctx, b.ID)
		require.NoError(t, err)
		require.Zero(t, n)

		_, err = assignments.Get(ctx, b.ID, assignment.ID)
		notFound(err)
		notFound(assignments.Remove(ctx, b.ID, assignment.ID))
		assigned, err := assignments.List(ctx, b.ID, page.Query{}, ratelimit.AssignmentFilter{})
		require.NoError(t, err)
		require.Empty(t, assigned.Items)
		for _, target := range []ratelimit.Target{
			assignment.Target,
			{Type: ratelimit.ToMember, Member: ownerA.User},
			{Type: ratelimit.ToDepartment, Department: departmentOf(a.ID).ID},
			{Type: ratelimit.ToGuardrail, Guardrail: guardrailOf(a.ID).ID},
		} {
			there, err := assignments.Assignable(ctx, b.ID, target)
			require.NoError(t, err)
			require.False(t, there, target.Type)
			all, to, err := assignments.Assigned(ctx, b.ID, target)
			require.NoError(t, err)
			require.Zero(t, all+to)
		}
		uses, err := assignments.Uses(ctx, b.ID, p.ID)
		require.NoError(t, err)
		require.Zero(t, uses)
		released, err := assignments.Release(ctx, b.ID, key.ID)
		require.NoError(t, err)
		require.Empty(t, released)
		ofGuardrail, _, err := assignments.OfGuardrail(ctx, b.ID, guardrailOf(a.ID).ID)
		require.NoError(t, err)
		require.Empty(t, ofGuardrail)
		compiled, err := NewCompiler(db).limits(ctx, b.ID)
		require.NoError(t, err)
		require.Nil(t, compiled)

		notFound(roster.Remove(ctx, b.ID, member.Department, member.User))
		notFound(NewWorkspaceStore().Bindable(ctx, b.ID, member.User))
		inside, err := roster.List(ctx, b.ID, member.Department, page.Query{})
		require.NoError(t, err)
		require.Empty(t, inside.Items)
		of, err := roster.Of(ctx, b.ID, member.User)
		require.NoError(t, err)
		require.Empty(t, of)
		n, err = roster.Count(ctx, b.ID)
		require.NoError(t, err)
		require.Zero(t, n)
		members, err := publishedMembers(ctx, b.ID)
		require.NoError(t, err)
		require.Empty(t, members)
		return nil
	})
	in(t, db, a.ID, func(ctx context.Context) error {
		got, err := policies.Get(ctx, a.ID, p.ID)
		require.NoError(t, err)
		require.Equal(t, p, got)
		still, err := assignments.Get(ctx, a.ID, assignment.ID)
		require.NoError(t, err)
		require.Equal(t, assignment, still)
		of, err := roster.Of(ctx, a.ID, member.User)
		require.Equal(t, []department.Member{member}, of)
		return err
	})
}

// The database refuses rows of A under B, and rows of B about what A has.
func TestLimitsOfOthersAreNotWritten(t *testing.T) {
	db := openTest(t)
	a, ownerA := newWorkspace(t, db)
	b, ownerB := newWorkspace(t, db)
	key := filledKey(t, ownerA, 1)
	in(t, db, a.ID, func(ctx context.Context) error {
		require.NoError(t, NewGuardrailStore().Create(ctx, a.ID, guardrailOf(a.ID)))
		return NewAPIKeyStore().Create(ctx, a.ID, key)
	})
	in(t, db, b.ID, func(ctx context.Context) error { return NewRateLimitStore().Create(ctx, b.ID, ratePolicyOf(b.ID)) })
	for name, write := range map[string]func(ctx context.Context) error{
		"policy": func(ctx context.Context) error { return NewRateLimitStore().Create(ctx, b.ID, ratePolicyOf(a.ID)) },
		"assignment": func(ctx context.Context) error {
			return NewRateAssignmentStore().Add(ctx, b.ID, rateAssignmentOf(a.ID, key.ID))
		},
		"member": func(ctx context.Context) error {
			return NewDepartmentRoster().Put(ctx, b.ID, departmentMemberOf(ownerA))
		},
	} {
		require.ErrorContains(t, db.Runner().InTx(t.Context(), b.ID, write), "row-level security", name)
	}
	assigned := func(t ratelimit.Target) func(context.Context) error {
		return func(ctx context.Context) error {
			own := rateAssignmentOf(b.ID, id.Key{})
			own.Target = t
			return NewRateAssignmentStore().Add(ctx, b.ID, own)
		}
	}
	inside := func(edit func(*department.Member)) func(context.Context) error {
		return func(ctx context.Context) error {
			own := departmentMemberOf(ownerB)
			edit(&own)
			return NewDepartmentRoster().Put(ctx, b.ID, own)
		}
	}
	for name, write := range map[string]func(ctx context.Context) error{
		"key":        assigned(ratelimit.Target{Type: ratelimit.ToKey, Key: key.ID}),
		"member":     assigned(ratelimit.Target{Type: ratelimit.ToMember, Member: ownerA.User}),
		"department": assigned(ratelimit.Target{Type: ratelimit.ToDepartment, Department: departmentOf(a.ID).ID}),
		"guardrail":  assigned(ratelimit.Target{Type: ratelimit.ToGuardrail, Guardrail: guardrailOf(a.ID).ID}),
		"user in":    inside(func(m *department.Member) { m.User = ownerA.User }),
		"into":       inside(func(m *department.Member) { m.Department = departmentOf(a.ID).ID }),
	} {
		require.True(t, fault.Is(db.Runner().InTx(t.Context(), b.ID, write), fault.Conflict), name)
	}
	for name, write := range map[string]func(ctx context.Context) error{
		"nothing":       assigned(ratelimit.Target{Type: ratelimit.ToKey}),
		"another kind":  assigned(ratelimit.Target{Type: ratelimit.ToDepartment, Member: ownerB.User}),
		"two":           assigned(ratelimit.Target{Type: ratelimit.ToMember, Member: ownerB.User, Department: departmentOf(b.ID).ID}),
		"no kind":       assigned(ratelimit.Target{Type: "all"}),
		"one too many":  assigned(ratelimit.Target{Type: ratelimit.ToEndUsers, Member: ownerB.User}),
		"no such place": inside(func(m *department.Member) { m.Position = "boss" }),
	} {
		require.Error(t, db.Runner().InTx(t.Context(), b.ID, write), name)
	}
}

// A store called in another workspace's transaction, or in none, does nothing.
func TestLimitStoresRefuseOtherScopes(t *testing.T) {
	db := openTest(t)
	a, owner := newWorkspace(t, db)
	b, _ := newWorkspace(t, db)
	p, member := ratePolicyOf(a.ID), departmentMemberOf(owner)
	assignment := rateAssignmentOf(a.ID, id.New[id.KeyKind](testIDs))
	policies, assignments, roster := NewRateLimitStore(), NewRateAssignmentStore(), NewDepartmentRoster()
	for name, call := range map[string]func(ctx context.Context) error{
		"policy.Create": func(ctx context.Context) error { return policies.Create(ctx, a.ID, p) },
		"policy.Get":    func(ctx context.Context) error { _, err := policies.Get(ctx, a.ID, p.ID); return err },
		"policy.Update": func(ctx context.Context) error { return policies.Update(ctx, a.ID, p) },
		"policy.Delete": func(ctx context.Context) error { return policies.Delete(ctx, a.ID, p.ID) },
		"policy.Count":  func(ctx context.Context) error { _, err := policies.Count(ctx, a.ID); return err },
		"policy.List": func(ctx context.Context) error {
			_, err := policies.List(ctx, a.ID, page.Query{}, ratelimit.Filter{})
			return err
		},
		"assignment.Add":    func(ctx context.Context) error { return assignments.Add(ctx, a.ID, assignment) },
		"assignment.Get":    func(ctx context.Context) error { _, err := assignments.Get(ctx, a.ID, assignment.ID); return err },
		"assignment.Remove": func(ctx context.Context) error { return assignments.Remove(ctx, a.ID, assignment.ID) },
		"assignment.List": func(ctx context.Context) error {
			_, err := assignments.List(ctx, a.ID, page.Query{}, ratelimit.AssignmentFilter{})
			return err
		},
		"assignment.Assignable": func(ctx context.Context) error {
			_, err := assignments.Assignable(ctx, a.ID, assignment.Target)
			return err
		},
		"assignment.Assigned": func(ctx context.Context) error {
			_, _, err := assignments.Assigned(ctx, a.ID, assignment.Target)
			return err
		},
		"assignment.Uses": func(ctx context.Context) error { _, err := assignments.Uses(ctx, a.ID, p.ID); return err },
		"assignment.Release": func(ctx context.Context) error {
			_, err := assignments.Release(ctx, a.ID, assignment.Target.Key)
			return err
		},
		"assignment.OfGuardrail": func(ctx context.Context) error {
			_, _, err := assignments.OfGuardrail(ctx, a.ID, guardrailOf(a.ID).ID)
			return err
		},
		"compiler.limits": func(ctx context.Context) error { _, err := NewCompiler(db).limits(ctx, a.ID); return err },
		"roster.Put":      func(ctx context.Context) error { return roster.Put(ctx, a.ID, member) },
		"roster.Remove":   func(ctx context.Context) error { return roster.Remove(ctx, a.ID, member.Department, member.User) },
		"roster.List": func(ctx context.Context) error {
			_, err := roster.List(ctx, a.ID, member.Department, page.Query{})
			return err
		},
		"roster.Of":         func(ctx context.Context) error { _, err := roster.Of(ctx, a.ID, member.User); return err },
		"roster.Count":      func(ctx context.Context) error { _, err := roster.Count(ctx, a.ID); return err },
		"people.Bindable":   func(ctx context.Context) error { return NewWorkspaceStore().Bindable(ctx, a.ID, member.User) },
		"members published": func(ctx context.Context) error { _, err := publishedMembers(ctx, a.ID); return err },
	} {
		require.ErrorIs(t, call(t.Context()), errScope, "%s without a transaction", name)
		require.ErrorIs(t, db.Runner().InTx(t.Context(), b.ID, call), errScope, "%s in another workspace's", name)
	}
}
