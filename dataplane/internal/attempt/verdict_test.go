package attempt_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/attempt"
	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// TestVerdictOfTheWorkspacesOwnCredential: with it 401, 402, 403, 404 and 429
// count on the credential, everything else as it would with the platform's.
func TestVerdictOfTheWorkspacesOwnCredential(t *testing.T) {
	ofCredential := map[upstream.Class]health.Verdict{
		upstream.CredentialRejected: health.Refused,
		upstream.PaymentRequired:    health.Refused,
		upstream.NotFound:           health.Refused,
		upstream.RateLimited:        health.RateLimited,
	}
	for _, class := range upstream.Classes() {
		f := &upstream.Failure{Class: class}
		managed := attempt.VerdictOf(f, false)
		require.Equal(t, consequences[class].health, managed, class)
		want, ok := ofCredential[class]
		if !ok {
			want = managed
		}
		require.Equal(t, want, attempt.VerdictOf(f, true), class)
	}
}

// TestVerdictOfEveryStatus is the specification's list: what counts against
// uptime, what is counted apart, and what says nothing of the endpoint.
func TestVerdictOfEveryStatus(t *testing.T) {
	for status := 300; status < 1000; status++ {
		want, own := health.Neutral, health.Neutral
		switch {
		case status == 402:
			want, own = health.Unpaid, health.Refused
		case status == 401, status == 403, status == 404, status == 407:
			want, own = health.Failed, health.Refused
		case status == 429:
			want, own = health.RateLimited, health.RateLimited
		case status == 408, status >= 500, status < 400:
			want, own = health.Failed, health.Failed
		}
		for _, body := range []string{"", `{"error":{"message":"no"}}`, "<html>"} {
			f := upstream.Refused(status, 0, []byte(body))
			require.Equal(t, want, attempt.VerdictOf(f, false), "%d %s", status, body)
			require.Equal(t, own, attempt.VerdictOf(f, true), "%d %s with the workspace's own credential", status, body)
		}
	}
	for _, words := range []string{"insufficient_quota", "engine_overloaded_error", "rate_limit_exceeded", "no such word"} {
		f := upstream.Refused(429, 0, []byte(`{"error":{"code":"`+words+`","message":"no"}}`))
		require.Equal(t, health.RateLimited, attempt.VerdictOf(f, false), words)
		require.Equal(t, health.RateLimited, attempt.VerdictOf(f, true), words)
		f = upstream.InBand(upstream.ErrorInStream, 200, []byte(`{"error":{"code":429,"type":"`+words+`","message":"no"}}`))
		require.Equal(t, health.RateLimited, attempt.VerdictOf(f, false), "in a stream: %s", words)
	}
	place := upstream.Refused(403, 0, []byte(`{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported"}}`))
	require.Equal(t, health.GeoBlocked, attempt.VerdictOf(place, false))
	require.Equal(t, health.GeoBlocked, attempt.VerdictOf(place, true), "a place is nobody's key")
}
