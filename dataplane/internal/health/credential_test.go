package health_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// own is a workspace's own credential.
func own(n byte) id.Credential { return id.FromUUID[id.CredentialKind](uuid.UUID{0: 1, 15: n}) }

// used counts a call with a workspace's own credential.
func (w *world) used(credential id.Credential, v health.Verdict, retryAfter time.Duration) {
	w.table.Observe(health.Observation{Endpoint: name, Credential: credential, At: w.now, Verdict: v, RetryAfter: retryAfter})
}

func (w *world) standing(credential id.Credential) decide.CredentialHealth {
	return w.table.View().Credential(credential)
}

func TestWhatIsTheCredentialsIsNotTheEndpoints(t *testing.T) {
	w := newWorld()
	for range 20 {
		w.used(own(1), health.Refused, 0)
		w.used(own(2), health.RateLimited, time.Minute)
	}
	w.pass(time.Second)
	require.Equal(t, decide.EndpointHealth{}, w.see(), "the endpoint serves others as before")
	require.Equal(t, 1, w.standing(own(1)).Refused)
	require.True(t, w.standing(own(2)).Cooling(w.now))
	require.Equal(t, decide.CredentialHealth{}, w.standing(own(3)))
}

func TestWhatIsTheEndpointsIsNotTheCredentials(t *testing.T) {
	w := newWorld()
	for range 8 {
		w.used(own(1), health.Failed, 0)
	}
	require.True(t, w.see().Open)
	require.Equal(t, decide.CredentialHealth{}, w.standing(own(1)))
	w = newWorld()
	w.used(own(1), health.Succeeded, 0)
	w.pass(time.Second)
	require.EqualValues(t, 1, w.see().Calls, "a good answer speaks for the endpoint, whoever pays")
}

func TestRefusedCredentialRestsAndReturns(t *testing.T) {
	w := newWorld()
	for n, rests := range []time.Duration{30, 60, 120, 240, 480, 900, 900} {
		rests *= time.Second
		for range 5 { // calls under way together count once
			w.used(own(1), health.Refused, 0)
		}
		known := w.standing(own(1))
		require.Equal(t, decide.CredentialHealth{CoolingUntil: w.now.Add(rests), Refused: n + 1}, known)
		w.pass(rests)
		require.False(t, known.Cooling(w.now), "it is tried again")
	}
	w.used(own(1), health.Succeeded, 0)
	require.Zero(t, w.standing(own(1)).Refused)
	w.used(own(1), health.Refused, 0)
	require.Equal(t, w.now.Add(30*time.Second), w.standing(own(1)).CoolingUntil, "a success starts over")
	w.pass(2 * time.Hour)
	require.Equal(t, decide.CredentialHealth{}, w.standing(own(1)), "and in time it is forgotten")
}

func TestLimitedCredentialCools(t *testing.T) {
	w := newWorld()
	w.used(own(1), health.RateLimited, 100*time.Second)
	until := w.standing(own(1)).CoolingUntil
	require.Equal(t, w.now.Add(100*time.Second), until)
	w.used(own(1), health.RateLimited, time.Second)
	w.used(own(1), health.RateLimited, 0)
	w.used(own(1), health.Refused, 0)
	w.used(own(1), health.Succeeded, 0)
	require.Equal(t, until, w.standing(own(1)).CoolingUntil, "a later deadline is never replaced by an earlier one")
	w = newWorld()
	for _, want := range []time.Duration{10, 20, 40, 80, 160, 300, 300} {
		w.used(own(1), health.RateLimited, 0)
		require.Equal(t, w.now.Add(want*time.Second), w.standing(own(1)).CoolingUntil)
		w.pass(want * time.Second)
	}
}

func TestCredentialsAreBounded(t *testing.T) {
	w := newWorld()
	w.used(own(1), health.RateLimited, time.Second)
	for n := range 10_000 {
		w.used(id.FromUUID[id.CredentialKind](uuid.UUID{0: 2, 1: byte(n >> 8), 2: byte(n)}), health.RateLimited, time.Minute)
	}
	require.Equal(t, decide.CredentialHealth{}, w.standing(own(1)), "the one that would be first to return made room")
}

func TestCredentialViewsAreFrozen(t *testing.T) {
	w := newWorld()
	before := w.table.View()
	w.used(own(1), health.RateLimited, time.Minute)
	require.Equal(t, decide.CredentialHealth{}, before.Credential(own(1)))
	require.True(t, w.standing(own(1)).Cooling(w.now))
}

func TestWellUsedCredentialDoesNotAllocate(t *testing.T) {
	w := newWorld()
	w.used(own(1), health.Succeeded, 0)
	require.Zero(t, testing.AllocsPerRun(100, func() { w.used(own(1), health.Succeeded, 0) }))
}
