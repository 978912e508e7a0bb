package cell

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// part is what a gateway has of the limits, of either kind.
type part interface {
	Take(ctx context.Context, s Subject, n int64, l Limit) (Took, error)
	GiveBack(s Subject, n int64)
	Acquire(ctx context.Context, s Subject, l Limit) (*Slot, Took, error)
	Reserve(ctx context.Context, s Subject, amount money.Nanos, bounds []Bound) (*Reservation, Reserved, error)
	Progress(p ledger.Progress)
}

// clock is one that tests set.
type clock struct {
	at   atomic.Int64
	then func() // after it was set
}

func newClock(at time.Time) *clock {
	c := &clock{}
	c.at.Store(at.UnixNano())
	return c
}

func (c *clock) advance(d time.Duration) {
	c.at.Add(int64(d))
	if c.then != nil {
		c.then()
	}
}

func (c *clock) now() time.Time { return time.Unix(0, c.at.Load()) }

var (
	ids    = id.SystemSource()
	monday = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
)

func newSubject() Subject {
	return Subject{Workspace: id.New[id.WorkspaceKind](ids), Name: "rlp_x_key"}
}

const (
	soon  = 20 * time.Second
	often = 2 * time.Millisecond
)

// spending is an account whose counters are at a point.
type spending struct {
	mu    sync.Mutex
	spent money.Nanos
	point ledger.Point
}

// count adds to what is spent, and says what the ledger of a gateway then says.
func (s *spending) count(amount money.Nanos, sequence uint64) ledger.Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spent += amount
	s.point.Stream++
	return ledger.Progress{Point: s.point, Sequence: sequence}
}

func (s *spending) read(context.Context, ledger.Point) (money.Nanos, ledger.Point, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spent, s.point, nil
}

func (s *spending) bound(limit money.Nanos) []Bound { return []Bound{{Limit: limit, Spent: s.read}} }

// TestConformance holds both kinds of limits to one meaning.
func TestConformance(t *testing.T) {
	kinds := map[string]func(t *testing.T, c *clock) []part{
		"memory": func(_ *testing.T, c *clock) []part {
			m := NewMemory(c.now)
			return []part{m.Gateway(), m.Gateway(), m.Gateway()}
		},
		"nats": func(t *testing.T, c *clock) []part {
			b := newBench(t, c)
			b.mark("first", c.now().Add(-time.Hour))
			var parts []part
			for range 3 {
				parts = append(parts, b.gateway(Options{fresh: -1}).Cells)
			}
			return parts
		},
	}
	for kind, build := range kinds {
		for name, check := range map[string]func(*testing.T, []part, *clock){
			"a minute is shared": aMinuteIsShared, "what left the window is free again": theWindowMoves, "the wait is true": theWaitIsTrue,
			"given back": givenBack, "subjects are apart": subjectsAreApart, "slots are shared": slotsAreShared, "slots are lost in time": slotsAreLost,
			"reservations are shared": reservationsAreShared, "settled stays until it is counted": settledStays, "raised": raised,
			"every bound holds": everyBoundHolds, "races for a minute": raceForAMinute, "races for slots": raceForSlots, "races to reserve": raceToReserve,
		} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				c := newClock(monday)
				check(t, build(t, c), c)
			})
		}
	}
}

func take(t *testing.T, p part, s Subject, n, most int64) Took {
	t.Helper()
	took, err := p.Take(t.Context(), s, n, Limit{Most: most, Unavailable: policy.DenyUnavailable})
	require.NoError(t, err)
	return took
}

func aMinuteIsShared(t *testing.T, parts []part, _ *clock) {
	s := newSubject()
	for i := range int64(6) {
		require.Equal(t, Took{OK: true, Used: i}, take(t, parts[i%3], s, 1, 6))
	}
	for _, p := range parts {
		took := take(t, p, s, 1, 6)
		require.False(t, took.OK)
		require.Equal(t, int64(6), took.Used)
		require.Positive(t, took.Wait)
	}
	require.True(t, take(t, parts[1], s, 1, 7).OK, "another limit")
}

func theWindowMoves(t *testing.T, parts []part, c *clock) {
	s := newSubject()
	require.True(t, take(t, parts[0], s, 3, 5).OK)
	c.advance(30 * time.Second)
	require.True(t, take(t, parts[1], s, 2, 5).OK)
	c.advance(30 * time.Second)
	require.False(t, take(t, parts[2], s, 1, 5).OK, "the first may have been as late as in its second")
	c.advance(time.Second + 50*time.Millisecond)
	require.Equal(t, int64(2), take(t, parts[2], s, 3, 5).Used)
	require.False(t, take(t, parts[0], s, 1, 5).OK)
}

func theWaitIsTrue(t *testing.T, parts []part, c *clock) {
	s := newSubject()
	c.advance(300 * time.Millisecond)
	require.True(t, take(t, parts[0], s, 1, 4).OK)
	c.advance(10 * time.Second)
	require.True(t, take(t, parts[1], s, 1, 4).OK)
	c.advance(10 * time.Second)
	require.True(t, take(t, parts[2], s, 2, 4).OK)
	for n, from := range map[int64]time.Duration{1: 0, 2: 10 * time.Second, 3: 20 * time.Second, 4: 20 * time.Second, 5: 20 * time.Second} {
		wait := take(t, parts[0], s, n, 4).Wait
		require.InDelta(t, 61*time.Second-20*time.Second-300*time.Millisecond+from, wait, float64(20*time.Millisecond), "%d", n)
	}
	wait := take(t, parts[1], s, 2, 4).Wait
	c.advance(wait - 50*time.Millisecond)
	require.False(t, take(t, parts[1], s, 2, 4).OK)
	c.advance(100 * time.Millisecond)
	require.True(t, take(t, parts[1], s, 2, 4).OK)
}

func givenBack(t *testing.T, parts []part, _ *clock) {
	s := newSubject()
	parts[0].GiveBack(s, 5) // nothing was taken
	require.True(t, take(t, parts[0], s, 3, 3).OK)
	parts[0].GiveBack(s, 2)
	require.Eventually(t, func() bool { return take(t, parts[1], s, 2, 3).OK }, soon, often)
	require.False(t, take(t, parts[2], s, 1, 3).OK)
}

func subjectsAreApart(t *testing.T, parts []part, _ *clock) {
	a, b := newSubject(), newSubject()
	c := Subject{Workspace: a.Workspace, Name: "rlp_y_key"}
	for _, s := range []Subject{a, b, c} {
		require.True(t, take(t, parts[0], s, 1, 1).OK)
		slot, took, err := parts[1].Acquire(t.Context(), s, Limit{Most: 1})
		require.NoError(t, err)
		require.Equal(t, Took{OK: true}, took)
		require.NotNil(t, slot)
		r, reserved, err := parts[2].Reserve(t.Context(), s, 1, (&spending{point: ledger.Point{Epoch: "e", Stream: 1}}).bound(1))
		require.NoError(t, err)
		require.True(t, reserved.OK)
		require.NotNil(t, r)
	}
}

func slotsAreShared(t *testing.T, parts []part, _ *clock) {
	s := newSubject()
	var open []*Slot
	for i := range int64(3) {
		slot, took, err := parts[i].Acquire(t.Context(), s, Limit{Most: 3})
		require.NoError(t, err)
		require.Equal(t, Took{OK: true, Used: i}, took)
		open = append(open, slot)
	}
	for _, p := range parts {
		slot, took, err := p.Acquire(t.Context(), s, Limit{Most: 3})
		require.NoError(t, err)
		require.Equal(t, Took{Used: 3}, took)
		require.Nil(t, slot)
	}
	open[0].Release()
	open[0].Release() // counts once
	require.Eventually(t, func() bool {
		_, took, err := parts[1].Acquire(t.Context(), s, Limit{Most: 3})
		return err == nil && took.OK
	}, soon, often)
	_, took, err := parts[0].Acquire(t.Context(), s, Limit{Most: 3})
	require.NoError(t, err)
	require.Equal(t, Took{Used: 3}, took)
}

func slotsAreLost(t *testing.T, parts []part, c *clock) {
	s := newSubject()
	slot, _, err := parts[0].Acquire(t.Context(), s, Limit{Most: 1})
	require.NoError(t, err)
	c.advance(16 * time.Minute)
	require.Eventually(t, func() bool {
		_, took, err := parts[0].Acquire(t.Context(), s, Limit{Most: 1})
		return err == nil && took.OK
	}, soon, often)
	slot.Release() // too late to matter
	_, took, err := parts[1].Acquire(t.Context(), s, Limit{Most: 1})
	require.NoError(t, err)
	require.False(t, took.OK)
}

func reserve(t *testing.T, p part, s Subject, amount money.Nanos, bounds []Bound) (*Reservation, Reserved) {
	t.Helper()
	r, got, err := p.Reserve(t.Context(), s, amount, bounds)
	require.NoError(t, err)
	require.Equal(t, got.OK, r != nil)
	return r, got
}

func newSpending(spent money.Nanos) *spending {
	return &spending{spent: spent, point: ledger.Point{Epoch: "e", Stream: 1}}
}

func reservationsAreShared(t *testing.T, parts []part, _ *clock) {
	s, account := newSubject(), newSpending(40)
	for i, p := range parts {
		_, got := reserve(t, p, s, 20, account.bound(100))
		require.Equal(t, Reserved{OK: true, Index: -1, Spent: 40, Held: money.Nanos(20 * i)}, got)
	}
	_, got := reserve(t, parts[0], s, 1, account.bound(100))
	require.Equal(t, Reserved{Index: 0, Spent: 40, Held: 60}, got)
	_, got = reserve(t, parts[0], s, 0, account.bound(100))
	require.True(t, got.OK)
}

func settledStays(t *testing.T, parts []part, _ *clock) {
	s, account := newSubject(), newSpending(0)
	fits := func(p part, amount money.Nanos) bool {
		r, got := reserve(t, p, s, amount, account.bound(100))
		if got.OK {
			r.Settle(0, 0) // it was not used after all
		}
		return got.OK
	}
	r, _ := reserve(t, parts[0], s, 100, account.bound(100))
	require.False(t, fits(parts[1], 1))
	r.Settle(30, 7)
	r.Settle(90, 9) // counts once
	require.Eventually(t, func() bool { return fits(parts[1], 70) }, soon, often)
	require.False(t, fits(parts[1], 71))
	parts[0].Progress(account.count(0, 6))
	require.False(t, fits(parts[2], 71), "it is not counted yet")
	parts[0].Progress(account.count(30, 7))
	require.Eventually(t, func() bool { return fits(parts[2], 70) }, soon, often)
	require.False(t, fits(parts[1], 71), "it is spent")
	require.Eventually(t, func() bool { // what was tried is given back in a moment
		var got Reserved
		r, got = reserve(t, parts[0], s, 50, account.bound(100))
		return got.OK
	}, soon, often)
	r.Settle(20, 7) // of which the ledger knows already
	require.Eventually(t, func() bool { return fits(parts[2], 70) }, soon, often)
}

func raised(t *testing.T, parts []part, _ *clock) {
	s, account := newSubject(), newSpending(10)
	r, _ := reserve(t, parts[0], s, 20, account.bound(100))
	got, err := r.Raise(t.Context(), 90, account.bound(100))
	require.NoError(t, err)
	require.True(t, got.OK)
	got, err = r.Raise(t.Context(), 50, account.bound(100))
	require.NoError(t, err)
	require.True(t, got.OK, "it is that much already")
	got, err = r.Raise(t.Context(), 91, account.bound(100))
	require.NoError(t, err)
	require.Equal(t, Reserved{Index: 0, Spent: 10, Held: 90}, got)
	_, got = reserve(t, parts[1], s, 1, account.bound(100))
	require.False(t, got.OK)
	r.Settle(0, 0)
	require.Eventually(t, func() bool { _, got := reserve(t, parts[1], s, 90, account.bound(100)); return got.OK }, soon, often)
}

func everyBoundHolds(t *testing.T, parts []part, _ *clock) {
	s, day, month := newSubject(), newSpending(10), newSpending(500)
	bounds := append(day.bound(100), month.bound(550)...)
	_, got := reserve(t, parts[0], s, 51, bounds)
	require.Equal(t, Reserved{Index: 1, Spent: 500}, got)
	_, got = reserve(t, parts[0], s, 91, bounds)
	require.Equal(t, Reserved{Index: 0, Spent: 10}, got)
	_, got = reserve(t, parts[0], s, 50, bounds)
	require.Equal(t, Reserved{OK: true, Index: -1, Spent: 10}, got)
}

func raceForAMinute(t *testing.T, parts []part, c *clock) {
	s := newSubject()
	const most = 100
	var wg sync.WaitGroup
	var taken atomic.Int64
	for i := range 30 {
		wg.Go(func() {
			for range 10 {
				took, err := parts[i%3].Take(t.Context(), s, 1, Limit{Most: most, Unavailable: policy.DenyUnavailable})
				if err == nil && took.OK {
					taken.Add(1)
				}
			}
		})
	}
	wg.Wait()
	require.LessOrEqual(t, taken.Load(), int64(most))
	for _, p := range parts {
		require.Eventually(t, func() bool {
			c.advance(wantFor) // who was refused is given room for that long
			took, err := p.Take(t.Context(), s, 1, Limit{Most: most, Unavailable: policy.DenyUnavailable})
			if err == nil && took.OK {
				taken.Add(1)
			}
			return err == nil && !took.OK && took.Used == most
		}, soon, often)
	}
	require.Equal(t, int64(most), taken.Load())
}

func raceForSlots(t *testing.T, parts []part, _ *clock) {
	s := newSubject()
	const most, rounds = 5, 10
	var wg sync.WaitGroup
	var open, highest atomic.Int64
	for i := range 15 {
		wg.Go(func() {
			for done := 0; done < rounds; {
				slot, took, err := parts[i%3].Acquire(t.Context(), s, Limit{Most: most, Unavailable: policy.DenyUnavailable})
				if err != nil || !took.OK {
					continue
				}
				n := open.Add(1)
				for h := highest.Load(); n > h && !highest.CompareAndSwap(h, n); h = highest.Load() {
				}
				open.Add(-1)
				slot.Release()
				done++
			}
		})
	}
	wg.Wait()
	require.LessOrEqual(t, highest.Load(), int64(most))
	for range most {
		require.Eventually(t, func() bool {
			_, took, err := parts[0].Acquire(t.Context(), s, Limit{Most: most})
			return err == nil && took.OK
		}, soon, often, "everything was released")
	}
}

// spool counts what a gateway finished, some of it together.
type spool struct {
	mu       sync.Mutex
	part     part
	account  *spending
	sequence uint64
	waiting  money.Nanos
}

func (p *spool) finish(r *Reservation, actual money.Nanos) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sequence++
	p.waiting += actual
	r.Settle(actual, p.sequence)
	if p.sequence%3 == 0 {
		p.count()
	}
}

func (p *spool) count() {
	p.part.Progress(p.account.count(p.waiting, p.sequence))
	p.waiting = 0
}

// raceToReserve has every gateway reserve, settle and count as fast as it can.
func raceToReserve(t *testing.T, parts []part, _ *clock) {
	s, account := newSubject(), newSpending(0)
	const limit = 10_000
	var spools []*spool
	for _, p := range parts {
		spools = append(spools, &spool{part: p, account: account})
	}
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			p := spools[i%3]
			for {
				r, got, err := p.part.Reserve(t.Context(), s, 100, account.bound(limit))
				switch {
				case err != nil: // too much was going on
				case got.OK:
					p.finish(r, money.Nanos(30+i))
				case got.Held == 0:
					return
				default: // what is settled is to be counted
					p.mu.Lock()
					p.count()
					p.mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	spent, _, err := account.read(t.Context(), ledger.Point{})
	require.NoError(t, err)
	require.LessOrEqual(t, spent, money.Nanos(limit))
	require.GreaterOrEqual(t, spent, money.Nanos(limit*95/100))
}
