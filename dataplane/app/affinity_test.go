package app_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// twin is one of two providers that are alike in everything.
type twin struct {
	status atomic.Int32 // what it answers; 0: as it should
}

// twins are two gateways before two equal providers.
type twins struct {
	*platform
	gateways  []*gateway
	providers map[string]*twin
}

func newTwins(t *testing.T) *twins {
	t.Helper()
	w := &twins{platform: newPlatform(t), providers: map[string]*twin{}}
	zero, price := money.PerMillion(0), func(text string) *money.PerMillion {
		v, err := money.ParsePerMillion(text)
		require.NoError(t, err)
		return &v
	}
	small := catalog.Model{ID: "acme/small", Author: "acme", Context: 100_000}
	big := catalog.Model{ID: "acme/big", Author: "acme", Context: 100_000}
	c := catalog.Catalog{Schema: catalog.Schema, Revision: 1}
	for _, slug := range []string{"north", "south"} {
		p := &twin{}
		sim := simulator.New(simulator.Options{})
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if status := p.status.Load(); status != 0 {
				rw.Header().Set("Content-Type", "application/json")
				rw.WriteHeader(int(status))
				_, _ = rw.Write([]byte(`{"error":{"message":"no","type":"server_error"}}`))
				return
			}
			sim.ServeHTTP(rw, r)
		}))
		t.Cleanup(server.Close)
		w.providers[slug] = p
		c.Providers = append(c.Providers, catalog.Provider{
			Slug: slug, Type: catalog.OpenAICompatible, BaseURL: server.URL + "/v1", Keyless: true,
			Quirks: &catalog.Quirks{CacheHint: catalog.HintPromptCacheKey},
		})
		for _, m := range []*catalog.Model{&small, &big} {
			m.Endpoints = append(m.Endpoints, catalog.Endpoint{
				ID: slug + ":" + m.ID, Provider: slug, UpstreamModel: m.ID[5:],
				Price: &catalog.Price{Input: price("1"), Output: price("2"), CachedInput: &zero},
			})
		}
	}
	c.Models = []catalog.Model{big, small}
	body, digest, err := policy.Encode(c)
	require.NoError(t, err)
	w.publish(wire.BucketCatalog, wire.CatalogPointer, wire.CatalogBody(digest), body, policy.Pointer{Revision: 1, Digest: digest})
	for range 2 {
		g := w.start(w.config())
		g.awaitReady()
		w.gateways = append(w.gateways, g)
	}
	return w
}

// turn sends one turn through a gateway and returns who answered, and the
// record's account of affinity.
func (w *twins) turn(t *testing.T, gateway int, token, session, fields string) (provider string, affinity map[string]any) {
	t.Helper()
	g := w.gateways[gateway]
	got := g.chat(token, `{"model":"acme/small","messages":[{"role":"user","content":"hello `+session+`"}]`+fields+`}`, "x-signalbox-session-id", session)
	require.Equal(t, http.StatusOK, got.status, got.body)
	affinity, _ = w.decision(t, g, token, got)["affinity"].(map[string]any)
	return got.header.Get("x-signalbox-provider"), affinity
}

func (w *twins) decision(t *testing.T, g *gateway, token string, got answer) map[string]any {
	t.Helper()
	generation := g.do(http.MethodGet, "/v1/generations/"+got.header.Get("x-signalbox-request-id"), token, "")
	require.Equal(t, http.StatusOK, generation.status, generation.body)
	return generation.json(t)["data"].(map[string]any)["decision"].(map[string]any)
}

// pinned waits until NATS has as many conversations at a provider, from where a
// gateway that has not seen one has it with its first turn there.
func (w *twins) pinned(t *testing.T, provider string, conversations int) {
	t.Helper()
	reader := document.NewReader(w.nats.Connect())
	require.Eventually(t, func() bool {
		found := 0
		err := reader.Since(t.Context(), wire.BucketPins, ">", 0, func(e document.Entry) error {
			if strings.Contains(string(e.Data), `"`+provider+`:acme/small"`) {
				found++
			}
			return nil
		})
		return err == nil && found == conversations
	}, 20*time.Second, 5*time.Millisecond)
}

func other(provider string) string {
	if provider == "north" {
		return "south"
	}
	return "north"
}

func TestTurnsOfASessionStayAtOneProviderThroughAllGateways(t *testing.T) {
	w := newTwins(t)
	first := map[string]string{"s0": "north", "s1": "south", "s2": "north", "s3": "south"}
	for session, provider := range first {
		_, _ = w.turn(t, 0, w.token, session, `,"provider":{"only":["`+provider+`"]}`)
	}
	w.pinned(t, "north", 2)
	w.pinned(t, "south", 2)
	for turn := range 6 {
		for session, provider := range first { // each on its own, whatever the others do
			again, affinity := w.turn(t, turn%2, w.token, session, "")
			require.Equal(t, provider, again)
			require.Equal(t, map[string]any{
				"source": "session", "hit": true, "endpoint": provider + ":acme/small", "applied": true, "hint": true,
			}, affinity)
		}
	}

	// A workspace does not know the sessions of another.
	stranger := *w.platform
	stranger.workspace = newWorkspace(w.platform)
	stranger.publishPolicy(policy.Snapshot{Revision: 1, Status: policy.WorkspaceActive, Settings: policy.DefaultSettings()})
	key, token := stranger.newKey()
	stranger.publishKey(key)
	_, affinity := w.turn(t, 0, token, "s0", "")
	require.Equal(t, map[string]any{"source": "session", "hit": false, "hint": true}, affinity)
	require.Contains(t, w.gateways[0].probe("/metrics").body, `signalbox_affinity_turns_total{result="hit",source="session"}`)
}

func TestA429BreaksASessionOnce(t *testing.T) {
	w := newTwins(t)
	home, _ := w.turn(t, 0, w.token, "s", "")
	w.pinned(t, home, 1)
	w.providers[home].status.Store(429)
	away, affinity := w.turn(t, 0, w.token, "s", "")
	require.Equal(t, other(home), away)
	require.Equal(t, map[string]any{
		"source": "session", "hit": true, "endpoint": home + ":acme/small", "applied": true, "hint": true,
		"cache_break": "quota", "moved_to": away + ":acme/small",
	}, affinity)
	w.pinned(t, away, 1)
	w.providers[home].status.Store(0)
	for turn := range 6 {
		again, affinity := w.turn(t, turn%2, w.token, "s", "")
		require.Equal(t, away, again, "it does not go back")
		require.NotContains(t, affinity, "cache_break")
	}
	require.Contains(t, w.gateways[0].probe("/metrics").body, `signalbox_affinity_breaks_total{reason="quota"} 1`)
}

func TestFailuresBreakASessionOnceTheyAreMany(t *testing.T) {
	w := newTwins(t)
	home, _ := w.turn(t, 0, w.token, "s", "")
	w.providers[home].status.Store(500)
	broken := 0
	for range 12 {
		provider, affinity := w.turn(t, 0, w.token, "s", "")
		require.Equal(t, other(home), provider)
		if affinity["cache_break"] != nil {
			broken++
			require.Contains(t, []any{"errors", "breaker_open"}, affinity["cache_break"])
			require.Equal(t, other(home)+":acme/small", affinity["moved_to"])
		}
	}
	require.Equal(t, 1, broken)
	w.providers[home].status.Store(0)
	w.pinned(t, other(home), 1)
	again, affinity := w.turn(t, 1, w.token, "s", "")
	require.Equal(t, other(home), again)
	require.Equal(t, true, affinity["applied"])
}

func TestWhoOptsOutIsSpread(t *testing.T) {
	w := newTwins(t)
	for name, fields := range map[string]string{
		"altogether": `,"provider":{"cache_aware_routing":false}`,
		"sessions":   `,"routing":{"session_affinity":false}`,
	} {
		_, _ = w.turn(t, 0, w.token, name, "")
		used := map[string]bool{}
		var affinity map[string]any
		for range 2000 { // no endpoint has a share under 2 %
			var provider string
			provider, affinity = w.turn(t, 0, w.token, name, fields)
			if used[provider] = true; len(used) == 2 {
				break
			}
		}
		require.Len(t, used, 2, name)
		require.Equal(t, map[string]any{
			"altogether": map[string]any{"off": "cache_aware_routing", "hit": false},
			"sessions":   map[string]any{"off": "session_affinity", "source": "opening", "hit": false},
		}[name], any(affinity))
	}
	// And so is a workspace.
	s := policy.DefaultSettings()
	s.CacheAwareRouting = false
	w.publishPolicy(policy.Snapshot{Revision: 2, Status: policy.WorkspaceActive, Settings: s})
	require.Eventually(t, func() bool {
		_, affinity := w.turn(t, 0, w.token, "workspace", "")
		return affinity["off"] == "cache_aware_routing"
	}, 20*time.Second, 10*time.Millisecond)
}

func TestASessionWithoutAModelKeepsTheOneItGot(t *testing.T) {
	w := newTwins(t)
	policyWith := func(revision int64, model string) {
		s := policy.DefaultSettings()
		s.DefaultModel = model
		w.publishPolicy(policy.Snapshot{Revision: revision, Status: policy.WorkspaceActive, Settings: s})
	}
	ask := func(session, model string) (string, map[string]any) {
		got := w.gateways[0].chat(w.token, `{"messages":[{"role":"user","content":"x"}],"session_id":"`+session+`"`+model+`}`)
		if got.status != http.StatusOK {
			return "", nil
		}
		return got.header.Get("x-signalbox-model"), w.decision(t, w.gateways[0], w.token, got)
	}
	policyWith(2, "acme/small")
	require.Eventually(t, func() bool { model, _ := ask("s", ""); return model == "acme/small" }, 20*time.Second, 10*time.Millisecond)
	named, _ := ask("s", `,"model":"acme/big"`)
	require.Equal(t, "acme/big", named)
	policyWith(3, "acme/big")
	asked := 0
	require.Eventually(t, func() bool {
		asked++
		model, _ := ask("new"+strconv.Itoa(asked), "")
		return model == "acme/big"
	}, 20*time.Second, 10*time.Millisecond)
	model, decision := ask("s", "")
	require.Equal(t, "acme/small", model)
	require.Equal(t, "session_pin", decision["routing_switch_reason"])
	require.Equal(t, "acme/small", decision["affinity"].(map[string]any)["model"])
	model, decision = ask("s", `,"routing":{"session_affinity":false}`)
	require.Equal(t, "acme/big", model)
	require.Empty(t, decision["routing_switch_reason"])
}
