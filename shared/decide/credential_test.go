package decide_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/decide"
)

func TestEveryCandidateSaysItsCredentials(t *testing.T) {
	w := newWorld()
	w.provider("south").Credential, w.provider("south").Keyless = nil, true
	plan := w.decide(t, decide.Facts{Model: "acme/small", Models: []string{"acme/big"}})
	require.Nil(t, plan.Refusal)
	got := map[string]decide.CredentialSource{}
	for _, step := range plan.Chain {
		for _, c := range step.Candidates {
			require.Len(t, c.Credentials, 1)
			require.True(t, c.Credentials[0].ID.IsZero())
			got[c.Endpoint.ID] = c.Credentials[0].Source
		}
	}
	require.Equal(t, map[string]decide.CredentialSource{
		"north:acme/small": decide.CredentialManaged, "south:acme/small": decide.CredentialNone,
		"east:acme/small": decide.CredentialManaged, "north:acme/big": decide.CredentialManaged,
	}, got)
}
