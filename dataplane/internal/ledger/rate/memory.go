package rate

import (
	"context"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Memory is what subjects used, for the gateways of one process: all of them see
// everything at once. It is safe for concurrent use.
type Memory struct {
	now func() time.Time

	mu   sync.Mutex
	used map[subject]map[int64]int64 // by slot
}

// NewMemory returns counters without anything counted.
func NewMemory(now func() time.Time) *Memory {
	return &Memory{now: now, used: make(map[subject]map[int64]int64)}
}

// Gateway returns a gateway's part.
func (m *Memory) Gateway() *MemoryGateway { return &MemoryGateway{memory: m} }

// MemoryGateway is one gateway's part in a Memory.
type MemoryGateway struct{ memory *Memory }

// Add counts n of a subject, now; nothing when n is not above 0.
func (g *MemoryGateway) Add(ws id.Workspace, name string, n int64) {
	if n <= 0 {
		return
	}
	m := g.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	ref := subject{ws, name}
	if m.used[ref] == nil {
		m.used[ref] = make(map[int64]int64)
	}
	m.used[ref][slotOf(m.now())] += min(n, wire.MaxRateCount)
}

// Minutes says what subjects used in the last minute, in their order.
func (g *MemoryGateway) Minutes(_ context.Context, ws id.Workspace, names []string) []Minute {
	m := g.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	minutes := make([]Minute, len(names))
	now := m.now()
	for i, name := range names {
		one := &minutes[i]
		one.Known, one.left = true, leftOf(now)
		for k := range one.counts {
			one.counts[k] = m.used[subject{ws, name}][slotOf(now)-back+int64(k)]
			one.used += one.counts[k]
		}
	}
	return minutes
}
