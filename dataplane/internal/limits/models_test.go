package limits_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger/rate"
	"github.com/signalbox-dev/signalbox/dataplane/internal/limits"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Fallbacks within a request count once.
func TestFurtherModelsTakeNothingMore(t *testing.T) {
	a, w := everything(), newWorld()
	a.chain = append(a.chain, model("acme/large", managed))
	grant, _ := a.admit(t, w)
	held := w.held()
	w.minutes["a-"+digits(theUser.String())] = rate.Minute{Used: 1_000}
	again, refused := a.admitStep(t, w, 1, grant)
	require.Nil(t, refused)
	require.Same(t, grant, again)
	require.Equal(t, held, w.held())
}

// What may cost more has more reserved, and what does not fit is passed over: the
// request keeps what it had.
func TestADearerModelHasMoreReserved(t *testing.T) {
	a, w := ask(policy.Limits{}), newWorld()
	a.budget(1, policy.Budget{Interval: policy.Daily, Limit: worst(3), Reserve: true})
	a.chain = []decide.Step{model("acme/small", managed), priced("acme/huge", 4_000_000, managed), priced("acme/large", 3_000_000, managed), model("acme/tiny", managed)}
	grant, refused := a.admit(t, w)
	require.Nil(t, refused)
	require.Equal(t, worst(1), w.reserved["m-all"])

	_, refused = a.admitStep(t, w, 1, grant)
	require.True(t, refused.Model)
	require.Equal(t, fault.Reason("daily_cost_budget_reached"), refused.Fault.Reason)
	require.Equal(t, worst(1), w.reserved["m-all"], "what was kept stands")

	_, refused = a.admitStep(t, w, 2, grant)
	require.Nil(t, refused)
	require.Equal(t, worst(3), w.reserved["m-all"])

	_, refused = a.admitStep(t, w, 3, grant)
	require.Nil(t, refused)
	require.Equal(t, worst(3), w.reserved["m-all"], "a cheaper one lowers nothing: the dearer may have been paid for")
	grant.Settle(used(1, 1), costing(2), false)
	require.Empty(t, w.held())
	require.Equal(t, []settled{{"m-all", 2, 0}}, w.settled)
}

// A chain whose first model has no worst case, or whose worst case does not fit,
// goes on to one that has and does.
func TestWhatDoesNotFitSpeaksOfItsModel(t *testing.T) {
	unpriced := model("acme/unpriced", managed)
	unpriced.Candidates[0].Endpoint.Price = nil
	for _, first := range []decide.Step{unpriced, priced("acme/huge", 4_000_000, managed)} {
		a, w := ask(policy.Limits{}), newWorld()
		a.budget(1, policy.Budget{Interval: policy.Daily, Limit: worst(3), Reserve: true})
		a.chain = []decide.Step{first, model("acme/small", managed)}
		_, refused := a.admit(t, w)
		require.True(t, refused.Model)
		grant, refused := a.admitStep(t, w, 1, nil)
		require.Nil(t, refused)
		grant.Settle(used(1, 1), costing(2), false)
		require.Empty(t, w.held())
	}
	a, w := ask(policy.Limits{}), newWorld()
	a.budget(1, policy.Budget{Interval: policy.Daily, Limit: worst(3), Reserve: true})
	w.spent = worst(3)
	_, refused := a.admit(t, w)
	require.False(t, refused.Model, "nothing is left for any")
}

// A free model that came after a paid one is on the allowance only while it is
// its turn.
func TestFreeModels(t *testing.T) {
	a, w := ask(policy.Limits{Allowance: policy.Allowance{FreePerDay: 2}}), newWorld()
	a.chain = []decide.Step{priced("acme/small:free", 0, managed), model("acme/large", managed)}
	w.spend(wire.FreeAccount(theUser), policy.Daily, wire.Spend{Requests: 1})
	grant, refused := a.admit(t, w)
	require.Nil(t, refused)
	require.True(t, grant.Terms().Free)
	_, refused = a.admitStep(t, w, 1, grant)
	require.Nil(t, refused)
	require.False(t, grant.Terms().Free)

	w.spend(wire.FreeAccount(theUser), policy.Daily, wire.Spend{Requests: 2})
	_, refused = a.admit(t, w)
	require.True(t, refused.Model)
	grant, refused = a.admitStep(t, w, 1, nil)
	require.Nil(t, refused)
	checks, terms := grant.Checks(), grant.Terms()
	_, refused = a.admitStep(t, w, 0, grant)
	require.True(t, refused.Model)
	require.Equal(t, fault.FreeRequests, refused.Fault.Reason)
	require.Equal(t, checks, grant.Checks(), "held stands as it was")
	require.Equal(t, terms, grant.Terms())
}

// A guardrail that the preset of a further model brings has budgets too.
func TestTheGuardrailsOfAFurtherPreset(t *testing.T) {
	a, w := ask(policy.Limits{}), newWorld()
	a.guardrails = []policy.Guardrail{{ID: theRail}}
	a.budget(1, policy.Budget{Interval: policy.Daily, Limit: 5 * money.USD, Guardrail: theRail, Reserve: true})
	with := model("acme/large", managed)
	with.Preset = &policy.PresetVersion{Config: policy.PresetConfig{Guardrails: []id.Guardrail{theRail}}}
	a.chain = append(a.chain, with)
	grant, refused := a.admit(t, w)
	require.Nil(t, refused)
	require.Empty(t, grant.Terms().Guardrails)

	w.spent = 6 * money.USD
	_, refused = a.admitStep(t, w, 1, grant)
	require.True(t, refused.Model)
	require.Empty(t, grant.Terms().Guardrails)
	require.Empty(t, w.held())

	w.spent = 0
	_, refused = a.admitStep(t, w, 1, grant)
	require.Nil(t, refused)
	require.Equal(t, []id.Guardrail{theRail}, grant.Terms().Guardrails)
	require.NotZero(t, w.reserved["m-"+theRail.String()])

	_, refused = a.admitStep(t, w, 1, nil)
	require.Nil(t, refused, "the first model's preset")
}

// The floor is asked of what may be charged only.
func TestTheFloor(t *testing.T) {
	const fee = 25_000
	prepaid := policy.Credit{Billing: policy.BillingPrepaid, Granted: 10 * money.USD, Floor: money.USD, FeeRate: fee, FeeAfter: 100}
	for name, c := range map[string]struct {
		billing policy.Billing
		step    decide.Step
		charged money.Nanos
		byok    int64
		refused bool
		fee     int64
	}{
		"what is left is the floor": {policy.BillingPrepaid, model("acme/small", managed), 9 * money.USD, 0, false, 0},
		"less is left":              {policy.BillingPrepaid, model("acme/small", managed), 9*money.USD + 1, 0, true, 0},
		"by invoice":                {policy.BillingInvoice, model("acme/small", managed), 99 * money.USD, 0, false, 0},
		"billing is off":            {policy.BillingOff, model("acme/small", managed), 99 * money.USD, 0, false, 0},
		"billing is not said":       {"", model("acme/small", managed), 99 * money.USD, 0, false, 0},
		"free":                      {policy.BillingPrepaid, priced("acme/small:free", 0, managed), 99 * money.USD, 0, false, 0},
		"own, no fee due":           {policy.BillingPrepaid, model("acme/small", byok), 99 * money.USD, 99, false, 0},
		"own, a fee due":            {policy.BillingPrepaid, model("acme/small", byok), 99 * money.USD, 100, true, fee},
		"own, a fee due, paid":      {policy.BillingPrepaid, model("acme/small", byok), 0, 100, false, fee},
		"own, then the platform's":  {policy.BillingPrepaid, model("acme/small", byok, managed), 99 * money.USD, 0, true, 0},
		"by invoice, a fee due":     {policy.BillingInvoice, model("acme/small", byok), 99 * money.USD, 100, false, fee},
	} {
		a, w := ask(policy.Limits{Credit: prepaid}), newWorld()
		a.limits.Credit.Billing, a.chain[0] = c.billing, c.step
		w.spend(wire.AccountCharged, policy.Lifetime, wire.Spend{Cost: c.charged})
		w.spend(wire.AccountBYOK, policy.Monthly, wire.Spend{Requests: c.byok})
		grant, refused := a.admit(t, w)
		require.Equal(t, c.refused, refused != nil, name)
		if refused != nil {
			require.True(t, refused.Model, name)
			require.Equal(t, fault.InsufficientFunds, refused.Fault.Code, name)
			continue
		}
		require.Equal(t, c.billing, grant.Terms().Billing, name)
		require.Equal(t, c.fee, grant.Terms().FeeRate, name)
	}
	a, w := ask(policy.Limits{Credit: prepaid}), newWorld()
	w.unknown = true
	a.chain[0] = model("acme/small", byok)
	grant, refused := a.admit(t, w)
	require.Nil(t, refused)
	require.Zero(t, grant.Terms().FeeRate, "no fee while nobody can tell that one is due")
}

// Own credentials are reserved for, and settled, where they count.
func TestReservationsOfOwnCredentials(t *testing.T) {
	for name, c := range map[string]struct {
		step              decide.Step
		excluded, include money.Nanos // reserved
		own               bool
		settled           map[string]money.Nanos
	}{
		"own":       {model("acme/small", byok), 0, worst(1), true, map[string]money.Nanos{"m-all-byok": 7}},
		"managed":   {model("acme/small", managed), worst(1), worst(1), false, map[string]money.Nanos{"m-all": 7, "m-all-byok": 7}},
		"own first": {model("acme/small", byok, managed), worst(1), worst(1), true, map[string]money.Nanos{"m-all": 0, "m-all-byok": 7}},
	} {
		a, w := ask(policy.Limits{}), newWorld()
		a.budget(1, policy.Budget{Interval: policy.Daily, Limit: money.USD, Reserve: true})
		a.budget(2, policy.Budget{Interval: policy.Daily, Limit: money.USD, Reserve: true, IncludeBYOK: true})
		a.chain[0] = c.step
		grant, refused := a.admit(t, w)
		require.Nil(t, refused, name)
		require.Equal(t, []money.Nanos{c.excluded, c.include}, []money.Nanos{w.reserved["m-all"], w.reserved["m-all-byok"]}, name)
		grant.Settle(used(1, 1), costing(7), c.own)
		got := map[string]money.Nanos{}
		for _, s := range w.settled {
			got[s.name] = s.actual
		}
		require.Equal(t, c.settled, got, name)
		require.Empty(t, w.held(), name)
	}
}

// What all limits of an account bound is reserved in one piece: two pieces would
// stand in each other's way.
func TestAnAccountIsReservedInOnePiece(t *testing.T) {
	a, w := ask(policy.Limits{}), newWorld()
	for n, i := range []policy.Interval{policy.Daily, policy.Monthly, policy.Lifetime} {
		a.budget(n, policy.Budget{Interval: i, Limit: worst(1), Reserve: true})
	}
	*a.keyLimits() = policy.KeyLimits{Daily: policy.KeyWindow{Cost: worst(1)}, Weekly: policy.KeyWindow{Cost: worst(1)}, Reserve: true}
	_, refused := a.admit(t, w)
	require.Nil(t, refused)
	require.Equal(t, map[string]int64{"reserved m-all": int64(worst(1)), "reserved m-" + theKey.String(): int64(worst(1))}, w.held())
	require.Equal(t, []limits.Bound{
		{Account: wire.AccountWorkspace, Interval: policy.Daily, At: noon, Limit: worst(1)},
		{Account: wire.AccountWorkspace, Interval: policy.Monthly, At: noon, Limit: worst(1)},
		{Account: wire.AccountWorkspace, Interval: policy.Lifetime, At: noon, Limit: worst(1)},
	}, w.bounds[1])

	_, refused = a.admit(t, w)
	require.Equal(t, fault.Reason("daily_cost_limit_reached"), refused.Fault.Reason)
	require.Equal(t, time.Second, refused.Fault.RetryAfter, "only an open request is in the way")
}

// A free model reserves nothing, and needs no cell to answer.
func TestWhatCostsNothingReservesNothing(t *testing.T) {
	a, w := ask(policy.Limits{}), newWorld()
	a.budget(1, policy.Budget{Interval: policy.Daily, Limit: 1, Reserve: true})
	a.chain = []decide.Step{priced("acme/small:free", 0, managed), model("acme/large", managed)}
	w.away = true
	grant, refused := a.admit(t, w)
	require.Nil(t, refused)
	_, refused = a.admitStep(t, w, 1, grant)
	require.Equal(t, fault.QuotaUnavailable, refused.Fault.Code)
	grant.Settle(used(1, 1), costing(0), false)
	require.Empty(t, w.settled)
}
