package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/spending"
	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// spent is what an account spent in the windows of a moment.
type spent struct{ Daily, Weekly, Monthly, Lifetime wire.Spend }

func (b *usageBench) spentBy(t require.TestingT, ws id.Workspace, now time.Time, accounts ...wire.Account) map[wire.Account]spent {
	var histories map[wire.Account]spending.History
	require.NoError(t, b.db.Runner().Read(context.Background(), ws, func(ctx context.Context) (err error) {
		histories, err = NewSpendingStore().Spent(ctx, ws, accounts, time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
		return err
	}))
	in := make(map[wire.Account]spent, len(histories))
	for account, h := range histories {
		in[account] = spent{
			h.In(spending.WindowOf(policy.Daily, now)), h.In(spending.WindowOf(policy.Weekly, now)),
			h.In(spending.WindowOf(policy.Monthly, now)), h.Lifetime,
		}
	}
	return in
}

func TestWhatIsSpentInWindows(t *testing.T) {
	b := newUsageBench(t)
	key, guard := id.New[id.KeyKind](id.SystemSource()), id.New[id.GuardrailKind](id.SystemSource())
	at := func(day, hour int) {
		e := b.entry(time.Date(2026, 11, day, hour, 0, 0, 0, time.UTC))
		e.Key, e.Guardrails, e.CredentialSource, e.Charge = key, []id.Guardrail{guard}, "byok", 3
		b.write(e)
	}
	at(-30, 12) // October
	at(1, 0)    // a Sunday
	at(1, 23)
	at(2, 1) // Monday
	at(4, 0)
	at(4, 23)
	at(5, 0) // after now's day
	n := func(requests int64) wire.Spend {
		return wire.Spend{Requests: requests, Cost: money.Nanos(100 * requests), BYOK: money.Nanos(100 * requests)}
	}
	accounts := []wire.Account{
		wire.KeyAccount(key), wire.GuardrailAccount(guard), wire.AccountWorkspace, wire.AccountCharged, wire.AccountBYOK, wire.AgentAccount("nobody"),
	}
	now := time.Date(2026, 11, 4, 15, 0, 0, 0, time.UTC)
	require.Equal(t, map[wire.Account]spent{
		wire.KeyAccount(key):         {Daily: n(2), Weekly: n(4), Monthly: n(6)},
		wire.GuardrailAccount(guard): {Daily: n(2), Weekly: n(4), Monthly: n(6), Lifetime: n(7)},
		wire.AccountWorkspace:        {Daily: n(2), Weekly: n(4), Monthly: n(6), Lifetime: n(7)},
		wire.AccountCharged:          {Daily: wire.Spend{Cost: 6}, Weekly: wire.Spend{Cost: 12}, Monthly: wire.Spend{Cost: 18}, Lifetime: wire.Spend{Cost: 21}},
		wire.AccountBYOK:             {Daily: wire.Spend{Requests: 2}, Weekly: wire.Spend{Requests: 4}, Monthly: wire.Spend{Requests: 6}},
	}, b.spentBy(t, b.ws, now, accounts...))
	sunday := b.spentBy(t, b.ws, time.Date(2026, 11, 1, 2, 0, 0, 0, time.UTC), wire.KeyAccount(key))
	require.Equal(t, spent{Daily: n(2), Weekly: n(2), Monthly: n(6)}, sunday[wire.KeyAccount(key)])
	require.Empty(t, b.spentBy(t, id.New[id.WorkspaceKind](id.SystemSource()), now, accounts...))
	require.Empty(t, b.spentBy(t, b.ws, now))
}

// TestTotalsOfAccountsAreThoseOfTheLog for any writes: repeats count once, and a
// row that takes the place of an unknown one counts instead of it. What is beyond
// a gap is not what the counters are filled from.
func TestTotalsOfAccountsAreThoseOfTheLog(t *testing.T) {
	b := newUsageBench(t)
	rapid.Check(t, func(r *rapid.T) {
		b.ws, b.gw, b.seq = id.New[id.WorkspaceKind](id.SystemSource()), id.New[id.GatewayKind](id.SystemSource()), 0
		draw := newDrawing(b)
		stored := make(map[id.Request]usage.Entry) // what the log is to have
		arrived := make(map[uint64]bool)
		for range rapid.IntRange(1, 8).Draw(r, "batches") {
			list := draw.batch(r)
			for _, e := range list {
				arrived[e.Sequence] = true
				if old, ok := stored[e.ID]; !ok || old.Outcome == wire.Unknown && e.Outcome != wire.Unknown {
					stored[e.ID] = e
				}
			}
			b.write(list...)
		}
		var committed uint64
		for arrived[committed+1] {
			committed++
		}
		days, filled := make(map[usage.SpendCell]wire.Spend), make(map[usage.SpendCell]wire.Spend)
		for _, e := range stored {
			usage.SpendsOf(&e, func(c usage.SpendCell, s wire.Spend) {
				days[c] = days[c].Add(s)
				if e.Sequence <= committed {
					filled[c] = filled[c].Add(s)
				}
			})
		}
		got := make(map[usage.SpendCell]wire.Spend)
		marks, err := b.store.UsageSpends(context.Background(), time.Time{}, func(s usage.Spend) error {
			if s.Workspace == b.ws {
				got[s.SpendCell] = s.Spend
			}
			return nil
		})
		require.NoError(r, err)
		require.Equal(r, committed, marks[b.gw])
		require.Equal(r, filled, got)
		for c, want := range days {
			got := b.spentBy(r, b.ws, c.Day, c.Account)[c.Account]
			if c.Day.IsZero() {
				require.Equal(r, want, got.Lifetime, c.Account)
			} else {
				require.Equal(r, want, got.Daily, c.Account)
			}
		}
	})
}

// drawing draws batches of entries, in which some come again.
type drawing struct {
	b      *usageBench
	key    id.Key
	dept   id.Department
	guard  id.Guardrail
	before []usage.Entry
}

func newDrawing(b *usageBench) *drawing {
	ids := id.SystemSource()
	return &drawing{b: b, key: id.New[id.KeyKind](ids), dept: id.New[id.DepartmentKind](ids), guard: id.New[id.GuardrailKind](ids)}
}

func (d *drawing) batch(r *rapid.T) []usage.Entry {
	batch := make(map[id.Request]usage.Entry)
	for range rapid.IntRange(1, 4).Draw(r, "entries") {
		e := d.entry(r)
		if _, twice := batch[e.ID]; !twice {
			batch[e.ID] = e
			d.before = append(d.before, e)
		}
	}
	list := make([]usage.Entry, 0, len(batch))
	for _, e := range batch {
		list = append(list, e)
	}
	return list
}

func (d *drawing) entry(r *rapid.T) usage.Entry {
	if n := len(d.before); n > 0 && rapid.IntRange(0, 3).Draw(r, "again") == 0 {
		e := d.before[rapid.IntRange(0, n-1).Draw(r, "which")]
		if e.Outcome == wire.Unknown && rapid.Bool().Draw(r, "completed") {
			d.b.seq++
			e.Sequence, e.Outcome, e.Cost, e.Charge, e.Attribution = d.b.seq, wire.Success, meter.Cost{Total: 9}, 0, wire.Attribution{}
		}
		return e
	}
	if rapid.IntRange(0, 9).Draw(r, "gap") == 0 {
		d.b.seq++
	}
	e := d.b.entry(d.b.now.AddDate(0, 0, -rapid.IntRange(0, 2).Draw(r, "day")))
	e.Outcome = rapid.SampledFrom([]wire.Outcome{wire.Success, wire.Unknown, wire.Failed, wire.Refused}).Draw(r, "outcome")
	e.CredentialSource = rapid.SampledFrom([]string{"", "managed", "byok"}).Draw(r, "credential")
	e.Cost.Total = money.Nanos(rapid.Int64Range(0, 1000).Draw(r, "cost"))
	e.Charge = money.Nanos(rapid.Int64Range(0, 10).Draw(r, "charge"))
	if rapid.Bool().Draw(r, "attributed") {
		e.Key, e.Departments, e.Guardrails, e.Agent, e.Free = d.key, []id.Department{d.dept}, []id.Guardrail{d.guard}, "support", true
	}
	return e
}

func TestTotalsOfDaysLongOverGo(t *testing.T) {
	b := newUsageBench(t)
	for _, days := range []int{0, 399, 400, 401, 900} {
		b.write(b.entry(b.now.AddDate(0, 0, -days)))
	}
	for limit, want := range []int{0, 1, 1, 0} {
		n, err := b.store.UsageDropSpends(t.Context(), b.now.AddDate(0, 0, -400), min(limit, 1))
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	var left int
	require.NoError(t, b.owner.QueryRow("SELECT count(*) FROM spend_days").Scan(&left))
	require.Equal(t, 3, left)
	ever := b.spentBy(t, b.ws, b.now, wire.AccountWorkspace)[wire.AccountWorkspace].Lifetime
	require.Equal(t, wire.Spend{Requests: 5, Cost: 500}, ever, "what was used ever stays")
}
