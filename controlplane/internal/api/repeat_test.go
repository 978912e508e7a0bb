package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// A repeated call waits as it is asked to, however long the first one did.
func TestARepeatedCallWaitsAgain(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("again")
	pending := func(a answer) any { return a.json()["publication"].(map[string]any)["pending"] }
	p.nats.Stop()
	for i, make := range []call{
		{method: "POST", path: "/v1/keys", token: w.key, body: `{"name":"once"}`},
		{method: "PATCH", path: "/v1/settings", token: w.key, body: `{"max_attempts":4}`},
		{method: "PUT", path: "/v1/platform/workspaces/" + w.id + "/tags", token: operatorToken, body: `{"tags":["gold"]}`},
		onPlatform("PUT", "/catalog/providers/north", `{"type":"openai","base_url":"http://127.0.0.1:2/v1"}`),
	} {
		make = header(make, "Idempotency-Key", fmt.Sprintf("again-%d", i))
		waiting := make
		waiting.path += "?wait=50ms"
		first := p.do(make)
		require.Less(t, first.status, http.StatusAccepted)
		require.EqualValues(t, 1, pending(first), "what nobody looked at is not applied")
		again := p.do(waiting).is(http.StatusAccepted)
		require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
		require.EqualValues(t, 1, pending(again))
		require.Equal(t, first.json()["data"], withKey(again.json()["data"], first.json()["data"]))

		p.nats.Start()
		waiting.path = make.path + "?wait=20s"
		again = p.do(waiting).is(first.status)
		require.EqualValues(t, 0, pending(again))
		p.nats.Stop()
	}
}

// withKey gives a kept answer the credential that it leaves out.
func withKey(kept, first any) any {
	if key, ok := first.(map[string]any)["key"]; ok {
		kept.(map[string]any)["key"] = key
	}
	return kept
}

func TestRepeatedCallIsCarriedOutOnce(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("repeat")
	create := header(call{method: "POST", path: "/v1/keys", token: w.key, body: `{"name":"once"}`}, "Idempotency-Key", "k-1")
	first := p.do(create).is(http.StatusCreated)
	plaintext := first.data()["key"].(string)
	require.Empty(t, first.header.Get("Idempotency-Replayed"))

	again := p.do(create).is(http.StatusCreated)
	require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
	require.Equal(t, first.header.Get("ETag"), again.header.Get("ETag"))
	require.Equal(t, first.data()["id"], again.data()["id"])
	require.NotContains(t, again.data(), "key", "a stored answer held a plaintext key")
	require.Equal(t, first.json()["publication"].(map[string]any)["id"], again.json()["publication"].(map[string]any)["id"])
	require.NotEqual(t, first.header.Get("X-Signalbox-Request-Id"), again.header.Get("X-Signalbox-Request-Id"))

	waiting := create
	waiting.path += "?wait=1s"
	require.Equal(t, "true", p.do(waiting).is(http.StatusCreated).header.Get("Idempotency-Replayed"), "the wait is no part of the call")

	other := create
	other.body = `{"name":"other"}`
	p.do(other).problem(http.StatusConflict, "idempotency_conflict")
	elsewhere := create
	elsewhere.path, elsewhere.body = "/v1/management-keys", `{"name":"once","template":"read-only"}`
	p.do(elsewhere).problem(http.StatusConflict, "idempotency_conflict")
	require.Len(t, p.do(call{method: "GET", path: "/v1/keys", token: w.key}).json()["data"], 1)

	// Keys of different callers are apart.
	stranger := create
	stranger.token = p.tenant("stranger").key
	require.Empty(t, p.do(stranger).is(http.StatusCreated).header.Get("Idempotency-Replayed"))

	// What was refused changed nothing, so the key may be used again.
	refused := header(call{method: "POST", path: "/v1/management-keys", token: w.key, body: `{"name":"x","scopes":["keys:fly"]}`}, "Idempotency-Key", "k-2")
	p.do(refused).problem(http.StatusBadRequest, "validation_error")
	refused.body = `{"name":"x","template":"read-only"}`
	p.do(refused).is(http.StatusCreated)

	made := header(operator(`{"name":"Once","owner":{"email":"once@example.com"}}`), "Idempotency-Key", "k-1")
	key := p.do(made).is(http.StatusCreated).data()["management_key"].(map[string]any)["key"].(string)
	replayed := p.do(made).is(http.StatusCreated)
	require.NotContains(t, replayed.data()["management_key"], "key")

	p.holdsNone(plaintext, key, w.key)
}

func TestConcurrentRepeatsMakeOneThing(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("race")
	create := header(call{method: "POST", path: "/v1/keys", token: w.key, body: `{"name":"once"}`}, "Idempotency-Key", "race")
	var group sync.WaitGroup
	statuses := make([]int, 8)
	for i := range statuses {
		group.Go(func() { statuses[i] = p.raw(create).status })
	}
	group.Wait()
	for _, status := range statuses {
		require.Contains(t, []int{http.StatusCreated, http.StatusConflict}, status)
	}
	require.Contains(t, statuses, http.StatusCreated)
	require.Len(t, p.do(call{method: "GET", path: "/v1/keys", token: w.key}).json()["data"], 1)
}

// holdsNone looks for secrets in every row of the database, in the log and in
// every list of the API.
func (p *plane) holdsNone(secrets ...string) {
	p.t.Helper()
	conn, err := pgx.Connect(p.t.Context(), p.db.URL)
	require.NoError(p.t, err)
	defer conn.Close(p.t.Context())
	rows, err := conn.Query(p.t.Context(), "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace")
	require.NoError(p.t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(p.t, err)
	require.NotEmpty(p.t, tables)
	var all strings.Builder
	all.WriteString(p.log.String())
	for _, table := range tables {
		rows, err := conn.Query(p.t.Context(), fmt.Sprintf("SELECT t::text FROM %s t", pgx.Identifier{table}.Sanitize()))
		require.NoError(p.t, err)
		texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(p.t, err)
		all.WriteString(strings.Join(texts, "\n"))
	}
	// Bodies are bytea, which Postgres shows in hexadecimal.
	for _, secret := range secrets {
		part := secret[strings.LastIndex(secret, "_")+1:]
		require.NotContains(p.t, all.String(), part)
		require.NotContains(p.t, all.String(), fmt.Sprintf("%x", part))
	}
}

func TestPlaintextKeysAreNowhere(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("leak")
	key, inference := p.newKey(w, "leak")
	rotated := p.do(call{method: "POST", path: "/v1/keys/" + key + "/rotate", token: w.key, body: `{"grace_seconds":600}`}).data()["key"].(string)
	const brought = "sk-proj_Zr81canaryOfTheProvidersKey"
	credential := p.newProviderKey(w, "leak", brought)
	p.do(call{method: "PATCH", path: "/v1/byok/" + credential, token: w.key, body: `{"key":"` + brought + `","name":"leak 2"}`}).is(http.StatusOK)
	secrets := []string{w.key, inference, rotated, operatorToken, brought}
	for _, c := range operations(t, map[string]string{
		"workspace_id": w.id, "user_id": w.user, "key_id": key, "management_key_id": w.keyID, "publication_id": "pub_none", "request_id": "req_none",
		"routing_profile_id": "profile_none", "department_id": "dept_none", "guardrail_id": "guard_none", "dynamic_route_id": "route_none", "preset": "none",
		"credential_id": credential, "rate_limit_policy_id": "rlp_none", "rate_limit_assignment_id": "rla_none", "budget_id": "budget_none", "webhook_id": "hook_none", "delivery_id": "dlv_none",
	}) {
		if c.method != "GET" || strings.HasPrefix(c.path, "/v1/platform") {
			continue
		}
		c.token = w.key
		body := p.do(c).body
		for _, secret := range secrets {
			require.NotContains(t, body, secret[strings.LastIndex(secret, "_")+1:], c.path)
		}
	}
	metrics := p.raw(call{method: "GET", path: "/metrics"}).is(http.StatusOK).body
	require.Contains(t, metrics, `signalbox_management_requests_total{operation="createKey",status="201"} 1`)
	for _, secret := range secrets {
		require.NotContains(t, metrics, secret[strings.LastIndex(secret, "_")+1:])
	}
	p.holdsNone(secrets...)
}

func TestIfMatch(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("etag")
	key, _ := p.newKey(w, "versioned")
	for _, c := range []struct {
		read, write call
	}{
		{call{method: "GET", path: "/v1/keys/" + key}, call{method: "PATCH", path: "/v1/keys/" + key, body: `{"name":"next"}`}},
		{call{method: "GET", path: "/v1/settings"}, call{method: "PATCH", path: "/v1/settings", body: `{"max_attempts":2}`}},
		{call{method: "GET", path: "/v1/routing/auto"}, call{method: "PATCH", path: "/v1/routing/auto", body: `{"objective":"cost"}`}},
		{call{method: "GET", path: "/v1/workspaces/" + w.id}, call{method: "PATCH", path: "/v1/workspaces/" + w.id, body: `{"name":"Next"}`}},
		{call{method: "GET", path: "/v1/keys/" + key}, call{method: "POST", path: "/v1/keys/" + key + "/pause"}},
		{call{method: "GET", path: "/v1/keys/" + key}, call{method: "POST", path: "/v1/keys/" + key + "/rotate", body: `{}`}},
		{call{method: "GET", path: "/v1/keys/" + key}, call{method: "DELETE", path: "/v1/keys/" + key}},
	} {
		c.read.token, c.write.token = w.key, w.key
		tag := p.do(c.read).is(http.StatusOK).header.Get("ETag")
		require.Regexp(t, `^"\d+"$`, tag)
		stale := p.do(header(c.write, "If-Match", `"999"`)).problem(http.StatusPreconditionFailed, "precondition_failed")
		require.Equal(t, tag, fmt.Sprintf(`"%d"`, *stale.CurrentVersion), c.write.path)
		changed := p.do(header(c.write, "If-Match", tag)).is(http.StatusOK)
		require.NotEqual(t, tag, changed.header.Get("ETag"))
		require.Equal(t, changed.header.Get("ETag"), p.do(c.read).header.Get("ETag"))
		p.do(header(c.write, "If-Match", tag)).problem(http.StatusPreconditionFailed, "precondition_failed")
	}
	fresh, _ := p.newKey(w, "star")
	p.do(header(call{method: "PATCH", path: "/v1/keys/" + fresh, token: w.key, body: `{"name":"any"}`}, "If-Match", "*")).is(http.StatusOK)
}

func TestPagesHoldEveryThingOnce(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("pages")
	var want []string
	for i := range 7 {
		key, _ := p.newKey(w, fmt.Sprintf("key %d", i))
		want = append([]string{key}, want...) // newest first
	}
	var got []string
	path := "/v1/keys?limit=3"
	for pages := 0; ; pages++ {
		require.Less(t, pages, 4)
		answer := p.do(call{method: "GET", path: path, token: w.key}).is(http.StatusOK).json()
		for _, item := range answer["data"].([]any) {
			got = append(got, item.(map[string]any)["id"].(string))
		}
		if pages == 0 {
			p.newKey(w, "meanwhile") // must not shift a later page
		}
		next, more := answer["next_cursor"].(string)
		if !more {
			break
		}
		path = "/v1/keys?limit=3&cursor=" + next
	}
	require.Equal(t, want, got)
	for _, list := range []string{"/v1/management-keys", "/v1/audit-events", "/v1/publications", "/v1/logs", "/v1/workspaces/" + w.id + "/members"} {
		answer := p.do(call{method: "GET", path: list + "?limit=250", token: w.key}).is(http.StatusOK).json()
		require.Nil(t, answer["next_cursor"], list)
		require.NotNil(t, answer["data"], list)
	}
	p.tenant("pages-2")
	first := p.do(call{method: "GET", path: "/v1/platform/workspaces?limit=1", token: operatorToken}).is(http.StatusOK).json()
	second := p.do(call{method: "GET", path: "/v1/platform/workspaces?limit=1&cursor=" + first["next_cursor"].(string), token: operatorToken}).is(http.StatusOK).json()
	require.NotEqual(t, first["data"], second["data"])
}
