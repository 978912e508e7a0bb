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
		managed := attempt.VerdictOf(class, false)
		require.Equal(t, consequences[class].health, managed, class)
		want, ok := ofCredential[class]
		if !ok {
			want = managed
		}
		require.Equal(t, want, attempt.VerdictOf(class, true), class)
	}
}
