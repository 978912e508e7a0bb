package attempt_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

var (
	managed = decide.CredentialUse{Source: decide.CredentialManaged}
	first   = decide.CredentialUse{Source: decide.CredentialBYOK, ID: id.MustParse[id.CredentialKind]("byok_00000000000000000000000001")}
	second  = decide.CredentialUse{Source: decide.CredentialBYOK, ID: id.MustParse[id.CredentialKind]("byok_00000000000000000000000002")}
)

// credentials has every candidate of the plan called with uses.
func (w *world) credentials(uses ...decide.CredentialUse) {
	for _, step := range w.plan.Chain {
		for i := range step.Candidates {
			step.Candidates[i].Credentials = uses
		}
	}
}

func TestCredentialsAreTriedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model("acme/a", 0, "north", "south")
		w.credentials(first, second, managed)
		w.on("north", refuse(401, 0), refuse(429, 0), good(plainCall()))
		reply, records, failure := w.attempt(t.Context(), plainCall())
		require.Nil(t, failure)
		require.Equal(t, "north", reply.Candidate.Provider.Slug)
		require.Equal(t, []decide.CredentialUse{first, second, managed}, w.with)
		for i, want := range []string{"first_choice", "fallback_credential", "fallback_credential"} {
			require.Equal(t, want, records[i].Reason)
			require.Equal(t, w.with[i].Source, records[i].Credential)
			require.Equal(t, w.with[i].ID, records[i].CredentialID)
		}
		require.Equal(t, []health.Verdict{health.Refused, health.RateLimited, health.Succeeded}, w.verdicts())
		require.Equal(t, first.ID, w.seen[0].Credential, "counted on it, not on the endpoint")
		require.Zero(t, w.seen[2].Credential)
	})
}

// Who comes after a failure depends on whose fault it is.
func TestWhatFollowsAFailureOfACredential(t *testing.T) {
	for name, c := range map[string]struct {
		uses  []decide.CredentialUse
		fails answer
		want  []string
	}{
		"own, refused":               {[]decide.CredentialUse{first, managed}, refuse(401, 0), []string{"north", "north", "south"}},
		"own, forbidden":             {[]decide.CredentialUse{first, managed}, refuse(403, 0), []string{"north", "north", "south"}},
		"own, without money":         {[]decide.CredentialUse{first, managed}, refuse(402, 0), []string{"north", "north", "south"}},
		"own, without the model":     {[]decide.CredentialUse{first, managed}, refuse(404, 0), []string{"north", "north", "south"}},
		"own, at its limit":          {[]decide.CredentialUse{first, managed}, refuse(429, 0), []string{"north", "north", "south"}},
		"own, and the provider down": {[]decide.CredentialUse{first, managed}, refuse(500, 0), []string{"north", "south"}},
		"own, unreachable":           {[]decide.CredentialUse{first, managed}, fail(upstream.ConnectFailed), []string{"north", "south"}},
		"own, a bad request":         {[]decide.CredentialUse{first, managed}, refuse(400, 0), []string{"north"}},
		"own alone":                  {[]decide.CredentialUse{first}, refuse(401, 0), []string{"north", "south"}},
		"managed":                    {[]decide.CredentialUse{managed}, refuse(401, 0), []string{"north", "south"}},
		"managed, with one behind":   {[]decide.CredentialUse{managed, first}, refuse(429, 0), []string{"north", "north", "south"}},
		"unusable":                   {[]decide.CredentialUse{first, managed}, fail(upstream.CredentialFault), []string{"north", "north", "south"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.model("acme/a", 0, "north", "south")
				w.credentials(c.uses...)
				w.on("north", c.fails)
				w.on("south", good(plainCall()))
				w.attempt(t.Context(), plainCall())
				require.Equal(t, c.want, w.calls)
			})
		})
	}
}

func TestAFailureSaysWhoseCredentialItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for use, want := range map[decide.CredentialUse]string{managed: "tell the operator", first: "workspace's own credential"} {
			w := newWorld(t)
			w.model("acme/a", 0, "north")
			w.credentials(use)
			w.on("north", refuse(403, 0))
			_, _, failure := w.attempt(t.Context(), plainCall())
			require.Equal(t, fault.UpstreamCredentialRejected, failure.Code)
			require.Contains(t, failure.Message, want)
		}
	})
}

func TestACandidateWithoutCredentialsIsABug(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model("acme/a", 0, "north")
		w.credentials()
		_, records, failure := w.attempt(t.Context(), plainCall())
		require.Equal(t, fault.GatewayError, failure.Code)
		require.Empty(t, records)
	})
}
