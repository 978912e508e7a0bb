package feed

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Receipts are gathered for a moment, as changes come in bursts.
const (
	receiptDelay = 10 * time.Millisecond
	receiptMax   = 2000 // entries of one message
)

// receipts collects what was applied until it is sent. While NATS is away
// nothing waits here for long: a later heartbeat's positions say the same.
type receipts struct {
	gateway id.Gateway
	now     func() time.Time

	mu      sync.Mutex
	waiting map[receiptKey]wire.AppliedEntry
	wake    chan struct{}
}

type receiptKey struct {
	ws  id.Workspace
	kid string
}

const receiptsKept = 1 << 16

func newReceipts(gateway id.Gateway, now func() time.Time) *receipts {
	return &receipts{gateway: gateway, now: now, waiting: make(map[receiptKey]wire.AppliedEntry), wake: make(chan struct{}, 1)}
}

// add notes that e was applied just now. A later revision covers an earlier
// one.
func (r *receipts) add(e wire.AppliedEntry) {
	e.AppliedAt = r.now()
	key := receiptKey{e.Workspace, e.KID}
	r.mu.Lock()
	old, ok := r.waiting[key]
	if (!ok && len(r.waiting) < receiptsKept) || (ok && e.Revision > old.Revision) {
		r.waiting[key] = e
	}
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *receipts) take() []wire.AppliedEntry {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]wire.AppliedEntry, 0, len(r.waiting))
	for _, e := range r.waiting {
		list = append(list, e)
	}
	clear(r.waiting)
	return list
}

// acknowledge sends receipts.
func (f *Feed) acknowledge(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			f.sendReceipts()
			return
		case <-f.receipts.wake:
		}
		select {
		case <-ctx.Done():
		case <-time.After(receiptDelay):
		}
		f.sendReceipts()
	}
}

func (f *Feed) sendReceipts() {
	list := f.receipts.take()
	for len(list) > 0 {
		n := min(len(list), receiptMax)
		f.send(wire.SubjectReceipt, wire.Receipt{Gateway: f.o.Self.Gateway, Applied: list[:n]})
		list = list[n:]
	}
}

func (f *Feed) send(subject string, message any) {
	data, err := json.Marshal(message)
	if err == nil {
		err = f.o.Conn.NATS().Publish(subject+"."+f.o.Self.Gateway.String(), data)
	}
	if err != nil && f.o.Conn.Connected() {
		f.o.Log.Warn("report to the control plane was not sent", slog.String("subject", subject), slog.Any("error", err))
	}
}

// beat sends heartbeats, and a last one that says that the gateway stops.
func (f *Feed) beat(ctx context.Context) {
	tick := time.NewTicker(f.o.HeartbeatEvery)
	defer tick.Stop()
	cancel := f.o.Conn.OnConnect(f.sendHeartbeat)
	defer cancel()
	f.sendHeartbeat()
	for {
		select {
		case <-ctx.Done():
			last := f.heartbeat()
			last.Stopping = true
			f.send(wire.SubjectHeartbeat, last)
			return
		case <-tick.C:
			f.sendHeartbeat()
		}
	}
}

func (f *Feed) sendHeartbeat() {
	if f.o.Conn.Connected() {
		f.send(wire.SubjectHeartbeat, f.heartbeat())
	}
}

func (f *Feed) heartbeat() wire.Heartbeat {
	status := f.Status()
	f.mu.Lock()
	marks := f.marks
	f.mu.Unlock()
	workspaces := make(map[string]int64)
	for ws, revision := range f.o.Policies.Marks(wire.MaxMarks) {
		workspaces[ws.String()] = revision
	}
	return wire.Heartbeat{
		Gateway: f.o.Self.Gateway, Instance: f.o.Self.Instance, Version: f.o.Self.Version, Address: f.o.Self.Address,
		StartedAt: f.o.Self.StartedAt, SentAt: f.o.Now(),
		CatalogRevision: status.Policies.CatalogRevision, Workspaces: workspaces, KeysHeld: status.Keys.Held,
		SpoolPending: f.o.SpoolPending(), Stale: status.Stale(),
		Keys: marks.keys, Policy: marks.policy, Catalog: marks.catalog,
	}
}
