package surface_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is everything beneath the edge.
type world struct {
	mu       sync.Mutex
	calls    []call.Call
	access   []int
	failures []*fault.Error

	identified call.Call // the last one

	serve func(ctx context.Context, c call.Call, s call.Sink)
	pin   call.Pinned
	key   policy.Key
	err   error
	kept  surface.Kept

	published map[string]health.Published // by endpoint
	standing  call.Standing
	views     int               // of health that were taken
	events    []wire.UsageEvent // of the generation that is asked for
}

func (w *world) Serve(ctx context.Context, c *call.Call, s call.Sink) {
	w.mu.Lock()
	w.calls = append(w.calls, *c)
	w.mu.Unlock()
	switch {
	case w.serve != nil:
		w.serve(ctx, *c, s)
	case c.Malformed != nil:
		s.Fail(c.Malformed, nil)
	default:
		_ = s.Start(call.Head{Status: 200, Header: http.Header{"Content-Type": {"application/json"}}})
		_ = s.Write([]byte(`{"ok":true}`))
	}
}

func (w *world) Identify(_ context.Context, c *call.Call) (call.Principal, call.Pinned, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.identified = *c
	return call.Principal{Key: w.key}, w.pin, w.err
}

func (w *world) Preview(context.Context, *call.Call) (call.Principal, decide.Plan, error) {
	return call.Principal{Key: w.key}, decide.Plan{}, w.err
}

func (w *world) Access(_ context.Context, _ *call.Call, _ call.Principal, status int, f *fault.Error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.access, w.failures = append(w.access, status), append(w.failures, f)
}

func (w *world) Generation(id.Workspace, id.Request) ([]wire.UsageEvent, bool) {
	return w.events, len(w.events) > 0
}

func (w *world) View() decide.Health {
	w.views++
	return noHealth{}
}

func (w *world) Published(endpointID string) (health.Published, bool) {
	p, ok := w.published[endpointID]
	return p, ok
}

// Standing implements surface.Limits.
func (w *world) Standing(_ context.Context, _ policy.Key, v *policy.View, now time.Time) call.Standing {
	if v == nil || now.IsZero() {
		panic("under which policy, and when?")
	}
	return w.standing
}

type noHealth struct{}

func (noHealth) Endpoint(string) decide.EndpointHealth { return decide.EndpointHealth{} }

func (noHealth) Credential(id.Credential) decide.CredentialHealth { return decide.CredentialHealth{} }

func (w *world) last(t *testing.T) call.Call {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	require.NotEmpty(t, w.calls, "the pipeline was not reached")
	return w.calls[len(w.calls)-1]
}

func start(t *testing.T, w *world, change func(*surface.Options)) string {
	t.Helper()
	options := surface.DefaultOptions()
	options.MaxJSON = 1 << 20
	if change != nil {
		change(&options)
	}
	edge, err := surface.New(surface.Deps{
		Pipeline: w, Access: w, Generations: w, Health: w, Limits: w, Kept: w.kept, IDs: id.SystemSource(), Now: time.Now, Log: slog.New(slog.DiscardHandler),
	}, options)
	require.NoError(t, err)
	server := httptest.NewServer(edge)
	t.Cleanup(func() { server.Close(); http.DefaultClient.CloseIdleConnections() })
	return server.URL
}

func newToken(t *testing.T, kind secret.TokenKind) string {
	t.Helper()
	token, err := secret.NewToken(rand.Reader, kind)
	require.NoError(t, err)
	return token.Plaintext().Reveal()
}

type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) fault(t *testing.T) map[string]any {
	t.Helper()
	var v struct {
		Error map[string]any `json:"error"`
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &v), a.body)
	require.NotNil(t, v.Error, a.body)
	return v.Error
}

func send(t *testing.T, method, url string, body io.Reader, header ...string) answer {
	t.Helper()
	request, err := http.NewRequest(method, url, body)
	require.NoError(t, err)
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Add(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return answer{response.StatusCode, response.Header, string(data)}
}

const chat = "/v1/chat/completions"

func TestCredentials(t *testing.T) {
	key, other, management := newToken(t, secret.Inference), newToken(t, secret.Inference), newToken(t, secret.Management)
	cases := map[string]struct {
		query  string
		header []string
		status int
		reason string
	}{
		"bearer":               {"", []string{"Authorization", "Bearer " + key}, 200, ""},
		"bearer, lower case":   {"", []string{"Authorization", "bearer " + key}, 200, ""},
		"x-api-key":            {"", []string{"x-api-key", key}, 200, ""},
		"x-goog-api-key":       {"", []string{"x-goog-api-key", key}, 200, ""},
		"query":                {"?key=" + key, nil, 200, ""},
		"the same twice":       {"", []string{"Authorization", "Bearer " + key, "x-api-key", key}, 200, ""},
		"two different":        {"", []string{"Authorization", "Bearer " + key, "x-api-key", other}, 400, "conflicting_credentials"},
		"header and query":     {"?key=" + other, []string{"x-api-key", key}, 400, "conflicting_credentials"},
		"two authorizations":   {"", []string{"Authorization", "Bearer " + key, "Authorization", "Bearer " + other}, 400, "conflicting_credentials"},
		"other scheme, header": {"", []string{"Authorization", "Basic abc", "x-api-key", key}, 200, ""},
		"none":                 {"", nil, 401, "missing_credentials"},
		"empty bearer":         {"", []string{"Authorization", "Bearer "}, 401, "missing_credentials"},
		"other scheme":         {"", []string{"Authorization", "Basic abc"}, 401, "missing_credentials"},
		"nonsense":             {"", []string{"Authorization", "Bearer sk-canary"}, 401, "invalid_key_format"},
		"management":           {"", []string{"Authorization", "Bearer " + management}, 401, "management_key_not_valid_here"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			got := send(t, http.MethodPost, start(t, w, nil)+chat+c.query, strings.NewReader(`{"messages":[]}`), c.header...)
			require.Equal(t, c.status, got.status, got.body)
			if c.reason == "" {
				require.Equal(t, key, w.last(t).Token.Plaintext().Reveal())
				require.Empty(t, w.access, "the pipeline writes the line")
				return
			}
			require.Equal(t, c.reason, got.fault(t)["reason"])
			require.NotContains(t, got.body, "canary")
			require.Empty(t, w.calls)
			require.Equal(t, []int{c.status}, w.access)
		})
	}
}

func compress(t *testing.T, encoding string, data []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	var w io.WriteCloser
	switch encoding {
	case "gzip":
		w = gzip.NewWriter(&buf)
	case "deflate":
		w = zlib.NewWriter(&buf)
	case "br":
		w = brotli.NewWriter(&buf)
	case "zstd":
		var err error
		w, err = zstd.NewWriter(&buf)
		require.NoError(t, err)
	}
	_, err := w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return buf.Bytes()
}

func TestNoRouteAndWrongMethodInTheCallersForm(t *testing.T) {
	w := &world{}
	url := start(t, w, nil)
	got := send(t, http.MethodPost, url+"/v1/nothing", nil)
	require.Equal(t, 404, got.status)
	require.Equal(t, "not_found", got.fault(t)["code"])
	require.Regexp(t, "^req_", got.header.Get("x-signalbox-request-id"))
	require.Contains(t, got.body, "served at /v1/chat/completions")
	got = send(t, http.MethodGet, url+chat, nil)
	require.Equal(t, 405, got.status)
	require.Equal(t, "POST", got.header.Get("Allow"))
	require.Equal(t, "method_not_allowed", got.fault(t)["code"])
	got = send(t, http.MethodPost, url+"/v1/messages/batches", nil, "anthropic-version", "2023-06-01")
	require.Equal(t, "not_found_error", got.fault(t)["type"])
	require.Contains(t, got.body, `"type":"error"`)
	got = send(t, http.MethodPost, url+"/v1beta/x", nil, "x-goog-api-key", "x")
	require.Equal(t, "NOT_FOUND", got.fault(t)["status"])
	require.Contains(t, send(t, http.MethodPost, url+"/v1/v1/chat/completions", nil).body, "/v1 twice")
	require.Contains(t, send(t, http.MethodPost, url+"/chat/completions", nil).body, "base URL of an SDK ends in it")
	require.Equal(t, []int{404, 405, 404, 404, 404, 404}, w.access)
}

func TestHeadersOnEveryAnswer(t *testing.T) {
	w := &world{}
	url, key := start(t, w, nil), newToken(t, secret.Inference)
	for _, body := range []string{`{}`, `{`} {
		got := send(t, http.MethodPost, url+chat, strings.NewReader(body), "x-api-key", key, "x-request-id", "mine")
		require.Equal(t, w.last(t).ID.String(), got.header.Get("x-signalbox-request-id"))
		require.Equal(t, "mine", got.header.Get("x-request-id"))
		got = send(t, http.MethodPost, url+chat, strings.NewReader(body), "x-api-key", key, "x-request-id", strings.Repeat("x", 200))
		require.Equal(t, got.header.Get("x-signalbox-request-id"), got.header.Get("x-request-id"))
		require.Empty(t, got.header.Get("request-id"))
		got = send(t, http.MethodPost, url+"/v1/messages", strings.NewReader(body), "x-api-key", key, "x-request-id", "mine")
		require.Equal(t, "mine", got.header.Get("request-id"), "where Anthropic's SDK looks")
	}
}

func TestFailBeforeTheHead(t *testing.T) {
	w := &world{serve: func(_ context.Context, _ call.Call, s call.Sink) {
		s.Fail(fault.New(fault.RateLimitExceeded, "x").After(1500*time.Millisecond), http.Header{"X-Ratelimit-Limit-Requests": {"60"}})
		if s.Status() != 429 || !s.Started() {
			panic("the sink must know what it sent")
		}
	}}
	got := send(t, http.MethodPost, start(t, w, nil)+chat, strings.NewReader(`{}`), "x-api-key", newToken(t, secret.Inference))
	require.Equal(t, 429, got.status)
	require.Equal(t, "2", got.header.Get("retry-after"))
	require.Equal(t, "60", got.header.Get("x-ratelimit-limit-requests"))
	require.Equal(t, true, got.fault(t)["retryable"])
}

func TestSDKsAreToldNotToRepeatInVain(t *testing.T) {
	reached := func(wait time.Duration) *fault.Error {
		return fault.New(fault.KeyLimitExceeded, "x").Because(fault.LimitReached("daily", "request")).After(wait)
	}
	for name, c := range map[string]struct {
		failure *fault.Error
		want    string
	}{
		"a minute's limit":         {reached(62 * time.Second), ""},
		"a limit until tomorrow":   {reached(9 * time.Hour), "false"},
		"a limit that never ends":  {fault.New(fault.KeyLimitExceeded, "x"), "false"},
		"a provider that is away":  {fault.New(fault.UpstreamUnreachable, "x").After(time.Second), ""},
		"a job that may be taken":  {fault.New(fault.SubmissionUnknown, "x"), "false"},
		"what no SDK would repeat": {fault.New(fault.ValidationError, "x"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{serve: func(_ context.Context, _ call.Call, s call.Sink) { s.Fail(c.failure, nil) }}
			got := send(t, http.MethodPost, start(t, w, nil)+chat, strings.NewReader(`{}`), "x-api-key", newToken(t, secret.Inference))
			require.Equal(t, c.want, got.header.Get("x-should-retry"))
		})
	}
}

func TestStreamIsFlushedAtEveryWriteAndFailsInBand(t *testing.T) {
	more := make(chan struct{})
	w := &world{serve: func(ctx context.Context, _ call.Call, s call.Sink) {
		_ = s.Start(call.Head{Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}})
		_ = s.Write([]byte("data: 1\n\n"))
		select {
		case <-more:
		case <-ctx.Done():
			return
		}
		s.Fail(fault.New(fault.UpstreamServerError, "Broke off.").Because(fault.StreamCut).From(fault.Upstream), nil)
	}}
	within, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(within, http.MethodPost, start(t, w, nil)+chat, strings.NewReader(`{"stream":true}`))
	require.NoError(t, err)
	request.Header.Set("x-api-key", newToken(t, secret.Inference))
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	reader := bufio.NewReader(response.Body)
	first, err := reader.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "data: 1\n", first, "it must arrive before there is more")
	close(more)
	rest, err := io.ReadAll(reader)
	require.NoError(t, err, "the body must end cleanly")
	require.Regexp(t, `(?s)^\ndata: \{"error":\{.*"reason":"stream_cut".*\}\}\n\n$`, string(rest))
}

func TestHalfAPlainBodyMustNotLookWhole(t *testing.T) {
	w := &world{serve: func(_ context.Context, _ call.Call, s call.Sink) {
		_ = s.Start(call.Head{Status: 200, Header: http.Header{"Content-Type": {"application/json"}}})
		_ = s.Write([]byte(`{"half":`))
		s.Fail(fault.New(fault.UpstreamServerError, "x"), nil)
	}}
	request, err := http.NewRequest(http.MethodPost, start(t, w, nil)+chat, strings.NewReader(`{}`))
	require.NoError(t, err)
	request.Header.Set("x-api-key", newToken(t, secret.Inference))
	response, err := http.DefaultClient.Do(request)
	if err == nil {
		defer response.Body.Close()
		_, err = io.ReadAll(response.Body)
	}
	require.Error(t, err)
}

func TestCallerWhoTakesNothingIsGone(t *testing.T) {
	ended := make(chan error, 1)
	w := &world{serve: func(_ context.Context, _ call.Call, s call.Sink) {
		_ = s.Start(call.Head{Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}})
		event := append(append([]byte("data: "), bytes.Repeat([]byte("x"), 1<<20)...), "\n\n"...)
		var err error
		for err == nil {
			err = s.Write(event)
		}
		ended <- err
	}}
	address := strings.TrimPrefix(start(t, w, func(o *surface.Options) { o.WriteStall = 100 * time.Millisecond }), "http://")
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "POST "+chat+" HTTP/1.1\r\nHost: x\r\nX-Api-Key: "+newToken(t, secret.Inference)+"\r\nContent-Length: 2\r\n\r\n{}")
	require.NoError(t, err)
	require.Equal(t, fault.ClientClosed, fault.CodeOf(<-ended))
}

func TestPanicAboveThePipelineIsAnswered(t *testing.T) {
	w := &world{serve: func(context.Context, call.Call, call.Sink) { panic("canary") }}
	got := send(t, http.MethodPost, start(t, w, nil)+chat, strings.NewReader(`{}`), "x-api-key", newToken(t, secret.Inference))
	require.Equal(t, 500, got.status)
	require.Equal(t, "gateway_error", got.fault(t)["code"])
	require.NotContains(t, got.body, "canary")
}

// pinned has the models a, b and c, and one that no provider serves.
func pinned(t *testing.T) call.Pinned {
	t.Helper()
	provider := func(slug string) catalog.Provider {
		return catalog.Provider{Slug: slug, Type: catalog.OpenAICompatible, BaseURL: "http://" + slug + ".internal/v1", Keyless: true}
	}
	model := func(name string) catalog.Model {
		return catalog.Model{
			ID: "acme/" + name, Author: "acme", Aliases: []string{name + "-latest"},
			Endpoints: []catalog.Endpoint{{ID: "north:acme/" + name, Provider: "north", UpstreamModel: name}},
		}
	}
	off := provider("south")
	off.Disabled = true
	hidden := model("hidden")
	hidden.Endpoints[0].Provider, hidden.Endpoints[0].ID = "south", "south:acme/hidden"
	cat, err := catalog.Compile(catalog.Catalog{
		Schema: catalog.Schema, Revision: 1, Providers: []catalog.Provider{provider("north"), off},
		Models: []catalog.Model{model("a"), model("b"), model("c"), hidden},
	})
	require.NoError(t, err)
	pol, err := policy.Compile(policy.Snapshot{Workspace: id.New[id.WorkspaceKind](id.SystemSource()), Revision: 1, Settings: policy.DefaultSettings()})
	require.NoError(t, err)
	return call.Pinned{Policy: pol, Catalog: cat}
}

func TestModels(t *testing.T) {
	w := &world{pin: pinned(t)}
	url, key := start(t, w, nil), newToken(t, secret.Inference)
	get := func(path string, header ...string) map[string]any {
		t.Helper()
		got := send(t, http.MethodGet, url+path, nil, append([]string{"x-api-key", key}, header...)...)
		require.Equal(t, 200, got.status, got.body)
		require.NotContains(t, got.body, "internal", "addresses of providers are not for callers")
		var v map[string]any
		require.NoError(t, json.Unmarshal([]byte(got.body), &v))
		return v
	}
	ids := func(v map[string]any) (out []string) {
		for _, m := range v["data"].([]any) {
			out = append(out, m.(map[string]any)["id"].(string))
		}
		return out
	}

	all := get("/v1/models")
	require.Equal(t, 1, w.views, "one view of health for all models and surfaces, as one ladder")
	require.Equal(t, "list", all["object"])
	require.Equal(t, []string{"acme/a", "acme/b", "acme/c"}, ids(all), "what no provider serves is not listed")
	first := all["data"].([]any)[0].(map[string]any)
	require.Equal(t, "model", first["object"])
	require.Equal(t, "acme", first["owned_by"])
	require.Contains(t, first, "created")

	page := get("/v1/models?limit=2")
	require.Equal(t, []string{"acme/a", "acme/b"}, ids(page))
	require.Equal(t, true, page["has_more"])
	require.Equal(t, []string{"acme/c"}, ids(get("/v1/models?limit=2&after="+page["last_id"].(string))))
	require.Empty(t, ids(get("/v1/models?author=nobody")))
	require.Empty(t, ids(get("/v1/models?surface=embeddings")))
	require.Equal(t, 400, send(t, http.MethodGet, url+"/v1/models?surface=x", nil, "x-api-key", key).status)
	require.Equal(t, 400, send(t, http.MethodGet, url+"/v1/models?limit=0", nil, "x-api-key", key).status)

	anthropic := get("/v1/models?limit=1&after_id=acme/a", "anthropic-version", "2023-06-01")
	require.Equal(t, []string{"acme/b"}, ids(anthropic))
	entry := anthropic["data"].([]any)[0].(map[string]any)
	require.Equal(t, "model", entry["type"])
	require.NotEmpty(t, entry["display_name"])
	require.NotEmpty(t, entry["created_at"])
	require.Equal(t, "acme/b", anthropic["first_id"])

	require.Equal(t, "acme/a", get("/v1/models/acme/a")["id"])
	require.Equal(t, "acme/a", get("/v1/models/acme%2Fa")["id"])
	require.Equal(t, "acme/a", get("/v1/models/a-latest")["id"])
	endpoints := func() map[string]any {
		list := get("/v1/models/acme/a/endpoints")["data"].(map[string]any)["endpoints"].([]any)
		require.Len(t, list, 1)
		return list[0].(map[string]any)
	}
	quiet := endpoints()
	require.Contains(t, quiet, "health")
	require.Nil(t, quiet["health"], "too few requests to tell")
	w.published = map[string]health.Published{quiet["id"].(string): {
		Requests: 150, Uptime: 0.98765, Errors: 0.01, RateLimited: 0.2, GeoBlocked: 0.0004, FirstByte: 420 * time.Millisecond, State: health.Cooling,
	}}
	require.Equal(t, map[string]any{
		"requests": 150.0, "uptime": 0.9877, "error_share": 0.01, "rate_limited_share": 0.2, "geo_blocked_share": 0.0004,
		"first_byte_ms": 420.0, "tokens_per_second": nil, "state": "cooling",
	}, endpoints()["health"])
	require.Equal(t, 404, send(t, http.MethodGet, url+"/v1/models/acme/hidden", nil, "x-api-key", key).status)
	require.Len(t, get("/v1/providers")["data"], 1)
	about := get("/v1/key")["data"].(map[string]any)
	require.Equal(t, []any{}, about["limits"])
	require.Nil(t, about["usage"])
	midnight := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	w.standing = call.Standing{
		SoftBlocked: true,
		Usage:       []call.Used{{Window: policy.Daily, Requests: 3, Cost: 1_500_000_000, Resets: midnight}},
		Limits: []call.Left{
			{LimitCheck: decide.LimitCheck{Scope: "key", ID: "key_1", Metric: "cost", Window: "daily", Used: 1_500_000_000, Limit: 1_000_000_000}, Resets: midnight, Reserve: true},
			{LimitCheck: decide.LimitCheck{Scope: "member", ID: "rlp_1", Metric: "concurrent", Limit: 4, Unknown: true}},
			{LimitCheck: decide.LimitCheck{Scope: "workspace", ID: "ws_1", Metric: "credit", Window: "lifetime", Used: 1_000_000_000, Limit: 9_000_000_000, OK: true}},
		},
	}
	about = get("/v1/key")["data"].(map[string]any)
	require.Equal(t, true, about["soft_blocked"])
	require.Equal(t, map[string]any{"daily": map[string]any{
		"requests": 3.0, "cost_usd": "1.50", "cost_nanos": 1.5e9, "reset_at": "2026-03-02T00:00:00Z",
	}}, about["usage"])
	require.Equal(t, []any{
		map[string]any{
			"scope": "key", "id": "key_1", "metric": "cost", "window": "daily", "limit": 1e9, "limit_usd": "1.00", "used": 1.5e9, "used_usd": "1.50",
			"remaining": 0.0, "remaining_usd": "0.00", "reset_at": "2026-03-02T00:00:00Z", "reserves": true,
		},
		map[string]any{"scope": "member", "id": "rlp_1", "metric": "concurrent", "limit": 4.0, "used": nil, "remaining": nil, "reset_at": nil},
		map[string]any{
			"scope": "workspace", "id": "ws_1", "metric": "credit", "window": "lifetime", "limit": 9e9, "limit_usd": "9.00", "used": 1e9, "used_usd": "1.00",
			"remaining": 8e9, "remaining_usd": "8.00", "reset_at": nil,
		},
	}, about["limits"])

	w.err = fault.New(fault.Unauthorized, "x").Because(fault.InvalidKey)
	require.Equal(t, 401, send(t, http.MethodGet, url+"/v1/models", nil, "x-api-key", key).status)
	require.Equal(t, 401, w.access[len(w.access)-1])
}
