package api_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
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
