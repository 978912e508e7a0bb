// Package affinity owns where the turns of conversations go: what a call's
// conversation is recognized by, the pins that earlier turns left, a bounded
// cache of them in front of a shared store, and the writing of new ones off the
// request's path. Losing any of it costs a provider's cache miss and never an
// error. What pins mean is decided in shared/decide; this package knows no
// ranking, no format and no transport but its store's.
package affinity

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox-dev/signalbox/dataplane/internal/bounded"
	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/decide"
)

// ErrAbsent is a Store's word that there is no document, or none any more.
var ErrAbsent = errors.New("no pins of this name")

// Store keeps documents for all gateways. *NATS is one.
type Store interface {
	// Get reads a document, ErrAbsent when there is none. It may be some
	// milliseconds old.
	Get(ctx context.Context, n Name) ([]byte, error)
	// Change replaces a document by what change makes of the present one, and
	// keeps it for life, in whole seconds. Nil leaves it as it is. change may be
	// called several times. It returns the document that is there now, nil for
	// none.
	Change(ctx context.Context, n Name, change func(old []byte) (doc []byte, life time.Duration)) ([]byte, error)
	// Watch calls heard for every document that is written from now on, by
	// whomever, and missed whenever some may not have been heard, first when it
	// has begun. A nil document was taken away. It returns when ctx ends.
	Watch(ctx context.Context, heard func(n Name, doc []byte), missed func()) error
}

// The bounds of what a request may wait for and a gateway may hold.
const (
	// FindWithin is the most that a request waits for the store. An answer takes
	// a fraction of a millisecond (BenchmarkFind); one that takes longer is given
	// up, and the store is left alone for retryAfter.
	FindWithin = 5 * time.Millisecond
	retryAfter = time.Second
	// absentFor is how long it is believed that a conversation has no pins. A pin
	// that another gateway makes meanwhile is heard of.
	absentFor = 10 * time.Second

	heldMost    = 50_000 // conversations, some 400 bytes each
	queueMost   = 4096   // writes that wait; of more, the pins stay on this gateway until their next turn
	writers     = 4
	writeWithin = 2 * time.Second
	drainWithin = 2 * time.Second
)

// Options are what Pins need.
type Options struct {
	Store  Store
	Secret []byte // the same on all gateways; names and hints are keyed with it
	Now    func() time.Time
	Log    *slog.Logger
	Within time.Duration // most that a request waits; 0 is FindWithin
}

// Pins finds and keeps the pins of conversations. It is safe for concurrent
// use. Without Run it works, and writes nothing.
type Pins struct {
	store   Store
	now     func() time.Time
	log     *slog.Logger
	within  time.Duration
	digests atomic.Pointer[sync.Pool]
	metrics *metrics

	held   *bounded.Cache[Name, entry]
	epoch  atomic.Uint32      // of what the watch has heard without a gap
	stamps atomic.Uint64      // of changes of what is held
	away   atomic.Int64       // until when the store is left alone, Unix nanoseconds
	passed [256]atomic.Uint32 // documents that were heard of and not held, by a byte of their names
	queue  [writers]chan write
}

// entry is what is held of one conversation. It is frozen.
type entry struct {
	doc   Document
	conv  decide.Conversation // of doc, while nothing of it is over
	over  int64               // when something of doc is over, Unix seconds
	epoch uint32
	// until bounds how long an empty document is believed.
	until time.Time
	// unsaved: the store does not have it, or not yet.
	unsaved bool
	stamp   uint64 // of the last change of what is held
	heard   []byte // the last that was heard of while unsaved
}

type write struct {
	name   Name
	change change
	stamp  uint64
}

// New returns Pins and registers their metrics.
func New(o Options, registry prometheus.Registerer) *Pins {
	p := &Pins{
		store: o.Store, now: o.Now, log: o.Log, within: o.Within,
		held: bounded.New[Name, entry](heldMost), metrics: newMetrics(registry),
	}
	if p.within <= 0 {
		p.within = FindWithin
	}
	p.Rekey(o.Secret)
	for i := range p.queue {
		p.queue[i] = make(chan write, queueMost/writers)
	}
	return p
}

// Rekey has conversations named with another secret from now on. Those that
// were named before are not recognized any more.
func (p *Pins) Rekey(secret []byte) {
	p.digests.Store(&sync.Pool{New: func() any { return newDigest(hmac.New(sha256.New, secret)) }})
}

// Find recognizes a call's conversation and returns what is remembered of it.
// It waits no longer than FindWithin and never fails: what cannot be found out
// in time is as if it were not there.
func (p *Pins) Find(ctx context.Context, c *call.Call, rules decide.AffinityRules) call.Conversation {
	conv, ok := p.recognize(c, rules)
	if !ok {
		return call.Conversation{}
	}
	n := Name{Workspace: c.Workspace, Digest: conv.Name}
	now := p.now()
	e, known := p.held.Get(n)
	switch {
	case known && p.fresh(&e, now):
	case conv.Source == decide.FromOpening && !conv.Sure && !p.doubtful(&e):
		// Nearly every request without a session has an opening that nobody has
		// seen. Those that were pinned are heard of, so nobody is asked.
	default:
		e = p.fetch(ctx, n, e)
	}
	found := e.conversation(now)
	conv.Model, conv.Pins = found.Model, found.Pins
	p.metrics.found(conv.Source, len(conv.Pins) > 0 || conv.Model != "")
	return conv
}

// Peek recognizes a call's conversation and returns what this gateway holds of
// it, for a call that is not made: it counts nothing and asks nobody.
func (p *Pins) Peek(c *call.Call, rules decide.AffinityRules) call.Conversation {
	conv, ok := p.recognize(c, rules)
	if !ok {
		return call.Conversation{}
	}
	if e, known := p.held.Get(Name{Workspace: c.Workspace, Digest: conv.Name}); known {
		found := e.conversation(p.now())
		conv.Model, conv.Pins = found.Model, found.Pins
	}
	return conv
}

// fresh reports that what is held needs no confirmation.
func (p *Pins) fresh(e *entry, now time.Time) bool {
	if e.epoch != p.epoch.Load() && !e.unsaved {
		return false
	}
	return !e.doc.empty() && e.doc.until() > now.Unix() || now.Before(e.until)
}

// doubtful reports that what is held has pins, and may have changed while
// nothing was heard.
func (p *Pins) doubtful(e *entry) bool {
	return !e.doc.empty() && !e.unsaved && e.epoch != p.epoch.Load()
}

// fetch asks the store. What is held counts while it does not answer, and when
// it has lost what this gateway still knows.
func (p *Pins) fetch(ctx context.Context, n Name, held entry) entry {
	if p.now().UnixNano() < p.away.Load() {
		p.metrics.lookups.WithLabelValues(lookupSkipped).Inc()
		return held
	}
	epoch, passed := p.epoch.Load(), p.passedOf(n).Load()
	within, cancel := context.WithTimeout(ctx, p.within)
	defer cancel()
	data, err := p.store.Get(within, n)
	now := p.now()
	e := entry{epoch: epoch, stamp: held.stamp}
	switch {
	case errors.Is(err, ErrAbsent):
		p.metrics.lookups.WithLabelValues(lookupAbsent).Inc()
		if !held.doc.empty() && held.doc.until() > now.Unix() {
			e, e.unsaved = held, true
			e.epoch = epoch
			break
		}
		e.until = now.Add(absentFor)
	case err != nil:
		p.metrics.lookups.WithLabelValues(lookupFailed).Inc()
		if ctx.Err() == nil { // else the caller has left, which says nothing of the store
			p.away.Store(now.Add(retryAfter).UnixNano())
		}
		return held
	default:
		p.metrics.lookups.WithLabelValues(lookupFound).Inc()
		if e.doc, err = decode(data); err != nil {
			e.until = now.Add(absentFor)
		}
	}
	e.settle(now)
	p.hold(n, e, passed)
	return e
}

func (p *Pins) passedOf(n Name) *atomic.Uint32 { return &p.passed[n.Digest[1]] }

// hold keeps what was read, unless something newer came in between: it is held
// then, or was passed over because nothing was.
func (p *Pins) hold(n Name, e entry, passed uint32) {
	p.held.Update(n, func(old entry, ok bool) (entry, bool) {
		if ok && old.stamp != e.stamp || !ok && p.passedOf(n).Load() != passed {
			return old, false
		}
		e.stamp = p.stamps.Add(1)
		return e, true
	})
}

// settle works out what of the document holds, so that finding it costs
// nothing.
func (e *entry) settle(now time.Time) {
	e.conv = e.doc.conversation(now)
	e.over = 0
	for i := range e.doc.Pins {
		e.ends(e.doc.Pins[i].Until, now)
	}
	if e.doc.Model != nil {
		e.ends(e.doc.Model.Until, now)
	}
}

func (e *entry) ends(until int64, now time.Time) {
	if until > now.Unix() && (e.over == 0 || until < e.over) {
		e.over = until
	}
}

func (e *entry) conversation(now time.Time) decide.Conversation {
	if e.over != 0 && now.Unix() >= e.over {
		return e.doc.conversation(now)
	}
	return e.conv
}
