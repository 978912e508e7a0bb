package cell

import (
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// peers are the gateways that are heard of.
type peers struct {
	now  func() time.Time
	self id.Gateway

	mu    sync.Mutex
	known map[id.Gateway]*peer
	since time.Time // from when on this gateway has heard itself without a gap
}

// peer is a gateway that was heard.
type peer struct {
	instance uint64
	ended    []uint64 // processes before, the latest last
	heard    time.Time
	stopping bool
}

const (
	// deaf is after how long without its own heartbeats a gateway does not hear
	// those of others either.
	deaf = 5 * time.Second
	// forgotten is when nothing of a gateway that is silent can still be leased.
	forgotten = 2 * time.Minute
	endedKept = 4
)

// instanceOf is the process as it is named in documents.
func instanceOf(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return h.Sum64()
}

// hear takes in a heartbeat.
func (p *peers) hear(beat wire.Heartbeat) {
	now, instance := p.now(), instanceOf(beat.Instance)
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.known[beat.Gateway]
	if g == nil {
		g = &peer{instance: instance}
		p.known[beat.Gateway] = g
	}
	if beat.Gateway == p.self && (p.since.IsZero() || now.Sub(g.heard) > deaf) {
		p.since = now
	}
	if slices.Contains(g.ended, instance) {
		return // it was late
	}
	if instance != g.instance {
		g.ended = append(g.ended, g.instance)
		g.ended = g.ended[max(0, len(g.ended)-endedKept):]
	}
	g.instance, g.heard, g.stopping = instance, now, beat.Stopping
	for gw, g := range p.known {
		if now.Sub(g.heard) > forgotten {
			delete(p.known, gw)
		}
	}
}

// live is how many gateways are heard, this one among them.
func (p *peers) live() int {
	now := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 1
	for gw, g := range p.known {
		if gw != p.self && !g.stopping && now.Sub(g.heard) <= wire.GatewayGoneAfter {
			n++
		}
	}
	return n
}

// gone says that a process of a gateway has ended: it said so, another one of
// the same gateway is heard, or it fell silent while this gateway heard itself.
func (p *peers) gone(gw id.Gateway, instance uint64) bool {
	now := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.known[gw]
	if g == nil {
		return false
	}
	if slices.Contains(g.ended, instance) {
		return true
	}
	if g.instance != instance {
		return false // one that was not heard yet
	}
	if g.stopping {
		return true
	}
	self := p.known[p.self]
	hears := self != nil && now.Sub(self.heard) <= deaf && now.Sub(p.since) > wire.GatewayGoneAfter
	return hears && now.Sub(g.heard) > wire.GatewayGoneAfter
}
