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

// Add counts n of each of some subjects, now; nothing when n is not above 0.
func (g *MemoryGateway) Add(ws id.Workspace, n int64, names ...Name) {
	if n <= 0 {
		return
	}
	m := g.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range names {
		ref := subject{ws, name}
		if m.used[ref] == nil {
			m.used[ref] = make(map[int64]int64)
		}
		m.used[ref][slotOf(m.now())] += min(n, wire.MaxRateCount)
	}
}

// AppendMinutes appends what subjects used in the last minute, in their order, to
// dst.
func (g *MemoryGateway) AppendMinutes(_ context.Context, dst []Minute, ws id.Workspace, asked []Asked) []Minute {
	m := g.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	for i := range asked {
		var c counted
		one := Minute{Known: true}
		for k := range c {
			c[k] = m.used[subject{ws, asked[i].Name}][slotOf(now)-back+int64(k)]
			one.Used += c[k]
		}
		one.Clears = c.until(1, one.Used, leftOf(now))
		if limit := asked[i].Limit; limit > 0 {
			one.Wait = c.until(limit, one.Used, leftOf(now))
		}
		dst = append(dst, one)
	}
	return dst
}
