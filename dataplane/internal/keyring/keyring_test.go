package keyring

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/dataplane/internal/lastgood"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const kid = "0123456789abcdef"

var (
	errAway   = errors.New("nats is away")
	errAbsent = fault.New(fault.NotFound, "no such key")
)

// source is what the test makes of it.
type source struct {
	any, leader func(kid string) (policy.Key, error)
	calls       atomic.Int64
}

func (s *source) Key(_ context.Context, kid string) (policy.Key, error) {
	s.calls.Add(1)
	return s.any(kid)
}

func (s *source) KeyAtLeader(_ context.Context, kid string) (policy.Key, error) {
	s.calls.Add(1)
	return s.leader(kid)
}

func gives(k policy.Key, err error) func(string) (policy.Key, error) {
	return func(string) (policy.Key, error) { return k, err }
}

func doc(revision int64, status policy.KeyStatus) policy.Key {
	return policy.Key{Schema: policy.Schema, KID: kid, Revision: revision, Status: status}
}

type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time          { return time.Unix(0, c.at.Load()) }
func (c *clock) advance(d time.Duration) { c.at.Add(int64(d)) }

func newRing(t testing.TB, s *source, change func(*Options)) (*Keyring, *clock, *lastgood.Store) {
	log := slog.New(slog.DiscardHandler)
	disk, err := lastgood.Open(t.TempDir(), lastgood.Options{Log: log})
	require.NoError(t, err)
	c := &clock{}
	c.advance(time.Hour)
	o := Options{Source: s, Disk: disk, Now: c.now, Log: log}
	if change != nil {
		change(&o)
	}
	return New(o), c, disk
}

func TestFirstUseFetchesAndThenHolds(t *testing.T) {
	s := &source{any: gives(doc(1, policy.KeyActive), nil)}
	k, _, _ := newRing(t, s, nil)
	for range 3 {
		got, err := k.Lookup(t.Context(), kid)
		require.NoError(t, err)
		require.Equal(t, policy.KeyActive, got.Status)
	}
	require.EqualValues(t, 1, s.calls.Load())
}

func TestAbsenceIsConfirmedAtTheLeader(t *testing.T) {
	s := &source{any: gives(policy.Key{}, errAbsent), leader: gives(doc(1, policy.KeyActive), nil)}
	k, _, _ := newRing(t, s, nil)
	_, err := k.Lookup(t.Context(), kid)
	require.NoError(t, err, "a lagging replica must not refuse a key")
}

func TestAbsenceIsRememberedBriefly(t *testing.T) {
	s := &source{any: gives(policy.Key{}, errAbsent), leader: gives(policy.Key{}, errAbsent)}
	k, c, _ := newRing(t, s, nil)
	for range 5 {
		_, err := k.Lookup(t.Context(), kid)
		require.ErrorIs(t, err, ErrUnknown)
	}
	require.EqualValues(t, 2, s.calls.Load())
	s.any = gives(doc(1, policy.KeyActive), nil)
	c.advance(defaultAbsentFor)
	_, err := k.Lookup(t.Context(), kid)
	require.NoError(t, err)
}

func TestAPushEndsTheMemoryOfAbsence(t *testing.T) {
	s := &source{any: gives(policy.Key{}, errAbsent), leader: gives(policy.Key{}, errAbsent)}
	k, _, _ := newRing(t, s, nil)
	_, err := k.Lookup(t.Context(), kid)
	require.ErrorIs(t, err, ErrUnknown)
	require.False(t, k.Apply(doc(1, policy.KeyActive)), "what is not held is dropped")
	s.any = gives(doc(1, policy.KeyActive), nil)
	_, err = k.Lookup(t.Context(), kid)
	require.NoError(t, err)
}

func TestTextThatIsNoKidReachesNobody(t *testing.T) {
	s := &source{}
	k, _, _ := newRing(t, s, nil)
	_, err := k.Lookup(t.Context(), "a.>")
	require.ErrorIs(t, err, ErrUnknown)
	require.Zero(t, s.calls.Load())
}

func TestAnOlderRevisionNeverReplacesANewerOne(t *testing.T) {
	s := &source{any: gives(doc(2, policy.KeyActive), nil)}
	k, _, _ := newRing(t, s, nil)
	_, err := k.Lookup(t.Context(), kid)
	require.NoError(t, err)
	require.True(t, k.Apply(doc(5, policy.KeyRevoked)))
	require.True(t, k.Apply(doc(4, policy.KeyActive)))
	got, err := k.Lookup(t.Context(), kid)
	require.NoError(t, err)
	require.Equal(t, policy.KeyRevoked, got.Status)
}

// The revocation arrives while the first use is reading the older document.
func TestAPushDuringAFirstUseWins(t *testing.T) {
	reading, release := make(chan struct{}), make(chan struct{})
	s := &source{any: func(string) (policy.Key, error) {
		close(reading)
		<-release
		return doc(1, policy.KeyActive), nil
	}, leader: gives(policy.Key{}, errAway)}
	k, _, _ := newRing(t, s, nil)
	var got policy.Key
	var err error
	var wg sync.WaitGroup
	wg.Go(func() { got, err = k.Lookup(t.Context(), kid) })
	<-reading
	require.True(t, k.Apply(doc(2, policy.KeyRevoked)), "a document that is being read is wanted")
	close(release)
	wg.Wait()
	require.NoError(t, err)
	require.Equal(t, policy.KeyRevoked, got.Status)
}

// The revocation was pushed and dropped; a replica still has the older one.
func TestAFirstUseFromALaggingReplicaIsFoundOut(t *testing.T) {
	s := &source{any: gives(doc(1, policy.KeyActive), nil), leader: gives(doc(2, policy.KeyRevoked), nil)}
	k, _, _ := newRing(t, s, nil)
	k.Apply(doc(2, policy.KeyRevoked))
	got, err := k.Lookup(t.Context(), kid)
	require.NoError(t, err)
	require.Equal(t, policy.KeyRevoked, got.Status)
}

// The subscription broke while a first use was reading: the push that it
// missed may have been for it.
func TestAFirstUseAcrossAGapReadsAgain(t *testing.T) {
	var k *Keyring
	reads := 0
	s := &source{
		any: func(string) (policy.Key, error) {
			reads++
			k.Renew()
			return doc(1, policy.KeyActive), nil
		},
		leader: gives(doc(2, policy.KeyRevoked), nil),
	}
	k, _, _ = newRing(t, s, nil)
	got, err := k.Lookup(t.Context(), kid)
	require.NoError(t, err)
	require.Equal(t, policy.KeyRevoked, got.Status)
	require.Equal(t, 1, reads, "after a gap the leader is asked")
}

func TestARemovedDocumentIsAskedForAgain(t *testing.T) {
	s := &source{any: gives(doc(1, policy.KeyActive), nil)}
	k, _, _ := newRing(t, s, nil)
	_, err := k.Lookup(t.Context(), kid)
	require.NoError(t, err)
	k.Forget(kid)
	s.any, s.leader = gives(policy.Key{}, errAbsent), gives(policy.Key{}, errAbsent)
	_, err = k.Lookup(t.Context(), kid)
	require.ErrorIs(t, err, ErrUnknown)
}

func TestWhileNATSIsAwayAKeyIsNeverRefused(t *testing.T) {
	s := &source{any: gives(policy.Key{}, errAway)}
	k, _, _ := newRing(t, s, nil)
	_, err := k.Lookup(t.Context(), kid)
	require.ErrorIs(t, err, ErrUndetermined)
	require.NotErrorIs(t, err, ErrUnknown)
	s.any, s.leader = gives(policy.Key{}, errAbsent), gives(policy.Key{}, errAway)
	_, err = k.Lookup(t.Context(), kid)
	require.ErrorIs(t, err, ErrUndetermined, "an unconfirmed absence is no absence")
	s.any = gives(doc(1, policy.KeyActive), nil)
	_, err = k.Lookup(t.Context(), kid)
	require.NoError(t, err, "it recovers by itself")
}

func TestTheDiskServesUntilNATSConfirms(t *testing.T) {
	s := &source{any: gives(doc(3, policy.KeyActive), nil)}
	first, _, disk := newRing(t, s, nil)
	_, err := first.Lookup(t.Context(), kid)
	require.NoError(t, err)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, disk.Run(done))

	away := &source{any: gives(policy.Key{}, errAway)}
	k, _, _ := newRing(t, away, func(o *Options) { o.Disk = disk })
	got, err := k.Lookup(t.Context(), kid)
	require.NoError(t, err)
	require.Equal(t, int64(3), got.Revision)
	require.Equal(t, 1, k.Status().Stale)
	require.Equal(t, []string{kid}, k.Held(true))
	k.Apply(doc(3, policy.KeyActive))
	require.Zero(t, k.Status().Stale, "NATS confirmed it")
	require.Equal(t, []string{kid}, k.Held(false))
}

func TestRandomKidsStayWithinTheBudget(t *testing.T) {
	s := &source{any: gives(policy.Key{}, errAbsent), leader: gives(policy.Key{}, errAbsent)}
	k, c, _ := newRing(t, s, func(o *Options) { o.LookupRate, o.LookupBurst = 100, 50 })
	flood := func() (asked int64) {
		before := s.calls.Load()
		for range 5000 {
			_, err := k.Lookup(t.Context(), randomKID())
			require.Error(t, err)
		}
		return (s.calls.Load() - before) / 2 // a replica and the leader
	}
	require.EqualValues(t, 50, flood())
	c.advance(200 * time.Millisecond)
	require.EqualValues(t, 20, flood())
	_, err := k.Lookup(t.Context(), randomKID())
	require.ErrorIs(t, err, ErrUndetermined, "beyond the budget nobody is refused either")

	s.any = gives(doc(1, policy.KeyActive), nil)
	c.advance(10 * time.Millisecond)
	_, err = k.Lookup(t.Context(), kid)
	require.NoError(t, err, "a token is left for a real key")
}

func TestKnownKeysDoNotUseTheBudgetUp(t *testing.T) {
	s := &source{any: func(kid string) (policy.Key, error) { return policy.Key{KID: kid, Revision: 1}, nil }}
	k, _, _ := newRing(t, s, func(o *Options) { o.LookupRate, o.LookupBurst = 1, 5 })
	for range 1000 {
		_, err := k.Lookup(t.Context(), randomKID())
		require.NoError(t, err)
	}
}

// Whoever guesses uses the budget up; a key that was just published exists for
// certain and is looked up all the same.
func TestAGuesserDoesNotKeepNewKeysOut(t *testing.T) {
	s := &source{any: gives(policy.Key{}, errAbsent), leader: gives(policy.Key{}, errAbsent)}
	k, _, _ := newRing(t, s, func(o *Options) { o.LookupRate, o.LookupBurst = 1, 5 })
	for range 10 {
		_, err := k.Lookup(t.Context(), randomKID())
		require.Error(t, err)
	}
	require.False(t, k.Apply(doc(1, policy.KeyActive)), "nobody has asked for it")
	s.any = gives(doc(1, policy.KeyActive), nil)
	_, err := k.Lookup(t.Context(), kid)
	require.NoError(t, err)
}

func randomKID() string { return fmt.Sprintf("%016x", rand.Uint64()) }

func TestCallersOfOneKidShareOneFetch(t *testing.T) {
	release := make(chan struct{})
	s := &source{any: func(string) (policy.Key, error) { <-release; return doc(1, policy.KeyActive), nil }}
	k, _, _ := newRing(t, s, nil)
	var wg sync.WaitGroup
	started := make(chan struct{}, 50)
	for range 50 {
		wg.Go(func() {
			started <- struct{}{}
			if _, err := k.Lookup(t.Context(), kid); err != nil {
				t.Errorf("lookup: %v", err)
			}
		})
	}
	for range 50 {
		<-started
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.Eventually(t, func() bool { return s.calls.Load() == 1 }, 10*time.Second, time.Millisecond)
	_, err := k.Lookup(gone, kid)
	require.ErrorIs(t, err, ErrUndetermined, "a caller that left does not wait")
	close(release)
	wg.Wait()
	require.EqualValues(t, 1, s.calls.Load())
}

func TestTheKeyringIsBounded(t *testing.T) {
	s := &source{any: func(kid string) (policy.Key, error) { return policy.Key{KID: kid, Revision: 1}, nil }}
	k, _, _ := newRing(t, s, func(o *Options) { o.Capacity = 160 })
	for range 2000 {
		_, err := k.Lookup(t.Context(), randomKID())
		require.NoError(t, err)
	}
	require.LessOrEqual(t, k.Status().Held, 160)
}

func BenchmarkLookupHeld(b *testing.B) {
	k, _, _ := newRing(b, &source{any: gives(doc(1, policy.KeyActive), nil)}, nil)
	ctx := b.Context()
	_, err := k.Lookup(ctx, kid)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = k.Lookup(ctx, kid)
	}
}

func TestLookupOfAHeldKeyDoesNotAllocate(t *testing.T) {
	k, _, _ := newRing(t, &source{any: gives(doc(1, policy.KeyActive), nil)}, nil)
	ctx := t.Context()
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = k.Lookup(ctx, kid) }))
}
