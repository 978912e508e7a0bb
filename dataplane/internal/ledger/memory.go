package ledger

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/spool"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Memory is what accounts used, for the gateways of one process: all of them see
// everything at once. It is safe for concurrent use.
type Memory struct {
	mu    sync.Mutex
	spend map[totalRef]wire.Spend
	state uint64 // rises with every record
}

// memoryEpoch is the epoch of every Memory.
const memoryEpoch = "memory"

// NewMemory returns counters without anything counted.
func NewMemory() *Memory { return &Memory{spend: make(map[totalRef]wire.Spend)} }

// Gateway returns a gateway's part.
func (m *Memory) Gateway() *MemoryGateway { return &MemoryGateway{memory: m} }

// MemoryGateway is one gateway's part in a Memory.
type MemoryGateway struct {
	memory *Memory
	at     uint64
	told   []func(Progress)
}

// Add counts a record of the gateway's spool; one that came before counts once.
func (g *MemoryGateway) Add(c spool.Count) {
	m := g.memory
	m.mu.Lock()
	if c.Sequence > g.at {
		g.at = c.Sequence
		m.state++
		for _, s := range c.Spends {
			m.add(accountRef{c.Workspace, s.Account}, dayOf(c.At), s.Spend)
		}
	}
	p, told := Progress{Point: Point{memoryEpoch, m.state}, Sequence: g.at}, g.told
	m.mu.Unlock()
	for _, fn := range told {
		fn(p)
	}
}

// add counts s. m.mu is held.
func (m *Memory) add(ref accountRef, d day, s wire.Spend) {
	m.spend[totalRef{ref, d}] = m.spend[totalRef{ref, d}].Add(s)
	if ref.account.Lifetime() {
		m.spend[totalRef{ref, ever}] = m.spend[totalRef{ref, ever}].Add(s)
	}
}

// Seen is the last sequence that came to Add.
func (g *MemoryGateway) Seen() uint64 {
	g.memory.mu.Lock()
	defer g.memory.mu.Unlock()
	return g.at
}

// OnProgress is as Ledger's; it is told of every record.
func (g *MemoryGateway) OnProgress(fn func(Progress)) {
	g.memory.mu.Lock()
	defer g.memory.mu.Unlock()
	g.told = append(g.told, fn)
}

// Exact is as Ledger's.
func (g *MemoryGateway) Exact(ctx context.Context, ws id.Workspace, account wire.Account, now time.Time, after Point) (Totals, Point, error) {
	g.memory.mu.Lock()
	defer g.memory.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return Totals{}, Point{}, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if after.Epoch != "" && after.Epoch != memoryEpoch || after.Stream > g.memory.state {
		return Totals{}, Point{}, ErrUnavailable
	}
	windows, _ := windowsOf(accountRef{ws, account}, dayOf(now))
	return windows(g.memory.spend), Point{memoryEpoch, g.memory.state}, nil
}

// Totals is as Ledger's.
func (g *MemoryGateway) Totals(ctx context.Context, ws id.Workspace, accounts []wire.Account, now time.Time) []Totals {
	return g.AppendTotals(ctx, nil, ws, accounts, now)
}

// AppendTotals appends Totals to dst.
func (g *MemoryGateway) AppendTotals(_ context.Context, dst []Totals, ws id.Workspace, accounts []wire.Account, now time.Time) []Totals {
	g.memory.mu.Lock()
	defer g.memory.mu.Unlock()
	for _, a := range accounts {
		windows, _ := windowsOf(accountRef{ws, a}, dayOf(now))
		dst = append(dst, windows(g.memory.spend))
	}
	return dst
}

// Usage is as Ledger's.
func (g *MemoryGateway) Usage(ctx context.Context, ws id.Workspace, key id.Key, now time.Time) flow.Usage {
	return g.Totals(ctx, ws, []wire.Account{wire.KeyAccount(key)}, now)[0].usage()
}
