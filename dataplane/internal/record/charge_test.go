package record_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestBilling(t *testing.T) {
	broke := fault.New(fault.UpstreamServerError, "x").Because(fault.StreamCut)
	cases := map[string]struct {
		change     func(*call.Outcome)
		outcome    wire.Outcome
		cost       money.Nanos
		suppressed bool
	}{
		"success":     {nil, wire.Success, 15_000, false},
		"caller left": {func(o *call.Outcome) { o.Canceled, o.Failure = true, fault.New(fault.ClientClosed, "x") }, wire.Canceled, 15_000, false},
		"caller left early": {func(o *call.Outcome) {
			o.Canceled, o.Failure, o.Seen.ZeroOutput = true, fault.New(fault.ClientClosed, "x"), true
		}, wire.Canceled, 0, true},
		"broke off":         {func(o *call.Outcome) { o.Failure = broke }, wire.Failed, 0, false},
		"no output":         {func(o *call.Outcome) { o.Seen.ZeroOutput = true }, wire.Success, 0, true},
		"no output, no use": {func(o *call.Outcome) { o.Seen = call.Seen{ZeroOutput: true} }, wire.Success, 0, false},
		"all attempts fail": {func(o *call.Outcome) { o.Reply, o.Failure = nil, broke }, wire.Failed, 0, false},
		"refused":           {func(o *call.Outcome) { o.Reply, o.Attempts, o.Turn.Begun, o.Failure = nil, nil, false, broke }, wire.Refused, 0, false},
		"nothing to send": {func(o *call.Outcome) {
			o.Reply, o.Attempts, o.Failure = nil, nil, fault.New(fault.UnsupportedModelOrEndpoint, "x").From(fault.Client)
		}, wire.Refused, 0, false},
		"bug after it began": {func(o *call.Outcome) { o.Reply, o.Attempts, o.Failure = nil, nil, fault.Of(errors.New("x")) }, wire.Failed, 0, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFixture()
			o := served(c.change)
			g := &grant{}
			request := newCall()
			f.Record(t.Context(), request, principal, g, first(request, o))
			require.Len(t, f.disk.events, 1)
			e := f.disk.events[0]
			require.Equal(t, request.ID, e.ID)
			require.Equal(t, request.ID, e.PrimaryID)
			require.Equal(t, c.outcome, e.Outcome)
			require.Equal(t, c.cost, e.Cost.Total)
			require.Equal(t, c.suppressed, e.Suppressed)
			require.Equal(t, []money.Nanos{c.cost}, g.settled)
			require.LessOrEqual(t, len(e.Decision), decide.MaxRecordBytes)
		})
	}
}

func TestOnlyWhatIsGeneratedIsPaidFor(t *testing.T) {
	for _, action := range []call.Action{call.Count, call.Get, call.Content, call.Cancel, call.Delete} {
		f := newFixture()
		c := newCall()
		c.Action = action
		require.NoError(t, f.Begin(c, principal, decide.Plan{Chain: []decide.Step{small}}, call.Turn{ID: c.ID}))
		require.Zero(t, f.disk.intents[0].Cost.Total, action)
		f.Record(t.Context(), c, principal, nil, served(nil))
		require.Zero(t, f.disk.events[0].Cost.Total, action)
		require.False(t, f.disk.events[0].Suppressed, action)
	}
}

// What is charged follows from how the workspace pays and whose credentials paid.
func TestCharge(t *testing.T) {
	for name, c := range map[string]struct {
		terms  call.Terms
		by     decide.CredentialSource
		change func(*call.Outcome)
		want   money.Nanos
	}{
		"billing off":          {call.Terms{}, decide.CredentialManaged, nil, 0},
		"off, said":            {call.Terms{Billing: policy.BillingOff, FeeRate: 25_000}, decide.CredentialBYOK, nil, 0},
		"managed":              {call.Terms{Billing: policy.BillingPrepaid}, decide.CredentialManaged, nil, 15_000},
		"by invoice":           {call.Terms{Billing: policy.BillingInvoice}, decide.CredentialManaged, nil, 15_000},
		"without a credential": {call.Terms{Billing: policy.BillingPrepaid}, decide.CredentialNone, nil, 15_000},
		"own, no fee due":      {call.Terms{Billing: policy.BillingPrepaid}, decide.CredentialBYOK, nil, 0},
		"own, with a fee":      {call.Terms{Billing: policy.BillingPrepaid, FeeRate: 25_000}, decide.CredentialBYOK, nil, 375},
		"own, half a nano":     {call.Terms{Billing: policy.BillingPrepaid, FeeRate: 500}, decide.CredentialBYOK, nil, 8},
		"managed, with a fee":  {call.Terms{Billing: policy.BillingPrepaid, FeeRate: 25_000}, decide.CredentialManaged, nil, 15_000},
		"nothing came":         {call.Terms{Billing: policy.BillingPrepaid}, decide.CredentialManaged, func(o *call.Outcome) { o.Seen.ZeroOutput = true }, 0},
		"it broke off":         {call.Terms{Billing: policy.BillingPrepaid}, decide.CredentialManaged, func(o *call.Outcome) { o.Failure = fault.New(fault.UpstreamServerError, "x") }, 0},
		"the caller left":      {call.Terms{Billing: policy.BillingPrepaid}, decide.CredentialManaged, func(o *call.Outcome) { o.Canceled, o.Failure = true, fault.New(fault.ClientClosed, "x") }, 15_000},
	} {
		f := newFixture()
		request, g := newCall(), &grant{}
		o := first(request, served(func(o *call.Outcome) {
			o.Turn.Terms, o.Attempts[0].Credential = c.terms, c.by
			if c.change != nil {
				c.change(o)
			}
		}))
		f.Record(t.Context(), request, principal, g, o)
		require.Equal(t, c.want, f.disk.events[0].Charge, name)
		require.Equal(t, string(c.by), f.disk.events[0].CredentialSource, name)
		require.Equal(t, []bool{c.by == decide.CredentialBYOK}, g.own, name)
	}
}

// A request counts toward the same whichever of its turns it ends with, and when
// its gateway dies.
func TestWhatARequestCountsToward(t *testing.T) {
	terms := call.Terms{
		Attribution: wire.Attribution{
			Departments: []id.Department{id.New[id.DepartmentKind](ids)}, Guardrails: []id.Guardrail{id.New[id.GuardrailKind](ids)},
			Agent: "support", Free: true, First: true,
		},
		Billing: policy.BillingPrepaid,
	}
	f := newFixture()
	c := newCall()
	turn := call.Turn{ID: c.ID, Started: start, Terms: terms}
	managed := small
	managed.Candidates = []decide.Candidate{north}
	managed.Candidates[0].Credentials = []decide.CredentialUse{{Source: decide.CredentialManaged}}
	c.Request.InputTokens = 100
	require.NoError(t, f.Begin(c, principal, decide.Plan{Chain: []decide.Step{managed}}, turn))
	require.Equal(t, terms.Attribution, f.disk.intents[0].Attribution)
	require.EqualValues(t, 100_000, f.disk.intents[0].Charge)

	o := served(nil)
	o.Turn.Terms = terms
	f.Pass(t.Context(), c, principal, o)
	f.Record(t.Context(), c, principal, nil, o)
	for _, e := range f.disk.events {
		require.Equal(t, terms.Attribution, e.Attribution)
	}
	require.Zero(t, f.disk.events[0].Charge, "what was passed costs nothing")
}

// What was reserved stands for a request until the spool has it; it is given back
// when the spool does not take it, too.
func TestAGrantIsSettledAfterTheSpoolHasTheRequest(t *testing.T) {
	for _, failure := range []error{nil, errors.New("disk full")} {
		f := newFixture()
		f.disk.err = failure
		seen := -1
		g := &grant{onSettle: func() { seen = len(f.disk.events) }}
		f.Record(t.Context(), newCall(), principal, g, served(nil))
		require.Len(t, g.settled, 1)
		require.Equal(t, len(f.disk.events), seen)
	}
	f := newFixture()
	g := &grant{}
	require.Panics(t, func() {
		o := served(nil)
		o.Attempts[0].Started, o.Reply.Candidate.Provider = start, nil
		f.Record(t.Context(), newCall(), principal, g, o)
	})
	require.Len(t, g.settled, 1, "others wait for what it holds")
}

// The line of a request that a limit refused says which.
func TestTheLineSaysWhichLimitRefused(t *testing.T) {
	f := newFixture()
	f.Record(t.Context(), newCall(), principal, nil, served(func(o *call.Outcome) {
		o.Reply, o.Attempts = nil, nil
		o.Failure = fault.New(fault.RateLimitExceeded, "x").Because(fault.PolicyRequests).With("scope", "member").With("id", "rlp_1")
	}))
	require.Contains(t, f.access.String(), `"limit_scope":"member","limit_id":"rlp_1"`)
}
