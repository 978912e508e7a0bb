package harness

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	controlplane "github.com/signalbox-dev/signalbox/controlplane/app"
	dataplane "github.com/signalbox-dev/signalbox/dataplane/app"
	"github.com/signalbox-dev/signalbox/shared/logging"
	"github.com/signalbox-dev/signalbox/shared/natsserver"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
	"github.com/signalbox-dev/signalbox/shared/testkit/pgtest"
	"github.com/signalbox-dev/signalbox/test/harness/loopback"
)

const operatorToken = "operator-token-of-the-test-platform"

// parts are what the platform is made of, and where each lives, so that it can
// go and come back.
type parts struct {
	dir      string
	database string
	catalogs []string // paths
	keyring  string   // path
	log      *slog.Logger
	natsAddr string

	nats     *natsserver.Server
	control  *running
	gateways map[int]*running
}

// running is an app in its Run.
type running struct {
	addr   string
	reload chan os.Signal
	cancel context.CancelFunc
	ended  chan error
}

func newParts(t testing.TB, catalogs []string) *parts {
	t.Helper()
	dir := t.TempDir()
	p := &parts{
		dir: dir, database: pgtest.New(t).URL,
		keyring: filepath.Join(dir, "keyring.json"), log: logging.Discard(), gateways: map[int]*running{},
	}
	if os.Getenv("HARNESS_LOG") != "" { // for a person who looks for a fault
		p.log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	for i, text := range catalogs {
		path := filepath.Join(dir, "catalog-"+strconv.Itoa(i)+".yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		p.catalogs = append(p.catalogs, path)
	}
	_, err := seal.LoadOrCreateFile(p.keyring)
	require.NoError(t, err)
	p.natsAddr, err = loopback.Free(t.Context())
	require.NoError(t, err)
	return p
}

// StartNATS starts the NATS server where it was.
func (p *Platform) StartNATS() {
	p.t.Helper()
	var err error
	p.parts.nats, err = natsserver.Start(natsserver.Options{StoreDir: filepath.Join(p.parts.dir, "nats"), Listen: p.parts.natsAddr})
	require.NoError(p.t, err)
}

// WipeNATS removes what the NATS server stored; it must be stopped.
func (p *Platform) WipeNATS() {
	p.t.Helper()
	require.NoError(p.t, os.RemoveAll(filepath.Join(p.parts.dir, "nats")))
}

// StopNATS stops the NATS server and keeps its data.
func (p *Platform) StopNATS() {
	if p.parts.nats != nil {
		p.parts.nats.Shutdown()
		p.parts.nats = nil
	}
}

// StartControlPlane starts the control plane where it was, and waits for it.
func (p *Platform) StartControlPlane() {
	p.t.Helper()
	cfg := controlplane.Default()
	cfg.Listen = p.address(p.Control)
	cfg.Database.URL = secret.NewString(p.parts.database)
	cfg.NATS.URL = "nats://" + p.parts.natsAddr
	cfg.KeyringFile = p.parts.keyring
	cfg.OperatorToken = secret.NewString(operatorToken)
	cfg.CatalogFiles = p.parts.catalogs
	if p.operate != nil {
		p.operate(&cfg)
	}
	reload := make(chan os.Signal, 1)
	app, err := controlplane.New(context.WithoutCancel(p.t.Context()), cfg, controlplane.Deps{
		Log: p.parts.log, Now: p.now, Version: "test", Reload: reload,
	})
	require.NoError(p.t, err)
	p.parts.control = run(app.Addr(), app.Run, reload)
	p.Control = "http://" + app.Addr()
	p.ready(p.Control)
}

// StopControlPlane stops the control plane cleanly.
func (p *Platform) StopControlPlane() {
	p.t.Helper()
	if p.parts.control != nil {
		p.parts.control.stop(p.t)
		p.parts.control = nil
	}
}

// StartGateway starts gateway i where it was, and waits for it.
func (p *Platform) StartGateway(i int) {
	p.t.Helper()
	cfg := dataplane.Default()
	cfg.Listen = p.address(p.Gateways[i])
	cfg.DataDir = filepath.Join(p.parts.dir, "gateway-"+strconv.Itoa(i))
	cfg.NATS.URL = "nats://" + p.parts.natsAddr
	cfg.KeyringFile = p.parts.keyring
	if p.configure != nil {
		p.configure(&cfg)
	}
	reload := make(chan os.Signal, 1)
	app, err := dataplane.New(context.WithoutCancel(p.t.Context()), cfg, dataplane.Deps{
		Log: p.parts.log, Now: p.now, Version: "test", AccessLog: io.Discard, Reload: reload,
	})
	require.NoError(p.t, err)
	p.parts.gateways[i] = run(app.Addr(), app.Run, reload)
	p.Gateways[i] = "http://" + app.Addr()
	p.ready(p.Gateways[i])
}

// StopGateway stops gateway i cleanly.
func (p *Platform) StopGateway(i int) {
	p.t.Helper()
	if g := p.parts.gateways[i]; g != nil {
		p.HTTP.CloseIdleConnections()
		g.stop(p.t)
		delete(p.parts.gateways, i)
	}
}

// address is where something listened before, or a free one.
func (p *Platform) address(url string) string {
	p.t.Helper()
	const scheme = "http://"
	if url != "" {
		return url[len(scheme):]
	}
	addr, err := loopback.Free(p.t.Context())
	require.NoError(p.t, err)
	return addr
}

func (p *Platform) ready(url string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), soon)
	defer cancel()
	require.NoError(p.t, p.AwaitReady(ctx, url+"/readyz"))
}

func run(addr string, serve func(context.Context) error, reload chan os.Signal) *running {
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{addr: addr, reload: reload, cancel: cancel, ended: make(chan error, 1)}
	go func() { r.ended <- serve(ctx) }()
	return r
}

// stop ends an app and asserts that it ended well.
func (r *running) stop(t testing.TB) {
	t.Helper()
	r.cancel()
	select {
	case err := <-r.ended:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		t.Fatal("an app did not stop within a minute")
	}
}
