package limits_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger"
	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger/rate"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Where nothing is limited nobody is asked anything.
func TestNothingIsLimited(t *testing.T) {
	a, w := ask(policy.Limits{}), newWorld()
	a.limits = nil
	grant, refused := a.admit(t, w)
	require.Nil(t, refused)
	require.Nil(t, grant.Header())
	require.Empty(t, grant.Checks())
	require.Equal(t, call.Terms{}, grant.Terms())
	again, refused := a.admitStep(t, w, 0, grant)
	require.Nil(t, refused)
	require.Same(t, grant, again)
	grant.Settle(used(5, 5), costing(3), false)
	require.Empty(t, w.held())
	require.Zero(t, w.asked)
}

// What a request counts toward does not need a limit: the sums are there when one
// is made.
func TestWhatARequestCountsToward(t *testing.T) {
	a, w := ask(policy.Limits{}), newWorld()
	a.attribute()
	for _, l := range []*policy.Limits{nil, {}, {Budgets: []policy.Budget{{Guardrail: theRail, Limit: 1}}}} {
		a.limits = l
		grant, refused := a.admit(t, w)
		require.Nil(t, refused)
		want := wire.Attribution{Departments: []id.Department{theDept}, Agent: "support"}
		if l != nil && len(l.Budgets) > 0 {
			want.Guardrails = []id.Guardrail{theRail}
		}
		require.Equal(t, want, grant.Terms().Attribution)
	}
	a.call.Request.Agent = "billing"
	for agent, budgets := range map[string][]policy.Budget{
		"support": nil, // any name would lead past the budget of the key's, and be counted for ever
		"billing": {{Agent: "billing", Limit: 1}},
	} {
		a.limits = &policy.Limits{Budgets: budgets}
		grant, refused := a.admit(t, w)
		require.Nil(t, refused)
		require.Equal(t, agent, grant.Terms().Agent)
	}
}

// An end user is limited alike however it is named, and apart from others; who
// names none is not.
func TestEndUsers(t *testing.T) {
	a, w := ask(policy.Limits{}), newWorld()
	a.rate(1, policy.RatePolicy{Requests: 1, Strict: true, EndUsers: true})
	for _, user := range []string{"brand-new", "another", strings.Repeat("x", 512), "a.b *>\n\x00"} {
		a.call.Request.EndUser = user
		_, refused := a.admit(t, w)
		require.Nil(t, refused)
		_, refused = a.admit(t, w)
		require.NotNil(t, refused, user)
		require.NotContains(t, refused.Fault.Error(), user)
	}
	require.Len(t, w.taken, 4)
	for name := range w.taken {
		require.Regexp(t, `^[a-z0-9_-]{1,100}$`, name, "a token of a NATS subject")
	}
	a.call.Request.EndUser = ""
	for range 3 {
		_, refused := a.admit(t, w)
		require.Nil(t, refused)
	}
}

// What has no answer passes or not, as the policy says; strict or not.
func TestWhatNobodyCanTell(t *testing.T) {
	for _, p := range []policy.RatePolicy{{Requests: 5}, {Requests: 5, Strict: true}, {Tokens: 5}, {Concurrent: 5}} {
		for _, otherwise := range []policy.Unavailable{policy.AllowUnavailable, policy.ShareUnavailable, policy.DenyUnavailable} {
			a, w := ask(policy.Limits{}), newWorld()
			p.Keys, p.Unavailable = []id.Key{theKey}, otherwise
			a.rate(1, p)
			w.unknown, w.away = true, true
			_, refused := a.admit(t, w)
			require.Equal(t, otherwise == policy.DenyUnavailable, refused != nil, "%+v", p)
		}
	}
	// What this gateway counted alone is the least that was used.
	a, w := ask(policy.Limits{}), newWorld()
	a.rate(1, policy.RatePolicy{Requests: 5, Keys: []id.Key{theKey}})
	w.unknown, w.minutes[subject("r", 1, theKey.String())] = true, rate.Minute{Used: 5, Wait: 1}
	_, refused := a.admit(t, w)
	require.Equal(t, fault.PolicyRequests, refused.Fault.Reason)

	// Budgets and limits of keys that look at what is spent go on.
	for _, gate := range gatesInOrder() {
		if !strings.Contains(string(gate.reason), "_cost_") && !strings.HasSuffix(string(gate.reason), "_limit_reached") && gate.name != "credit" {
			continue
		}
		a, w := ask(policy.Limits{}), newWorld()
		gate.set(&a, w)
		w.totals, w.unknown = map[wire.Account]ledger.Totals{}, true
		grant, refused := a.admit(t, w)
		require.Nil(t, refused, gate.name)
		require.True(t, grant.Checks()[0].Unknown, gate.name)
	}
}

// A caller who leaves while a gate is asked holds nothing, and is told nothing.
func TestACallerWhoLeavesHoldsNothing(t *testing.T) {
	for at := 1; at <= 7; at++ {
		a, w := everything(), newWorld()
		ctx, cancel := context.WithCancel(t.Context())
		w.leave = func() {
			if w.asked == at {
				cancel()
			}
		}
		grant, err := w.gate().Admit(ctx, &a.call, &call.Principal{Key: a.key}, call.Pinned{Policy: a.view(t)}, &decide.Plan{Chain: a.chain}, 0, nil)
		cancel()
		require.Nil(t, grant, at)
		require.ErrorIs(t, err, context.Canceled, at)
		require.Empty(t, w.held(), at)
	}
}

func TestABugHoldsNothing(t *testing.T) {
	a, w := everything(), newWorld()
	w.leave = func() {
		if w.asked == 9 {
			panic("boom")
		}
	}
	require.Panics(t, func() { a.admit(t, w) })
	require.Empty(t, w.held())
}

// Which calls take what.
func TestWhatCallsTake(t *testing.T) {
	slot, allowance, money := true, true, true
	for name, c := range map[string]struct {
		surface                catalog.Surface
		action                 call.Action
		purpose                string
		slot, allowance, money bool
	}{
		"an answer":          {catalog.Chat, call.Generate, "", slot, allowance, money},
		"counting tokens":    {catalog.Messages, call.Count, "", slot, allowance, !money},
		"a video":            {catalog.Videos, call.Generate, "", slot, allowance, money},
		"how a video stands": {catalog.Videos, call.Get, "", !slot, allowance, !money},
		"its content":        {catalog.Videos, call.Content, "", !slot, allowance, !money},
		"a batch":            {catalog.Batches, call.Generate, "", !slot, allowance, money},
		"how a batch stands": {catalog.Batches, call.Get, "", !slot, allowance, !money},
		"a conversation":     {catalog.Realtime, call.Generate, "", !slot, allowance, money},
		"the list of files":  {catalog.Files, call.List, "", !slot, allowance, !money},
		"the gateway's own":  {catalog.Chat, call.Generate, "classification", !slot, !allowance, money},
	} {
		a, w := ask(policy.Limits{Allowance: policy.Allowance{PerMinute: 9}}), newWorld()
		a.rate(1, policy.RatePolicy{Requests: 9, Concurrent: 9, Strict: true, Keys: []id.Key{theKey}})
		a.rate(2, policy.RatePolicy{Requests: 9, Keys: []id.Key{theKey}})
		a.budget(1, policy.Budget{Interval: policy.Daily, Limit: 5})
		a.call.Surface, a.call.Action, a.call.Purpose = c.surface, c.action, c.purpose
		_, refused := a.admit(t, w)
		require.Nil(t, refused, name)
		require.Equal(t, c.slot, w.slots[subject("c", 1, theKey.String())] == 1, name)
		require.Equal(t, c.allowance, w.added["a-"+digits(theUser.String())] == 1, name)
		require.Equal(t, c.purpose == "", w.taken[subject("r", 1, theKey.String())] == 1, name)
		require.Equal(t, c.purpose == "", w.added[subject("r", 2, theKey.String())] == 1, name)
		w.spend(wire.AccountWorkspace, policy.Daily, wire.Spend{Cost: 5})
		_, refused = a.admit(t, w)
		require.Equal(t, c.money, refused != nil, name)
	}
}

// Budgets of departments stop neither batches nor conversations.
func TestDepartmentsDoNotStopBatches(t *testing.T) {
	for _, surface := range catalog.Surfaces() {
		a, w := ask(policy.Limits{}), newWorld()
		overBudget(1, wire.DepartmentAccount(theDept), policy.Budget{Interval: policy.Daily, Department: theDept})(&a, w)
		a.call.Surface = surface
		_, refused := a.admit(t, w)
		require.Equal(t, surface != catalog.Batches && surface != catalog.Realtime, refused != nil, surface)
	}
}

// What the gateway asks for within a request is refused where the request would
// be, so that a classification does not cost those who may spend nothing.
func TestTheGatewaysOwnIsRefusedAsTheCallers(t *testing.T) {
	passes := map[string]bool{ // it takes none of these
		"free models": true, "requests of the key, strict": true, "at a time": true,
		"daily requests": true, "weekly requests": true, "monthly requests": true,
	}
	for _, gate := range gatesInOrder() {
		a, w := ask(policy.Limits{}), newWorld()
		gate.set(&a, w)
		a.call.Purpose = "classification"
		_, refused := a.admit(t, w)
		require.Equal(t, passes[gate.name], refused == nil, gate.name)
	}
}

// The crossing request completes: what counts is what was spent before it.
func TestReachedMeansUsedIsTheLimit(t *testing.T) {
	for used, want := range map[money.Nanos]bool{4: false, 5: true, 6: true} {
		a, w := ask(policy.Limits{}), newWorld()
		a.budget(1, policy.Budget{Interval: policy.Daily, Limit: 5})
		w.spend(wire.AccountWorkspace, policy.Daily, wire.Spend{Cost: used})
		_, refused := a.admit(t, w)
		require.Equal(t, want, refused != nil)
	}
}

// Own credentials count where the limit says so.
func TestOwnCredentialsCountWhereTheyAreIncluded(t *testing.T) {
	for _, include := range []bool{false, true} {
		spent := wire.Spend{Cost: 9, BYOK: 6}
		a, w := ask(policy.Limits{}), newWorld()
		a.budget(1, policy.Budget{Interval: policy.Daily, Limit: 5, IncludeBYOK: include})
		w.spend(wire.AccountWorkspace, policy.Daily, spent)
		_, refused := a.admit(t, w)
		require.Equal(t, include, refused != nil)

		a, w = ask(policy.Limits{}), newWorld()
		*a.keyLimits() = policy.KeyLimits{Daily: policy.KeyWindow{Cost: 5}, IncludeBYOK: include}
		w.spend(wire.KeyAccount(theKey), policy.Daily, spent)
		_, refused = a.admit(t, w)
		require.Equal(t, include, refused != nil)
	}
}

// No budget, no check: a limit that is not there refuses nothing, whatever was
// spent.
func TestNoLimitMeansNoCheck(t *testing.T) {
	a, w := ask(policy.Limits{}), newWorld()
	a.attribute()
	a.rate(1, policy.RatePolicy{Keys: []id.Key{theKey}})
	a.keyLimits()
	for _, account := range []wire.Account{wire.AccountWorkspace, wire.KeyAccount(theKey), wire.AccountCharged, wire.DepartmentAccount(theDept)} {
		for _, i := range []policy.Interval{policy.Daily, policy.Weekly, policy.Monthly, policy.Lifetime} {
			w.spend(account, i, wire.Spend{Requests: 1e9, Cost: 1e18})
		}
	}
	grant, refused := a.admit(t, w)
	require.Nil(t, refused)
	require.Empty(t, grant.Checks())
	require.Empty(t, w.held())
}

// Whatever limits apply: what is refused holds nothing, what passes gives back
// everything but what it used, and the refusal is that of the first limit that is
// reached.
func TestAnyPolicies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, w := ask(policy.Limits{}), newWorld()
		a.attribute()
		a.call.Request.EndUser = rapid.SampledFrom([]string{"", "u1"}).Draw(t, "end user")
		n := func(label string, most int64) int64 { return rapid.Int64Range(0, most).Draw(t, label) }
		full := 0 // limits that are reached
		for i := range rapid.IntRange(0, 6).Draw(t, "policies") {
			p := policy.RatePolicy{Requests: n("requests", 3), Tokens: n("tokens", 3), Concurrent: n("concurrent", 3), Strict: rapid.Bool().Draw(t, "strict")}
			who := ""
			switch rapid.IntRange(0, 3).Draw(t, "scope") {
			case 0:
				p.Keys, who = []id.Key{theKey}, theKey.String()
			case 1:
				p.Members, who = []id.User{theUser}, theUser.String()
			case 2:
				p.Departments, who = []id.Department{theDept}, theDept.String()
			default:
				p.Guardrails, who = []id.Guardrail{theRail}, theRail.String()+"-"+theKey.String()
			}
			a.rate(i+1, p)
			for kind, limit := range map[string]int64{"r": p.Requests, "t": p.Tokens, "c": p.Concurrent} {
				at := n("used", 3)
				name := subject(kind, i+1, who)
				switch {
				case kind == "c":
					w.slots[name] = int(at)
				case kind == "r" && p.Strict:
					w.taken[name] = at
				default:
					w.minutes[name] = rate.Minute{Used: at}
				}
				if limit > 0 && at >= limit {
					full++
				}
			}
		}
		for i := range rapid.IntRange(0, 3).Draw(t, "budgets") {
			b := policy.Budget{Interval: policy.Daily, Limit: money.Nanos(n("limit", 2) + 1), Reserve: rapid.Bool().Draw(t, "reserve")}
			if b.Reserve {
				b.Limit += worst(1)
			}
			a.budget(i+1, b)
			if spent := money.Nanos(n("spent", 3)); spent > w.totals[wire.AccountWorkspace].Daily.Cost {
				w.spend(wire.AccountWorkspace, policy.Daily, wire.Spend{Cost: spent})
			}
		}
		for _, b := range a.limits.Budgets {
			if w.totals[wire.AccountWorkspace].Daily.Cost >= b.Limit {
				full++
			}
		}
		before := w.held()
		grant, refused := a.admit(t, w)
		require.Equal(t, full > 0, refused != nil)
		if refused != nil {
			require.Equal(t, before, w.held())
			bad := 0
			for _, c := range refused.Checks {
				if !c.OK {
					bad++
				}
			}
			require.Equal(t, 1, bad, "the first")
			require.False(t, refused.Checks[len(refused.Checks)-1].OK)
			return
		}
		grant.Settle(used(0, 0), costing(0), false)
		for name, held := range w.held() {
			require.GreaterOrEqual(t, held, before[name])
			require.LessOrEqual(t, held-before[name], int64(1), name)
			if name[0] == 's' || name[:3] == "res" {
				require.Equal(t, before[name], held, name)
			}
		}
	})
}
