package api_test

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// cable is a TCP connection to Postgres that can be cut.
type cable struct {
	listener net.Listener
	to       [2]string // network and address

	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]bool
	done  sync.WaitGroup
}

func newCable(t *testing.T, database string) (c *cable, through string) {
	t.Helper()
	config, err := pgx.ParseConfig(database)
	require.NoError(t, err)
	c = &cable{conns: make(map[net.Conn]bool)}
	network, address := pgNetwork(config)
	c.to = [2]string{network, address}
	c.listener, err = net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c.done.Go(c.accept)
	t.Cleanup(func() {
		_ = c.listener.Close()
		c.set(true)
		c.done.Wait()
	})
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(config.User, config.Password), Host: c.listener.Addr().String(),
		Path: config.Database, RawQuery: "sslmode=disable",
	}
	return c, u.String()
}

func pgNetwork(config *pgx.ConnConfig) (network, address string) {
	port := strings.TrimPrefix(net.JoinHostPort("", portText(config.Port)), ":")
	if strings.HasPrefix(config.Host, "/") {
		return "unix", config.Host + "/.s.PGSQL." + port
	}
	return "tcp", net.JoinHostPort(config.Host, port)
}

func portText(port uint16) string { return (&net.TCPAddr{Port: int(port)}).String()[1:] }

func (c *cable) accept() {
	for {
		in, err := c.listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial(c.to[0], c.to[1])
		if err != nil || !c.hold(in, out) {
			_ = in.Close()
			if err == nil {
				_ = out.Close()
			}
			continue
		}
		for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
			c.done.Go(func() {
				_, _ = io.Copy(pair[0], pair[1])
				_ = pair[0].Close()
				_ = pair[1].Close()
			})
		}
	}
}

func (c *cable) hold(conns ...net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range conns {
		if !c.cut {
			c.conns[conn] = true
		}
	}
	return !c.cut
}

// set cuts the cable, or mends it.
func (c *cable) set(cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = cut
	for conn := range c.conns {
		_ = conn.Close()
	}
	clear(c.conns)
}

func TestPostgresAway(t *testing.T) {
	p := newUnstartedPlane(t)
	wire, through := newCable(t, p.db.URL)
	direct := p.db.URL
	p.db.URL = through
	p.start()
	w := p.tenant("away")
	key, _ := p.newKey(w, "kept")

	wire.set(true)
	for _, c := range operations(t, map[string]string{
		"workspace_id": w.id, "user_id": w.user, "key_id": key, "management_key_id": w.keyID,
		"publication_id": "pub_0000000000e008ztk5wvz3r2m1", "request_id": "req_0000000000e008ztk5wvz3r2m1",
		"credential_id":      "byok_0000000000e008ztk5wvz3r2m1",
		"routing_profile_id": "profile_0000000000e008ztk5wvz3r2m1", "department_id": "dept_0000000000e008ztk5wvz3r2m1",
		"guardrail_id": "guard_0000000000e008ztk5wvz3r2m1", "dynamic_route_id": "route_0000000000e008ztk5wvz3r2m1",
		"preset": "preset_0000000000e008ztk5wvz3r2m1", "rate_limit_policy_id": "rlp_0000000000e008ztk5wvz3r2m1",
		"rate_limit_assignment_id": "rla_0000000000e008ztk5wvz3r2m1", "webhook_id": "hook_0000000000e008ztk5wvz3r2m1", "budget_id": "budget_0000000000e008ztk5wvz3r2m1", "delivery_id": "dlv_0000000000e008ztk5wvz3r2m1",
	}) {
		c.token = w.key
		if strings.HasPrefix(c.path, "/v1/platform/") {
			c.token = operatorToken
		}
		got := p.do(header(c, "Idempotency-Key", "during-the-outage"))
		problem := got.problem(http.StatusServiceUnavailable, "unavailable")
		require.True(t, *problem.Retryable)
		require.NotEmpty(t, got.header.Get("Retry-After"))
		for _, inside := range []string{"127.0.0.1", "postgres", "pgx", "SQLSTATE", "dial"} {
			// The id is drawn, and may have any letters in it.
			require.NotContains(t, strings.ToLower(strings.ReplaceAll(got.body, problem.RequestID, "")), strings.ToLower(inside))
		}
	}
	p.do(call{method: "GET", path: "/v1/whoami", token: operatorToken}).is(http.StatusOK)
	require.Equal(t, http.StatusServiceUnavailable, p.raw(call{method: "GET", path: "/readyz"}).status)
	verbose := p.raw(call{method: "GET", path: "/readyz?verbose"}).body
	require.Contains(t, verbose, `{"name":"postgres","ok":false,"required":true,"detail":"cannot be reached"}`)
	require.Equal(t, http.StatusOK, p.raw(call{method: "GET", path: "/healthz"}).status)

	wire.set(false)
	p.db.URL = direct
	p.ready()
	kept := p.do(call{method: "GET", path: "/v1/keys", token: w.key}).is(http.StatusOK).json()["data"].([]any)
	require.Len(t, kept, 1, "something was half done")
	again := header(call{method: "POST", path: "/v1/keys", token: w.key, body: bodies["createKey"]}, "Idempotency-Key", "during-the-outage")
	p.do(again).is(http.StatusCreated)
}

func TestPagesAndProbes(t *testing.T) {
	p := newPlane(t)
	spec := p.raw(call{method: "GET", path: "/openapi.json"}).is(http.StatusOK)
	require.Equal(t, "application/json", spec.header.Get("Content-Type"))
	require.Equal(t, "3.1.0", spec.json()["openapi"])
	docs := p.raw(call{method: "GET", path: "/docs"}).is(http.StatusOK)
	require.Contains(t, docs.body, "createKey")
	require.Contains(t, docs.header.Get("Content-Security-Policy"), "default-src 'none'")
	start := p.raw(call{method: "GET", path: "/", header: http.Header{"Accept": {"text/html"}}}).is(http.StatusOK)
	require.Contains(t, start.body, "control plane")
	p.raw(call{method: "GET", path: "/nowhere"}).problem(http.StatusNotFound, "not_found")
	require.Equal(t, "ready\n", p.raw(call{method: "GET", path: "/readyz"}).is(http.StatusOK).body)
	require.Contains(t, p.raw(call{method: "GET", path: "/readyz?verbose"}).body, `"name":"publisher"`)
}
