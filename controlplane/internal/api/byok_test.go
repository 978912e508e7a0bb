package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestProviderKeysLiveAndDie(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("byok")
	key, _ := p.newKey(w, "scoped to")

	created := p.do(call{method: "POST", path: "/v1/byok", token: w.key, body: fmt.Sprintf(
		`{"provider":"OpenAI","name":"ours","key":"sk-proj-0123456789abcdefghij","use":"fallback","models":["openai/*"],"api_keys":[%q],"enabled":false}`, key)}).is(http.StatusCreated)
	got := created.data()
	id := got["id"].(string)
	require.Regexp(t, `^byok_`, id)
	require.Equal(t, "openai", got["provider"], "the slug, whatever was written")
	require.Equal(t, "sk-pro", got["prefix"])
	require.Equal(t, "ghij", got["suffix"])
	require.Equal(t, "fallback", got["use"])
	require.EqualValues(t, 1, got["position"])
	require.Equal(t, false, got["enabled"])
	require.Equal(t, []any{"openai/*"}, got["models"])
	require.Equal(t, []any{key}, got["api_keys"])
	require.Equal(t, w.user, got["created_by"])
	require.NotContains(t, created.body, "0123456789")
	require.Regexp(t, `^pub_`, created.json()["publication"].(map[string]any)["id"])

	path := "/v1/byok/" + id
	require.Equal(t, got, p.do(call{method: "GET", path: path, token: w.key}).is(http.StatusOK).data())
	require.Equal(t, true, p.do(call{method: "POST", path: path + "/enable", token: w.key}).is(http.StatusOK).data()["enabled"])
	require.Equal(t, false, p.do(call{method: "POST", path: path + "/disable", token: w.key}).is(http.StatusOK).data()["enabled"])
	updated := p.do(call{method: "PATCH", path: path, token: w.key, body: `{"name":"renamed","key":"sk-proj-another-key-0000","use":"priority","models":[],"api_keys":[]}`}).is(http.StatusOK)
	require.Equal(t, "renamed", updated.data()["name"])
	require.Equal(t, "0000", updated.data()["suffix"])
	require.Equal(t, "priority", updated.data()["use"])
	require.Empty(t, updated.data()["models"])
	require.Empty(t, updated.data()["api_keys"])
	p.do(header(call{method: "PATCH", path: path, token: w.key, body: `{"name":"late"}`}, "If-Match", created.header.Get("ETag"))).
		problem(http.StatusPreconditionFailed, "precondition_failed")

	second := p.newProviderKey(w, "second", "sk-proj-second-key-00000")
	order := func() answer {
		return p.do(call{method: "GET", path: "/v1/byok/order?provider=OpenAI&use=priority", token: w.key}).is(http.StatusOK)
	}
	reorder := call{method: "POST", path: "/v1/byok/reorder", token: w.key, body: fmt.Sprintf(`{"provider":"openai","use":"priority","credentials":[%q,%q]}`, second, id)}
	seen := order()
	require.Equal(t, id, seen.json()["data"].([]any)[0].(map[string]any)["id"])
	ordered := p.do(header(reorder, "If-Match", seen.header.Get("ETag"))).is(http.StatusOK)
	require.Equal(t, second, ordered.json()["data"].([]any)[0].(map[string]any)["id"])
	require.Equal(t, order().header.Get("ETag"), ordered.header.Get("ETag"))
	late := p.do(header(reorder, "If-Match", seen.header.Get("ETag"))).problem(http.StatusPreconditionFailed, "precondition_failed")
	require.Equal(t, order().header.Get("ETag"), fmt.Sprintf("%q", fmt.Sprint(*late.CurrentVersion)))
	p.do(header(reorder, "If-Match", "*")).is(http.StatusOK)
	p.do(call{method: "GET", path: "/v1/byok/order?provider=openai&use=last", token: w.key}).problem(http.StatusBadRequest, "validation_error")
	require.Empty(t, p.do(call{method: "GET", path: "/v1/byok/order?provider=anthropic", token: w.key}).is(http.StatusOK).json()["data"])
	for _, body := range []string{
		fmt.Sprintf(`{"provider":"openai","use":"priority","credentials":[%q]}`, second),
		fmt.Sprintf(`{"provider":"openai","use":"priority","credentials":[%q,%q]}`, second, second),
		fmt.Sprintf(`{"provider":"openai","use":"fallback","credentials":[%q,%q]}`, second, id),
		fmt.Sprintf(`{"provider":"anthropic","use":"priority","credentials":[%q,%q]}`, second, id),
	} {
		p.do(call{method: "POST", path: "/v1/byok/reorder", token: w.key, body: body}).problem(http.StatusBadRequest, "validation_error")
	}

	p.do(call{method: "DELETE", path: path, token: w.key}).is(http.StatusOK)
	p.do(call{method: "GET", path: path, token: w.key}).problem(http.StatusNotFound, "not_found")
	p.do(call{method: "DELETE", path: path, token: w.key}).problem(http.StatusNotFound, "not_found")
	page := p.do(call{method: "GET", path: "/v1/byok?provider=openai", token: w.key}).is(http.StatusOK).json()["data"].([]any)
	require.Len(t, page, 1)
	require.Empty(t, p.do(call{method: "GET", path: "/v1/byok?provider=anthropic", token: w.key}).is(http.StatusOK).json()["data"])
	p.holdsNone("sk-proj-0123456789abcdefghij", "sk-proj-another-key-0000", "sk-proj-second-key-00000")
}

// gateway stands for one that makes calls with provider keys.
func (p *plane) gateway(answer func(wire.CheckRequest) wire.CheckReply) {
	p.t.Helper()
	conn := p.nats.Connect().NATS()
	_, err := conn.QueueSubscribe(wire.SubjectCheck, wire.QueueCheck, func(m *nats.Msg) {
		var q wire.CheckRequest
		if err := json.Unmarshal(m.Data, &q); err != nil {
			p.t.Error(err)
			return
		}
		body, err := json.Marshal(answer(q))
		if err == nil {
			err = m.Respond(body)
		}
		if err != nil {
			p.t.Error(err)
		}
	})
	require.NoError(p.t, err)
	require.NoError(p.t, conn.Flush())
}

func TestProviderKeysAreVerified(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("verify")
	verify := func(id string) call { return call{method: "POST", path: "/v1/byok/" + id + "/verify", token: w.key} }
	alone := p.newProviderKey(w, "alone", "sk-proj-0123456789abcdefghij")
	got := p.do(header(verify(alone), "Idempotency-Key", "alone"))
	require.True(t, *got.problem(http.StatusServiceUnavailable, "unavailable").Retryable, "no gateway runs")
	require.NotContains(t, p.do(call{method: "GET", path: "/v1/byok/" + alone, token: w.key}).is(http.StatusOK).data(), "verification")

	p.gateway(func(q wire.CheckRequest) wire.CheckReply {
		if len(q.Models) > 0 {
			return wire.CheckReply{Trouble: wire.CheckNoModel}
		}
		return wire.CheckReply{Status: wire.CheckForbidden, HTTPStatus: 403, Call: wire.CheckCompletion, Model: "openai/gpt-5-nano", Latency: 42 * time.Millisecond}
	})
	id := p.newProviderKey(w, "ours", "sk-proj-0123456789abcdefghij")
	verified := p.do(verify(id)).is(http.StatusOK).data()["verification"].(map[string]any)
	require.Equal(t, "forbidden", verified["status"])
	require.EqualValues(t, 403, verified["http_status"])
	require.Equal(t, "completion", verified["call"])
	require.Equal(t, "openai/gpt-5-nano", verified["model"])
	require.EqualValues(t, 42, verified["latency_ms"])
	require.Equal(t, verified, p.do(call{method: "GET", path: "/v1/byok/" + id, token: w.key}).is(http.StatusOK).data()["verification"])
	require.Contains(t, p.do(call{method: "GET", path: "/v1/byok", token: w.key}).is(http.StatusOK).body, `"status":"forbidden"`)
	limited := p.do(verify(id))
	limited.problem(http.StatusTooManyRequests, "rate_limit_exceeded")
	require.Equal(t, "10", limited.header.Get("Retry-After"))

	p.do(verify("byok_0000000000e008ztk5wvz3r2m1")).problem(http.StatusNotFound, "not_found")
	narrow := p.newProviderKey(w, "narrow", "sk-proj-0123456789abcdefghij")
	p.do(call{method: "PATCH", path: "/v1/byok/" + narrow, token: w.key, body: `{"models":["other/*"]}`}).is(http.StatusOK)
	p.do(verify(narrow)).problem(http.StatusConflict, "conflict")
	p.do(call{method: "POST", path: "/v1/byok/" + id + "/verify", token: p.scoped(w, "byok:read")}).problem(http.StatusForbidden, "insufficient_scope")
	p.holdsNone("sk-proj-0123456789abcdefghij")
}

// A keyring shows which key seals what, and nothing of the keys.
func TestTheKeyringShowsWhatItSeals(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("sealed")
	p.newProviderKey(w, "one", "sk-proj-0123456789abcdefghij")
	p.newProviderKey(w, "two", "sk-proj-0123456789abcdefghij")
	p.do(onPlatform("PUT", "/catalog/providers/openai?wait=20s", `{"api_key":"sk-canary-platform"}`)).is(http.StatusOK)
	got := p.do(onPlatform("GET", "/keyring", "")).is(http.StatusOK).data()
	require.Equal(t, true, got["droppable"])
	require.EqualValues(t, 0, got["gateways_behind"])
	keys := got["keys"].([]any)
	require.Len(t, keys, 1)
	key := keys[0].(map[string]any)
	require.Equal(t, got["sealing_key_id"], key["id"])
	require.Equal(t, map[string]any{
		"id": key["id"], "role": "sealing", "workspace_keys": float64(2), "platform_keys": float64(1), "published_keys": float64(1),
	}, key)
	p.do(call{method: "GET", path: "/v1/platform/keyring", token: w.key}).problem(http.StatusForbidden, "forbidden")
}

// A repeated creation makes one credential, and what is kept of the call has
// nothing of the key.
func TestABroughtKeyIsMadeOnce(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("once")
	make := header(call{method: "POST", path: "/v1/byok", token: w.key, body: bodies["createByokCredential"]}, "Idempotency-Key", "one")
	first := p.do(make).is(http.StatusCreated)
	again := p.do(make).is(http.StatusCreated)
	require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
	require.Equal(t, first.data()["id"], again.data()["id"])
	require.Len(t, p.do(call{method: "GET", path: "/v1/byok", token: w.key}).is(http.StatusOK).json()["data"], 1)
	p.holdsNone("sk-proj-0123456789abcdefghij")
}
