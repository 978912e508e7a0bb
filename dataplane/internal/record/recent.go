package record

import (
	"slices"
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

// add takes the event of one model's turn, and keeps the slice. A new request
// takes the place of the oldest one.
func (r *Recent) add(event []wire.UsageEvent) {
	e := &event[0]
	r.mu.Lock()
	defer r.mu.Unlock()
	if at, ok := r.index[e.PrimaryID]; ok && r.ring[at][0].PrimaryID == e.PrimaryID {
		// What was handed out is never written to.
		r.ring[at] = append(slices.Clip(r.ring[at]), *e)
		r.index[e.ID] = at
		return
	}
	for i := range r.ring[r.next] {
		delete(r.index, r.ring[r.next][i].ID)
		delete(r.index, r.ring[r.next][i].PrimaryID)
	}
	r.ring[r.next] = event
	r.index[e.PrimaryID], r.index[e.ID] = r.next, r.next
	r.next = (r.next + 1) % len(r.ring)
}

// Generation returns the events of a request of this workspace in the order in
// which they ended, by the id of any of them; those of requests that the gateway
// made for its sake are among them. Another workspace's request is not found.
func (r *Recent) Generation(ws id.Workspace, request id.Request) ([]wire.UsageEvent, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, ok := r.index[request]
	if !ok || r.ring[at][0].Workspace != ws {
		return nil, false
	}
	return r.ring[at], true
}
