package app_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/controlplane/app"
	"github.com/signalbox-dev/signalbox/shared/logging"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/testkit/pgtest"
)

// TestMain checks that nothing of a control plane outlives its Run.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, natstest.Leaks()...)
}

func config(t *testing.T, database string) app.Config {
	t.Helper()
	cfg := app.Default()
	cfg.Listen = "127.0.0.1:0"
	cfg.Database.URL = secret.NewString(database)
	cfg.OperatorToken = secret.NewString("operator-token-of-the-tests-0123456789")
	return cfg
}

func deps() app.Deps {
	return app.Deps{Log: logging.Discard(), Now: time.Now, Version: "test", Env: func(string) (string, bool) { return "", false }}
}

// run runs a and returns the function that ends it.
func run(t *testing.T, a *app.App) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() {
		_ = stop()
		http.DefaultClient.CloseIdleConnections()
	})
	return stop
}

func status(address, path string) (int, string) {
	response, err := http.Get("http://" + address + path)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(body)
}

func ready(t *testing.T, address string) {
	t.Helper()
	require.Eventually(t, func() bool {
		code, _ := status(address, "/readyz")
		return code == http.StatusOK
	}, 20*time.Second, 20*time.Millisecond)
}

func TestStartsAndStopsWithoutLeftovers(t *testing.T) {
	database, server := pgtest.New(t), natstest.New(t)
	cfg := config(t, database.URL)
	cfg.NATS.URL = server.URL()
	cfg.OpsListen = "127.0.0.1:0"
	a, err := app.New(t.Context(), cfg, deps())
	require.NoError(t, err)
	stop := run(t, a)
	ready(t, a.OpsAddr())
	code, _ := status(a.Addr(), "/readyz")
	require.Equal(t, http.StatusNotFound, code, "the probes are on the other listener")
	code, _ = status(a.Addr(), "/v1/keys")
	require.Equal(t, http.StatusUnauthorized, code)
	_, metrics := status(a.OpsAddr(), "/metrics")
	require.Contains(t, metrics, "signalbox_publish_leading")
	require.Contains(t, metrics, `signalbox_build_info{component="controlplane",version="test"} 1`)
	require.NoError(t, stop())

	// The same address and data can be used again at once.
	again, err := app.New(t.Context(), cfg, deps())
	require.NoError(t, err)
	stop = run(t, again)
	ready(t, again.OpsAddr())
	require.NoError(t, stop())
}

func TestServesWithoutNATS(t *testing.T) {
	database := pgtest.New(t)
	cfg := config(t, database.URL)
	cfg.NATS.URL = "nats://" + unused(t)
	a, err := app.New(t.Context(), cfg, deps())
	require.NoError(t, err)
	stop := run(t, a)
	ready(t, a.Addr())
	_, verbose := status(a.Addr(), "/readyz?verbose")
	require.Contains(t, verbose, `{"name":"nats","ok":false,"required":false`)
	require.NoError(t, stop())
}

// TestPostgresArrivesLater starts before its database, which is empty.
func TestPostgresArrivesLater(t *testing.T) {
	database, server := pgtest.Empty(t), natstest.New(t)
	address := unused(t)
	parsed, err := pgx.ParseConfig(database.URL)
	require.NoError(t, err)
	through := url.URL{Scheme: "postgres", User: url.UserPassword(parsed.User, parsed.Password), Host: address, Path: parsed.Database, RawQuery: "sslmode=disable"}
	cfg := config(t, through.String())
	cfg.NATS.URL = server.URL()
	a, err := app.New(t.Context(), cfg, deps())
	require.NoError(t, err)
	stop := run(t, a)
	require.Eventually(t, func() bool {
		code, _ := status(a.Addr(), "/readyz")
		return code == http.StatusServiceUnavailable
	}, 10*time.Second, 20*time.Millisecond)
	forward(t, address, parsed)
	ready(t, a.Addr())
	require.NoError(t, stop())
}

func TestMistakesAreNamed(t *testing.T) {
	database := pgtest.New(t)
	occupied, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer occupied.Close()
	const password = "canary-password"
	cases := map[string]struct {
		change func(*app.Config)
		says   []string
	}{
		"occupied port":     {func(c *app.Config) { c.Listen = occupied.Addr().String() }, []string{occupied.Addr().String(), "in use", "listen"}},
		"occupied ops port": {func(c *app.Config) { c.OpsListen = occupied.Addr().String() }, []string{occupied.Addr().String(), "ops_listen"}},
		"no database":       {func(c *app.Config) { c.Database.URL = secret.String{} }, []string{"database.url"}},
		"unreadable URL":    {func(c *app.Config) { c.Database.URL = secret.NewString("postgres://u:" + password + "@h:port/db") }, []string{"database url"}},
		"absent database": {func(c *app.Config) {
			u, err := url.Parse(database.URL)
			require.NoError(t, err)
			u.Path = "/nowhere"
			c.Database.URL = secret.NewString(u.String())
		}, []string{"nowhere"}},
		"no catalog file": {func(c *app.Config) { c.CatalogFiles = []string{"/nowhere.yaml"} }, []string{"catalog_files", "/nowhere.yaml"}},
		"no keyring file": {func(c *app.Config) { c.KeyringFile = "/nowhere.json" }, []string{"keyring_file", "/nowhere.json"}},
		"short token":     {func(c *app.Config) { c.OperatorToken = secret.NewString(password) }, []string{"operator_token"}},
		"several at once": {func(c *app.Config) { c.Listen, c.NATS.Replicas, c.HTTP.MaxBody = "x", 2, 1 }, []string{"listen", "nats.replicas", "http.max_body"}},
		"billing": {
			func(c *app.Config) {
				c.Billing = app.Billing{Default: "credit", FloorUSD: "-1", BYOKFeeRate: -1, BYOKFreeRequests: -1}
			},
			[]string{"billing: default", "floor_usd", "byok_fee_rate", "byok_free_requests"},
		},
		"allowances": {
			func(c *app.Config) { c.Allowances = app.Allowances{TrustedPaidUSD: "much", TrustedAge: -1} },
			[]string{"allowances: ", "new", "standard", "trusted", "enterprise", "free_per_day", "trusted_paid_usd", "trusted_age"},
		},
		"credentials in URL": {func(c *app.Config) { c.NATS.URL = "nats://u:" + password + "@h" }, []string{"nats", "url"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cfg := config(t, database.URL)
			c.change(&cfg)
			_, err := app.New(t.Context(), cfg, deps())
			require.Error(t, err)
			for _, part := range c.says {
				require.ErrorContains(t, err, part)
			}
			require.NotContains(t, err.Error(), password)
		})
	}
}

func TestMigrate(t *testing.T) {
	database := pgtest.Empty(t)
	t.Setenv("SIGNALBOX_DATABASE_URL", database.URL)
	var out bytes.Buffer
	require.NoError(t, app.Migrate(t.Context(), "", app.MigrateStatus, &out))
	require.Contains(t, out.String(), "roles")
	require.Regexp(t, `(?m)^1 .* no$`, out.String())
	out.Reset()
	require.NoError(t, app.Migrate(t.Context(), "", app.MigrateUp, &out))
	require.NotContains(t, out.String(), " no\n")

	t.Setenv("SIGNALBOX_DATABASE_URL", "postgres://u:canary-password@"+unused(t)+"/db?sslmode=disable")
	err := app.Migrate(t.Context(), "", app.MigrateUp, &out)
	require.ErrorContains(t, err, "SIGNALBOX_DATABASE_URL")
	require.NotContains(t, err.Error(), "canary-password")
}

func TestReconcile(t *testing.T) {
	database := pgtest.New(t)
	t.Setenv("SIGNALBOX_DATABASE_URL", database.URL)
	var found []app.Difference
	reconcile := func(workspace string) error {
		found = nil
		return app.Reconcile(t.Context(), "", app.Books{Workspace: workspace}, func(d app.Difference) error {
			found = append(found, d)
			return nil
		})
	}
	require.NoError(t, reconcile(""))
	require.Empty(t, found)
	conn, err := pgx.Connect(t.Context(), database.URL)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	_, err = conn.Exec(t.Context(), `INSERT INTO wallets (workspace_id, granted_nanos, charged_nanos, paid_nanos, entries, version, updated_at)
		VALUES ('01890000-0000-7000-8000-000000000001', 5, 0, 0, 0, 1, now())`)
	require.NoError(t, err)
	require.NoError(t, reconcile(""))
	require.Len(t, found, 1)
	d := found[0]
	require.Equal(t, app.Difference{Workspace: d.Workspace, Check: "entries_wallet", Place: "wallet", Figure: "granted_nanos", Want: 5}, d)
	require.NoError(t, reconcile(d.Workspace))
	require.Len(t, found, 1)
	require.ErrorContains(t, reconcile("somewhere"), "ws_")

	t.Setenv("SIGNALBOX_DATABASE_URL", "postgres://u:canary-password@"+unused(t)+"/db?sslmode=disable")
	err = reconcile("")
	require.ErrorIs(t, err, app.ErrDatabaseAway)
	require.NotContains(t, err.Error(), "canary-password")
}

// unused is an address that nobody listens on.
func unused(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return listener.Addr().String()
}

// forward lets address lead to the database until the test ends.
func forward(t *testing.T, address string, to *pgx.ConnConfig) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	network, target := pgxTarget(to)
	var group sync.WaitGroup
	group.Go(func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial(network, target)
			if err != nil {
				_ = in.Close()
				continue
			}
			for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
				group.Go(func() {
					_, _ = io.Copy(pair[0], pair[1])
					_ = pair[0].Close()
					_ = pair[1].Close()
				})
			}
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		group.Wait()
	})
}

func pgxTarget(c *pgx.ConnConfig) (network, address string) {
	network, address = "tcp", (&net.TCPAddr{Port: int(c.Port)}).String()
	if strings.HasPrefix(c.Host, "/") {
		return "unix", c.Host + "/.s.PGSQL" + strings.ReplaceAll(address, ":", ".")
	}
	return network, c.Host + address
}
