package cell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Run answers until ctx ends, and then states what is not stated yet for a short
// while. It outlives every outage of its store.
func (c *Cells) Run(ctx context.Context) error {
	defer c.opts.Store.OnConnect(func() {
		c.mu.Lock()
		c.reconnected = true
		c.mu.Unlock()
		signal(c.wake)
	})()
	stop, err := c.opts.Store.Listen(c.peers.hear)
	if err != nil {
		return fmt.Errorf("listen to gateways: %w", err)
	}
	defer stop()
	c.mu.Lock()
	c.running = ctx
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.running = nil
		c.mu.Unlock()
		c.workers.Wait()
	}()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.told:
			c.progress()
			continue
		case <-c.wake:
		case <-timer.C:
		}
		c.look(ctx)
		c.tend()
		next := c.opts.every
		if c.down.Load() {
			next = min(next, probe)
		}
		timer.Reset(next)
	}
}

// look sees whether the store answers, what time it is there, and whether the
// documents are still those from before.
func (c *Cells) look(ctx context.Context) {
	within, cancel := context.WithTimeout(ctx, c.opts.Wait)
	defer cancel()
	c.mu.Lock()
	again := c.reconnected
	c.reconnected = false
	c.mu.Unlock()
	err := c.clock.measure(within, c.opts.Store.Time)
	if err == nil {
		err = c.readMark(within)
	}
	if err == nil && c.deaf.Load() {
		err = c.tryWrite(within)
	}
	if ctx.Err() != nil {
		return
	}
	was := c.down.Swap(err != nil)
	switch {
	case err != nil && !was:
		c.opts.Log.Warn("limits over all gateways are not answered", slog.Any("error", err))
	case err == nil && (was || again):
		c.each(func(l *cell) { l.restate(false) })
	}
}

// tryWrite sees whether the store takes a write.
func (c *Cells) tryWrite(ctx context.Context) error {
	subject := wire.SubjectCellsProbe + "." + c.opts.Gateway.String()
	s, err := c.opts.Store.Load(ctx, subject)
	if err != nil {
		return err
	}
	if _, err = c.opts.Store.Save(ctx, subject, nil, s.Sequence, minuteTTL); err != nil && !errors.Is(err, ErrConflict) {
		return err
	}
	c.deaf.Store(false)
	return nil
}

// readMark reads the epoch of the documents. When it is another one than before
// everything that is held is stated anew.
func (c *Cells) readMark(ctx context.Context) error {
	s, err := c.opts.Store.Load(ctx, wire.SubjectCellsEpoch)
	if err != nil {
		return err
	}
	if s.Sequence == 0 {
		if c.mark.Swap(nil) != nil {
			c.opts.Log.Warn("limits over all gateways lost their data and wait for a control plane")
		}
		return nil
	}
	var epoch wire.CellsEpoch
	if err := json.Unmarshal(s.Body, &epoch); err != nil || epoch.Epoch == "" {
		return errors.New("the epoch of limits is not one")
	}
	next := &mark{hash: instanceOf(epoch.Epoch), ready: epoch.ReadyAt.UnixNano()}
	before := c.mark.Swap(next)
	if before == nil || before.hash != next.hash {
		c.metrics.epochs.Inc()
		c.each(func(l *cell) { l.restate(true) })
	}
	return nil
}

// fail notes that the store did not answer a worker.
func (c *Cells) fail(err error) {
	if !c.down.Swap(true) {
		c.opts.Log.Warn("limits over all gateways are not answered", slog.Any("error", err))
	}
	signal(c.wake)
}

// progress lets go of what the ledger has counted.
func (c *Cells) progress() {
	c.mu.Lock()
	p := c.counted
	c.mu.Unlock()
	c.each(func(l *cell) {
		if l.ref.kind == holdings {
			l.change(func(t table, at instant) bool { return t.(*reserved).progress(p, at) })
		}
	})
}

// tend states again what is leased, and lets go of cells that hold nothing.
func (c *Cells) tend() {
	at, _ := c.clock.at()
	now := c.opts.Now()
	var idle []*cell
	c.each(func(l *cell) {
		if l.tend(at, now) {
			idle = append(idle, l)
		}
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range idle {
		if l.leave() {
			delete(c.cells, l.ref)
			c.came(l.ref, -1)
		}
	}
}

// each visits every cell, without holding a lock.
func (c *Cells) each(visit func(*cell)) {
	c.mu.Lock()
	list := make([]*cell, 0, len(c.cells))
	for _, l := range c.cells {
		list = append(list, l)
	}
	c.mu.Unlock()
	for _, l := range list {
		visit(l)
	}
}
