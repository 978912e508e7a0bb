package ledger

import (
	"context"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/spool"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Memory is what keys used, for the gateways of one process: all of them see
// everything at once. It is safe for concurrent use.
type Memory struct {
	mu    sync.Mutex
	spend map[dayRef]wire.Spend
}

// NewMemory returns counters without anything counted.
func NewMemory() *Memory { return &Memory{spend: make(map[dayRef]wire.Spend)} }

// Gateway returns a gateway's part.
func (m *Memory) Gateway() *MemoryGateway { return &MemoryGateway{memory: m} }

// MemoryGateway is one gateway's part in a Memory.
type MemoryGateway struct {
	memory *Memory
	at     uint64
}

// Add counts a record of the gateway's spool; one that came before counts once.
func (g *MemoryGateway) Add(c spool.Count) {
	g.memory.mu.Lock()
	defer g.memory.mu.Unlock()
	if c.Sequence <= g.at {
		return
	}
	g.at = c.Sequence
	if !c.Spend.IsZero() {
		ref := dayRef{keyRef{c.Workspace, c.Key}, dayOf(c.At)}
		g.memory.spend[ref] = g.memory.spend[ref].Add(c.Spend)
	}
}

// Usage is what a key has used in the windows of now.
func (g *MemoryGateway) Usage(_ context.Context, ws id.Workspace, key id.Key, now time.Time) flow.Usage {
	g.memory.mu.Lock()
	defer g.memory.mu.Unlock()
	d := dayOf(now)
	sum := func(from day) flow.Bucket {
		var all wire.Spend
		for ; from <= d; from++ {
			all = all.Add(g.memory.spend[dayRef{keyRef{ws, key}, from}])
		}
		return flow.Bucket{Known: true, Requests: all.Requests, Cost: all.Cost}
	}
	return flow.Usage{Daily: sum(d), Weekly: sum(d.monday()), Monthly: sum(d.month())}
}
