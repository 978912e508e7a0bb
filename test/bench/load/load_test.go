package load_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/test/bench/load"
	"github.com/signalbox-dev/signalbox/test/bench/target"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRunCountsGoodReplies(t *testing.T) {
	upstream := httptest.NewServer(target.Upstream())
	t.Cleanup(upstream.Close)
	at, err := url.Parse(upstream.URL)
	require.NoError(t, err)
	bare := httptest.NewServer(target.Bare(at, "key"))
	t.Cleanup(bare.Close)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)

	for name, tc := range map[string]struct {
		addr, body string
		bytes      int64
	}{
		"direct": {upstream.URL, `{"model":"small"}`, 400},
		"bare":   {bare.URL, `{"model":"small"}`, 400},
		"stream": {bare.URL, `{"model":"small","stream":true}`, 3400},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := load.Run(t.Context(), load.Plan{
				Addr: strings.TrimPrefix(tc.addr, "http://"), Callers: 4, For: 50 * time.Millisecond,
				Request: load.Request{Path: "/v1/chat/completions", Key: "key", Body: tc.body},
			})
			require.NoError(t, err)
			require.Positive(t, got.Requests)
			require.Zero(t, got.Failures)
			require.GreaterOrEqual(t, got.Bytes, tc.bytes*int64(got.Requests))
			require.LessOrEqual(t, got.P50, got.P99)
			require.LessOrEqual(t, got.Head50, got.P99)
		})
	}
}

func TestRunSaysWhyNothingCameBack(t *testing.T) {
	at, err := url.Parse("http://127.0.0.1:1")
	require.NoError(t, err)
	bare := httptest.NewServer(target.Bare(at, "key"))
	t.Cleanup(bare.Close)
	_, err = load.Run(t.Context(), load.Plan{
		Addr: strings.TrimPrefix(bare.URL, "http://"), Callers: 1, For: 20 * time.Millisecond,
		Request: load.Request{Path: "/", Key: "wrong", Body: `{}`},
	})
	require.ErrorContains(t, err, "status 401")
}

func TestPercentile(t *testing.T) {
	sorted := []time.Duration{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	require.Equal(t, time.Duration(5), load.Percentile(sorted, 50))
	require.Equal(t, time.Duration(10), load.Percentile(sorted, 99))
	require.Equal(t, time.Duration(1), load.Percentile(sorted[:1], 1))
}
