package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

// tolls are providers that want a key. All of them are North, which keeps what
// it was authorized with and lets in whatever begins with good.
type tolls struct {
	mu    sync.Mutex
	asked []string
}

const toll = "toll"

// startTolls has the providers named, each with a managed key of the platform,
// or with none when that is empty, and a model toll/NAME for each.
func startTolls(t *testing.T, gateways int, managed map[string]string) (*harness.Platform, *tolls) {
	t.Helper()
	p := harness.Start(t, harness.Options{Gateways: gateways, Catalog: func(north, _ *upstream.Upstream) string {
		providers, models := "providers:\n", "models:\n"
		for name, key := range managed {
			providers += fmt.Sprintf("  - {slug: %s, type: openai-compatible, base_url: %q", name, north.URL)
			if key != "" {
				providers += fmt.Sprintf(", api_key: %q", key)
			}
			providers += "}\n"
			models += fmt.Sprintf("  - {id: toll/%s, context: 1000, endpoints: [{provider: %s, upstream_model: %s}]}\n", name, name, toll)
		}
		return providers + models
	}})
	asked := &tolls{}
	p.North.HandleModel(toll, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		asked.mu.Lock()
		asked.asked = append(asked.asked, key)
		asked.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		if !strings.HasPrefix(key, "good") {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"error":{"message":"bad key","type":"invalid_request_error","code":"invalid_api_key"}}`)) // the caller may have gone
			return
		}
		_, _ = w.Write([]byte(plainReply))
	}))
	return p, asked
}

// taken are the keys asked for since the last time.
func (a *tolls) taken() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	keys := a.asked
	a.asked = nil
	return keys
}

// bring makes a credential and returns its id.
func bring(p *harness.Platform, provider, key, rest string) string {
	return p.Change(http.MethodPost, "/v1/byok", fmt.Sprintf(`{"provider":%q,"name":"ours","key":%q%s}`, provider, key, rest)).Get("data.id").Str
}

func TestOwnKeysComeFirst(t *testing.T) {
	p, asked := startTolls(t, 1, map[string]string{
		"first": "good-managed-key", "bad": "good-managed-key", "late": "bad-managed-key", "only": "", "spare": "good-managed-key", "order": "good-managed-key",
	})
	key, other := p.Key(), p.NewKey(client.NewKey{Name: "other"})
	say := func(t *testing.T, k client.Key, name string, status int, want ...string) client.Answer {
		t.Helper()
		answer := p.On(t).Say(0, k, "toll/"+name)
		require.Equal(t, status, answer.Status, "%s", answer.Body)
		require.Equal(t, want, asked.taken())
		require.NotContains(t, string(answer.Body), "-key", "no key comes back")
		return answer
	}

	t.Run("a priority key before the platform's", func(t *testing.T) {
		say(t, key, "first", 200, "good-managed-key")
		bring(p, "first", "good-own-key", "")
		answer := say(t, key, "first", 200, "good-own-key")
		attempts := p.On(t).Logged(answer.Header).Get("decision.attempts").Array()
		require.Len(t, attempts, 1)
		require.Equal(t, "byok", attempts[0].Get("credential").Str)
		require.Regexp(t, `^byok_`, attempts[0].Get("credential_id").Str)
	})
	t.Run("one that is refused, then the platform's", func(t *testing.T) {
		bring(p, "bad", "bad-own-key-1", "")
		say(t, key, "bad", 200, "bad-own-key-1", "good-managed-key")
	})
	t.Run("a fallback key behind the platform's", func(t *testing.T) {
		bring(p, "late", "good-own-key-2", `,"use":"fallback"`)
		say(t, key, "late", 200, "bad-managed-key", "good-own-key-2")
	})
	t.Run("a provider that the platform has no key for", func(t *testing.T) {
		p.On(t).Say(0, key, "toll/only")
		require.Empty(t, asked.taken())
		id := bring(p, "only", "good-own-key-3", "")
		say(t, key, "only", 200, "good-own-key-3")
		p.Change(http.MethodPost, "/v1/byok/"+id+"/disable", "")
		require.Equal(t, 400, p.On(t).Say(0, key, "toll/only").Status)
		p.Change(http.MethodPost, "/v1/byok/"+id+"/enable", "")
		say(t, key, "only", 200, "good-own-key-3")
	})
	t.Run("of one API key and of no other model", func(t *testing.T) {
		id := bring(p, "spare", "good-own-key-4", fmt.Sprintf(`,"api_keys":[%q]`, other.ID))
		say(t, key, "spare", 200, "good-managed-key")
		say(t, other, "spare", 200, "good-own-key-4")
		p.Change(http.MethodPatch, "/v1/byok/"+id, `{"api_keys":[],"models":["sim/*"]}`)
		say(t, other, "spare", 200, "good-managed-key")
		p.Change(http.MethodPatch, "/v1/byok/"+id, `{"models":["toll/sp*"]}`)
		say(t, key, "spare", 200, "good-own-key-4")
	})
	t.Run("two in their order", func(t *testing.T) {
		a, b := bring(p, "order", "good-own-key-a", ""), bring(p, "order", "good-own-key-b", "")
		say(t, key, "order", 200, "good-own-key-a")
		p.Change(http.MethodPost, "/v1/byok/reorder", fmt.Sprintf(`{"provider":"order","use":"priority","credentials":[%q,%q]}`, b, a))
		say(t, key, "order", 200, "good-own-key-b")
		p.Change(http.MethodPatch, "/v1/byok/"+b, `{"key":"good-own-key-c"}`)
		say(t, key, "order", 200, "good-own-key-c")
	})
}

// With the setting off nothing of the platform's is spent after a failure of
// the workspace's own key.
func TestThePlatformsKeyIsSpared(t *testing.T) {
	p, asked := startTolls(t, 1, map[string]string{"mine": "good-managed-key"})
	key := p.Key()
	bring(p, "mine", "bad-own-key-1", "")
	p.Change(http.MethodPatch, "/v1/settings", `{"byok_fallback_enabled":false}`)
	answer := p.Say(0, key, "toll/mine")
	require.Equal(t, 502, answer.Status, "%s", answer.Body)
	require.Equal(t, "upstream_credential_rejected", answer.Get("error.code").Str)
	require.Contains(t, answer.Get("error.message").Str, "workspace's own credential")
	require.Equal(t, []string{"bad-own-key-1"}, asked.taken())
	p.Change(http.MethodPatch, "/v1/settings", `{"byok_fallback_enabled":true}`)
	require.Equal(t, 200, p.Say(0, key, "toll/mine").Status)
	require.Equal(t, []string{"good-managed-key"}, asked.taken(), "the refused one cools, and comes last")
}

// A deleted key is gone from every gateway once its publication has arrived,
// and another workspace never had it.
func TestADeletedOwnKeyIsGoneEverywhere(t *testing.T) {
	p, asked := startTolls(t, 3, map[string]string{"mine": "good-managed-key"})
	key := p.Key()
	id := bring(p, "mine", "good-own-key-1", "")
	everywhere := func(k client.Key, want string) {
		t.Helper()
		for i := range p.Gateways {
			require.Equal(t, 200, p.Say(i, k, "toll/mine").Status)
		}
		require.Equal(t, []string{want, want, want}, asked.taken())
	}
	everywhere(key, "good-own-key-1")
	stranger, err := p.CreateWorkspace(t.Context(), "stranger")
	require.NoError(t, err)
	theirs, _, err := stranger.CreateKey(t.Context(), client.NewKey{Name: "theirs"}, 10*time.Second)
	require.NoError(t, err)
	everywhere(theirs, "good-managed-key")
	p.Change(http.MethodDelete, "/v1/byok/"+id, "")
	everywhere(key, "good-managed-key")
}
