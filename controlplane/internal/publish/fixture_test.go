package publish_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/gateway"
	"github.com/signalbox-dev/signalbox/controlplane/internal/postgres"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publish"
	"github.com/signalbox-dev/signalbox/controlplane/internal/settings"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/testkit/pgtest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, natstest.Leaks()...) }

const (
	soon = 15 * time.Second
	tick = 5 * time.Millisecond
)

var ids = id.SystemSource()

// world is a database, a NATS server, and a reader that sees what gateways see.
type world struct {
	t      testing.TB
	url    string
	nats   *natstest.Server
	db     *postgres.DB
	reader *document.Reader
	writer *document.Writer
	deploy *deploy.Mutator
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, url: pgtest.New(t).URL, nats: natstest.New(t)}
	w.db = w.open()
	conn := w.nats.Connect()
	w.reader, w.writer = document.NewReader(conn), document.NewWriter(conn)
	w.deploy = deploy.New(w.db.Runner(), postgres.NewPublicationStore(), postgres.NewAuditStore(), ids, time.Now)
	return w
}

func (w *world) open() *postgres.DB {
	db, err := postgres.Open(w.t.Context(), postgres.Config{URL: secret.NewString(w.url), MaxConns: 12})
	require.NoError(w.t, err)
	w.t.Cleanup(func() { require.NoError(w.t, db.Close()) })
	return db
}

// plane is one running control plane.
type plane struct {
	*publish.Publisher
	tracker *publication.Tracker
	service *publication.Service
	fleet   *gateway.Service
	stop    func()
}

type sourceFunc func() catalog.Catalog

func (sourceFunc) Published(context.Context, int64, int64, time.Time) error { return nil }

func (f sourceFunc) Catalog(context.Context) (catalog.Catalog, int64, error) { return f(), 0, nil }

func anyCatalog() catalog.Catalog { return catalog.Catalog{Schema: catalog.Schema} }

// start runs a control plane; change may replace its parts.
func (w *world) start(change func(*publish.Deps)) *plane {
	db := w.open()
	conn := w.nats.Connect()
	registry := gateway.NewRegistry(postgres.NewGatewayStore(db), time.Now, natstest.Discard())
	tracker := publication.NewTracker(registry)
	deps := publish.Deps{
		Conn: conn, Topology: natsconn.NewKeeper(conn, natsconn.Topology{}, natstest.Discard()), Elector: postgres.NewElector(db, natstest.Discard()),
		Outbox: postgres.NewOutbox(db), Accounts: postgres.NewOutbox(db), Compiler: postgres.NewCompiler(db),
		Ledger: postgres.NewLedger(db), Presets: postgres.NewLedger(db), Catalog: sourceFunc(anyCatalog), Revisions: postgres.NewCatalogRevisions(db),
		Tracker: tracker, Registry: registry, Now: time.Now, Log: natstest.Discard(),
	}
	if change != nil {
		change(&deps)
	}
	p := &plane{
		Publisher: publish.New(deps), tracker: tracker, fleet: gateway.NewService(registry),
		service: publication.NewService(db.Runner(), postgres.NewPublicationStore(), tracker, time.Now),
	}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		if err := p.Run(ctx); err != nil {
			w.t.Errorf("the publisher ended: %v", err)
		}
	})
	p.stop = sync.OnceFunc(func() { cancel(); done.Wait() })
	w.t.Cleanup(p.stop)
	return p
}

// workspace makes a workspace as revision 1.
func (w *world) workspace() id.Workspace {
	ws := id.New[id.WorkspaceKind](ids)
	now := time.Now().UTC()
	err := w.db.Runner().InTx(w.t.Context(), ws, func(ctx context.Context) error {
		err := postgres.NewWorkspaceStore().Create(ctx, workspace.Workspace{
			ID: ws, Name: "Acme", Slug: "acme-" + ws.String()[17:], Status: policy.WorkspaceActive, Version: 1, CreatedAt: now, UpdatedAt: now,
		}, workspace.Member{
			Workspace: ws, User: id.New[id.UserKind](ids), Email: ws.String() + "@example.com", Name: "Ada", Role: workspace.Owner, CreatedAt: now,
		}, true)
		if err != nil {
			return err
		}
		err = postgres.NewSettingsStore().Create(ctx, ws, settings.Settings{Settings: policy.DefaultSettings(), Version: 1, UpdatedAt: now})
		if err != nil {
			return err
		}
		_, err = w.deploy.Mutate(ctx, ws, change("workspace.create"), func(context.Context, int64) error { return nil })
		return err
	})
	require.NoError(w.t, err)
	return ws
}

func change(action string, kids ...string) *deploy.Change {
	return &deploy.Change{Actor: audit.Actor{Kind: audit.System}, Action: action, TargetType: "test", KIDs: kids}
}

// touch changes a workspace's settings.
func (w *world) touch(ws id.Workspace, model string) publication.Publication {
	p, err := w.deploy.Mutate(w.t.Context(), ws, change("settings.update"), func(ctx context.Context, _ int64) error {
		s, err := postgres.NewSettingsStore().Get(ctx, ws)
		if err != nil {
			return err
		}
		s.DefaultModel = model
		s.Version++
		return postgres.NewSettingsStore().Update(ctx, ws, s)
	})
	require.NoError(w.t, err)
	return p
}

// key makes an API key.
func (w *world) key(ws id.Workspace) (apikey.Key, publication.Publication) {
	token, err := secret.NewToken(rand.Reader, secret.Inference)
	require.NoError(w.t, err)
	now := time.Now().UTC().Truncate(time.Microsecond)
	k := apikey.Key{
		ID: id.New[id.KeyKind](ids), Workspace: ws, KID: token.KID, Name: "test", Suffix: token.Suffix(),
		Status: policy.KeyActive, SecretHash: token.Hash(), Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	p, err := w.deploy.Mutate(w.t.Context(), ws, change("key.create", k.KID), func(ctx context.Context, revision int64) error {
		k.Revision = revision
		return postgres.NewAPIKeyStore().Create(ctx, ws, k)
	})
	require.NoError(w.t, err)
	return k, p
}

// alter changes a key.
func (w *world) alter(k apikey.Key, what func(*apikey.Key)) (apikey.Key, publication.Publication) {
	p, err := w.deploy.Mutate(w.t.Context(), k.Workspace, change("key.update", k.KID), func(ctx context.Context, revision int64) error {
		what(&k)
		k.Version++
		k.Revision = revision
		return postgres.NewAPIKeyStore().Update(ctx, k.Workspace, k)
	})
	require.NoError(w.t, err)
	return k, p
}

// document is the key document in NATS; the zero one when there is none.
func (w *world) document(kid string) policy.Key {
	e, err := w.reader.Leader(w.t.Context(), wire.BucketKeys, kid)
	if err != nil {
		return policy.Key{}
	}
	k, err := policy.DecodeKey(e.Data)
	require.NoError(w.t, err)
	return k
}

// snapshot is the policy in NATS, fetched as a gateway does.
func (w *world) snapshot(ws id.Workspace) (policy.Snapshot, bool) {
	p, ok := w.pointer(wire.BucketPolicy, wire.PolicyPointer(ws))
	if !ok {
		return policy.Snapshot{}, false
	}
	body, err := w.reader.Body(w.t.Context(), wire.BucketPolicy, p)
	if err != nil {
		return policy.Snapshot{}, false
	}
	s, err := policy.DecodeSnapshot(body, p.Digest)
	require.NoError(w.t, err)
	require.Equal(w.t, p.Revision, s.Revision)
	return s, true
}

func (w *world) pointer(bucket, key string) (p policy.Pointer, ok bool) {
	e, err := w.reader.Leader(w.t.Context(), bucket, key)
	return p, err == nil && json.Unmarshal(e.Data, &p) == nil
}

func (w *world) eventually(what func() bool, text string) {
	w.t.Helper()
	require.Eventually(w.t, what, soon, tick, text)
}

func (w *world) published(ws id.Workspace, revision int64) {
	w.t.Helper()
	w.eventually(func() bool { s, ok := w.snapshot(ws); return ok && s.Revision >= revision }, "the revision must be published")
}

// fakeGateway acknowledges what is pushed, as a gateway that holds nothing.
type fakeGateway struct {
	id      id.Gateway
	conn    *natsconn.Conn
	silent  atomic.Bool // hears nothing
	beating atomic.Bool
	base    wire.Heartbeat
}

func (w *world) gateway() *fakeGateway {
	g := &fakeGateway{id: id.New[id.GatewayKind](ids), conn: w.nats.Connect()}
	g.base = wire.Heartbeat{Gateway: g.id, Instance: "one", Version: "test", Address: "127.0.0.1:1", StartedAt: time.Now()}
	g.beating.Store(true)
	for _, prefix := range []string{wire.SubjectPushKeys, wire.SubjectPushPolicy} {
		_, err := g.conn.NATS().Subscribe(prefix+".>", func(m *nats.Msg) { g.pushed(prefix, m) })
		require.NoError(w.t, err)
	}
	require.Eventually(w.t, g.conn.Connected, soon, tick)
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		every := time.NewTicker(50 * time.Millisecond)
		defer every.Stop()
		for ctx.Err() == nil {
			if g.beating.Load() {
				g.beat(g.base)
			}
			select {
			case <-ctx.Done():
			case <-every.C:
			}
		}
	})
	w.t.Cleanup(func() { cancel(); done.Wait() })
	return g
}

func (g *fakeGateway) beat(h wire.Heartbeat) {
	h.SentAt = time.Now()
	data, _ := json.Marshal(h)
	_ = g.conn.NATS().Publish(wire.SubjectHeartbeat+"."+g.id.String(), data)
}

func (g *fakeGateway) pushed(prefix string, m *nats.Msg) {
	e, err := document.Pushed(m, prefix)
	if err != nil || g.silent.Load() || e.Key == wire.KeysComplete {
		return
	}
	var d struct {
		Workspace id.Workspace `json:"workspace"`
		KID       string       `json:"kid"`
		Revision  int64        `json:"revision"`
	}
	_ = json.Unmarshal(e.Data, &d)
	if prefix == wire.SubjectPushPolicy {
		d.Workspace, _ = id.Parse[id.WorkspaceKind](e.Key[len("ws."):])
	}
	data, _ := json.Marshal(wire.Receipt{Gateway: g.id, Applied: []wire.AppliedEntry{
		{Workspace: d.Workspace, KID: d.KID, Revision: d.Revision, AppliedAt: time.Now()},
	}})
	_ = g.conn.NATS().Publish(wire.SubjectReceipt+"."+g.id.String(), data)
}
