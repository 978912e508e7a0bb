package gateway

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errAway = errors.New("the database is away")

// memory is a Store; the real one is held in the postgres package.
type memory struct {
	mu   sync.Mutex
	rows map[id.Gateway]Gateway
	err  error
}

func (m *memory) All(context.Context) ([]Gateway, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]Gateway, 0, len(m.rows))
	for _, g := range m.rows {
		list = append(list, g)
	}
	return list, m.err
}

func (m *memory) Put(_ context.Context, list []Gateway) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, g := range list {
		if m.rows[g.ID].LastSeenAt.Before(g.LastSeenAt) {
			m.rows[g.ID] = g
		}
	}
	return m.err
}

func (m *memory) Prune(context.Context, time.Time) error { return m.err }

type world struct {
	at    time.Time
	store *memory
	r     *Registry
}

func newWorld() *world {
	w := &world{at: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), store: &memory{rows: map[id.Gateway]Gateway{}}}
	w.r = w.registry()
	return w
}

func (w *world) registry() *Registry {
	return NewRegistry(w.store, func() time.Time { return w.at }, slog.New(slog.DiscardHandler))
}

func beat(g id.Gateway) wire.Heartbeat { return wire.Heartbeat{Gateway: g, Instance: "one"} }

var one = id.New[id.GatewayKind](id.SystemSource())

func (w *world) state(t *testing.T) State {
	t.Helper()
	list, err := NewService(w.r).List(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, list[0].State == Live, len(w.r.Live()) == 1, "who is listed as living is waited for")
	return list[0].State
}

func TestAGatewayLivesWhileItSpeaks(t *testing.T) {
	w := newWorld()
	w.r.Heard(beat(one))
	require.Equal(t, Live, w.state(t))
	w.at = w.at.Add(wire.GatewayGoneAfter)
	require.Equal(t, Live, w.state(t))
	w.at = w.at.Add(time.Millisecond)
	require.Equal(t, Gone, w.state(t))
	w.r.Heard(beat(one))
	require.Equal(t, Live, w.state(t))
	last := beat(one)
	last.Stopping = true
	w.r.Heard(last)
	require.Equal(t, Stopped, w.state(t))
}

func TestAReplacedInstanceIsNotHeard(t *testing.T) {
	w := newWorld()
	fresh := wire.Heartbeat{Gateway: one, Instance: "two", StartedAt: w.at}
	w.r.Heard(fresh)
	late := wire.Heartbeat{Gateway: one, Instance: "one", StartedAt: w.at.Add(-time.Hour), Stopping: true}
	w.r.Heard(late)
	require.Equal(t, Live, w.state(t), "the goodbye of the instance before must not end the new one")
}

// While NATS is away, silence proves nothing.
func TestADeafControlPlaneDoesNotCallGatewaysGone(t *testing.T) {
	w := newWorld()
	w.r.Hearing(true)
	w.r.Heard(beat(one))
	w.r.Hearing(false)
	w.at = w.at.Add(time.Hour)
	require.Equal(t, Live, w.state(t))
	w.r.Hearing(true)
	require.Equal(t, Live, w.state(t), "it gets time to speak up")
	w.at = w.at.Add(wire.GatewayGoneAfter + time.Millisecond)
	require.Equal(t, Gone, w.state(t))
}

func TestARestartedControlPlaneKnowsWhoLives(t *testing.T) {
	w := newWorld()
	w.r.Heard(beat(one))
	require.NoError(t, w.r.save(t.Context()))
	w.r = w.registry()
	require.Empty(t, w.r.Live())
	require.NoError(t, w.r.Load(t.Context()))
	require.Equal(t, Live, w.state(t))
}

// What another control plane stored a moment later knows no positions.
func TestLoadingKeepsThePositionsThatWereHeard(t *testing.T) {
	w := newWorld()
	h := beat(one)
	h.Policy = wire.Position{Stream: 1, Sequence: 2}
	w.r.Heard(h)
	w.store.rows[one] = Gateway{ID: one, Instance: "one", LastSeenAt: w.at.Add(time.Second), State: Live}
	require.NoError(t, w.r.Load(t.Context()))
	require.Equal(t, h.Policy, w.r.Live()[0].Policy)
}

func TestTheListFailsWithoutTheDatabase(t *testing.T) {
	w := newWorld()
	w.store.err = errAway
	_, err := NewService(w.r).List(t.Context())
	require.ErrorIs(t, err, errAway)
}

func TestTheRegistryIsBounded(t *testing.T) {
	w := newWorld()
	ids := id.SystemSource()
	for range maxKnown + 5 {
		w.r.Heard(beat(id.New[id.GatewayKind](ids)))
	}
	require.Len(t, w.r.Live(), maxKnown)
}

func TestRunStoresWhatWasHeard(t *testing.T) {
	w := newWorld()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	w.r.Heard(beat(one))
	go func() { done <- w.r.Run(ctx) }()
	require.Eventually(t, func() bool { all, _ := w.store.All(ctx); return len(all) == 1 }, 15*time.Second, 10*time.Millisecond)
	cancel()
	require.NoError(t, <-done)
}

// A publication's account is closed in the end whoever is behind; a gateway that
// lives still has what was there before.
func TestALiveGatewayThatIsBehindCounts(t *testing.T) {
	w := newWorld()
	service := NewService(w.r)
	at := func(stream int64, sequence uint64, catalog int64) {
		h := beat(one)
		h.Policy, h.CatalogRevision = wire.Position{Stream: stream, Sequence: sequence}, catalog
		w.r.Heard(h)
	}
	lagging := func() int {
		t.Helper()
		n, err := service.Lagging(t.Context(), 3, []wire.Position{{Stream: 5, Sequence: 9}, {Stream: 7, Sequence: 4}})
		require.NoError(t, err)
		return n
	}
	require.Zero(t, lagging())
	for _, c := range []struct {
		stream   int64
		sequence uint64
		catalog  int64
		behind   int
	}{
		{7, 4, 3, 0}, {7, 5, 4, 0}, {7, 3, 3, 1}, {7, 4, 2, 1}, {5, 9, 3, 1}, {0, 0, 3, 1}, {8, 1, 3, 0},
	} {
		at(c.stream, c.sequence, c.catalog)
		require.Equal(t, c.behind, lagging(), "%+v", c)
	}
	at(7, 3, 3)
	w.at = w.at.Add(wire.GatewayGoneAfter + time.Millisecond)
	require.Zero(t, lagging(), "it serves no more")

	w.store.rows[one] = Gateway{ID: one, LastSeenAt: w.at, State: Live, CatalogRevision: 3}
	require.Equal(t, 1, lagging(), "another control plane heard it, and its position is not known here")
	w.store.err = errAway
	_, err := service.Lagging(t.Context(), 3, nil)
	require.ErrorIs(t, err, errAway)
}
