package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

// exactlySix goes to sim/both for a key with six requests in the month, stays with
// what was asked for below that, and rejects above.
const exactlySix = `{"schema_version":1,"entry":"start","nodes":[
	{"id":"start","type":"start","next":"six"},
	{"id":"six","type":"rate_limit","window":"monthly","max_requests":6,"within":"end","exceeded":"seven"},
	{"id":"seven","type":"rate_limit","window":"monthly","max_requests":7,"within":"exact","exceeded":"over"},
	{"id":"exact","type":"model","model":"sim/both","next":"end"},
	{"id":"over","type":"reject","status":403,"code":"over","message":"Over."},
	{"id":"end","type":"end"}]}`

// NATS loses everything while two gateways have requests on record that neither
// the counters nor the database has: the control plane fills the counters anew,
// each gateway adds what is missing, and nothing is lost or counted twice.
func TestCountersComeBack(t *testing.T) {
	p := harness.Start(t, harness.Options{Gateways: 2})
	key := p.Key()
	made := p.Change(http.MethodPost, "/v1/routing/dynamic-routes", `{"name":"limits","config":`+exactlySix+`}`)
	path := "/v1/routing/dynamic-routes/" + made.Get("data.id").Str
	p.Change(http.MethodPost, path+"/versions/1/deploy", "")
	p.Change(http.MethodPut, path+"/keys", `{"key_ids":["`+key.ID+`"]}`)

	p.Works(key)
	first := p.Say(0, key, upstream.Small)
	require.Equal(t, http.StatusOK, first.Status, first.Body)
	p.Logged(first.Header) // the database has some of them
	p.StopNATS()
	p.WipeNATS()
	p.Works(key)
	last := p.Say(1, key, upstream.Small)
	require.Equal(t, http.StatusOK, last.Status, last.Body)
	p.StartNATS()

	p.Eventually(func() bool {
		for _, gateway := range p.Gateways {
			page := p.Metrics(gateway)
			if !strings.Contains(page, "\nsignalbox_gateway_ledger_epochs_total 2\n") || !strings.Contains(page, "\nsignalbox_gateway_ledger_uncounted_events 0\n") {
				return false
			}
		}
		return true
	}, "the gateways do not count in a second filling")
	for i := range p.Gateways {
		p.Eventually(func() bool { return whereTo(t, p, i, key) != upstream.Small }, "gateway %d does not know of all six", i)
		require.Equal(t, "sim/both", whereTo(t, p, i, key), "gateway %d", i)
	}
	p.Works(key)
	p.Eventually(func() bool { return whereTo(t, p, 0, key) == "" }, "it counts on")
}

// whereTo is the model that a request would go to, "" for none. It uses nothing.
func whereTo(t *testing.T, p *harness.Platform, gateway int, key client.Key) string {
	t.Helper()
	answer, err := p.Post(t.Context(), gateway, key.Secret, "/v1/routing/preview", client.ChatBody(upstream.Small, "Say hello", false))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.Status, answer.Body)
	return answer.Get("data.decision.decided_model").Str
}
