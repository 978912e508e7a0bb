package snapshot

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/dataplane/internal/lastgood"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	ws        = id.New[id.WorkspaceKind](id.SystemSource())
	errAway   = errors.New("nats is away")
	errAbsent = fault.New(fault.NotFound, "nothing published")
)

// source holds what is published; the test changes it as it goes.
type source struct {
	mu       sync.Mutex
	any      policy.Pointer
	leader   policy.Pointer
	anyErr   error
	leadErr  error
	bodies   map[string][]byte
	away     bool
	pointers atomic.Int64
}

func newSource() *source {
	return &source{bodies: map[string][]byte{}, anyErr: errAbsent, leadErr: errAbsent}
}

func (s *source) with(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn()
}

// publish makes revision r what everybody reads.
func (s *source) publish(t testing.TB, r int64) policy.Pointer {
	p := s.body(t, r)
	s.with(func() { s.any, s.leader, s.anyErr, s.leadErr = p, p, nil, nil })
	return p
}

func (s *source) body(t testing.TB, r int64) policy.Pointer {
	body, digest, err := policy.Encode(policy.Snapshot{
		Schema: policy.Schema, Workspace: ws, Revision: r, Status: policy.WorkspaceActive, Settings: policy.DefaultSettings(),
	})
	require.NoError(t, err)
	s.with(func() { s.bodies[digest] = body })
	return policy.Pointer{Schema: policy.Schema, Revision: r, Digest: digest, Where: policy.InKV, Name: digest}
}

func (s *source) Policy(context.Context, id.Workspace) (policy.Pointer, error) {
	s.pointers.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return policy.Pointer{}, errAway
	}
	return s.any, s.anyErr
}

func (s *source) PolicyAtLeader(context.Context, id.Workspace) (policy.Pointer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return policy.Pointer{}, errAway
	}
	return s.leader, s.leadErr
}

func (s *source) PolicyBody(_ context.Context, p policy.Pointer) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if body, ok := s.bodies[p.Name]; ok && !s.away {
		return body, nil
	}
	return nil, errAway
}

func (s *source) CatalogBody(ctx context.Context, p policy.Pointer) ([]byte, error) {
	return s.PolicyBody(ctx, p)
}

func (s *source) Connected() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.away
}

func newStore(t testing.TB, s *source, disk *lastgood.Store) (*Store, *lastgood.Store) {
	log := slog.New(slog.DiscardHandler)
	if disk == nil {
		var err error
		disk, err = lastgood.Open(t.TempDir(), lastgood.Options{Log: log})
		require.NoError(t, err)
	}
	return New(Options{Source: s, Disk: disk, Now: time.Now, Log: log, PinWithin: 300 * time.Millisecond}), disk
}

func pinned(t testing.TB, s *Store, minRevision int64) int64 {
	t.Helper()
	v, err := s.Pin(t.Context(), ws, minRevision)
	require.NoError(t, err)
	return v.Revision()
}

func TestFirstPinLoadsAndThenHolds(t *testing.T) {
	src := newSource()
	s, _ := newStore(t, src, nil)
	src.publish(t, 3)
	require.EqualValues(t, 3, pinned(t, s, 0))
	require.EqualValues(t, 3, pinned(t, s, 3))
	require.EqualValues(t, 1, src.pointers.Load())
}

func TestAKeysMinimumIsHonoured(t *testing.T) {
	src := newSource()
	s, _ := newStore(t, src, nil)
	src.publish(t, 3)
	require.EqualValues(t, 3, pinned(t, s, 0))
	t.Run("by the leader when a replica lags", func(t *testing.T) {
		p := src.body(t, 4)
		src.with(func() { src.leader = p })
		require.EqualValues(t, 4, pinned(t, s, 4))
	})
	t.Run("by waiting for the push", func(t *testing.T) {
		var got int64
		var wg sync.WaitGroup
		wg.Go(func() {
			if v, err := s.Pin(t.Context(), ws, 5); err == nil {
				got = v.Revision()
			}
		})
		p := src.publish(t, 5)
		require.NoError(t, s.Apply(t.Context(), ws, p))
		wg.Wait()
		require.EqualValues(t, 5, got)
	})
	t.Run("or not at all", func(t *testing.T) {
		_, err := s.Pin(t.Context(), ws, 9)
		require.ErrorIs(t, err, ErrUndetermined)
	})
	t.Run("but the last good one is served while NATS is away", func(t *testing.T) {
		src.with(func() { src.away = true })
		require.EqualValues(t, 5, pinned(t, s, 9))
	})
}

func TestAnOlderRevisionNeverReplacesANewerOne(t *testing.T) {
	src := newSource()
	s, _ := newStore(t, src, nil)
	old := src.body(t, 3)
	src.publish(t, 5)
	require.EqualValues(t, 5, pinned(t, s, 0))
	require.False(t, s.Wants(ws, old))
	require.NoError(t, s.Apply(t.Context(), ws, old))
	require.EqualValues(t, 5, pinned(t, s, 0))
}

func TestABadBodyLeavesTheLastGoodOne(t *testing.T) {
	src := newSource()
	s, _ := newStore(t, src, nil)
	src.publish(t, 3)
	require.EqualValues(t, 3, pinned(t, s, 0))
	good := src.body(t, 4)
	newer, _ := unreadable(t, 4)
	foreign, _, err := policy.Encode(policy.Snapshot{Schema: policy.Schema, Workspace: id.New[id.WorkspaceKind](id.SystemSource()), Revision: 4})
	require.NoError(t, err)
	lost, _, err := policy.Encode(policy.Snapshot{Workspace: ws, Revision: 4, Routes: make([]policy.Route, 1)}.Versioned())
	require.NoError(t, err)
	for name, body := range map[string][]byte{
		"other bytes":    []byte("{}"),
		"not JSON":       []byte("{"),
		"newer schema":   newer,
		"other tenant's": foreign,
		"no way through": lost,
	} {
		t.Run(name, func(t *testing.T) {
			before := s.Status().Rejected
			p := good
			p.Name = name
			if name != "other bytes" {
				p.Digest = policy.Digest(body)
			}
			src.with(func() { src.bodies[name] = body })
			require.Error(t, s.Apply(t.Context(), ws, p))
			require.EqualValues(t, 3, pinned(t, s, 0))
			require.Equal(t, before+1, s.Status().Rejected)
		})
	}
	require.NoError(t, s.Apply(t.Context(), ws, good))
	require.EqualValues(t, 4, pinned(t, s, 0))
}

func TestAPinnedViewStaysWhatItWas(t *testing.T) {
	src := newSource()
	s, _ := newStore(t, src, nil)
	src.publish(t, 3)
	v, err := s.Pin(t.Context(), ws, 0)
	require.NoError(t, err)
	require.NoError(t, s.Apply(t.Context(), ws, src.publish(t, 4)))
	require.EqualValues(t, 3, v.Revision(), "a request keeps the revision that it pinned")
	require.EqualValues(t, 4, pinned(t, s, 0))
}

func TestAnUnpublishedWorkspaceIsUndetermined(t *testing.T) {
	s, _ := newStore(t, newSource(), nil)
	_, err := s.Pin(t.Context(), ws, 0)
	require.ErrorIs(t, err, ErrUndetermined)
}

func TestTheDiskServesUntilNATSConfirms(t *testing.T) {
	src := newSource()
	first, disk := newStore(t, src, nil)
	p := src.publish(t, 3)
	require.EqualValues(t, 3, pinned(t, first, 0))
	done, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, disk.Run(done))

	src.with(func() { src.away = true })
	s, _ := newStore(t, src, disk)
	require.EqualValues(t, 3, pinned(t, s, 0))
	require.Equal(t, []id.Workspace{ws}, s.Held(true))
	require.True(t, s.Wants(ws, p), "an unconfirmed view must be confirmed")
	require.NoError(t, s.Apply(t.Context(), ws, p))
	require.Zero(t, s.Status().Stale)
	_, err := s.Pin(t.Context(), id.New[id.WorkspaceKind](id.SystemSource()), 0)
	require.ErrorIs(t, err, ErrUndetermined)
}

// A gateway that starts anew stands where NATS does without holding anything:
// what its disk has would be served as if it were what was published.
func TestTheDiskIsNotServedForWhatCannotBeRead(t *testing.T) {
	src := newSource()
	first, disk := newStore(t, src, nil)
	src.publish(t, 3)
	require.EqualValues(t, 3, pinned(t, first, 0))
	done, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, disk.Run(done))

	p := src.publish(t, 4)
	src.with(func() {
		src.bodies[p.Name], p.Digest = unreadable(t, 4)
		src.any, src.leader = p, p
	})
	s, _ := newStore(t, src, disk)
	_, err := s.Pin(t.Context(), ws, 0)
	require.ErrorIs(t, err, ErrUndetermined)
	require.ErrorIs(t, err, policy.ErrSchema)
}

// unreadable is a snapshot that asks for a newer version of the gateway.
func unreadable(t *testing.T, revision int64) (body []byte, digest string) {
	s := policy.Snapshot{Workspace: ws, Revision: revision, Limits: &policy.Limits{}}.Versioned()
	s.Schema++
	body, digest, err := policy.Encode(s)
	require.NoError(t, err)
	return body, digest
}

func TestCatalog(t *testing.T) {
	src := newSource()
	s, disk := newStore(t, src, nil)
	require.Error(t, s.Ready())
	require.Nil(t, s.Catalog())
	publish := func(r int64, schema int) policy.Pointer {
		body, digest, err := policy.Encode(catalog.Catalog{Schema: schema, Revision: r})
		require.NoError(t, err)
		src.with(func() { src.bodies[digest] = body })
		return policy.Pointer{Schema: policy.Schema, Revision: r, Digest: digest, Where: policy.InKV, Name: digest}
	}
	require.NoError(t, s.ApplyCatalog(t.Context(), publish(2, catalog.Schema)))
	require.NoError(t, s.Ready())
	require.NoError(t, s.ApplyCatalog(t.Context(), publish(1, catalog.Schema)))
	require.EqualValues(t, 2, s.Catalog().Revision(), "an older one never replaces a newer one")
	require.Error(t, s.ApplyCatalog(t.Context(), publish(3, catalog.Schema+1)))
	require.EqualValues(t, 2, s.Catalog().Revision(), "a bad one leaves the last good one")

	done, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, disk.Run(done))
	next, _ := newStore(t, src, disk)
	next.LoadCatalog()
	require.NoError(t, next.Ready())
	require.True(t, next.Status().CatalogStale)
	require.NoError(t, next.ApplyCatalog(t.Context(), publish(2, catalog.Schema)))
	require.False(t, next.Status().CatalogStale)
}

func BenchmarkPinHeld(b *testing.B) {
	src := newSource()
	s, _ := newStore(b, src, nil)
	src.publish(b, 3)
	pinned(b, s, 0)
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		_, _ = s.Pin(ctx, ws, 3)
	}
}

func TestPinOfAHeldWorkspaceDoesNotAllocate(t *testing.T) {
	src := newSource()
	s, _ := newStore(t, src, nil)
	src.publish(t, 3)
	pinned(t, s, 0)
	ctx := t.Context()
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = s.Pin(ctx, ws, 3) }))
}

// What was pushed while nobody used the workspace has been acknowledged: the
// disk must not bring the older policy back.
func TestTheDiskDoesNotBringAnOlderPolicyBack(t *testing.T) {
	src := newSource()
	src.publish(t, 1)
	s, disk := newStore(t, src, nil)
	_, err := s.Pin(t.Context(), ws, 0)
	require.NoError(t, err)

	again, _ := newStore(t, src, disk)
	require.False(t, again.Wants(ws, src.body(t, 2)))
	src.with(func() { src.away = true })
	_, err = again.Pin(t.Context(), ws, 0)
	require.ErrorIs(t, err, ErrUndetermined)
}

// Whoever keeps something for as long as a policy hears of what replaces it
// and of what goes.
func TestWhatIsInstalledAndDroppedIsHeardOf(t *testing.T) {
	src := newSource()
	s, _ := newStore(t, src, nil)
	var heard []string
	s.o.Installed = func(v *policy.View) { heard = append(heard, strconv.FormatInt(v.Revision(), 10)) }
	s.o.Dropped = func(gone id.Workspace) { heard = append(heard, "gone "+gone.String()) }
	first := src.publish(t, 3)
	pinned(t, s, 0)
	require.NoError(t, s.Apply(t.Context(), ws, src.publish(t, 4)))
	require.NoError(t, s.Apply(t.Context(), ws, first), "which is over")
	s.Forget(ws)
	require.Equal(t, []string{"3", "4", "gone " + ws.String()}, heard)
}
