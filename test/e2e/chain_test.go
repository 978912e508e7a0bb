package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

// A chain of three models of which two fail is three rows, linked by the id
// that the caller got, with one bill.
func TestAChainOfModels(t *testing.T) {
	p := harness.Start(t, harness.Options{})
	key := p.Key()
	chain := []string{upstream.Model("status-503"), upstream.Model("status-429-retry-7"), upstream.Small}
	answer := p.Ask(key, `{"model":"`+chain[0]+`","models":["`+chain[1]+`","`+chain[2]+`"],"messages":[{"role":"user","content":"Say hello"}]}`)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
	require.Equal(t, chain[2], answer.Get("model").Str)
	require.Equal(t, "2", answer.Header.Get(client.HeaderRetries))
	primary := answer.Header.Get(client.HeaderRequestID)

	var first gjson.Result
	p.Eventually(func() bool {
		first = p.Logged(answer.Header)
		return len(first.Get("models").Array()) == 2
	}, "the rows of %s", primary)
	rows := append([]gjson.Result{first}, first.Get("models").Array()...)
	for i, want := range []struct {
		outcome string
		status  int64
	}{{"error", http.StatusBadGateway}, {"error", http.StatusTooManyRequests}, {"success", http.StatusOK}} {
		row := rows[i]
		require.Equal(t, chain[i], row.Get("decided_model").Str)
		require.Equal(t, chain[0], row.Get("requested_model").Str)
		require.Equal(t, want.outcome, row.Get("outcome").Str)
		require.Equal(t, want.status, row.Get("status").Int())
		require.Equal(t, primary, row.Get("primary_request_id").Str)
		require.Equal(t, i == 0, row.Get("id").Str == primary)
		require.Equal(t, int64(1), row.Get("attempt_count").Int())
		require.Equal(t, want.outcome == "success", row.Get("cost_nanos").Int() > 0, "only what answered is billed")
	}
	require.Equal(t, answer.Get("usage.prompt_tokens").Int(), rows[2].Get("usage.input").Int())
	require.Zero(t, rows[0].Get("usage.input").Int())

	last, err := p.Log(t.Context(), rows[2].Get("id").Str)
	require.NoError(t, err)
	require.Len(t, last.Get("models").Array(), 2, "each row lists the others")
	require.Len(t, last.Get("decision.attempts").Array(), 3)
	require.Equal(t, "fallback_model", last.Get("decision.routing_switch_reason").Str)

	p.Eventually(func() bool {
		usage, err := p.Usage(t.Context())
		return err == nil && usage.Get("totals.requests").Int() == 1 && usage.Get("totals.model_attempts").Int() == 3 &&
			usage.Get("totals.cost_nanos").Int() == rows[2].Get("cost_nanos").Int()
	}, "one request of three models, with one bill")
}
