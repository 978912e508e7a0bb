package cell

import (
	"context"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Memory is the limits over the gateways of one process. It needs no NATS and no
// goroutine. It is safe for concurrent use.
type Memory struct {
	now func() time.Time

	mu       sync.Mutex
	gateways []*MemoryGateway
}

// NewMemory returns limits of which nothing is used.
func NewMemory(now func() time.Time) *Memory { return &Memory{now: now} }

// Gateway returns another gateway's part.
func (m *Memory) Gateway() *MemoryGateway {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := &MemoryGateway{m: m, tables: make(map[ref]table)}
	m.gateways = append(m.gateways, g)
	return g
}

// ref names a table.
type ref struct {
	kind    kind
	subject Subject
}

// MemoryGateway is one gateway's part in a Memory.
type MemoryGateway struct {
	m       *Memory
	tables  map[ref]table
	counted ledger.Progress
	away    bool
}

// Away has the gateway go without the others, as while NATS does not answer.
func (g *MemoryGateway) Away(away bool) {
	g.m.mu.Lock()
	defer g.m.mu.Unlock()
	g.away = away
}

func (m *Memory) at() instant {
	n := m.now().UnixNano()
	return instant{n, n}
}

func (g *MemoryGateway) table(k kind, s Subject) table {
	r := ref{k, s}
	t := g.tables[r]
	if t == nil {
		t = newTable(k, time.Second, 0, g.counted)
		g.tables[r] = t
	}
	return t
}

// others are the statements of the other gateways.
func (g *MemoryGateway) others(r ref, at instant) (list []entry) {
	for _, o := range g.m.gateways {
		if t := o.tables[r]; o != g && t != nil {
			var e entry
			t.state(&e, at)
			list = append(list, e)
		}
	}
	return list
}

// decide judges an ask and grants what fits.
func (g *MemoryGateway) decide(k kind, s Subject, a *ask, u policy.Unavailable) (verdict, error) {
	at, t := g.m.at(), g.table(k, s)
	t.tend(at)
	var own entry
	t.state(&own, at)
	if g.away {
		return without(t, a, &own, u, len(g.m.gateways), at)
	}
	v := t.judge(a, g.others(ref{k, s}, at), &own, at)
	if v.ok {
		t.grant(a, at)
	}
	return v, nil
}

// Take is as that of Cells.
func (g *MemoryGateway) Take(ctx context.Context, s Subject, n int64, l Limit) (Took, error) {
	if err := ctx.Err(); err != nil {
		return Took{}, err
	}
	g.m.mu.Lock()
	defer g.m.mu.Unlock()
	v, err := g.decide(minutes, s, &ask{n: n, most: l.Most}, l.Unavailable)
	return v.took(g.away), err
}

// GiveBack is as that of Cells.
func (g *MemoryGateway) GiveBack(s Subject, n int64) {
	g.m.mu.Lock()
	defer g.m.mu.Unlock()
	if t, ok := g.tables[ref{minutes, s}].(*taken); ok {
		t.giveBack(n)
	}
}

// Acquire is as that of Cells.
func (g *MemoryGateway) Acquire(ctx context.Context, s Subject, l Limit) (*Slot, Took, error) {
	if err := ctx.Err(); err != nil {
		return nil, Took{}, err
	}
	g.m.mu.Lock()
	defer g.m.mu.Unlock()
	slot := &Slot{release: func(slot *Slot) {
		g.m.mu.Lock()
		defer g.m.mu.Unlock()
		g.table(slots, s).(*running).release(slot)
	}}
	v, err := g.decide(slots, s, &ask{n: 1, most: l.Most, slot: slot}, l.Unavailable)
	if err != nil || !v.ok {
		return nil, v.took(g.away), err
	}
	return slot, v.took(g.away), nil
}

// Reserve is as that of Cells.
func (g *MemoryGateway) Reserve(ctx context.Context, s Subject, amount money.Nanos, bounds []Bound) (*Reservation, Reserved, error) {
	r := &Reservation{}
	r.settle = func(r *Reservation, actual money.Nanos, through uint64) {
		g.m.mu.Lock()
		defer g.m.mu.Unlock()
		g.table(holdings, s).(*reserved).close(r, actual, through, g.m.at())
	}
	r.raise = func(ctx context.Context, r *Reservation, amount money.Nanos, bounds []Bound) (Reserved, error) {
		return g.reserve(ctx, s, r, amount, bounds)
	}
	v, err := g.reserve(ctx, s, r, amount, bounds)
	if err != nil || !v.OK {
		return nil, v, err
	}
	return r, v, nil
}

func (g *MemoryGateway) reserve(ctx context.Context, s Subject, r *Reservation, amount money.Nanos, bounds []Bound) (Reserved, error) {
	for {
		g.m.mu.Lock()
		away, after := g.away, g.newest(s)
		g.m.mu.Unlock()
		if away {
			return Reserved{}, ErrUnavailable
		}
		read, err := read(ctx, bounds, after)
		if err != nil {
			return Reserved{}, err
		}
		g.m.mu.Lock()
		if g.newest(s) == after {
			v, err := g.decide(holdings, s, &ask{n: r.missing(amount), bounds: read, reservation: r}, "")
			g.m.mu.Unlock()
			return v.reserved(), err
		}
		g.m.mu.Unlock()
	}
}

// newest is the point that the counters must have reached.
func (g *MemoryGateway) newest(s Subject) (p ledger.Point) {
	for _, o := range g.m.gateways {
		if t, ok := o.tables[ref{holdings, s}].(*reserved); ok && t.point.Stream > p.Stream {
			p = t.point
		}
	}
	return p
}

// Progress is as that of Cells.
func (g *MemoryGateway) Progress(p ledger.Progress) {
	g.m.mu.Lock()
	defer g.m.mu.Unlock()
	g.counted = p
	for _, t := range g.tables {
		if t, ok := t.(*reserved); ok {
			t.progress(p, g.m.at())
		}
	}
}
