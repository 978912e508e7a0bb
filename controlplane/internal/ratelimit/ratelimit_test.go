package ratelimit

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
)

var ids = id.SystemSource()

// targets are one of each kind.
func targets() []Target {
	return []Target{
		{Type: ToKey, Key: id.New[id.KeyKind](ids)},
		{Type: ToMember, Member: id.New[id.UserKind](ids)},
		{Type: ToDepartment, Department: id.New[id.DepartmentKind](ids)},
		{Type: ToGuardrail, Guardrail: id.New[id.GuardrailKind](ids)},
		{Type: ToEndUsers},
	}
}

// With a target of each kind bound to it, no field of the published form is
// left.
func TestPublishedForgetsNothing(t *testing.T) {
	p := fill.Value[Policy](1)
	published := p.Published()
	for _, target := range targets() {
		target.Bind(&published)
	}
	require.Empty(t, fill.Zero(published))
	require.Equal(t, []any{p.ID, p.Name, p.Requests, p.Tokens, p.Concurrent, p.FailClosed, p.Unavailable}, []any{
		published.ID, published.Name, published.Requests, published.Tokens, published.Concurrent, published.Strict, published.Unavailable,
	})
}

// A patch that sets everything makes of nothing what it says, one that sets
// nothing changes nothing.
func TestPatchForgetsNothing(t *testing.T) {
	all := fill.Value[Policy](1)
	p := Patch{
		Name: &all.Name, Requests: &all.Requests, Tokens: &all.Tokens, Concurrent: &all.Concurrent,
		FailClosed: &all.FailClosed, Unavailable: &all.Unavailable,
	}
	fixed := Policy{ID: all.ID, Workspace: all.Workspace, Version: all.Version, CreatedAt: all.CreatedAt, UpdatedAt: all.UpdatedAt}
	require.Equal(t, all, p.apply(fixed))
	require.Equal(t, all, (&Patch{}).apply(all))
}

// To fail closed says what becomes of what cannot be counted, unless that is
// said too, or it did so before.
func TestFailClosedSetsOnUnavailable(t *testing.T) {
	const allow, deny, share = policy.AllowUnavailable, policy.DenyUnavailable, policy.ShareUnavailable
	for _, c := range []struct {
		closed bool
		before policy.Unavailable
		patch  Patch
		want   policy.Unavailable
	}{
		{false, allow, Patch{FailClosed: new(true)}, deny},
		{false, share, Patch{FailClosed: new(true)}, deny},
		{false, allow, Patch{FailClosed: new(true), Unavailable: new(share)}, share},
		{true, share, Patch{FailClosed: new(true)}, share},
		{true, deny, Patch{FailClosed: new(false)}, allow},
		{true, deny, Patch{FailClosed: new(false), Unavailable: new(deny)}, deny},
		{false, deny, Patch{FailClosed: new(false)}, deny},
		{true, deny, Patch{Unavailable: new(share)}, share},
	} {
		got := c.patch.apply(Policy{FailClosed: c.closed, Unavailable: c.before})
		require.Equal(t, c.want, got.Unavailable, "%+v", c)
	}
}

func TestValidate(t *testing.T) {
	good := Policy{Name: "x", Requests: 1, Unavailable: policy.AllowUnavailable}
	for _, c := range []struct {
		edit func(*Policy)
		want []string
	}{
		{func(*Policy) {}, nil},
		{func(p *Policy) { p.Requests, p.Tokens, p.Concurrent = MaxRequests, MaxTokens, MaxConcurrent }, nil},
		{func(p *Policy) { p.Requests, p.Concurrent = 0, 1 }, nil},
		{func(p *Policy) { p.FailClosed, p.Unavailable = true, policy.DenyUnavailable }, nil},
		{func(p *Policy) { p.FailClosed, p.Unavailable = true, policy.ShareUnavailable }, nil},
		{func(p *Policy) { p.Unavailable = policy.DenyUnavailable }, nil},
		{func(p *Policy) { p.Requests = 0 }, []string{"requests_per_minute required"}},
		{func(p *Policy) { p.Requests, p.Tokens, p.Concurrent = -1, -1, -1 }, []string{"requests_per_minute out_of_range", "tokens_per_minute out_of_range", "concurrent_requests out_of_range"}},
		{
			func(p *Policy) { p.Requests, p.Tokens, p.Concurrent = MaxRequests+1, MaxTokens+1, MaxConcurrent+1 },
			[]string{"requests_per_minute out_of_range", "tokens_per_minute out_of_range", "concurrent_requests out_of_range"},
		},
		{func(p *Policy) { p.Name = " x" }, []string{"name malformed"}},
		{func(p *Policy) { p.FailClosed = true }, []string{"on_unavailable contradiction"}},
		{func(p *Policy) { p.Unavailable = "maybe" }, []string{"on_unavailable not_allowed"}},
	} {
		p := good
		c.edit(&p)
		var got []string
		if err := validate(p); err != nil {
			for _, v := range fault.Of(err).Violations {
				got = append(got, v.Path+" "+v.Code)
			}
		}
		require.Equal(t, c.want, got, "%+v", p)
	}
}

// The audit diff shows a change of every field that can change.
func TestTheDiffForgetsNothing(t *testing.T) {
	all := fill.Value[Policy](1)
	require.Len(t, diff(Policy{}, all), 6)
	require.Empty(t, diff(all, all))
	for _, target := range targets() {
		made := assignmentDiff(Assignment{}, Assignment{Policy: all.ID, Target: target})
		want := 3
		if target.Type == ToEndUsers {
			want = 2
		}
		require.Len(t, made, want, target.Type)
	}
}

func TestAssignedNamesTheAssignments(t *testing.T) {
	var u Uses
	for _, target := range targets() {
		u.Assignments = append(u.Assignments, Assignment{ID: id.New[id.RateAssignmentKind](ids), Target: target})
	}
	u.More = 7
	err := fault.Of(assigned(u))
	require.Equal(t, fault.Conflict, err.Code)
	require.Len(t, err.Violations, 5)
	named := func(a Assignment) string {
		return fmt.Sprintf("%s %s (%s)", "the "+string(a.Target.Type), a.Target.ID(), a.ID)
	}
	require.Equal(t, "The rate-limit policy is assigned to the API key "+u.Assignments[0].Target.ID()+" ("+u.Assignments[0].ID.String()+"), "+
		named(u.Assignments[1])+", "+named(u.Assignments[2])+
		" and 9 more. Delete each assignment first (signalbox rate-limits assignments delete ASSIGNMENT_ID).", err.Message)
	require.Equal(t, "is assigned to every end user ("+u.Assignments[4].ID.String()+")", err.Violations[4].Message)
}
