package e2e_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

// TestTheOperatorsCatalogChangesWhileTrafficFlows adds an offer, then a rule,
// then takes both away, at two gateways under load: no request fails for it,
// and each change holds everywhere when its call has returned.
func TestTheOperatorsCatalogChangesWhileTrafficFlows(t *testing.T) {
	p := harness.Start(t, harness.Options{Gateways: 2})
	key := p.Key()
	change := func(method, path, body string) {
		t.Helper()
		answer, err := p.Operate(t.Context(), method, "/v1/platform/catalog"+path+"?wait=20s", body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
	}
	served := func(gateway int, body string) string {
		t.Helper()
		answer, err := p.Post(t.Context(), gateway, key.Secret, "/v1/chat/completions", []byte(body))
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
		return answer.Header.Get("x-signalbox-provider")
	}

	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	var answered, failed atomic.Int64
	for i := range p.Gateways {
		load.Go(func() {
			for ctx.Err() == nil {
				answer, err := p.Chat(ctx, i, key.Secret, upstream.Small, "x")
				switch {
				case ctx.Err() != nil:
				case err != nil || answer.Status != http.StatusOK:
					failed.Add(1)
				default:
					answered.Add(1)
				}
			}
		})
	}
	defer load.Wait()
	defer stop()

	const plain = `{"model":"sim/small","provider":{"only":["south"]},"messages":[{"role":"user","content":"x"}]}`
	const gold = `{"model":"sim/small","metadata":{"plan":"gold"},"messages":[{"role":"user","content":"x"}]}`
	answer, err := p.Post(t.Context(), 0, key.Secret, "/v1/chat/completions", []byte(plain))
	require.NoError(t, err)
	require.NotEqual(t, http.StatusOK, answer.Status, "south does not offer it yet")

	change(http.MethodPut, "/models/sim/small/endpoints/south", `{"upstream_model":"small","price":{"input":"9","output":"9"}}`)
	for i := range p.Gateways {
		require.Equal(t, "south", served(i, plain), "gateway %d serves the new offer", i)
	}

	change(http.MethodPut, "/models/sim/small/rules/gold", `{"when":{"source":"metadata","path":"plan","op":"equals","value":"gold"},"then":{"provider":"south"}}`)
	for i := range p.Gateways {
		answer, err := p.Post(t.Context(), i, key.Secret, "/v1/chat/completions", []byte(gold))
		require.NoError(t, err)
		require.Equal(t, "south", answer.Header.Get("x-signalbox-provider"), "%s", answer.Body)
		decision := p.Logged(answer.Header).Get("decision")
		require.Equal(t, "rule", decision.Get("routing_switch_reason").Str)
		require.Equal(t, "sim/small#gold", decision.Get("routing_override").Str)
		answer, err = p.Chat(t.Context(), i, key.Secret, upstream.Small, "x")
		require.NoError(t, err)
		require.Empty(t, p.Logged(answer.Header).Get("decision.routing_override").Str, "without the metadata no rule holds")
	}

	change(http.MethodDelete, "/models/sim/small", "")
	for i := range p.Gateways {
		require.Equal(t, "north", served(i, gold), "gateway %d is back", i)
	}
	stop()
	load.Wait()
	require.Positive(t, answered.Load())
	require.Zero(t, failed.Load(), "requests that failed while the catalog changed, of %d", answered.Load())
}
