package publication

import (
	"slices"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Standing is how far a live gateway has followed the publications, as its
// last heartbeat says.
type Standing struct {
	Gateway      id.Gateway
	Keys, Policy wire.Position
}

// Fleet knows the live gateways.
type Fleet interface {
	Live() []Standing
}

// Tracker follows open publications: those whose receipts still come in. It
// lives in memory, in every control plane. What it loses with a restart comes
// back by itself: heartbeats state positions in the buckets' streams, which
// say of every publication whether the gateway has passed it. Only the exact
// latency of a publication that was open then is lost; a settled one has its
// account in Postgres.
type Tracker struct {
	fleet Fleet

	mu    sync.Mutex
	open  map[id.Workspace][]*entry // ascending by revision
	count int
	// marks are what was applied before a publication was opened here.
	marks   map[id.Workspace]map[part]applied
	marked  int
	changed chan struct{} // closed and replaced with every change
}

// part is a key document, or the policy for kid "", at one gateway.
type part struct {
	gateway id.Gateway
	kid     string
}

type applied struct {
	revision int64
	at       time.Time
}

// entry is an open publication and who has applied which part of it.
type entry struct {
	p            Publication
	keys, policy wire.Position                       // zero until published
	parts        map[id.Gateway]map[string]time.Time // a zero time is unknown
}

// The bounds of a tracker. Beyond them the oldest is forgotten, and the
// heartbeats' positions decide.
const (
	maxOpen  = 20_000
	maxMarks = 200_000
)

// NewTracker returns a tracker over fleet.
func NewTracker(fleet Fleet) *Tracker {
	return &Tracker{
		fleet: fleet, open: make(map[id.Workspace][]*entry),
		marks: make(map[id.Workspace]map[part]applied), changed: make(chan struct{}),
	}
}

// Open starts to follow p. Opening one that is followed already changes
// nothing, unless it was numbered anew.
func (t *Tracker) Open(p Publication) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.openLocked(p)
}

func (t *Tracker) openLocked(p Publication) *entry {
	list := t.open[p.Workspace]
	at, found := slices.BinarySearchFunc(list, p.Revision, func(e *entry, r int64) int { return int(e.p.Revision - r) })
	if found && list[at].p.ID == p.ID {
		return list[at]
	}
	if later := t.renumberedLocked(p); later != nil {
		return later
	}
	list = t.open[p.Workspace]
	at, _ = slices.BinarySearchFunc(list, p.Revision, func(e *entry, r int64) int { return int(e.p.Revision - r) })
	if t.count >= maxOpen {
		t.dropOldest()
		list = t.open[p.Workspace]
		at, _ = slices.BinarySearchFunc(list, p.Revision, func(e *entry, r int64) int { return int(e.p.Revision - r) })
	}
	e := &entry{p: p, parts: make(map[id.Gateway]map[string]time.Time)}
	for m, a := range t.marks[p.Workspace] {
		switch {
		case a.revision < p.Revision:
		case a.revision == p.Revision, p.PublishedAt == nil:
			e.apply(m.gateway, m.kid, a.at)
		default: // long published: the mark is of a later receipt, and the first one's time is forgotten
			e.apply(m.gateway, m.kid, time.Time{})
		}
	}
	t.open[p.Workspace] = slices.Insert(list, at, e)
	t.count++
	return e
}

// renumberedLocked forgets what stands in the way of p: p itself by an earlier
// revision, with receipts that were of another change, and a change that the
// database no longer has. It returns p's entry when that is the later one.
func (t *Tracker) renumberedLocked(p Publication) *entry {
	for _, e := range slices.Clone(t.open[p.Workspace]) { // closing changes the list
		switch {
		case e.p.ID == p.ID && e.p.Revision > p.Revision:
			return e
		case e.p.ID == p.ID, e.p.Revision == p.Revision:
			t.closeLocked(e.p)
		}
	}
	return nil
}

func (t *Tracker) dropOldest() {
	var oldest *entry
	for _, list := range t.open {
		if oldest == nil || list[0].p.CreatedAt.Before(oldest.p.CreatedAt) {
			oldest = list[0]
		}
	}
	if oldest != nil {
		t.closeLocked(oldest.p)
	}
}

// Published notes that the publications of ws up to revision are in NATS, at
// those positions.
func (t *Tracker) Published(ws id.Workspace, revision int64, at time.Time, keys, policy wire.Position) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.open[ws] {
		if e.p.Revision <= revision && e.p.PublishedAt == nil {
			e.p.PublishedAt = &at
			e.keys, e.policy = keys, policy
		}
	}
	t.signal()
}

// Acknowledge takes a gateway's receipt, which arrived at now. A receipt for a
// revision covers the earlier ones.
func (t *Tracker) Acknowledge(r wire.Receipt, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range r.Applied {
		if a.Workspace.IsZero() {
			continue // the catalog, which heartbeats tell of
		}
		t.mark(a.Workspace, part{r.Gateway, a.KID}, applied{a.Revision, now})
		for _, e := range t.open[a.Workspace] {
			if e.p.Revision > a.Revision {
				break
			}
			e.apply(r.Gateway, a.KID, now)
		}
	}
	t.signal()
}

func (t *Tracker) mark(ws id.Workspace, m part, a applied) {
	marks, ok := t.marks[ws]
	if !ok {
		if t.marked >= maxMarks {
			clear(t.marks)
			t.marked = 0
		}
		marks = make(map[part]applied)
		t.marks[ws] = marks
	}
	old, ok := marks[m]
	if !ok {
		t.marked++
	}
	if a.revision > old.revision {
		marks[m] = a
	}
}

// apply notes that g applied one part.
func (e *entry) apply(g id.Gateway, kid string, at time.Time) {
	if _, concerns := slices.BinarySearch(e.p.KIDs, kid); kid != "" && !concerns {
		return
	}
	parts, ok := e.parts[g]
	if !ok {
		parts = make(map[string]time.Time, len(e.p.KIDs)+1)
		e.parts[g] = parts
	}
	if _, ok := parts[kid]; !ok {
		parts[kid] = at
	}
}

// by says when g had applied every part; a zero time is unknown.
func (e *entry) by(g id.Gateway) (time.Time, bool) {
	parts := e.parts[g]
	if len(parts) <= len(e.p.KIDs) { // the policy and every key
		return time.Time{}, false
	}
	var last time.Time
	for _, at := range parts {
		if at.IsZero() {
			return time.Time{}, true
		}
		if at.After(last) {
			last = at
		}
	}
	return last, true
}

// passed reports whether a gateway's position is beyond the publication.
func (e *entry) passed(s Standing) bool {
	if e.p.PublishedAt == nil || e.policy == (wire.Position{}) {
		return false
	}
	keys := e.keys == (wire.Position{}) || s.Keys.Covers(e.keys)
	return keys && s.Policy.Covers(e.policy)
}

// Receipts says how far p has come; false when p is not followed here.
func (t *Tracker) Receipts(p Publication) (Publication, bool) {
	live := t.fleet.Live()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.open[p.Workspace] {
		if e.p.ID == p.ID {
			return e.account(live), true
		}
	}
	return p, false
}

// Look says what is known of p without following it.
func (t *Tracker) Look(p Publication) Publication {
	if seen, ok := t.Receipts(p); ok {
		return seen
	}
	e := &entry{p: p}
	return e.account(t.fleet.Live())
}

// account counts the live gateways and those that applied p before they left.
// Until p is known to be in NATS nobody has it: a receipt for its revision may
// be of a change that a database, set back since, has lost.
func (e *entry) account(live []Standing) Publication {
	p := e.p
	p.Receipts = Receipts{}
	var latencies []time.Duration
	count := func(g id.Gateway, passed bool) {
		at, ok := e.by(g)
		ok = ok && e.p.PublishedAt != nil
		if ok && !at.IsZero() {
			latencies = append(latencies, max(0, at.Sub(p.CreatedAt)))
		}
		if ok || passed {
			p.Receipts.Applied++
		} else {
			p.Receipts.PendingGateways = append(p.Receipts.PendingGateways, g)
		}
	}
	alive := make(map[id.Gateway]bool, len(live))
	for _, s := range live {
		alive[s.Gateway] = true
		count(s.Gateway, e.passed(s))
	}
	for g := range e.parts {
		if _, all := e.by(g); all && !alive[g] && e.p.PublishedAt != nil {
			count(g, true)
		}
	}
	slices.SortFunc(p.Receipts.PendingGateways, func(a, b id.Gateway) int { return slices.Compare(bytesOf(a), bytesOf(b)) })
	p.Receipts.Pending = len(p.Receipts.PendingGateways)
	p.Receipts.Gateways = p.Receipts.Applied + p.Receipts.Pending
	p.Receipts.P50, p.Receipts.P99 = percentile(latencies, 50), percentile(latencies, 99)
	return p
}

func bytesOf(g id.Gateway) []byte { u := g.UUID(); return u[:] }

// percentile is the nearest-rank percentile.
func percentile(all []time.Duration, p int) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	rank := (len(all)*p + 99) / 100
	return all[max(rank, 1)-1]
}
