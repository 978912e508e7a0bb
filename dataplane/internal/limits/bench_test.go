package limits_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger"
	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger/rate"
	"github.com/signalbox-dev/signalbox/dataplane/internal/limits"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// still answers at once and makes nothing.
type still struct {
	limits.Cells
	minutes []rate.Minute
	totals  []ledger.Totals
}

func (s *still) AppendMinutes(_ context.Context, dst []rate.Minute, _ id.Workspace, asked []rate.Asked) []rate.Minute {
	return append(dst, s.minutes[:len(asked)]...)
}
func (*still) Add(id.Workspace, int64, ...rate.Name) {}
func (s *still) AppendTotals(_ context.Context, dst []ledger.Totals, _ id.Workspace, accounts []wire.Account, _ time.Time) []ledger.Totals {
	return append(dst, s.totals[:len(accounts)]...)
}
func (*still) Seen() uint64 { return 1 }

func newStill() *still {
	s := &still{minutes: make([]rate.Minute, 32), totals: make([]ledger.Totals, 32)}
	for i := range s.minutes {
		s.minutes[i].Known, s.totals[i].Known = true, true
	}
	return s
}

// many are n policies, of which five apply.
func many(n int) asking {
	a := ask(policy.Limits{})
	a.attribute()
	a.call.Request.EndUser = "u1"
	for i := range n {
		p := policy.RatePolicy{Requests: 1_000_000, Keys: []id.Key{id.FromUUID[id.KeyKind](uuidOf(10_000 + i))}}
		switch i {
		case 0:
			p.Keys = []id.Key{theKey}
		case n / 4:
			p.Members = []id.User{theUser}
		case n / 2:
			p.Departments = []id.Department{theDept}
		case 3 * n / 4:
			p.Guardrails = []id.Guardrail{theRail}
		case n - 1:
			p.EndUsers = true
		}
		a.rate(i+1, p)
	}
	return a
}

// spent is what a request used.
var spent = meter.Usage{Input: 30, Output: 12}

// BenchmarkAdmit is admission in the background and its end: with no policy, with
// one, with five that apply, among more and more that do not.
func BenchmarkAdmit(b *testing.B) {
	none := ask(policy.Limits{})
	none.limits = nil
	for name, a := range map[string]asking{"none": none, "1": many(1), "5 of 10": many(10), "5 of 100": many(100), "5 of 1000": many(1000)} {
		b.Run(name, func(b *testing.B) {
			s := newStill()
			gate := limits.New(limits.Options{Ledger: s, Rates: s, Cells: s, Now: func() time.Time { return noon }})
			pin, principal, plan, ctx := call.Pinned{Policy: a.view(b)}, call.Principal{Key: a.key}, decide.Plan{Chain: a.chain}, context.Background()
			b.ReportAllocs()
			for b.Loop() {
				grant, err := gate.Admit(ctx, &a.call, &principal, pin, &plan, 0, nil)
				if err != nil {
					b.Fatal(err)
				}
				grant.Settle(spent, meter.Cost{}, false)
			}
		})
	}
}

// What a request costs does not grow with the policies that do not apply to it: it
// takes one piece of memory.
func TestAdmissionAllocatesLittle(t *testing.T) {
	allocations := func(policies int) float64 {
		a, s := many(policies), newStill()
		gate := limits.New(limits.Options{Ledger: s, Rates: s, Cells: s, Now: func() time.Time { return noon }})
		pin, principal, plan, ctx := call.Pinned{Policy: a.view(t)}, call.Principal{Key: a.key}, decide.Plan{Chain: a.chain}, context.Background()
		grant, err := gate.Admit(ctx, &a.call, &principal, pin, &plan, 0, nil)
		require.NoError(t, err)
		require.Len(t, grant.Checks(), 5)
		return testing.AllocsPerRun(400, func() {
			grant, err = gate.Admit(ctx, &a.call, &principal, pin, &plan, 0, nil)
			grant.Settle(spent, meter.Cost{}, false)
		})
	}
	require.LessOrEqual(t, allocations(10), 1.0)
	require.LessOrEqual(t, allocations(1000), 1.0)
}
