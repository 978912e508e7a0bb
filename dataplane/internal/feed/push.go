package feed

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// A burst must not be dropped while the callback is busy; what is dropped all
// the same is found by catching up.
var room = natsconn.Room{Messages: 1 << 18, Bytes: 64 << 20}

// subscribe opens one plain subscription for each bucket. They survive
// reconnects; while NATS is away they wait for the connect.
func (f *Feed) subscribe() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for subject, handle := range map[string]nats.MsgHandler{
		wire.SubjectPushKeys + ".>":    f.pushedKey,
		wire.SubjectPushPolicy + ".>":  f.pushedPolicy,
		wire.SubjectPushCatalog + ".>": f.pushedCatalog,
	} {
		stop, err := f.o.Conn.Listen(subject, "", room, handle)
		if err != nil {
			return err
		}
		f.subs = append(f.subs, stop)
	}
	return nil
}

// unsubscribe returns when no push is being handled any more.
func (f *Feed) unsubscribe() {
	f.mu.Lock()
	subs := f.subs
	f.subs = nil
	f.mu.Unlock() // what is being handled may want it
	for _, stop := range subs {
		stop()
	}
}

func (f *Feed) pushedKey(msg *nats.Msg) {
	f.pushes.Add(1)
	e, err := document.Pushed(msg, wire.SubjectPushKeys)
	if err == nil {
		err = f.key(e)
	}
	if err != nil {
		f.reject("key document", err)
	}
}

// key hands a key document on and acknowledges it: after this call the gateway
// serves no older one.
func (f *Feed) key(e document.Entry) error {
	if !document.IsKey(e.Key) {
		return nil
	}
	if e.Deleted {
		f.o.Keys.Forget(e.Key)
		return nil
	}
	k, err := decodeKey(e.Key, e, nil)
	if err != nil {
		return err
	}
	f.o.Keys.Apply(k)
	f.receipts.add(wire.AppliedEntry{Workspace: k.Workspace, KID: k.KID, Revision: k.Revision})
	return nil
}

func (f *Feed) pushedPolicy(msg *nats.Msg) {
	f.pushes.Add(1)
	e, err := document.Pushed(msg, wire.SubjectPushPolicy)
	var ws id.Workspace
	if err == nil {
		ws, err = pointerOwner(e.Key)
	}
	if err == nil && e.Deleted {
		f.o.Policies.Forget(ws)
		return
	}
	var p policy.Pointer
	if err == nil {
		p, err = decodePointer(e, nil)
	}
	if err != nil {
		f.reject("pointer", err)
		return
	}
	if f.o.Policies.Wants(ws, p) {
		f.jobs.add(ws, p) // the body is read outside the subscription's goroutine
		return
	}
	f.receipts.add(wire.AppliedEntry{Workspace: ws, Revision: p.Revision})
}

func pointerOwner(key string) (id.Workspace, error) {
	return id.Parse[id.WorkspaceKind](strings.TrimPrefix(key, "ws."))
}

func (f *Feed) pushedCatalog(msg *nats.Msg) {
	f.pushes.Add(1)
	e, err := document.Pushed(msg, wire.SubjectPushCatalog)
	var p policy.Pointer
	if err == nil && !e.Deleted {
		p, err = decodePointer(e, nil)
	}
	if err != nil {
		f.reject("catalog pointer", err)
		return
	}
	if !e.Deleted {
		f.jobs.add(id.Workspace{}, p)
	}
}

func (f *Feed) reject(what string, err error) {
	f.unreadable.Add(1)
	f.o.Log.Error("published document is not readable", slog.String("document", what), slog.Any("error", err))
}

// jobs are the pointers whose bodies are to be read; a later pointer of a
// workspace replaces one that waits. The zero workspace is the catalog.
type jobs struct {
	mu      sync.Mutex
	waiting map[id.Workspace]policy.Pointer
	order   []id.Workspace
	busy    map[id.Workspace]bool
	wake    chan struct{}
}

func newJobs() *jobs {
	return &jobs{
		waiting: make(map[id.Workspace]policy.Pointer), busy: make(map[id.Workspace]bool),
		wake: make(chan struct{}, workers),
	}
}

func (j *jobs) add(ws id.Workspace, p policy.Pointer) {
	j.mu.Lock()
	old, waits := j.waiting[ws]
	if !waits || p.Revision >= old.Revision {
		j.waiting[ws] = p
	}
	if !waits && !j.busy[ws] {
		j.order = append(j.order, ws)
	}
	j.mu.Unlock()
	j.signal()
}

func (j *jobs) signal() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// take returns the next job; no two of one workspace run at a time.
func (j *jobs) take() (id.Workspace, policy.Pointer, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.order) == 0 {
		return id.Workspace{}, policy.Pointer{}, false
	}
	ws := j.order[0]
	j.order = j.order[1:]
	p := j.waiting[ws]
	delete(j.waiting, ws)
	j.busy[ws] = true
	return ws, p, true
}

func (j *jobs) done(ws id.Workspace) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.busy, ws)
	if _, again := j.waiting[ws]; again {
		j.order = append(j.order, ws)
		j.signal()
	}
}

const bodyWithin = 5 * time.Second

func (f *Feed) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.jobs.wake:
		}
		for {
			ws, p, ok := f.jobs.take()
			if !ok {
				break
			}
			f.install(ctx, ws, p)
			f.jobs.done(ws)
		}
	}
}

// install puts a pushed pointer's body in place and acknowledges it. On
// failure catching up tries again; the mark is not advanced before.
func (f *Feed) install(ctx context.Context, ws id.Workspace, p policy.Pointer) {
	within, cancel := context.WithTimeout(ctx, bodyWithin)
	defer cancel()
	err := f.apply(within, ws, p)
	if err != nil && ctx.Err() == nil {
		f.failures.Add(1)
		f.o.Log.Warn("pushed policy was not applied", slog.String("workspace_id", ws.String()), slog.Int64("revision", p.Revision), slog.Any("error", err))
	}
}

func (f *Feed) apply(ctx context.Context, ws id.Workspace, p policy.Pointer) error {
	var err error
	if ws.IsZero() {
		err = f.o.Policies.ApplyCatalog(ctx, p)
	} else {
		err = f.o.Policies.Apply(ctx, ws, p)
	}
	if err == nil {
		f.receipts.add(wire.AppliedEntry{Workspace: ws, Revision: p.Revision})
	}
	return err
}
