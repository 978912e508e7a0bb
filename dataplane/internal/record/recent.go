package record

import (
	"sync"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Recent holds the usage events of this gateway's latest requests, so that a
// caller can ask for a generation before it is in the control plane. It is
// safe for concurrent use.
type Recent struct {
	mu    sync.Mutex
	ring  [][]wire.UsageEvent
	next  int
	index map[id.Request]int
}

// NewRecent returns a Recent of up to size requests.
func NewRecent(size int) *Recent {
	return &Recent{ring: make([][]wire.UsageEvent, max(1, size)), index: make(map[id.Request]int, max(1, size))}
}

// add takes the events of one request; the oldest request makes room.
func (r *Recent) add(events []wire.UsageEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.ring[r.next]; old != nil {
		delete(r.index, old[0].ID)
	}
	r.ring[r.next] = events
	r.index[events[0].ID] = r.next
	r.next = (r.next + 1) % len(r.ring)
}

// Generation returns the events of a request of this workspace, the primary
// first. Another workspace's request is not found.
func (r *Recent) Generation(ws id.Workspace, request id.Request) ([]wire.UsageEvent, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, ok := r.index[request]
	if !ok || r.ring[at][0].Workspace != ws {
		return nil, false
	}
	return r.ring[at], true
}
