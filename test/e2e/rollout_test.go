package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

// rolling is a dynamic route, attached to a key, of which version 1 is deployed
// and version 2 is to be rolled out.
type rolling struct {
	*harness.Platform
	t    *testing.T
	id   string
	path string
	key  client.Key
}

func newRolling(t *testing.T, p *harness.Platform, name, stable, candidate string) *rolling {
	t.Helper()
	graph := func(model string) string {
		return fmt.Sprintf(`{"schema_version":1,"entry":"s","nodes":[{"id":"s","type":"start","next":"m"},
			{"id":"m","type":"model","model":%q,"allow_fallbacks":false,"next":"e"},{"id":"e","type":"end"}]}`, model)
	}
	const routes = "/v1/routing/dynamic-routes"
	p = p.On(t)
	r := &rolling{Platform: p, t: t, key: p.Key()}
	r.id = p.Change(http.MethodPost, routes, fmt.Sprintf(`{"name":%q,"config":%s}`, name, graph(stable))).Get("data.id").Str
	r.path = routes + "/" + r.id
	p.Change(http.MethodPost, r.path+"/versions", fmt.Sprintf(`{"config":%s}`, graph(candidate)))
	p.Change(http.MethodPost, r.path+"/versions/1/deploy", "")
	p.Change(http.MethodPut, r.path+"/keys", fmt.Sprintf(`{"key_ids":[%q]}`, r.key.ID))
	return r
}

func (r *rolling) start(steps, guard string) {
	r.t.Helper()
	r.Change(http.MethodPost, r.path+"/versions/2/rollout", `{"steps":`+steps+`,"guard":`+guard+`}`)
}

func (r *rolling) rollout() gjson.Result {
	r.t.Helper()
	a, err := r.Manage(r.t.Context(), http.MethodGet, r.path+"/rollout", nil)
	require.NoError(r.t, err)
	return a.Get("data")
}

// evidence is the diff of the newest audit event with an action, by path.
func (r *rolling) evidence(action string) (actor string, diff map[string]string) {
	r.t.Helper()
	a, err := r.Manage(r.t.Context(), http.MethodGet, "/v1/audit-events?action="+action+"&target_id="+r.id, nil)
	require.NoError(r.t, err)
	event := a.Get("data.0")
	require.True(r.t, event.Exists(), "no event %s", action)
	diff = map[string]string{}
	for _, c := range event.Get("diff").Array() {
		diff[c.Get("path").Str] = c.Get("after").String()
	}
	return event.Get("actor.type").Str + event.Get("actor.kind").Str, diff
}

// traffic asks without a pause until it is stopped; every answer must be good
// where the platform serves.
func (r *rolling) traffic() (stop func() int64) {
	ctx, cancel := context.WithCancel(r.t.Context())
	var served atomic.Int64
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			for ctx.Err() == nil {
				a, err := r.Chat(ctx, 0, r.key.Secret, upstream.Small, "hello")
				if err == nil && a.Status == http.StatusOK {
					served.Add(1)
				}
			}
		})
	}
	return func() int64 { cancel(); group.Wait(); return served.Load() }
}

func TestStagedRollouts(t *testing.T) {
	p := harness.Start(t, harness.Options{Models: []string{"stable", "better"}})

	t.Run("a candidate that fails is taken back by itself, after no more requests than it takes", func(t *testing.T) {
		const least = 20
		r := newRolling(t, p, "bad", "sim/stable", upstream.Model("status-503"))
		r.start(`[{"percent":50,"hold":"10m"},{"percent":100,"hold":"10m"}]`, fmt.Sprintf(`{"max_error_rate":0.1,"min_requests":%d}`, least))
		bad, asked := 0, 0
		for ; bad < least; asked++ {
			require.Less(t, asked, 1000, "the candidate gets its share")
			if r.Say(0, r.key, upstream.Small).Status != http.StatusOK {
				bad++
			}
		}
		enough := time.Now()
		r.Eventually(func() bool { return r.rollout().Get("state").Str == "rolled_back" }, "it is not rolled back on %d requests", least)
		t.Logf("rolled back %s after the last request that it took", time.Since(enough))
		got := r.rollout()
		require.Equal(t, "max_error_rate", got.Get("evidence.broken").Str)
		require.Equal(t, int64(least), got.Get("evidence.arms.candidate.requests").Int())
		require.Equal(t, int64(least), got.Get("evidence.arms.candidate.failures").Int())
		require.Zero(t, got.Get("evidence.arms.stable.failures").Int())
		actor, diff := r.evidence("route_rollout.roll_back")
		require.Equal(t, "system", actor)
		require.Equal(t, []string{"rolled_back", "max_error_rate", "1", "0.1", "20", "20"}, []string{
			diff["state"], diff["evidence.broken"], diff["evidence.measured"], diff["evidence.allowed"],
			diff["evidence.candidate.requests"], diff["evidence.candidate.failures"],
		})

		// Once the gateways have it, nobody meets the candidate any more.
		r.Change(http.MethodPatch, r.path, `{"description":"taken back"}`)
		for range 40 {
			require.Equal(t, http.StatusOK, r.Say(0, r.key, upstream.Small).Status)
		}
	})

	t.Run("a good candidate is deployed by itself, also when the control plane ends in between", func(t *testing.T) {
		r := newRolling(t, p, "good", "sim/stable", "sim/better")
		r.start(`[{"percent":30,"hold":"1s"},{"percent":60,"hold":"1s"},{"percent":100,"hold":"1s"}]`,
			`{"max_error_rate":0.01,"max_p95_latency_ratio":1000,"max_cost_ratio":1.5,"min_requests":10}`)
		stop := r.traffic()
		r.Eventually(func() bool { return r.rollout().Get("step").Int() > 1 }, "it does not advance")
		before := r.rollout().Get("id").Str
		p.StopControlPlane()
		p.StartControlPlane()
		r.Eventually(func() bool { return r.rollout().Get("state").Str == "completed" }, "it does not complete")
		require.Positive(t, stop())
		got := r.rollout()
		require.Equal(t, before, got.Get("id").Str)
		require.GreaterOrEqual(t, got.Get("evidence.arms.candidate.requests").Int(), int64(10))
		require.InDelta(t, 1, got.Get("evidence.arms.candidate.mean_cost_usd").Float()/got.Get("evidence.arms.stable.mean_cost_usd").Float(), 0.2)
		_, diff := r.evidence("route_rollout.complete")
		require.Equal(t, []string{"2", "completed"}, []string{diff["deployed_version"], diff["state"]})
		r.Change(http.MethodPatch, r.path, `{"description":"done"}`)
		answer := r.Say(0, r.key, upstream.Small)
		require.Equal(t, "sim/better", answer.Get("model").Str)
		var logged gjson.Result
		r.Eventually(func() bool { logged = r.Logged(answer.Header); return logged.Exists() }, "no record")
	})
}
