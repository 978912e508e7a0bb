package api_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/app"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// open lets webhooks reach the own machine.
func open(cfg *app.Config) { cfg.Webhooks.AllowPrivateAddresses = true }

// newWebhook creates a webhook and returns its id and secret.
func (p *plane) newWebhook(who tenant, url string) (hook, secret string) {
	p.t.Helper()
	made := p.do(call{
		method: "POST", path: "/v1/webhooks", token: who.key, body: fmt.Sprintf(`{"name":"ours","url":%q,"events":["budget.alert"],"enabled":false}`, url),
	}).is(http.StatusCreated).data()
	return made["id"].(string), made["secret"].(string)
}

// newDelivery keeps a delivery to a webhook, as an event makes it, and returns its
// id.
func (p *plane) newDelivery(who tenant, webhook, state string) string {
	p.t.Helper()
	conn, err := pgx.Connect(p.t.Context(), p.db.URL)
	require.NoError(p.t, err)
	defer conn.Close(p.t.Context())
	delivery := id.New[id.DeliveryKind](ids)
	_, err = conn.Exec(p.t.Context(), `INSERT INTO webhook_deliveries (id, workspace_id, webhook_id, event_id, type, body, state, round, attempts, due_at, created_at)
		VALUES ($1, $2, $3, $4, 'budget.alert', '{"share":80}', $5, 0, '[]', CASE WHEN $5 = 'pending' THEN now() END, now())`,
		delivery.UUID(), id.MustParse[id.WorkspaceKind](who.id).UUID(), id.MustParse[id.WebhookKind](webhook).UUID(), id.New[id.EventKind](ids).UUID(), state)
	require.NoError(p.t, err)
	return delivery.String()
}

func TestWebhooksLiveAndDie(t *testing.T) {
	p := newUnstartedPlane(t)
	p.configure = open
	p.start()
	w := p.tenant("hooks")
	status := http.StatusTeapot
	var seen *http.Request
	receiver := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		seen = r
		rw.WriteHeader(status)
		_, _ = io.WriteString(rw, "canary-of-the-receiver")
	}))
	defer receiver.Close()
	address := receiver.URL + "/hook?token=canary-of-the-query"
	created := p.do(header(call{method: "POST", path: "/v1/webhooks", token: w.key, body: fmt.Sprintf(
		`{"name":"ours","url":%q,"events":["budget.alert"],"enabled":false}`, address)}, "Idempotency-Key", "one"))
	got := created.is(http.StatusCreated).data()
	hook, secret := got["id"].(string), got["secret"].(string)
	require.Regexp(t, `^hook_`, hook)
	require.Regexp(t, `^sb_whsec_[0-9A-Za-z]{43}$`, secret)
	require.Equal(t, secret[len(secret)-4:], got["secret_suffix"])
	require.Equal(t, address, got["url"])
	require.Equal(t, false, got["enabled"])
	require.Equal(t, w.user, got["created_by"])
	again := p.do(header(call{method: "POST", path: "/v1/webhooks", token: w.key, body: fmt.Sprintf(
		`{"name":"ours","url":%q,"events":["budget.alert"],"enabled":false}`, address)}, "Idempotency-Key", "one")).is(http.StatusCreated)
	require.Equal(t, hook, again.data()["id"])
	require.NotContains(t, again.data(), "secret")

	path := "/v1/webhooks/" + hook
	read := p.do(call{method: "GET", path: path, token: w.key}).is(http.StatusOK)
	require.NotContains(t, read.data(), "secret")
	require.Equal(t, created.header.Get("ETag"), read.header.Get("ETag"))
	require.Len(t, p.do(call{method: "GET", path: "/v1/webhooks", token: w.key}).is(http.StatusOK).json()["data"], 1)
	updated := p.do(call{method: "PATCH", path: path, token: w.key, body: `{"name":"renamed","enabled":true,"events":["budget.alert"]}`}).is(http.StatusOK).data()
	require.Equal(t, "renamed", updated["name"])
	require.Equal(t, true, updated["enabled"])
	p.do(header(call{method: "PATCH", path: path, token: w.key, body: `{"name":"late"}`}, "If-Match", read.header.Get("ETag"))).
		problem(http.StatusPreconditionFailed, "precondition_failed")

	tested := p.do(call{method: "POST", path: path + "/test", token: w.key}).is(http.StatusOK)
	require.Equal(t, false, tested.data()["delivered"])
	attempt := tested.data()["attempt"].(map[string]any)
	require.EqualValues(t, http.StatusTeapot, attempt["status"])
	require.Equal(t, "status", attempt["trouble"])
	require.NotContains(t, tested.body, "canary")
	require.Equal(t, tested.data()["event_id"], seen.Header.Get("Signalbox-Event-Id"))
	require.Equal(t, "webhook.test", seen.Header.Get("Signalbox-Event-Type"))
	limited := p.do(call{method: "POST", path: path + "/test", token: w.key})
	limited.problem(http.StatusTooManyRequests, "rate_limit_exceeded")
	require.NotEmpty(t, limited.header.Get("Retry-After"))

	status = http.StatusNoContent
	delivery := p.newDelivery(w, hook, "pending")
	deliveries := func(query string) []any {
		return p.do(call{method: "GET", path: path + "/deliveries" + query, token: w.key}).is(http.StatusOK).json()["data"].([]any)
	}
	require.Eventually(t, func() bool { return len(deliveries("?state=delivered")) == 1 }, 20*time.Second, 20*time.Millisecond)
	one := deliveries("")[0].(map[string]any)
	require.Equal(t, delivery, one["id"])
	require.Equal(t, map[string]any{"share": 80.0}, one["payload"])
	require.EqualValues(t, http.StatusNoContent, one["attempts"].([]any)[0].(map[string]any)["status"])
	require.Contains(t, p.do(call{method: "GET", path: path, token: w.key}).is(http.StatusOK).data(), "last_delivered_at")
	redelivered := p.do(call{method: "POST", path: path + "/deliveries/" + delivery + "/redeliver", token: w.key}).is(http.StatusOK).data()
	require.Equal(t, one["event_id"], redelivered["event_id"])
	require.Equal(t, "pending", redelivered["state"])
	p.do(call{method: "POST", path: path + "/deliveries/dlv_0000000000e008ztk5wvz3r2m1/redeliver", token: w.key}).problem(http.StatusNotFound, "not_found")

	rotated := p.do(header(call{method: "POST", path: path + "/rotate-secret", token: w.key}, "Idempotency-Key", "two")).is(http.StatusOK).data()
	require.NotEqual(t, secret, rotated["secret"])
	require.Contains(t, rotated, "previous_secret_until")
	events := p.do(call{method: "GET", path: "/v1/audit-events?target_type=webhook", token: w.key}).is(http.StatusOK)
	require.Len(t, events.json()["data"], 5)
	require.NotContains(t, events.body, "canary")
	require.NotContains(t, p.log.String(), "canary")
	require.NotContains(t, p.raw(call{method: "GET", path: "/metrics"}).is(http.StatusOK).body, "canary")

	p.do(call{method: "DELETE", path: path, token: w.key}).is(http.StatusOK)
	for _, c := range []call{
		{method: "GET", path: path},
		{method: "DELETE", path: path},
		{method: "PATCH", path: path, body: `{"name":"x"}`},
		{method: "POST", path: path + "/test"},
		{method: "POST", path: path + "/rotate-secret"},
		{method: "GET", path: path + "/deliveries"},
	} {
		c.token = w.key
		p.do(c).problem(http.StatusNotFound, "not_found")
	}
	p.holdsNone(secret, rotated["secret"].(string))
}

func TestWebhooksReachTheInternetAlone(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("inner")
	for _, url := range []string{
		"http://example.com/", "https://127.0.0.1/", "https://[::ffff:10.0.0.1]/", "https://169.254.169.254/latest", "https://localhost/",
		"https://" + canary + "@1.1.1.1/", "https://1.1.1.1/#" + canary, "https://1.1.1.1:22/" + canary, strings.Repeat(canary, 200),
	} {
		got := p.do(call{method: "POST", path: "/v1/webhooks", token: w.key, body: fmt.Sprintf(`{"name":"x","url":%q,"events":["budget.alert"]}`, url)})
		require.Equal(t, "url", (*got.problem(http.StatusBadRequest, "validation_error").Violations)[0].Path)
		require.NotContains(t, got.body, canary)
	}
	hook, _ := p.newWebhook(w, "https://1.1.1.1/")
	p.do(call{method: "PATCH", path: "/v1/webhooks/" + hook, token: w.key, body: `{"url":"https://10.0.0.1/"}`}).problem(http.StatusBadRequest, "validation_error")
	p.do(call{method: "GET", path: "/v1/webhooks", token: p.scoped(w, "webhooks:write")}).problem(http.StatusForbidden, "insufficient_scope")
}

func TestBudgetAlertShares(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("shares")
	read := call{method: "GET", path: "/v1/alerts/budgets", token: w.key}
	require.Equal(t, map[string]any{"shares": []any{80.0, 100.0}}, p.do(read).is(http.StatusOK).data())
	set := call{method: "PUT", path: "/v1/alerts/budgets", token: w.key, body: `{"shares":[100,50,1]}`}
	changed := p.do(header(set, "If-Match", `"0"`)).is(http.StatusOK)
	require.Equal(t, map[string]any{"shares": []any{1.0, 50.0, 100.0}}, changed.data())
	again := p.do(read).is(http.StatusOK)
	require.Equal(t, changed.data(), again.data())
	require.Equal(t, changed.header.Get("ETag"), again.header.Get("ETag"))
	p.do(header(set, "If-Match", `"0"`)).problem(http.StatusPreconditionFailed, "precondition_failed")
	for _, body := range []string{`{"shares":[]}`, `{"shares":[0]}`, `{"shares":[101]}`, `{"shares":[1,2,3,4,5]}`, `{"shares":[5,5]}`, `{"shares":[1.5]}`} {
		set.body = body
		p.do(set).problem(http.StatusBadRequest, "validation_error")
	}
	require.Empty(t, p.do(call{method: "GET", path: "/v1/alerts/budgets/sent", token: w.key}).is(http.StatusOK).json()["data"])
	events := p.do(call{method: "GET", path: "/v1/audit-events?action=budget_alerts.update", token: w.key}).is(http.StatusOK).json()["data"].([]any)
	require.Contains(t, events[0].(map[string]any)["diff"], map[string]any{"path": "shares", "before": "80, 100", "after": "1, 50, 100"})
}
