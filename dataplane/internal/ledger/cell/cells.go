package cell

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Options are the surroundings and bounds of Cells. Zero bounds mean the
// defaults.
type Options struct {
	Store    Store
	Gateway  id.Gateway
	Instance string // of the process, as heartbeats name it
	// Started is the last sequence of the gateway's spool at its start, with what
	// was recovered: earlier processes left nothing above it.
	Started uint64
	Now     func() time.Time
	Draw    func() float64 // at random from [0, 1); called from any goroutine
	Log     *slog.Logger

	Wait time.Duration // for an answer; default 250 ms, at most 2 s
	Most int           // subjects of a kind at a time that are one workspace's, and half of everybody's; default 20 000. What is beyond has no answer

	unit  time.Duration // of a minute's 60; default 1 s
	fresh time.Duration // for which what was read may refuse; default 20 ms, negative: never
	every time.Duration // between looks at the epoch and the clock; default 1 s
}

// Bounds that nobody sets.
const (
	waitMost  = 2 * time.Second
	probe     = 100 * time.Millisecond // between tries while the store is away
	lastTry   = time.Second            // for what is not stated yet when the gateway ends
	cellLife  = 5 * time.Second        // of a subject of which nothing is held
	minuteTTL = time.Hour              // of documents in the store
	heldTTL   = 40 * 24 * time.Hour
)

func (o Options) withDefaults() Options {
	if o.Wait <= 0 {
		o.Wait = 250 * time.Millisecond
	}
	o.Wait = min(o.Wait, waitMost)
	if o.Most <= 0 {
		o.Most = 20_000
	}
	if o.unit <= 0 {
		o.unit = Minute / units
	}
	if o.fresh == 0 {
		o.fresh = 20 * time.Millisecond
	}
	if o.every <= 0 {
		o.every = time.Second
	}
	return o
}

// Cells is one gateway's part in the limits over all gateways. It is safe for
// concurrent use; Run does its work, and without it nobody is answered.
type Cells struct {
	opts     Options
	instance uint64
	metrics  *metrics
	clock    present
	peers    peers

	down atomic.Bool // the store does not answer: nobody waits for it
	deaf atomic.Bool // it did not take a write: it is to take one before anybody waits
	mark atomic.Pointer[mark]
	wake chan struct{} // the store is to be looked at
	told chan struct{} // the ledger has counted more

	mu          sync.Mutex
	cells       map[ref]*cell
	crowds      map[crowd]int // how many cells there are
	counted     ledger.Progress
	running     context.Context // of the workers; nil while Run does not run
	workers     sync.WaitGroup
	reconnected bool
}

// mark is the epoch of the documents.
type mark struct {
	hash  uint64
	ready int64 // Unix ns
}

// New returns the limits as a gateway sees them. Its metrics go to registry.
func New(o Options, registry prometheus.Registerer) *Cells {
	o = o.withDefaults()
	c := &Cells{
		opts: o, instance: instanceOf(o.Instance), clock: present{now: o.Now},
		peers: peers{now: o.Now, self: o.Gateway, known: make(map[id.Gateway]*peer)},
		wake:  make(chan struct{}, 1), told: make(chan struct{}, 1), cells: make(map[ref]*cell), crowds: make(map[crowd]int),
	}
	c.down.Store(true) // nothing was heard of it yet
	c.metrics = newMetrics(registry, c)
	return c
}

// Take takes n of what a subject may take in any 60 seconds, if that much is
// left of the limit. It fails with ErrUnavailable where the limit says so, and
// with the error of ctx when that ends.
func (c *Cells) Take(ctx context.Context, s Subject, n int64, l Limit) (Took, error) {
	v, alone, err := c.decide(ctx, c.cell(ref{minutes, s}), ask{n: max(n, 0), most: l.Most}, l.Unavailable)
	return v.took(alone), err
}

// GiveBack gives back n of what was taken of a subject just now. It does not
// wait.
func (c *Cells) GiveBack(s Subject, n int64) {
	if l := c.cell(ref{minutes, s}); l != nil {
		l.change(func(t table, _ instant) bool {
			t.(*taken).giveBack(n)
			return true
		})
	}
}

// Acquire takes one of the slots of a subject until it is released, if one is
// free; else there is no Slot. It fails as Take does.
func (c *Cells) Acquire(ctx context.Context, s Subject, l Limit) (*Slot, Took, error) {
	of := c.cell(ref{slots, s})
	slot := &Slot{release: func(slot *Slot) {
		if of != nil {
			of.change(func(t table, _ instant) bool { return t.(*running).release(slot) })
		}
	}}
	v, alone, err := c.decide(ctx, of, ask{n: 1, most: l.Most, slot: slot}, l.Unavailable)
	if err != nil || !v.ok {
		return nil, v.took(alone), err
	}
	return slot, v.took(alone), nil
}

// Reserve reserves amount of what all bounds leave, if it fits; else there is no
// Reservation. It fails with ErrUnavailable when that cannot be known, and with
// the error of ctx when that ends.
func (c *Cells) Reserve(ctx context.Context, s Subject, amount money.Nanos, bounds []Bound) (*Reservation, Reserved, error) {
	l := c.cell(ref{holdings, s})
	if l == nil {
		c.metrics.unavailable.Inc()
		return nil, Reserved{}, ErrUnavailable
	}
	r := &Reservation{raise: l.reserve}
	r.settle = func(r *Reservation, actual money.Nanos, through uint64) {
		l.change(func(t table, at instant) bool { return t.(*reserved).close(r, actual, through, at) })
	}
	v, err := l.reserve(ctx, r, max(amount, 0), bounds)
	if err != nil || !v.OK {
		return nil, v, err
	}
	return r, v, nil
}

// Progress takes in what the ledger has counted. It does not wait.
func (c *Cells) Progress(p ledger.Progress) {
	c.mu.Lock()
	c.counted = p
	c.mu.Unlock()
	signal(c.told)
}

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// decide has an ask decided over all gateways, or else as u says. Without a cell
// there is no table to go by.
func (c *Cells) decide(ctx context.Context, l *cell, a ask, u policy.Unavailable) (v verdict, alone bool, err error) {
	if err := ctx.Err(); err != nil {
		return verdict{}, false, err
	}
	if l == nil {
		c.metrics.unavailable.Inc()
		if u == policy.DenyUnavailable {
			return verdict{}, true, ErrUnavailable
		}
		c.metrics.alone.Inc()
		return verdict{ok: true}, true, nil
	}
	if err = c.answers(); err == nil {
		if v, ok := l.quick(&a); ok {
			c.metrics.refusals.Inc()
			return v, false, nil
		}
		v, err = l.ask(ctx, a)
	}
	if err == nil {
		if !v.ok {
			c.metrics.refusals.Inc()
		}
		return v, false, nil
	}
	if canceled(ctx) {
		return verdict{}, false, ctx.Err()
	}
	c.metrics.unavailable.Inc()
	v, err = l.alone(a, u, c.peers.live())
	if err == nil {
		c.metrics.alone.Inc()
	}
	return v, true, err
}

// canceled says that nobody waits any more. A deadline is another matter: there
// was no answer in time.
func canceled(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// answers is nil when what the documents say may be gone by.
func (c *Cells) answers() error {
	if c.down.Load() {
		return errAway
	}
	at, known := c.clock.at()
	if !known {
		signal(c.wake)
		return errClock
	}
	m := c.mark.Load()
	if m == nil {
		return errUnmarked
	}
	return m.answers(at)
}

func (m *mark) answers(at instant) error {
	if at.lo < m.ready {
		return errSettling
	}
	return nil
}

// Why nobody is answered, all of them ErrUnavailable.
var (
	errAway     = errors.New("nats does not answer")
	errClock    = errors.New("the clock of nats is not known")
	errUnmarked = errors.New("the documents of limits have no epoch")
	errSettling = errors.New("gateways are stating anew what they hold")
	errLate     = errors.New("there was no answer in time")
)

// cell is that of a subject; nil when it has no name that can be written, or
// there are too many.
func (c *Cells) cell(r ref) *cell {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.cells[r]; l != nil {
		l.mu.Lock()
		l.used = c.opts.Now() // it stays for a while
		l.mu.Unlock()
		return l
	}
	if c.crowded(r) || !token(r.subject.Name) {
		return nil
	}
	l := &cell{
		c: c, ref: r, subject: subjectOf(r), kick: make(chan struct{}, 1), used: c.opts.Now(),
		table: newTable(r.kind, c.opts.unit, c.opts.Started, c.counted),
	}
	c.cells[r] = l
	c.came(r, 1)
	return l
}

// crowd is what cells are counted by: their kind, and of each the workspaces; the
// zero workspace is all of them.
type crowd struct {
	kind      kind
	workspace id.Workspace
}

// crowded says that there is no room for one more: callers name subjects, and
// those of one workspace must not be in the way of others', nor minutes in that of
// reservations. c.mu is held.
func (c *Cells) crowded(r ref) bool {
	return c.crowds[crowd{kind: r.kind}] >= 2*c.opts.Most || c.crowds[crowd{r.kind, r.subject.Workspace}] >= c.opts.Most
}

// came counts cells that came, or went. c.mu is held.
func (c *Cells) came(r ref, n int) {
	for _, of := range [...]crowd{{kind: r.kind}, {r.kind, r.subject.Workspace}} {
		if c.crowds[of] += n; c.crowds[of] == 0 {
			delete(c.crowds, of)
		}
	}
}

// progressed is what the ledger said last.
func (c *Cells) progressed() ledger.Progress {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counted
}

func token(name string) bool { return name != "" && !strings.ContainsAny(name, ".*> \t\r\n") }

func subjectOf(r ref) string {
	prefix := map[kind]string{minutes: wire.SubjectCellsMinute, slots: wire.SubjectCellsSlots, holdings: wire.SubjectCellsHeld}[r.kind]
	return prefix + "." + r.subject.Workspace.String() + "." + r.subject.Name
}

// life is how long the store keeps a document that nobody writes.
func (k kind) life() time.Duration {
	if k == holdings {
		return heldTTL
	}
	return minuteTTL
}
