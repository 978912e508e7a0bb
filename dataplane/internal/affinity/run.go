package affinity

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Run listens for the moves of other gateways and writes this one's, until ctx
// ends or it cannot listen. What is queued then is written, for a bounded time.
func (p *Pins) Run(ctx context.Context) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	var running sync.WaitGroup
	for _, queue := range p.queue {
		running.Go(func() { p.write(ctx, queue) })
	}
	err := p.store.Watch(ctx, p.heard, func() { p.epoch.Add(1) })
	end()
	running.Wait()
	if err != nil {
		return fmt.Errorf("listen for pins: %w", err)
	}
	return nil
}

// write works a queue off. All writes of a conversation go through one, in the
// order of its turns.
func (p *Pins) write(ctx context.Context, queue <-chan write) {
	for {
		select {
		case w := <-queue:
			p.save(ctx, w)
			continue
		case <-ctx.Done():
		}
		break
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainWithin)
	defer cancel()
	for last.Err() == nil {
		select {
		case w := <-queue:
			p.save(last, w)
		default:
			return
		}
	}
}

// save takes one turn to the store. Where another gateway was first, what it
// wrote is what is held from then on.
func (p *Pins) save(ctx context.Context, w write) {
	epoch := p.epoch.Load()
	ctx, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	// What this gateway alone knows goes along: the store may have lost it.
	ours, _ := p.held.Get(w.name)
	data, err := p.store.Change(ctx, w.name, func(old []byte) ([]byte, time.Duration) {
		doc, err := decode(old)
		if err != nil {
			doc = Document{}
			if ours.unsaved {
				doc = ours.doc
			}
		}
		return w.change.encoded(doc, err != nil)
	})
	if err != nil {
		p.metrics.failures.WithLabelValues(failureStore).Inc()
		p.log.LogAttrs(ctx, slog.LevelDebug, "pin not written", slog.Any("error", err))
		return
	}
	stored := entry{epoch: epoch}
	if stored.doc, err = decode(data); err != nil {
		return
	}
	stored.settle(p.now())
	p.held.Update(w.name, func(old entry, ok bool) (entry, bool) {
		if !ok || old.stamp > w.stamp && old.unsaved {
			return old, false // a turn that came meanwhile has a write of its own
		}
		if old.heard != nil && !bytes.Equal(old.heard, data) {
			// Written before ours or after it: the store knows.
			stored.epoch--
		}
		stored.stamp = p.stamps.Add(1)
		return stored, true
	})
}

// encoded is the document to store, nil when the one that is there will do.
func (c *change) encoded(old Document, absent bool) ([]byte, time.Duration) {
	doc, differs := c.apply(old)
	if !differs && !absent {
		return nil, 0
	}
	if doc.empty() {
		return nil, 0
	}
	data, err := json.Marshal(doc)
	if err != nil {
		return nil, 0 // strings and numbers: it always marshals
	}
	return data, max(time.Second, time.Duration(doc.until()-c.at.Unix())*time.Second)
}

// heard takes in what some gateway wrote. A conversation that this one does not
// hold is left to its first turn here, but for those that are never asked for.
func (p *Pins) heard(n Name, data []byte) {
	doc, err := decode(data)
	gone := err != nil
	now := p.now()
	e := entry{doc: doc, epoch: p.epoch.Load()}
	if gone {
		e.until = now.Add(absentFor)
	}
	e.settle(now)
	p.held.Update(n, func(old entry, ok bool) (entry, bool) {
		switch {
		case !ok && (gone || !doc.Opening):
			p.passedOf(n).Add(1)
			return old, false
		case old.unsaved: // settled when the write is through
			old.heard = data
			return old, true
		}
		e.stamp = p.stamps.Add(1)
		return e, true
	})
}
