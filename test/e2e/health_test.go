package e2e_test

import (
	"net/http"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

// metric is the value of a gateway's metric without labels.
func metric(t *testing.T, p *harness.Platform, gateway int, name string) float64 {
	t.Helper()
	answer, err := p.Do(t.Context(), client.Call{Method: http.MethodGet, URL: p.Gateways[gateway] + "/metrics"})
	require.NoError(t, err)
	found := regexp.MustCompile(`(?m)^signalbox_gateway_` + name + ` (\S+)$`).FindSubmatch(answer.Body)
	require.NotNil(t, found, "no metric %s", name)
	value, err := strconv.ParseFloat(string(found[1]), 64)
	require.NoError(t, err)
	return value
}

// TestGatewaysShareWhatTheySee: what one gateway learns of an endpoint decides
// what the others do with their next request.
func TestGatewaysShareWhatTheySee(t *testing.T) {
	p := harness.Start(t, harness.Options{Gateways: 3})
	key := p.Key()
	p.Works(key) // on all
	ask := func(gateway int, model string) client.Answer {
		call := chatCall(p, key.Secret, northFirst(model, false))
		call.URL = p.Gateways[gateway] + "/v1/chat/completions"
		answer, err := p.Do(t.Context(), call)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
		require.Equal(t, upstream.South, answer.Header.Get(client.HeaderProvider))
		return answer
	}

	t.Run("a rate limit", func(t *testing.T) {
		p := p.On(t)
		model := upstream.Fallback("status-429-retry-600")
		require.Equal(t, upstream.North, ask(0, model).Header.Get(client.HeaderFallbacks))
		for _, other := range []int{1, 2} {
			p.Eventually(func() bool { return metric(t, p, other, "endpoints_cooling") == 1 }, "gateway %d has not heard of it", other)
			p.North.Forget()
			require.Empty(t, ask(other, model).Header.Get(client.HeaderFallbacks), "the limited endpoint is not asked, even where it is listed first")
			require.Zero(t, p.North.Stats().Total)
		}
	})
	t.Run("an open breaker", func(t *testing.T) {
		p := p.On(t)
		model := upstream.Fallback("status-503")
		for range 8 {
			ask(1, model)
		}
		for _, other := range []int{0, 2} {
			p.Eventually(func() bool { return metric(t, p, other, "breakers_open") == 1 }, "gateway %d has not heard of it", other)
			require.Empty(t, ask(other, model).Header.Get(client.HeaderFallbacks))
		}
	})
	t.Run("the health that users are told", func(t *testing.T) {
		p := p.On(t)
		for n := range 105 {
			require.Equal(t, http.StatusOK, p.Say(n%3, key, upstream.Small).Status)
		}
		for gateway := range p.Gateways {
			p.Eventually(func() bool {
				answer, err := p.Do(t.Context(), client.Call{
					Method: http.MethodGet, URL: p.Gateways[gateway] + "/v1/models/sim/small/endpoints", Bearer: key.Secret,
				})
				require.NoError(t, err)
				health := answer.Get("data.endpoints.0.health")
				return health.Get("requests").Int() >= 105 && health.Get("uptime").Num == 1 && health.Get("first_byte_ms").Num > 0
			}, "gateway %d does not know what all served", gateway)
		}
	})
}
