package limits_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger"
	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger/cell"
	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger/rate"
	"github.com/signalbox-dev/signalbox/dataplane/internal/limits"
	"github.com/signalbox-dev/signalbox/dataplane/internal/spool"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// shared is what several gateways of one process count together.
type shared struct {
	mu     sync.Mutex
	now    time.Time
	ledger *ledger.Memory
	rates  *rate.Memory
	cells  *cell.Memory
}

func (s *shared) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *shared) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// gateway is one of them.
type gateway struct {
	*limits.Gate
	of       *shared
	ledger   *ledger.MemoryGateway
	mu       sync.Mutex
	sequence uint64
}

func several(n int) (*shared, []*gateway) {
	s := &shared{now: noon}
	s.ledger, s.rates, s.cells = ledger.NewMemory(), rate.NewMemory(s.clock), cell.NewMemory(s.clock)
	gateways := make([]*gateway, n)
	for i := range gateways {
		counted, cells := s.ledger.Gateway(), s.cells.Gateway()
		counted.OnProgress(cells.Progress)
		gateways[i] = &gateway{of: s, ledger: counted, Gate: limits.New(limits.Options{
			Ledger: counted, Rates: s.rates.Gateway(), Cells: limits.CellsOver(cells, counted), Now: s.clock,
		})}
	}
	return s, gateways
}

func (g *gateway) ask(a *asking, v *policy.View) (call.Grant, error) {
	c := a.call
	c.Received = g.of.clock()
	return g.Admit(context.Background(), &c, &call.Principal{Key: a.key}, call.Pinned{Policy: v}, &decide.Plan{Chain: a.chain}, 0, nil)
}

// end has a request end as record does: what it cost is in the spool, and then it
// is settled.
func (g *gateway) end(grant call.Grant, cost money.Nanos, tokens int64) {
	if grant == nil {
		return
	}
	g.mu.Lock()
	g.sequence++
	e := wire.UsageEvent{
		ID: id.New[id.RequestKind](id.NewSource(g.of.clock, rand.NewChaCha8([32]byte{byte(g.sequence)}))), Workspace: ws, Key: theKey, User: theUser,
		Outcome: wire.Success, Attribution: grant.Terms().Attribution,
	}
	e.PrimaryID, e.Cost.Total = e.ID, cost
	g.ledger.Add(spool.Count{Sequence: g.sequence, Workspace: ws, At: g.of.clock(), Spends: e.Spends(nil)})
	g.mu.Unlock()
	grant.Settle(used(tokens, 0), costing(cost), false)
}

// Parallel requests on several gateways never spend more than a hard budget, and
// as many as fit are admitted.
func TestAHardBudgetIsNeverPassed(t *testing.T) {
	s, gateways := several(3)
	a := ask(policy.Limits{})
	a.budget(1, policy.Budget{Interval: policy.Daily, Limit: 10 * worst(1), Reserve: true})
	v := a.view(t)
	var spent money.Nanos
	var mu sync.Mutex
	var group sync.WaitGroup
	for i := range 50 {
		group.Go(func() {
			g := gateways[i%3]
			grant, err := g.ask(&a, v)
			if err != nil {
				return
			}
			mu.Lock()
			spent += worst(1)
			mu.Unlock()
			g.end(grant, worst(1), 1)
		})
	}
	group.Wait()
	require.LessOrEqual(t, spent, 10*worst(1))
	// What had just been counted stood twice for a moment, and may have kept one out.
	var err error
	for i := 0; err == nil; i++ {
		var grant call.Grant
		if grant, err = gateways[i%3].ask(&a, v); err == nil {
			spent += worst(1)
			gateways[i%3].end(grant, worst(1), 1)
		}
	}
	require.Equal(t, fault.Reason("daily_cost_budget_reached"), fault.Of(err).Reason)
	require.Equal(t, 10*worst(1), spent, "all of it is used")

	s.pass(12 * time.Hour) // the next day
	for _, g := range gateways {
		grant, err := g.ask(&a, v)
		require.NoError(t, err, "every gateway's counters begin anew")
		g.end(grant, 1, 1)
	}
}

// In-flight requests count, and what they did not cost is there again.
func TestOpenRequestsCountTowardAHardBudget(t *testing.T) {
	_, gateways := several(2)
	a := ask(policy.Limits{})
	a.budget(1, policy.Budget{Interval: policy.Lifetime, Limit: 2*worst(1) + 5, Reserve: true})
	v := a.view(t)
	first, err := gateways[0].ask(&a, v)
	require.NoError(t, err)
	second, err := gateways[1].ask(&a, v)
	require.NoError(t, err)
	_, err = gateways[0].ask(&a, v)
	require.Equal(t, time.Second, fault.Of(err).RetryAfter)
	gateways[0].end(first, 5, 1)
	third, err := gateways[1].ask(&a, v)
	require.NoError(t, err)
	gateways[1].end(second, worst(1), 1)
	gateways[0].end(third, worst(1), 1)
	_, err = gateways[1].ask(&a, v)
	require.Equal(t, fault.Reason("lifetime_cost_budget_reached"), fault.Of(err).Reason)
	require.EqualValues(t, 2*worst(1)+5, fault.Of(err).Fields["used"], "what is told is what the counters have")
}

// A limit is that of all gateways, however it is counted.
func TestLimitsHoldOverAllGateways(t *testing.T) {
	for _, p := range []policy.RatePolicy{{Requests: 6}, {Requests: 6, Strict: true}, {Concurrent: 6}} {
		s, gateways := several(3)
		a := ask(policy.Limits{})
		p.Members = []id.User{theUser}
		a.rate(1, p)
		v := a.view(t)
		var open []call.Grant
		for i := range 12 {
			grant, err := gateways[i%3].ask(&a, v)
			require.Equal(t, i >= 6, err != nil, "%+v: request %d", p, i)
			if err == nil {
				open = append(open, grant)
			}
		}
		for i, grant := range open {
			gateways[i%3].end(grant, 1, 1)
		}
		if p.Concurrent == 0 {
			s.pass(59 * time.Second)
			_, err := gateways[0].ask(&a, v)
			require.Error(t, err)
			s.pass(4 * time.Second)
		}
		_, err := gateways[0].ask(&a, v)
		require.NoError(t, err)
	}
}

// Tokens that one gateway counts are seen by the others, and what remains falls.
func TestTokensHoldOverAllGateways(t *testing.T) {
	_, gateways := several(2)
	a := ask(policy.Limits{})
	a.rate(1, policy.RatePolicy{Tokens: 100, Keys: []id.Key{theKey}})
	v := a.view(t)
	for i, remains := range []string{"100", "40"} {
		grant, err := gateways[i].ask(&a, v)
		require.NoError(t, err)
		require.Equal(t, []string{remains}, grant.Header()["X-Ratelimit-Remaining-Tokens"])
		gateways[i].end(grant, 1, 60)
	}
	_, err := gateways[0].ask(&a, v)
	require.Equal(t, fault.PolicyTokens, fault.Of(err).Reason)
}

// Callers who leave before an answer, while it comes or between attempts give
// their slots back.
func TestSlotsComeBack(t *testing.T) {
	_, gateways := several(2)
	a := ask(policy.Limits{})
	a.rate(1, policy.RatePolicy{Concurrent: 2, Keys: []id.Key{theKey}})
	v := a.view(t)
	for i := range 200 {
		g := gateways[i%2]
		one, err := g.ask(&a, v)
		require.NoError(t, err, fmt.Sprint(i))
		two, err := g.ask(&a, v)
		require.NoError(t, err)
		_, err = gateways[(i+1)%2].ask(&a, v)
		require.Equal(t, fault.PolicyConcurrent, fault.Of(err).Reason)
		one.Settle(used(0, 0), costing(0), false)
		one.Settle(used(0, 0), costing(0), false) // twice is as once
		two.Settle(used(0, 0), costing(0), false)
	}
}
