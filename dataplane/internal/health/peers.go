package health

import (
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// peers are the gateways that were heard of lately.
type peers struct {
	mu    sync.Mutex
	known map[uuid.UUID]peer
}

type peer struct {
	sequence uint64 // the newest that came
	heard    time.Time
}

// heard notes a message and returns how many of the sender's never came before
// it. It is not ok when there are more gateways than are kept.
func (p *peers) heard(now time.Time, h *wire.Health) (missing int64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last, known := p.known[h.Instance]
	if !known && len(p.known) >= maxPeers && !p.forget(now) {
		return 0, false
	}
	last.heard = now
	if h.Sequence > last.sequence {
		if last.sequence > 0 {
			missing = int64(min(h.Sequence-last.sequence-1, 1<<20))
		}
		last.sequence = h.Sequence
	}
	p.known[h.Instance] = last
	return missing, true
}

// forget drops gateways that have not been heard for as long as anything is
// remembered, and reports whether there were any. p.mu is held.
func (p *peers) forget(now time.Time) bool {
	before := len(p.known)
	for instance, k := range p.known {
		if age := now.Sub(k.heard); age > peerForget || age < -peerForget {
			delete(p.known, instance)
		}
	}
	return len(p.known) < before
}

// lately counts the gateways that were heard in the last ten minutes.
func (p *peers) lately(now time.Time) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range p.known {
		if now.Sub(k.heard) < 10*time.Minute {
			n++
		}
	}
	return n
}
