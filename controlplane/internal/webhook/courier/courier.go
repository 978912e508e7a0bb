// Package courier delivers to webhooks: it takes what is due, from whichever
// workspace, makes the attempts, and keeps what came of them. Any number may run.
// It knows nothing of SQL.
package courier

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/controlplane/internal/webhook"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// The bounds of a courier. A receiver that is slow takes at most what its host and
// its workspace may have of the whole.
const (
	lookEvery    = 500 * time.Millisecond
	sweepEvery   = 10 * time.Minute
	sweepBatch   = 1000
	atOnce       = 24
	perHost      = 2
	perWorkspace = 4
	// lease is how long a delivery is one courier's. A courier that dies leaves it
	// to the others after that; it is several times what an attempt takes.
	lease = 45 * time.Second
)

// Lane is a webhook that something is due for.
type Lane struct {
	Workspace id.Workspace
	Webhook   id.Webhook
	Host      string
}

// Busy are those that are not to be looked for.
type Busy struct {
	Hosts      []string
	Workspaces []id.Workspace
}

// Desk looks over all workspaces, in system transactions.
type Desk interface {
	// Due are enabled webhooks that a delivery is due for and free, the longest
	// waiting first, at most limit.
	Due(ctx context.Context, now time.Time, busy Busy, limit int) ([]Lane, error)
	// Oldest is the earliest moment at which an open delivery of an enabled webhook
	// was due; zero when none is at now.
	Oldest(ctx context.Context, now time.Time) (time.Time, error)
	// Sweep removes at most limit deliveries from before, and returns how many.
	Sweep(ctx context.Context, before time.Time, limit int) (int, error)
}

// Book keeps who delivers what, inside a transaction of ws.
type Book interface {
	// Claim gives the holder the delivery of the webhook that waits the longest, of
	// those that are due and free, until the time. It fails with not_found.
	Claim(ctx context.Context, ws id.Workspace, w id.Webhook, h Hold) (webhook.Delivery, webhook.Webhook, error)
	// Finish keeps d as it is after an attempt, and with its webhook since when it
	// fails, where the holder still has it; else not_found.
	Finish(ctx context.Context, ws id.Workspace, d webhook.Delivery, holder uuid.UUID, now time.Time) error
}

// Hold says who has a delivery, from when, and until when.
type Hold struct {
	Holder     uuid.UUID
	Now, Until time.Time
}

// Deps are what a Courier works with.
type Deps struct {
	Desk   Desk
	Book   Book
	Runner txn.Runner
	System txn.System
	Sender webhook.Sender
	Vault  webhook.Vault // nil where there is no keyring: nothing can be signed then
	IDs    *id.Source
	Now    func() time.Time
	Log    *slog.Logger
}

// Courier makes deliveries.
type Courier struct {
	d       Deps
	freed   chan struct{} // a slot was
	running sync.WaitGroup

	mu         sync.Mutex
	busy       int
	hosts      map[string]int
	workspaces map[id.Workspace]int
	counts     counts
}

// New returns a courier that does nothing yet.
func New(d Deps) *Courier {
	return &Courier{
		d: d, freed: make(chan struct{}, 1), hosts: map[string]int{}, workspaces: map[id.Workspace]int{},
		counts: counts{outcomes: map[webhook.State]uint64{}},
	}
}

// Run delivers until ctx ends. Attempts under way end with it, and are made again
// by whoever comes next.
func (c *Courier) Run(ctx context.Context) error {
	defer c.running.Wait()
	swept, failing := c.d.Now().Add(-sweepEvery), false
	for ctx.Err() == nil {
		_, err := c.round(ctx)
		if now := c.d.Now(); err == nil && now.Sub(swept) >= sweepEvery {
			swept, err = now, c.sweep(ctx, now)
		}
		if err != nil && ctx.Err() == nil && !failing {
			c.d.Log.Warn("webhooks are not delivered to, it is tried again", slog.Any("error", err))
		}
		failing = err != nil
		c.rest(ctx)
	}
	return nil
}

func (c *Courier) rest(ctx context.Context) {
	timer := time.NewTimer(lookEvery)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-c.freed:
	}
}

// Drain makes every delivery that is due, and returns when all attempts have
// ended.
func (c *Courier) Drain(ctx context.Context) error {
	for {
		n, err := c.round(ctx)
		c.running.Wait()
		if err != nil || n == 0 {
			return err
		}
	}
}

// round begins as many attempts as there is room for, and returns how many.
func (c *Courier) round(ctx context.Context) (int, error) {
	now := c.d.Now().UTC()
	lanes, oldest, err := c.look(ctx, now)
	if err != nil {
		return 0, err
	}
	c.note(func(n *counts) { n.waiting = waited(now, oldest) })
	begun := 0
	for _, lane := range lanes {
		if !c.take(lane) {
			continue
		}
		begun++
		c.running.Go(func() {
			defer c.give(lane)
			if err := c.deliver(ctx, lane); err != nil && ctx.Err() == nil {
				c.d.Log.Warn("a delivery is left to be made again", slog.String("workspace_id", lane.Workspace.String()),
					slog.String("webhook_id", lane.Webhook.String()), slog.Any("error", err))
			}
		})
	}
	return begun, nil
}

func (c *Courier) look(ctx context.Context, now time.Time) (lanes []Lane, oldest time.Time, err error) {
	busy, room := c.room()
	err = c.d.System.Read(ctx, func(ctx context.Context) (err error) {
		if oldest, err = c.d.Desk.Oldest(ctx, now); err != nil || oldest.IsZero() || room == 0 {
			lanes = nil
			return err
		}
		lanes, err = c.d.Desk.Due(ctx, now, busy, room)
		return err
	})
	return lanes, oldest, err
}

func waited(now, since time.Time) time.Duration {
	if since.IsZero() {
		return 0
	}
	return max(0, now.Sub(since))
}

// deliver makes one attempt.
func (c *Courier) deliver(ctx context.Context, lane Lane) error {
	hold := Hold{Holder: c.d.IDs.UUID(), Now: c.d.Now().UTC()}
	hold.Until = hold.Now.Add(lease)
	var d webhook.Delivery
	var w webhook.Webhook
	err := c.d.Runner.InTx(ctx, lane.Workspace, func(ctx context.Context) (err error) {
		d, w, err = c.d.Book.Claim(ctx, lane.Workspace, lane.Webhook, hold)
		return err
	})
	if fault.Is(err, fault.NotFound) {
		return nil // another courier was faster
	}
	if err != nil {
		return err
	}
	attempt := c.attempt(ctx, d, w)
	if ctx.Err() != nil {
		return ctx.Err() // nobody knows what came of it
	}
	now := txn.Moment(c.d.Now())
	after := d.After(attempt, now)
	err = c.d.Runner.InTx(ctx, lane.Workspace, func(ctx context.Context) error {
		return c.d.Book.Finish(ctx, lane.Workspace, after, hold.Holder, now)
	})
	if fault.Is(err, fault.NotFound) {
		return errors.New("it took longer than it may and another one has it, or it was given up meanwhile")
	}
	if err == nil {
		c.note(func(n *counts) { n.outcomes[after.State]++ })
	}
	return err
}

func (c *Courier) attempt(ctx context.Context, d webhook.Delivery, w webhook.Webhook) webhook.Attempt {
	now := txn.Moment(c.d.Now())
	secrets, err := webhook.Secrets(c.d.Vault, w, now)
	if err != nil {
		return webhook.Attempt{At: now, Trouble: webhook.Unsealed}
	}
	return c.d.Sender.Send(ctx, webhook.Shipment{URL: w.URL, Event: d.Event, Type: d.Type, Body: []byte(d.Body), Secrets: secrets})
}

// sweep removes what is past its time.
func (c *Courier) sweep(ctx context.Context, now time.Time) error {
	for n := sweepBatch; n == sweepBatch; {
		err := c.d.System.InTx(ctx, func(ctx context.Context) (err error) {
			n, err = c.d.Desk.Sweep(ctx, now.Add(-webhook.KeepDeliveries), sweepBatch)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// room is how many attempts may begin, and at whom none may.
func (c *Courier) room() (Busy, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var busy Busy
	for host, n := range c.hosts {
		if n >= perHost {
			busy.Hosts = append(busy.Hosts, host)
		}
	}
	for ws, n := range c.workspaces {
		if n >= perWorkspace {
			busy.Workspaces = append(busy.Workspaces, ws)
		}
	}
	return busy, atOnce - c.busy
}

func (c *Courier) take(l Lane) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy >= atOnce || c.hosts[l.Host] >= perHost || c.workspaces[l.Workspace] >= perWorkspace {
		return false
	}
	c.busy++
	c.hosts[l.Host]++
	c.workspaces[l.Workspace]++
	return true
}

func (c *Courier) give(l Lane) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy--
	if c.hosts[l.Host]--; c.hosts[l.Host] == 0 {
		delete(c.hosts, l.Host)
	}
	if c.workspaces[l.Workspace]--; c.workspaces[l.Workspace] == 0 {
		delete(c.workspaces, l.Workspace)
	}
	select {
	case c.freed <- struct{}{}:
	default:
	}
}
