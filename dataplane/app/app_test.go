package app_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/app"
	"github.com/signalbox-dev/signalbox/dataplane/internal/socket"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/logging"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

const hello = `{"model":"acme/small","messages":[{"role":"user","content":"hello there"}]}`

func TestChatIsServedRecordedAndFoundAgain(t *testing.T) {
	p := newPlatform(t)
	g := p.gateway()
	got := g.chat(p.token, hello, "x-request-id", "mine-1", "x-signalbox-user-id", "end-user")
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Equal(t, "acme/small", got.json(t)["model"])
	require.Equal(t, "north", got.header.Get("x-signalbox-provider"))
	require.Equal(t, "acme/small", got.header.Get("x-signalbox-model"))
	require.Equal(t, "0", got.header.Get("x-signalbox-retry-count"))
	require.Equal(t, "1", got.header.Get("x-signalbox-policy-revision"))
	require.Equal(t, "mine-1", got.header.Get("x-request-id"))
	require.Regexp(t, `^gw;dur=\d+\.\d{3}, up;dur=\d+\.\d{3}$`, got.header.Get("server-timing"))
	require.Empty(t, got.header.Get("x-signalbox-attempted-fallbacks"))
	rid := got.header.Get("x-signalbox-request-id")
	require.Regexp(t, `^req_`, rid)

	line := g.line(rid)
	for key, want := range map[string]any{
		"msg": "request", "level": "INFO", "route": "POST /v1/chat/completions", "surface": "chat", "status": 200.0, "outcome": "success",
		"workspace_id": p.workspace.String(), "key_id": p.key.ID.String(), "requested_model": "acme/small", "model": "acme/small",
		"provider": "north", "endpoint": "north:acme/small", "stream": false, "attempts": 1.0, "client_request_id": "mine-1",
		"remote": "127.0.0.1", "policy_revision": 1.0, "catalog_revision": 1.0,
	} {
		require.Equal(t, want, line[key], key)
	}
	for _, key := range []string{"time", "duration_us", "gateway_us", "upstream_us", "first_byte_us", "input_tokens", "output_tokens", "cost_nano_usd"} {
		require.Contains(t, line, key)
	}
	require.Greater(t, line["cost_nano_usd"], 0.0)

	event := p.events(rid, 1)[0]
	require.Equal(t, rid, event.ID.String())
	require.Equal(t, wire.Success, event.Outcome)
	require.Equal(t, p.key.CreatedBy, event.User)
	require.Equal(t, "end-user", event.EndUser)
	require.EqualValues(t, 1000*event.Usage.Input+2000*event.Usage.Output, event.Cost.Total)
	require.Contains(t, string(event.Decision), `"served_provider":"north"`)

	generation := g.do(http.MethodGet, "/v1/generations/"+rid, p.token, "")
	require.Equal(t, http.StatusOK, generation.status)
	data := generation.json(t)["data"].(map[string]any)
	require.Equal(t, rid, data["id"])
	require.Equal(t, "north", data["provider"])
	require.Equal(t, "north", data["decision"].(map[string]any)["served_provider"])

	metrics := g.probe("/metrics").body
	require.Contains(t, metrics, `signalbox_requests_total{code="",outcome="success",surface="chat"} 1`)
	require.Contains(t, metrics, `signalbox_attempts_total{failure="",provider="north"} 1`)
	require.Contains(t, metrics, "signalbox_gateway_policy_stale 0")
	require.NotContains(t, metrics, p.key.ID.String())
}

func TestLargeBodiesStayInTheDataDirectoryWhileTheyAreServed(t *testing.T) {
	p := newPlatform(t)
	p.publishCatalog()
	cfg := p.config()
	g := p.start(cfg)
	g.awaitReady()
	got := g.chat(p.token, strings.Replace(hello, "{", `{"x_large":"`+strings.Repeat("x", 2<<20)+`",`, 1))
	require.Equal(t, http.StatusOK, got.status, got.body)
	left, err := os.ReadDir(filepath.Join(cfg.DataDir, "bodies"))
	require.NoError(t, err)
	require.Empty(t, left)
	cfg.HTTP.BodyRoom = 1
	require.ErrorContains(t, cfg.Validate(), "http.body_room")
	cfg.Upstream.Session = 0
	require.ErrorContains(t, cfg.Validate(), "upstream.session")
	cfg.HTTP.MaxMultipart = 0
	require.ErrorContains(t, cfg.Validate(), "http.max_multipart")
}

func TestGenerationsOfAnotherWorkspaceAreNotThere(t *testing.T) {
	p := newPlatform(t)
	g := p.gateway()
	rid := g.chat(p.token, hello).header.Get("x-signalbox-request-id")
	other := &platform{}
	*other = *p
	other.workspace = newWorkspace(p)
	other.publishPolicy(policy.Snapshot{Revision: 1, Status: policy.WorkspaceActive, Settings: policy.DefaultSettings()})
	key, token := other.newKey()
	other.publishKey(key)
	got := g.do(http.MethodGet, "/v1/generations/"+rid, token, "")
	require.Equal(t, http.StatusNotFound, got.status)
	require.Contains(t, got.fault(t)["message"], "management API")
}

func TestStream(t *testing.T) {
	p := newPlatform(t)
	g := p.gateway()
	got := g.chat(p.token, strings.Replace(hello, "{", `{"stream":true,`, 1))
	require.Equal(t, http.StatusOK, got.status)
	require.Equal(t, "text/event-stream", strings.Split(got.header.Get("content-type"), ";")[0])
	require.True(t, strings.HasSuffix(got.body, "data: [DONE]\n\n"), got.body)
	require.NotContains(t, got.body, `"usage":{`, "the caller did not ask for usage")
	event := p.events(got.header.Get("x-signalbox-request-id"), 1)[0]
	require.True(t, event.Stream)
	require.Positive(t, event.Usage.Output)
	require.False(t, event.Usage.Estimated)
}

func TestRefusalsAreRecorded(t *testing.T) {
	p := newPlatform(t)
	g := p.gateway()
	for name, c := range map[string]struct {
		body   string
		status int
		code   string
	}{
		"unknown model": {`{"model":"acme/none","messages":[]}`, 404, "model_not_found"},
		"no model":      {`{"messages":[]}`, 400, "no_default_model"},
		"invalid json":  {`{"model":`, 400, "invalid_json"},
		"wrong field":   {`{"model":"acme/small","stream":"yes"}`, 400, "validation_error"},
	} {
		t.Run(name, func(t *testing.T) {
			got := g.chat(p.token, c.body)
			require.Equal(t, c.status, got.status, got.body)
			require.Equal(t, c.code, got.fault(t)["code"])
			require.Equal(t, "1", got.header.Get("x-signalbox-policy-revision"))
			rid := got.header.Get("x-signalbox-request-id")
			require.Equal(t, rid, got.fault(t)["request_id"])
			event := p.events(rid, 1)[0]
			require.Equal(t, wire.Refused, event.Outcome)
			require.Equal(t, c.code, event.Code)
			require.Equal(t, c.status, event.Status)
			require.Zero(t, event.Cost.Total)
			require.Equal(t, c.code, g.line(rid)["code"])
		})
	}
}

func TestUpstreamFailureNamesWhoWasTried(t *testing.T) {
	p := newPlatform(t)
	g := p.gateway()
	got := g.chat(p.token, `{"model":"acme/broken-fault-status-503","messages":[]}`)
	require.Equal(t, http.StatusBadGateway, got.status)
	require.Equal(t, "upstream_server_error", got.fault(t)["code"])
	require.Equal(t, "upstream", got.fault(t)["origin"])
	require.Equal(t, "north", got.header.Get("x-signalbox-attempted-fallbacks"))
	require.Empty(t, got.header.Get("x-signalbox-provider"))
	event := p.events(got.header.Get("x-signalbox-request-id"), 1)[0]
	require.Equal(t, wire.Failed, event.Outcome)
	require.Equal(t, 1, event.Attempts)
}

func TestUnbelievedCallersLeaveOnlyALine(t *testing.T) {
	p := newPlatform(t)
	g := p.gateway()
	_, stranger := p.newKey()
	got := g.chat(stranger, hello)
	require.Equal(t, http.StatusUnauthorized, got.status)
	require.Equal(t, "invalid_key", got.fault(t)["reason"])
	line := g.line(got.header.Get("x-signalbox-request-id"))
	require.Equal(t, "unauthorized", line["code"])
	require.Equal(t, "no such key", line["cause"])
	require.NotContains(t, line, "workspace_id")
	require.NotContains(t, g.log.String(), stranger)
}

func TestRevocationReachesTheGateway(t *testing.T) {
	p := newPlatform(t)
	g := p.gateway()
	require.Equal(t, http.StatusOK, g.chat(p.token, hello).status)
	revoked := p.key
	revoked.Status, revoked.Revision = policy.KeyRevoked, 2
	p.publishKey(revoked)
	require.Eventually(t, func() bool { return g.chat(p.token, hello).status == http.StatusUnauthorized }, 5*time.Second, 5*time.Millisecond)
	require.Equal(t, "key_revoked", g.chat(p.token, hello).fault(t)["reason"])
}

func TestScopesOfAKey(t *testing.T) {
	p := newPlatform(t)
	g := p.gateway()
	narrow, token := p.newKey()
	narrow.Surfaces, narrow.Models = []catalog.Surface{catalog.Embeddings}, []string{"acme/large"}
	p.publishKey(narrow)
	got := g.chat(token, hello)
	require.Equal(t, http.StatusForbidden, got.status)
	require.Equal(t, "surface_not_allowed", got.fault(t)["reason"])
	got = g.do(http.MethodGet, "/v1/files", token, "")
	require.Equal(t, http.StatusForbidden, got.status)
	require.Equal(t, "surface_not_allowed", got.fault(t)["reason"])

	chat, token := p.newKey()
	chat.Models = []string{"acme/large"}
	p.publishKey(chat)
	list := g.do(http.MethodGet, "/v1/models", token, "")
	require.Equal(t, http.StatusOK, list.status)
	models := list.json(t)["data"].([]any)
	require.Len(t, models, 1)
	require.Equal(t, "acme/large", models[0].(map[string]any)["id"])
	require.Equal(t, http.StatusNotFound, g.do(http.MethodGet, "/v1/models/acme/small", token, "").status)
	endpoints := g.do(http.MethodGet, "/v1/models/acme/large/endpoints", token, "").json(t)["data"].(map[string]any)["endpoints"].([]any)
	require.Len(t, endpoints, 2)
	require.Equal(t, "1.00", endpoints[0].(map[string]any)["price"].(map[string]any)["input"])
}

func TestNotReadyWithoutACatalogAndServedFromDiskWithoutNATS(t *testing.T) {
	p := newPlatform(t)
	cfg := p.config()
	g := p.start(cfg)
	require.Equal(t, http.StatusOK, g.probe("/healthz").status)
	require.Equal(t, http.StatusServiceUnavailable, g.probe("/readyz").status)
	require.Equal(t, http.StatusServiceUnavailable, g.chat(p.token, hello).status)

	p.publishCatalog()
	g.awaitReady()
	require.Equal(t, http.StatusOK, g.chat(p.token, hello).status)
	require.Contains(t, g.probe("/readyz?verbose").body, `"detail":"fresh"`)
	require.NoError(t, g.stop())

	p.nats.Stop()
	g = p.start(cfg)
	g.awaitReady()
	got := g.chat(p.token, hello)
	require.Equal(t, http.StatusOK, got.status, got.body)
	verbose := g.probe("/readyz?verbose").body
	require.Contains(t, verbose, `"detail":"away"`)
	require.Contains(t, verbose, `"detail":"stale: served`)
	require.Contains(t, g.probe("/metrics").body, "signalbox_gateway_policy_stale 1")

	_, stranger := p.newKey()
	got = g.chat(stranger, hello)
	require.Equal(t, http.StatusServiceUnavailable, got.status, "a key that cannot be looked up is never 401")
	require.Equal(t, "upstream_undetermined", got.fault(t)["code"])
	require.Equal(t, "1", got.header.Get("retry-after"))
}

func TestCallerWhoLeavesIsRecorded(t *testing.T) {
	p := newPlatform(t)
	g := p.gateway()
	ctx, leave := context.WithCancel(t.Context())
	rid, _ := g.open(ctx, p.token)
	leave()
	event := p.events(rid, 1)[0]
	require.Equal(t, wire.Canceled, event.Outcome)
	require.Equal(t, 499, event.Status)
	require.Positive(t, event.Usage.Output)
	require.Positive(t, event.Cost.Total)
	require.InDelta(t, 499, g.line(rid)["status"], 0)
}

// open starts a stream that falls silent after two events and reads these.
func (g *gateway) open(ctx context.Context, token string) (requestID string, body *bufio.Reader) {
	g.t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, g.url+"/v1/chat/completions",
		strings.NewReader(`{"model":"acme/hang-fault-hang-2","stream":true,"messages":[{"role":"user","content":"one two three four"}]}`))
	require.NoError(g.t, err)
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	require.NoError(g.t, err)
	require.Equal(g.t, http.StatusOK, response.StatusCode)
	g.t.Cleanup(func() { _ = response.Body.Close() })
	reader := bufio.NewReader(response.Body)
	_, err = reader.ReadString('\n')
	require.NoError(g.t, err)
	return response.Header.Get("x-signalbox-request-id"), reader
}

func TestDrainCutsWhatIsLeftWithAnErrorFrame(t *testing.T) {
	p := newPlatform(t)
	p.publishCatalog()
	cfg := p.config()
	cfg.HTTP.DrainTimeout = 300 * time.Millisecond
	g := p.start(cfg)
	g.awaitReady()
	rid, body := g.open(t.Context(), p.token)
	stopped := make(chan error, 1)
	go func() { stopped <- g.stop() }()
	rest, err := io.ReadAll(body)
	require.NoError(t, err, "the body ends cleanly")
	require.Contains(t, string(rest), `"code":"upstream_undetermined"`)
	require.Contains(t, string(rest), "stopping")
	require.NotContains(t, string(rest), "[DONE]")
	require.NoError(t, <-stopped)
	event := p.events(rid, 1)[0]
	require.Equal(t, wire.Failed, event.Outcome)
	require.Equal(t, 200, event.Status)
	require.Equal(t, "upstream_undetermined", event.Code)
}

// net/http forgets a connection that became a WebSocket, which would otherwise
// keep a gateway from ending for as long as the conversation lasts.
func TestDrainEndsConversations(t *testing.T) {
	p := newPlatform(t)
	p.publishCatalog()
	cfg := p.config()
	cfg.HTTP.DrainTimeout = 300 * time.Millisecond
	g := p.start(cfg)
	g.awaitReady()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.url+"/v1/realtime?model=acme/voice", nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+p.token)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	talk, response, err := socket.Dial(t.Context(), transport, request, "realtime", 1<<20)
	require.NoError(t, err)
	frame, err := talk.Receive(t.Context())
	require.NoError(t, err)
	require.Contains(t, string(frame.Data), "session.created")

	stopped := make(chan error, 1)
	go func() { stopped <- g.stop() }()
	frame, err = talk.Receive(t.Context())
	require.NoError(t, err)
	require.Contains(t, string(frame.Data), "stopping")
	_, err = talk.Receive(t.Context())
	require.ErrorContains(t, err, "StatusServiceRestart")
	require.NoError(t, <-stopped)
	event := p.events(response.Header.Get("X-Signalbox-Request-Id"), 1)[0]
	require.Equal(t, wire.Failed, event.Outcome)
	require.Equal(t, "upstream_undetermined", event.Code)
}

func TestDrainLetsRequestsFinish(t *testing.T) {
	p := newPlatform(t)
	entered, release := make(chan struct{}), make(chan struct{})
	p.sim.HandleModel("small", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-release
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"late"},"finish_reason":"stop"}]}`)
	}))
	g := p.gateway()
	answered := make(chan answer, 1)
	go func() { answered <- g.chat(p.token, hello) }()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- g.stop() }()
	require.Eventually(t, func() bool { return g.app.Ready() != nil }, 5*time.Second, time.Millisecond)
	close(release)
	require.Equal(t, http.StatusOK, (<-answered).status)
	require.NoError(t, <-stopped)
}

func TestTakenAddressAndDirectoryAreNamed(t *testing.T) {
	p := newPlatform(t)
	p.publishCatalog()
	cfg := p.config()
	g := p.start(cfg)
	deps := app.Deps{Log: logging.Discard(), Now: time.Now, AccessLog: io.Discard}

	second := p.config()
	second.Listen = g.app.Addr()
	_, err := app.New(t.Context(), second, deps)
	require.ErrorContains(t, err, g.app.Addr())
	require.ErrorContains(t, err, "listen")

	second = p.config()
	second.OpsListen = g.app.Addr()
	_, err = app.New(t.Context(), second, deps)
	require.ErrorContains(t, err, "ops_listen")

	second = p.config()
	second.DataDir = cfg.DataDir
	_, err = app.New(t.Context(), second, deps)
	require.ErrorContains(t, err, "data_dir")

	second = p.config()
	second.KeyringFile = "/nowhere"
	_, err = app.New(t.Context(), second, deps)
	require.ErrorContains(t, err, "keyring_file")
}

func TestOpsListenerOfItsOwn(t *testing.T) {
	p := newPlatform(t)
	p.publishCatalog()
	cfg := p.config()
	cfg.OpsListen = "127.0.0.1:0"
	g := p.start(cfg)
	response, err := http.Get("http://" + g.app.OpsAddr() + "/healthz")
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Equal(t, http.StatusNotFound, g.probe("/healthz").status)
	require.Equal(t, http.StatusNotFound, g.probe("/metrics").status)
}

func TestConfigReportsEverything(t *testing.T) {
	require.NoError(t, app.Default().Validate())
	cfg := app.Config{Listen: "nonsense"}
	err := cfg.Validate()
	for _, key := range []string{"listen", "data_dir", "recent_generations", "http.max_json", "http.drain_timeout", "upstream.first_byte", "log"} {
		require.ErrorContains(t, err, key)
	}
}
