package feed_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/dataplane/internal/feed"
	"github.com/signalbox-dev/signalbox/dataplane/internal/keyring"
	"github.com/signalbox-dev/signalbox/dataplane/internal/lastgood"
	"github.com/signalbox-dev/signalbox/dataplane/internal/snapshot"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, natstest.Leaks()...) }

const (
	soon = 15 * time.Second
	tick = 2 * time.Millisecond
)

var ids = id.SystemSource()

// world is NATS and what a control plane does with it.
type world struct {
	t     testing.TB
	nats  *natstest.Server
	write *document.Writer
	ws    id.Workspace
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, nats: natstest.New(t), ws: id.New[id.WorkspaceKind](ids)}
	w.write = document.NewWriter(w.nats.Ready())
	w.catalog(1)
	w.complete()
	return w
}

// wipe loses NATS's data; its buckets are there again, empty.
func (w *world) wipe() {
	w.nats.Wipe()
	w.write = document.NewWriter(w.nats.Ready())
}

func (w *world) complete() {
	require.NoError(w.t, w.write.Mark(w.t.Context(), wire.BucketKeys, wire.KeysComplete, []byte("{}")))
}

func (w *world) catalog(revision int64) {
	body, digest, err := policy.Encode(catalog.Catalog{Schema: catalog.Schema, Revision: revision})
	require.NoError(w.t, err)
	w.publish(wire.BucketCatalog, wire.CatalogPointer, wire.CatalogBody(digest), revision, digest, body)
}

// policy publishes a revision of the workspace; padding makes it large.
func (w *world) policy(revision int64, padding int) {
	s := w.snapshot(revision)
	s.Settings.DefaultModel = strings.Repeat("x", padding)
	w.snapshotAs(s)
}

func (w *world) snapshot(revision int64) policy.Snapshot {
	return policy.Snapshot{
		Workspace: w.ws, Revision: revision, Status: policy.WorkspaceActive, Settings: policy.DefaultSettings(),
	}.Versioned()
}

func (w *world) snapshotAs(s policy.Snapshot) {
	revision := s.Revision
	body, digest, err := policy.Encode(s)
	require.NoError(w.t, err)
	w.publish(wire.BucketPolicy, wire.PolicyPointer(w.ws), wire.PolicyBody(w.ws, digest), revision, digest, body)
}

func (w *world) publish(bucket, key, name string, revision int64, digest string, body []byte) {
	where, err := w.write.Body(w.t.Context(), bucket, name, body)
	require.NoError(w.t, err)
	_, err = w.write.Pointer(w.t.Context(), bucket, key, policy.Pointer{
		Schema: policy.Schema, Revision: revision, Digest: digest, Size: len(body), Where: where, Name: name,
	})
	require.NoError(w.t, err)
}

func (w *world) key(kid string, revision int64, status policy.KeyStatus) {
	_, err := w.write.Key(w.t.Context(), w.document(kid, revision, status))
	require.NoError(w.t, err)
}

func (w *world) document(kid string, revision int64, status policy.KeyStatus) policy.Key {
	return policy.Key{Schema: policy.Schema, KID: kid, Workspace: w.ws, Status: status, Revision: revision}
}

func newKID(t testing.TB) string {
	token, err := secret.NewToken(rand.Reader, secret.Inference)
	require.NoError(t, err)
	return token.KID
}

// gateway is a running feed with what it feeds.
type gateway struct {
	t        testing.TB
	id       id.Gateway
	keys     *keyring.Keyring
	policies *snapshot.Store
	feed     *feed.Feed
	stop     func()
}

// gateway starts one whose last-known-good directory is dir.
func (w *world) gateway(dir string, change func(*feed.Options)) *gateway {
	log := natstest.Discard()
	conn := w.nats.Connect()
	disk, err := lastgood.Open(dir, lastgood.Options{Log: log})
	require.NoError(w.t, err)
	source := feed.NewSource(conn)
	g := &gateway{t: w.t, id: id.New[id.GatewayKind](ids)}
	g.keys = keyring.New(keyring.Options{Source: source, Disk: disk, Now: time.Now, Log: log, FetchWithin: time.Second})
	g.policies = snapshot.New(snapshot.Options{Source: source, Disk: disk, Now: time.Now, Log: log})
	o := feed.Options{
		Conn: conn, Keys: g.keys, Policies: g.policies, Disk: disk, Log: log, Now: time.Now,
		Self:         feed.Self{Gateway: g.id, Instance: "one", Version: "test", Address: "127.0.0.1:1", StartedAt: time.Now()},
		SpoolPending: func() int64 { return 7 }, HeartbeatEvery: 100 * time.Millisecond,
	}
	if change != nil {
		change(&o)
	}
	g.feed = feed.New(o)
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		if err := g.feed.Run(ctx); err != nil {
			w.t.Errorf("the feed ended: %v", err)
		}
	})
	g.stop = sync.OnceFunc(func() { cancel(); done.Wait() })
	w.t.Cleanup(g.stop)
	return g
}

// following waits until the gateway stands where NATS does.
func (g *gateway) following() *gateway {
	g.t.Helper()
	g.eventually(func() bool { return !g.feed.Status().CaughtUpAt.IsZero() }, "the gateway must catch up")
	return g
}

func (g *gateway) eventually(what func() bool, text string) {
	g.t.Helper()
	require.Eventually(g.t, what, soon, tick, text)
}

func (g *gateway) status(kid string) policy.KeyStatus {
	g.t.Helper()
	k, err := g.keys.Lookup(g.t.Context(), kid)
	require.NoError(g.t, err)
	return k.Status
}

func (g *gateway) revision(ws id.Workspace) int64 {
	g.t.Helper()
	v, err := g.policies.Pin(g.t.Context(), ws, 0)
	require.NoError(g.t, err)
	return v.Revision()
}

// reports collects what gateways tell the control plane.
type reports struct {
	mu    sync.Mutex
	acked map[string]int64 // gateway, workspace, kid
	beats map[id.Gateway]wire.Heartbeat
	heard func(wire.Receipt)
}

func (w *world) listen(heard func(wire.Receipt)) *reports {
	r := &reports{acked: map[string]int64{}, beats: map[id.Gateway]wire.Heartbeat{}, heard: heard}
	conn := w.nats.Connect()
	require.Eventually(w.t, conn.Connected, soon, tick)
	subscribe := func(subject string, handle func(*nats.Msg)) {
		_, err := conn.NATS().Subscribe(subject+".*", handle)
		require.NoError(w.t, err)
	}
	subscribe(wire.SubjectReceipt, func(m *nats.Msg) {
		var receipt wire.Receipt
		_ = json.Unmarshal(m.Data, &receipt)
		if r.heard != nil {
			r.heard(receipt)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, a := range receipt.Applied {
			name := ackName(receipt.Gateway, a.Workspace, a.KID)
			r.acked[name] = max(r.acked[name], a.Revision)
		}
	})
	subscribe(wire.SubjectHeartbeat, func(m *nats.Msg) {
		var h wire.Heartbeat
		_ = json.Unmarshal(m.Data, &h)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.beats[h.Gateway] = h
	})
	require.NoError(w.t, conn.NATS().Flush())
	return r
}

func ackName(g id.Gateway, ws id.Workspace, kid string) string {
	return g.String() + " " + ws.String() + " " + kid
}

func (r *reports) acknowledged(g *gateway, ws id.Workspace, kid string, revision int64) func() bool {
	return func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.acked[ackName(g.id, ws, kid)] >= revision
	}
}

func (r *reports) beat(g *gateway) wire.Heartbeat {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.beats[g.id]
}
