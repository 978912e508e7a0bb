package reference_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
	"github.com/signalbox-dev/signalbox/test/reference"
)

func TestReferenceMetrics(t *testing.T) {
	p := harness.Start(t, harness.Options{})
	answer := p.Say(0, p.Key(), upstream.Small)
	require.Equal(t, http.StatusOK, answer.Status)
	p.Logged(answer.Header)
	// A request is counted after its answer has gone.
	var gateway []reference.Metric
	p.Eventually(func() bool {
		page := scrape(t, p, p.Gateways[0])
		gateway = reference.Metrics(page)
		return strings.Contains(page, "signalbox_requests_total{")
	}, "the request is counted")
	control := reference.Metrics(scrape(t, p, p.Control))
	for _, m := range append(append([]reference.Metric{}, control...), gateway...) {
		require.NotEmpty(t, m.Type, m.Name)
		require.Regexp(t, `^[A-Z0-9].*\.$`, m.Help, "%s: the help is sentences", m.Name)
		require.Equal(t, m.Type == "counter", strings.HasSuffix(m.Name, "_total"), "%s is a %s", m.Name, m.Type)
	}
	current(t, "metrics.md", reference.MetricsPage(control, gateway))
}

func scrape(t *testing.T, p *harness.Platform, url string) string {
	t.Helper()
	answer, err := p.Do(t.Context(), client.Call{Method: http.MethodGet, URL: url + "/metrics"})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.Status)
	return string(answer.Body)
}
