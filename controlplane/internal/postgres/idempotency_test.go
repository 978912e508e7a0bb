package postgres

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/idempotency"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

func openIdempotency(t *testing.T) (*services, *IdempotencyStore, idempotency.Request) {
	t.Helper()
	s := openServices(t)
	w := s.create(t, "acme").Workspace
	store := NewIdempotencyStore(s.db, testIDs, s.clock.now)
	return s, store, idempotency.Request{Workspace: w.ID, Actor: "mk_1", Key: "k", Hash: [32]byte{1}}
}

func TestAnswersAreReplayed(t *testing.T) {
	for name, ws := range map[string]bool{"of a workspace": true, "of the operator": false} {
		t.Run(name, func(t *testing.T) {
			s, store, r := openIdempotency(t)
			if !ws {
				r.Workspace = id.Workspace{}
			}
			claim, replay, err := store.Reserve(t.Context(), r)
			require.NoError(t, err)
			require.Nil(t, replay)
			answer := idempotency.Answer{Status: 201, Header: map[string]string{"etag": `"1"`}, Body: []byte(`{"data":{}}`)}
			require.NoError(t, store.Complete(t.Context(), claim, answer))
			_, replay, err = store.Reserve(t.Context(), r)
			require.NoError(t, err)
			require.Equal(t, &answer, replay)

			other := r
			other.Hash = [32]byte{2}
			_, _, err = store.Reserve(t.Context(), other)
			require.True(t, fault.Is(err, fault.IdempotencyConflict))
			other.Actor = "mk_2"
			_, replay, err = store.Reserve(t.Context(), other)
			require.NoError(t, err)
			require.Nil(t, replay, "keys of different callers are apart")

			s.clock.advance(idempotency.Keep)
			_, replay, err = store.Reserve(t.Context(), r)
			require.NoError(t, err)
			require.Nil(t, replay, "an old key is free again")
		})
	}
}

func TestConcurrentCallsRunOnce(t *testing.T) {
	_, store, r := openIdempotency(t)
	const n = 8
	type result struct {
		claim idempotency.Claim
		err   error
	}
	results := make(chan result, n)
	for range n {
		go func() {
			claim, _, err := store.Reserve(t.Context(), r)
			results <- result{claim, err}
		}()
	}
	var claims int
	for range n {
		got := <-results
		if got.err == nil {
			claims++
			continue
		}
		require.True(t, fault.Is(got.err, fault.Conflict), "%v", got.err)
		require.True(t, fault.Of(got.err).Retryable)
	}
	require.Equal(t, 1, claims)
}

// The claim is marked in the transaction of the change: a call whose process
// died after the commit is never run again, one that died before it may be.
func TestACallRunsAtMostOnceAcrossCrashes(t *testing.T) {
	s, store, r := openIdempotency(t)
	create := func(c idempotency.Claim) error {
		_, _, _, err := s.keys.Create(idempotency.WithClaim(t.Context(), c), r.Workspace, operator, apikey.NewKey{Name: "k"})
		return err
	}
	crashed, _, err := store.Reserve(t.Context(), r)
	require.NoError(t, err)
	s.clock.advance(idempotency.Lease)
	second, replay, err := store.Reserve(t.Context(), r)
	require.NoError(t, err)
	require.Nil(t, replay)
	require.NoError(t, create(second))
	err = create(crashed)
	require.True(t, fault.Is(err, fault.Conflict), "a claim that was lost cannot commit: %v", err)
	keys, err := s.keys.List(t.Context(), r.Workspace, page.Query{}, apikey.Filter{})
	require.NoError(t, err)
	require.Len(t, keys.Items, 1)

	require.NoError(t, store.Release(t.Context(), second), "an executed claim stays")
	s.clock.advance(idempotency.Lease)
	_, _, err = store.Reserve(t.Context(), r)
	require.True(t, fault.Is(err, fault.IdempotencyConflict), "%v", err)
	require.Equal(t, true, fault.Of(err).Fields["executed"])
	require.NoError(t, store.Complete(t.Context(), second, idempotency.Answer{Status: 201}))
	require.True(t, fault.Is(store.Complete(t.Context(), crashed, idempotency.Answer{Status: 201}), fault.NotFound))
}

func TestAFailedCallMayBeTriedAgain(t *testing.T) {
	s, store, r := openIdempotency(t)
	claim, _, err := store.Reserve(t.Context(), r)
	require.NoError(t, err)
	_, _, _, err = s.keys.Create(idempotency.WithClaim(t.Context(), claim), id.New[id.WorkspaceKind](testIDs), operator, apikey.NewKey{Name: "k"})
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)
	require.NoError(t, store.Release(t.Context(), claim))
	_, replay, err := store.Reserve(t.Context(), r)
	require.NoError(t, err)
	require.Nil(t, replay)
}

func TestSweepRemovesWhatExpired(t *testing.T) {
	s, store, r := openIdempotency(t)
	for _, key := range []string{"a", "b", "c"} {
		r.Key = key
		_, _, err := store.Reserve(t.Context(), r)
		require.NoError(t, err)
	}
	s.clock.advance(idempotency.Keep - time.Second)
	r.Key = "young"
	_, _, err := store.Reserve(t.Context(), r)
	require.NoError(t, err)
	s.clock.advance(time.Second)
	for _, want := range []int{2, 1, 0} {
		n, err := store.Sweep(t.Context(), 2)
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	_, _, err = store.Reserve(t.Context(), r)
	require.True(t, fault.Is(err, fault.Conflict), "the young one is still claimed: %v", err)
}
