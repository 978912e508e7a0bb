package health

import (
	"time"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Apply takes what another gateway told. The order in which messages come, and
// how often, makes no difference; what cannot be true counts as trouble and
// changes nothing. self is this gateway's own instance, of which it knows
// everything already.
func (t *Table) Apply(self uuid.UUID, h *wire.Health) {
	now := t.now()
	if h.Instance == self {
		return
	}
	if apart := now.Sub(h.SentAt); apart > maxSkew || apart < -maxSkew {
		t.trouble.add(TroubleClock, 1)
		return
	}
	missing, ok := t.peers.heard(now, h)
	if !ok {
		t.trouble.add(TroublePeers, 1)
		return
	}
	t.trouble.add(TroubleLost, missing)
	for i := range h.Endpoints {
		t.applyEndpoint(now, self, h, &h.Endpoints[i])
	}
	if t.credentials.merge(now, h.Credentials) {
		t.changed.Store(true)
	}
}

func (t *Table) applyEndpoint(now time.Time, self uuid.UUID, h *wire.Health, n *wire.EndpointHealth) {
	e := t.known(n.ID)
	if e == nil {
		if e = t.add(n.ID, maxEndpoints); e == nil {
			t.trouble.add(TroubleEndpoints, 1)
			return
		}
	}
	m := merging{endpoint: e, now: now, slot: slotOf(now), self: self, from: h, trouble: &t.trouble}
	e.mu.Lock()
	m.standing(&n.Standing)
	m.cells(n.Cells)
	own := m.turned
	e.mu.Unlock()
	t.note(n.ID, m.turn, own)
}

// merging is one message's part about one endpoint, which is locked.
type merging struct {
	*endpoint

	now     time.Time
	slot    int64 // of now
	self    uuid.UUID
	from    *wire.Health
	trouble *troubles
	turn    turn
}

func (m *merging) standing(s *wire.EndpointStanding) {
	if *s == (wire.EndpointStanding{}) {
		return
	}
	m.seen = m.now
	if m.breaker.merge(m.now, s) {
		m.turn.changed = true
		m.turn.opened, m.turn.closed = !m.breaker.closed(), m.breaker.closed()
	}
	if m.cool.merge(m.now, s.CoolUntil, s.CoolStep) {
		m.turn.changed = true
	}
}

// whole reports that the message is of an answer with all that a gateway knows.
func (m *merging) whole() bool { return m.from.Sequence == 0 }

// cells counts what is new. Of the buckets that are open, what each gateway
// counted is kept apart, and the difference is counted. Of older ones only the
// sum over all gateways is left: another gateway's takes the place of ours when
// there is more in it, and is never added to it.
func (m *merging) cells(cells []wire.HealthCell) {
	if len(cells) == 0 {
		return
	}
	m.advance(m.slot)
	closed := max(m.slot-openBuckets, m.sealed)
	if settled := m.from.Settled; m.whole() && settled > closed && settled <= m.slot-openBuckets+maxAhead {
		closed, m.sealed = settled, settled
	}
	sums := make(map[int64]*counts)
	for i := range cells {
		c := &cells[i]
		switch {
		case c.Slot > m.slot+maxAhead:
			m.trouble.add(TroubleClock, 1)
		case c.Slot <= m.slot-int64(buckets): // over
		case c.Slot > closed:
			m.count(c)
		case m.whole():
			if sums[c.Slot] == nil {
				sums[c.Slot] = new(counts)
			}
			add(sums[c.Slot], &c.HealthCounts)
		default:
			m.trouble.add(TroubleLate, 1)
		}
	}
	for slot, sum := range sums {
		if m.calls.holds(slot) && sum.Calls() > m.calls.at(slot).Calls() && sum.Calls() <= mostCalls {
			m.seen = m.now
			m.calls.replace(slot, sum)
		}
	}
}

// mostCalls is more than all gateways together make at one endpoint in a
// bucket. A sum must stay something that can be told.
const mostCalls = 1 << 23

// count counts what a gateway's bucket has beyond what is known of it.
func (m *merging) count(c *wire.HealthCell) {
	instance := c.Origin
	if instance == uuid.Nil && !m.whole() {
		instance = m.from.Instance
	}
	if instance == uuid.Nil || instance == m.self {
		return // a sum of what is kept apart, or our own
	}
	o := m.others[instance]
	if o == nil {
		if len(m.others) >= maxPeers {
			m.trouble.add(TroublePeers, 1)
			return
		}
		if m.others == nil {
			m.others = make(map[uuid.UUID]*origin)
		}
		o = &origin{}
		m.others[instance] = o
	}
	b := o.at(c.Slot)
	if c.Calls() <= b.Calls() {
		return // known
	}
	more, ok := grown(&c.HealthCounts, &b.counts)
	if !ok || m.calls.holds(c.Slot) && m.calls.at(c.Slot).Calls()+more.Calls() > mostCalls {
		m.trouble.add(TroubleCounts, 1)
		return
	}
	m.seen = m.now
	b.counts = copyOf(&c.HealthCounts)
	m.calls.add(c.Slot, &more)
	m.judge(c.Slot, &more)
}

// judge lets the breaker see what happened at another gateway. A failed probe
// opens the breaker of the gateway that made it, which tells by its standing.
func (m *merging) judge(slot int64, more *counts) {
	at := m.now
	if end := endOf(slot); end.Before(at) {
		at = end
	}
	if m.whole() || m.now.Sub(at) >= tripWindow || !at.After(m.breaker.closedAt) {
		return
	}
	if more.Succeeded > 0 {
		m.cool.step = 0
	}
	m.breaker.trip.add(at, more.Succeeded+more.Failed, more.Failed)
	switch {
	case m.breaker.closed() && more.Failed > 0 && m.breaker.trip.trips():
		m.breaker.open(m.now)
		m.turn.changed, m.turn.opened, m.turned = true, true, true
	case more.Succeeded > 0 && !at.Before(m.breaker.openUntil) && m.breaker.probed(m.now, more.Succeeded):
		m.turn.changed, m.turn.closed, m.turned = true, true, true
	}
}
