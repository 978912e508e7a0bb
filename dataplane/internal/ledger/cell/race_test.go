package cell

import (
	"context"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// shelf is a store in memory, by whose clock time passes in no time at all.
type shelf struct {
	mu       sync.Mutex
	sequence uint64
	held     map[string]Stored
}

func newShelf(t require.TestingT) *shelf {
	body, err := json.Marshal(wire.CellsEpoch{Epoch: "e", ReadyAt: time.Now().Add(-time.Hour)})
	require.NoError(t, err)
	s := &shelf{held: make(map[string]Stored)}
	_, _ = s.save(wire.SubjectCellsEpoch, body, 0)
	return s
}

func (s *shelf) save(subject string, body []byte, before uint64) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[subject].Sequence != before {
		return 0, ErrConflict
	}
	s.sequence++
	s.held[subject] = Stored{Body: body, Sequence: s.sequence}
	return s.sequence, nil
}

// far is a shelf as a gateway reaches it: every call takes some time, before and
// after it is answered, and some answers are lost.
type far struct {
	shelf *shelf
	trip  func() time.Duration
	loses func() bool
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func (f *far) Load(ctx context.Context, subject string) (Stored, error) {
	if err := wait(ctx, f.trip()/2); err != nil {
		return Stored{}, err
	}
	f.shelf.mu.Lock()
	s := f.shelf.held[subject]
	f.shelf.mu.Unlock()
	return s, wait(ctx, f.trip()/2)
}

func (f *far) Save(ctx context.Context, subject string, body []byte, before uint64, _ time.Duration) (uint64, error) {
	if err := wait(ctx, f.trip()/2); err != nil {
		return 0, err
	}
	seq, err := f.shelf.save(subject, body, before)
	if f.loses() {
		return 0, errCut
	}
	if late := wait(ctx, f.trip()/2); late != nil {
		return 0, late
	}
	return seq, err
}

func (f *far) Time(ctx context.Context) (time.Time, error) {
	if err := wait(ctx, f.trip()/2); err != nil {
		return time.Time{}, err
	}
	at := time.Now()
	return at, wait(ctx, f.trip()/2)
}

func (f *far) OnConnect(func()) (cancel func()) { return func() {} }

func (f *far) Listen(func(wire.Heartbeat)) (stop func(), err error) { return func() {}, nil }

// world is several gateways in a bubble.
type world struct {
	gateways []*Cells
	rng      *rand.Rand
	mu       sync.Mutex
	stop     func()
}

// dice are a world's own chance, the same for the same seed as far as goroutines
// take turns.
func (w *world) dice() float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rng.Float64()
}

// newWorld starts gateways whose own clocks are wrong by up to an hour.
func newWorld(t *testing.T, n int, seed uint64, trip time.Duration, lost float64) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, 1))}
	s := newShelf(t)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for range n {
		skew := time.Duration((w.dice() - 0.5) * float64(2*time.Hour))
		f := &far{
			shelf: s, loses: func() bool { return w.dice() < lost },
			trip: func() time.Duration { return time.Duration((0.5 + w.dice()) * float64(trip)) },
		}
		c := New(Options{
			Store: f, Gateway: id.New[id.GatewayKind](ids), Instance: "i", Draw: w.dice, Log: natstest.Discard(),
			Now: func() time.Time { return time.Now().Add(skew) },
		}, prometheus.NewRegistry())
		w.gateways = append(w.gateways, c)
		running.Go(func() {
			if err := c.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	w.stop = func() {
		cancel()
		running.Wait()
	}
	return w
}

// among runs something for each of a number of clients of every gateway.
func (w *world) among(clients int, run func(g int, c *Cells)) {
	var wg sync.WaitGroup
	for g, c := range w.gateways {
		for range clients {
			wg.Go(func() { run(g, c) })
		}
	}
	wg.Wait()
}

// fewer divides how many draws rapid makes until t ends: each is minutes of many
// clients.
func fewer(t *testing.T, by int) {
	checks := flag.Lookup("rapid.checks").Value
	all, err := strconv.Atoi(checks.String())
	require.NoError(t, err)
	require.NoError(t, checks.Set(strconv.Itoa(max(1, all/by))))
	t.Cleanup(func() { require.NoError(t, checks.Set(strconv.Itoa(all))) })
}

// TestNeverMoreInAnyMinute: no 60 seconds have more than the limit, wherever they
// begin, and the limit is reached.
func TestNeverMoreInAnyMinute(t *testing.T) {
	fewer(t, 10)
	rapid.Check(t, func(r *rapid.T) {
		gateways, most := rapid.IntRange(1, 6).Draw(r, "gateways"), rapid.Int64Range(1, 40).Draw(r, "limit")
		trip := time.Duration(rapid.Int64Range(0, int64(20*time.Millisecond)).Draw(r, "trip"))
		lost := rapid.SampledFrom([]float64{0, 0, 0.02}).Draw(r, "lost")
		seed := rapid.Uint64().Draw(r, "seed")
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, gateways, seed, trip, lost)
			s, began := newSubject(), time.Now()
			var mu sync.Mutex
			var taken []time.Duration
			w.among(2, func(_ int, c *Cells) {
				for time.Since(began) < 130*time.Second {
					took, err := c.Take(t.Context(), s, 1, Limit{Most: most, Unavailable: strict})
					if err == nil && took.OK {
						mu.Lock()
						taken = append(taken, time.Since(began))
						mu.Unlock()
					}
					_ = wait(t.Context(), time.Duration(w.dice()*float64(300*time.Millisecond)))
				}
			})
			w.stop()
			slices.Sort(taken)
			for i := range taken {
				n := 0
				for _, at := range taken[i:] {
					if at-taken[i] < Minute {
						n++
					}
				}
				require.LessOrEqual(t, int64(n), most, "from %s", taken[i])
			}
			if lost == 0 {
				require.GreaterOrEqual(t, int64(len(taken)), 2*most, "two minutes and more, each a second longer at most")
			}
		})
	})
}

// TestNeverMoreSlots: no more run than the limit says, and it is reached.
func TestNeverMoreSlots(t *testing.T) {
	fewer(t, 20)
	rapid.Check(t, func(r *rapid.T) {
		gateways, most := rapid.IntRange(1, 6).Draw(r, "gateways"), rapid.Int64Range(1, 8).Draw(r, "limit")
		trip := time.Duration(rapid.Int64Range(0, int64(20*time.Millisecond)).Draw(r, "trip"))
		lost := rapid.SampledFrom([]float64{0, 0, 0.02}).Draw(r, "lost")
		seed := rapid.Uint64().Draw(r, "seed")
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, gateways, seed, trip, lost)
			var runs load
			w.among(8, func(_ int, c *Cells) { w.hold(t, c, newLimit(most), &runs, 100*time.Millisecond, 5*time.Second) })
			w.stop()
			require.Equal(t, most, runs.highest, "the limit is reached and not passed")
			require.Zero(t, runs.now)
		})
	})
}

// load is how many run.
type load struct {
	mu           sync.Mutex
	now, highest int64
	each         map[*Cells]int
}

func (l *load) add(c *Cells, n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now += n
	l.highest = max(l.highest, l.now)
	if n > 0 {
		if l.each == nil {
			l.each = make(map[*Cells]int)
		}
		l.each[c]++
	}
}

type slotLimit struct {
	Subject
	Limit
}

var theSubject = newSubject()

func newLimit(most int64) slotLimit {
	return slotLimit{theSubject, Limit{Most: most, Unavailable: strict}}
}

// hold takes slots and holds each for a while.
func (w *world) hold(t *testing.T, c *Cells, l slotLimit, runs *load, hold, until time.Duration) {
	began := time.Now()
	for time.Since(began) < until {
		slot, took, err := c.Acquire(t.Context(), l.Subject, l.Limit)
		if err == nil && took.OK {
			runs.add(c, 1)
			_ = wait(t.Context(), hold)
			runs.add(c, -1)
			slot.Release()
		}
		_ = wait(t.Context(), 10*time.Millisecond+time.Duration(w.dice()*float64(20*time.Millisecond)))
	}
}

// TestFarAndNearShareFairly: nobody starves, with twenty gateways at two
// milliseconds, nor far beside near ones.
func TestFarAndNearShareFairly(t *testing.T) {
	for name, hold := range map[string]time.Duration{"short": 20 * time.Millisecond, "long": 300 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 20, 7, 2*time.Millisecond, 0)
				var runs load
				w.among(2, func(_ int, c *Cells) { w.hold(t, c, newLimit(10), &runs, hold, 100*hold) })
				w.stop()
				require.LessOrEqual(t, runs.highest, int64(10))
				all, least := 0, 1<<30
				for _, c := range w.gateways {
					all, least = all+runs.each[c], min(least, runs.each[c])
				}
				t.Log("acquired", all, "the least of a gateway", least, "held", float64(all)/100)
				require.GreaterOrEqual(t, least, all/len(w.gateways)/4)
			})
		})
	}
}

// books are an account's counters, with servers that are behind.
type books struct {
	mu     sync.Mutex
	states []bookState
}

type bookState struct {
	at    time.Time
	spent money.Nanos
}

func (b *books) count(amount money.Nanos) ledger.Point {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.states = append(b.states, bookState{time.Now(), b.states[len(b.states)-1].spent + amount})
	return ledger.Point{Epoch: "e", Stream: uint64(len(b.states) - 1)}
}

func (b *books) spent() money.Nanos {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.states[len(b.states)-1].spent
}

// read answers as a server does that is behind, but not by more than is asked.
func (b *books) read(behind time.Duration) func(context.Context, ledger.Point) (money.Nanos, ledger.Point, error) {
	return func(ctx context.Context, after ledger.Point) (money.Nanos, ledger.Point, error) {
		if err := wait(ctx, time.Millisecond); err != nil {
			return 0, ledger.Point{}, err
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		i := uint64(len(b.states) - 1)
		for i > after.Stream && time.Since(b.states[i].at) < behind {
			i--
		}
		return b.states[i].spent, ledger.Point{Epoch: "e", Stream: i}, nil
	}
}

// TestNeverMoreThanTheBudget: what is spent in the end is within the limit to
// the last nano, whatever is asked at the same time, and the limit is used.
func TestNeverMoreThanTheBudget(t *testing.T) {
	fewer(t, 20)
	rapid.Check(t, func(r *rapid.T) {
		gateways := rapid.IntRange(1, 5).Draw(r, "gateways")
		trip := time.Duration(rapid.Int64Range(0, int64(20*time.Millisecond)).Draw(r, "trip"))
		behind := time.Duration(rapid.Int64Range(0, int64(100*time.Millisecond)).Draw(r, "behind"))
		lost := rapid.SampledFrom([]float64{0, 0, 0.02}).Draw(r, "lost")
		seed := rapid.Uint64().Draw(r, "seed")
		const limit = 100_000
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, gateways, seed, trip, lost)
			s, account := newSubject(), &books{states: []bookState{{}}}
			bounds := []Bound{{Limit: limit, Spent: account.read(behind)}}
			spools := make([]counting, gateways)
			began := time.Now()
			counted, end := context.WithCancel(t.Context())
			var ledgers sync.WaitGroup
			for g, c := range w.gateways {
				ledgers.Go(func() { spools[g].follow(counted, c, account) })
			}
			w.among(4, func(g int, c *Cells) {
				for time.Since(began) < time.Minute && account.spent() < limit*97/100 {
					amount := money.Nanos(1 + w.dice()*1000)
					res, got, err := c.Reserve(t.Context(), s, amount, bounds)
					if err == nil && got.OK {
						_ = wait(t.Context(), time.Duration(w.dice()*float64(200*time.Millisecond)))
						spools[g].finish(res, money.Nanos(w.dice()*float64(amount)))
					}
					_ = wait(t.Context(), time.Duration(w.dice()*float64(20*time.Millisecond)))
				}
			})
			end()
			ledgers.Wait()
			w.stop()
			spent := account.spent()
			require.LessOrEqual(t, spent, money.Nanos(limit))
			require.GreaterOrEqual(t, spent, money.Nanos(limit*95/100))
		})
	})
}

// counting is a gateway's spool and ledger.
type counting struct {
	mu       sync.Mutex
	sequence uint64
	waiting  money.Nanos
}

func (c *counting) finish(r *Reservation, actual money.Nanos) {
	c.mu.Lock()
	c.sequence++
	c.waiting += actual
	sequence := c.sequence
	c.mu.Unlock()
	r.Settle(actual, sequence)
}

// follow counts five times a second, and once more in the end.
func (c *counting) follow(ctx context.Context, cells *Cells, account *books) {
	for ctx.Err() == nil {
		_ = wait(ctx, 200*time.Millisecond)
		c.mu.Lock()
		sequence, amount := c.sequence, c.waiting
		c.waiting = 0
		c.mu.Unlock()
		cells.Progress(ledger.Progress{Point: account.count(amount), Sequence: sequence})
	}
}
