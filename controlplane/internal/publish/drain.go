package publish

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/outbox"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

const (
	pollOutbox    = time.Second // NOTIFY is the fast way, this the sure one
	parallel      = 8           // workspaces published at once
	pendingLimit  = 256
	publishWithin = 30 * time.Second
	retryFirst    = 100 * time.Millisecond
	retryMax      = 15 * time.Second
)

// leader is the work of one term.
type leader struct {
	*Publisher
	write *document.Writer
	read  *document.Reader

	again     chan struct{} // a publication ended, or NATS came back
	comparing chan struct{} // compare with NATS now
	naming    chan struct{} // publish the catalog now
	looking   chan struct{} // see whether the catalog is another one
	slots     chan struct{}

	mu      sync.Mutex
	busy    map[id.Workspace]bool
	delayed map[id.Workspace]delay
	streams map[string]int64 // bucket to its stream's creation time
}

type delay struct {
	until time.Time
	pause time.Duration
}

func newLeader(p *Publisher) *leader {
	return &leader{
		Publisher: p,
		write:     document.NewWriter(p.d.Conn),
		read:      document.NewReader(p.d.Conn),
		again:     make(chan struct{}, 1),
		comparing: make(chan struct{}, 1),
		naming:    make(chan struct{}, 1),
		looking:   make(chan struct{}, 1),
		slots:     make(chan struct{}, parallel),
		busy:      make(map[id.Workspace]bool),
		delayed:   make(map[id.Workspace]delay),
		streams:   make(map[string]int64),
	}
}

// connected is told of every new connection to NATS: what waited may go now,
// and NATS may have lost its data.
func (l *leader) connected() {
	l.mu.Lock()
	clear(l.delayed)
	clear(l.streams)
	l.mu.Unlock()
	for _, c := range []chan struct{}{l.again, l.comparing, l.naming} {
		nudge(c)
	}
}

func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// drain publishes what the outbox has until ctx ends.
func (l *leader) drain(ctx context.Context, wake <-chan struct{}) {
	var running sync.WaitGroup
	defer running.Wait()
	tick := time.NewTicker(pollOutbox)
	defer tick.Stop()
	for {
		if l.d.Conn.Connected() {
			l.start(ctx, &running)
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
			nudge(l.looking)
		case <-l.again:
		case <-tick.C:
		}
	}
}

// start begins what waits and is not under way.
func (l *leader) start(ctx context.Context, running *sync.WaitGroup) {
	batches, err := l.d.Outbox.Pending(ctx, pendingLimit, l.skipped())
	if err != nil {
		if ctx.Err() == nil {
			l.d.Log.Warn("outbox was not read", slog.Any("error", err))
		}
		return
	}
	for _, b := range batches {
		select {
		case <-ctx.Done():
			return
		case l.slots <- struct{}{}:
		}
		if !l.claim(b.Workspace) { // the reconciler was faster
			<-l.slots
			continue
		}
		running.Go(func() {
			defer func() { <-l.slots; l.release(b.Workspace) }()
			l.serve(ctx, b)
		})
	}
}

func (l *leader) skipped() []id.Workspace {
	now := l.d.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]id.Workspace, 0, len(l.busy)+len(l.delayed))
	for ws := range l.busy {
		list = append(list, ws)
	}
	for ws, d := range l.delayed {
		if now.Before(d.until) {
			list = append(list, ws)
		}
	}
	return list
}

// claim makes the caller the only one who publishes ws, until release: another
// one in between would look like a database that was set back.
func (l *leader) claim(ws id.Workspace) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.busy[ws] {
		return false
	}
	l.busy[ws] = true
	return true
}

func (l *leader) release(ws id.Workspace) {
	l.mu.Lock()
	delete(l.busy, ws)
	l.mu.Unlock()
	nudge(l.again)
}

func (l *leader) serve(ctx context.Context, b outbox.Batch) {
	for _, p := range b.Publications {
		l.d.Tracker.Open(p)
	}
	err := l.publish(ctx, b.Workspace)
	l.mu.Lock()
	d := l.delayed[b.Workspace]
	if err == nil {
		delete(l.delayed, b.Workspace)
	} else {
		d.pause = min(max(2*d.pause, retryFirst), retryMax)
		d.until = l.d.Now().Add(d.pause)
		l.delayed[b.Workspace] = d
	}
	l.mu.Unlock()
	if err != nil && ctx.Err() == nil {
		l.metrics.failed.Add(1)
		l.d.Log.Warn("publishing failed, it is tried again", slog.String("workspace_id", b.Workspace.String()), slog.Any("error", err), slog.Duration("retry_in", d.pause))
	}
}

// publish brings the committed state of ws to NATS. What cannot be written
// because NATS is ahead is numbered anew and tried again at once.
func (l *leader) publish(ctx context.Context, ws id.Workspace) error {
	ctx, cancel := context.WithTimeout(ctx, publishWithin)
	defer cancel()
	var err error
	for range raises {
		if err = l.d.Conn.Ready(); err != nil {
			return err
		}
		var c Compiled
		if c, err = l.d.Compiler.Compile(ctx, ws); err != nil {
			return err
		}
		if err = l.bring(ctx, c); err == nil {
			return nil
		}
		ahead, ok := errors.AsType[*document.AheadError](err)
		if !ok {
			return err
		}
		if err := l.raise(ctx, c, ahead.Revision); err != nil {
			return err
		}
	}
	return err
}

// bring writes documents of presets and keys, then the body, then the pointer to
// it. A gateway that sees the pointer can so have everything that it stands for.
func (l *leader) bring(ctx context.Context, c Compiled) error {
	ws := c.Snapshot.Workspace
	done := outbox.Done{Workspace: ws, Revision: c.Snapshot.Revision}
	err := l.presets(ctx, c)
	if err != nil {
		return err
	}
	if done.Keys, err = l.keys(ctx, c.Keys); err != nil {
		return err
	}
	if done.Policy, err = l.policy(ctx, c); err != nil {
		return err
	}
	done.At = l.d.Now().UTC()
	l.metrics.published.Add(1)
	covered, err := l.d.Outbox.Done(ctx, done)
	if err != nil {
		return err
	}
	for _, p := range covered {
		p.PublishedAt = nil // just now, as is noted below
		l.d.Tracker.Open(p)
	}
	// Not before the database says so: an account is closed only once.
	l.d.Tracker.Published(ws, done.Revision, done.At, done.Keys, done.Policy)
	return nil
}

func (l *leader) keys(ctx context.Context, keys []policy.Key) (wire.Position, error) {
	var last uint64
	for _, k := range keys {
		seq, err := l.write.Key(ctx, k)
		if err != nil {
			return wire.Position{}, err
		}
		l.metrics.documents.Add(1)
		last = max(last, seq)
	}
	if last == 0 {
		return wire.Position{}, nil
	}
	return l.at(ctx, wire.BucketKeys, last)
}

func (l *leader) policy(ctx context.Context, c Compiled) (wire.Position, error) {
	s := c.Snapshot
	body, digest, err := policy.Encode(s)
	if err != nil {
		return wire.Position{}, err
	}
	if err := l.expected(ctx, c, digest); err != nil {
		return wire.Position{}, err
	}
	name := wire.PolicyBody(s.Workspace, digest)
	where, err := l.write.Body(ctx, wire.BucketPolicy, name, body)
	if err != nil {
		return wire.Position{}, err
	}
	seq, err := l.write.Pointer(ctx, wire.BucketPolicy, wire.PolicyPointer(s.Workspace), policy.Pointer{
		Schema: policy.Schema, Revision: s.Revision, Digest: digest, Size: len(body), Where: where, Name: name,
		Published: l.d.Now().UTC(),
	})
	if err != nil {
		return wire.Position{}, err
	}
	return l.at(ctx, wire.BucketPolicy, seq)
}

// at adds to a sequence which stream it is of.
func (l *leader) at(ctx context.Context, bucket string, seq uint64) (wire.Position, error) {
	l.mu.Lock()
	created, ok := l.streams[bucket]
	l.mu.Unlock()
	if !ok {
		state, err := l.read.State(ctx, bucket)
		if err != nil {
			return wire.Position{}, err
		}
		created = state.End.Stream
		l.mu.Lock()
		l.streams[bucket] = created
		l.mu.Unlock()
	}
	return wire.Position{Stream: created, Sequence: seq}, nil
}
