package fleet_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/controlplane/internal/endpointhealth/fleet"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, natstest.Leaks()...) }

// rig is a fleet under a clock that the test moves.
type rig struct {
	*fleet.Fleet
	t    *testing.T
	nats *natstest.Server
	now  time.Time
}

func newRig(t *testing.T, wait time.Duration) *rig {
	r := &rig{t: t, nats: natstest.New(t), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	r.Fleet = fleet.New(fleet.Options{
		Conn: r.nats.Ready(), IDs: id.SystemSource(), Now: func() time.Time { return r.now }, Wait: wait,
	})
	return r
}

// answer has a gateway answer with what body gives, unless that is nil, and tells
// of each question.
func (r *rig) answer(body func() []byte) (asked chan struct{}) {
	r.t.Helper()
	conn := r.nats.Ready()
	asked = make(chan struct{}, 64)
	stop, err := conn.Answer(wire.SubjectHealthReport, wire.QueueHealth, wire.SubjectHealthAnswer, natsconn.Room{Messages: 64, Bytes: 1 << 20}, func(q natsconn.Question) {
		asked <- struct{}{}
		if text := body(); text != nil {
			_ = q.Answer(text) // the test fails by what it does not hear
		}
	})
	require.NoError(r.t, err)
	require.NoError(r.t, conn.NATS().Flush())
	r.t.Cleanup(stop)
	return asked
}

func encoded(t *testing.T, report wire.HealthReport) []byte {
	t.Helper()
	body, err := json.Marshal(report)
	require.NoError(t, err)
	return body
}

func TestOneGatewayAnswersAndTheAnswerServesForASecond(t *testing.T) {
	r := newRig(t, 10*time.Second)
	want := wire.HealthReport{Schema: 1, MadeAt: r.now, Endpoints: []wire.ReportedHealth{{ID: "north:acme/small", Requests: 100, Uptime: 1, State: wire.HealthClosed}}}
	var body atomic.Pointer[[]byte]
	says := func(text []byte) { body.Store(&text) }
	asked := r.answer(func() []byte { return *body.Load() })
	says(encoded(t, want))
	for range 3 {
		got, err := r.Report(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	require.Len(t, asked, 1)
	r.now = r.now.Add(time.Second)
	_, err := r.Report(t.Context())
	require.NoError(t, err)
	require.Len(t, asked, 2)
	for _, broken := range [][]byte{[]byte("{"), {}, encoded(t, wire.HealthReport{Schema: 9})} {
		says(broken)
		r.now = r.now.Add(time.Second)
		_, err := r.Report(t.Context())
		require.True(t, fault.Is(err, fault.Unavailable), "%q: %v", broken, err)
	}
}

func TestWithoutAGatewayNothingIsKnown(t *testing.T) {
	r := newRig(t, 10*time.Second)
	got, err := r.Report(t.Context())
	require.NoError(t, err)
	require.Empty(t, got.Endpoints)
	require.Equal(t, r.now, got.MadeAt)
}

func TestSilenceAndAnAbsentServerAreFailures(t *testing.T) {
	r := newRig(t, 20*time.Millisecond)
	asked := r.answer(func() []byte { return nil })
	_, err := r.Report(t.Context())
	require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
	<-asked
	for range 2 {
		_, err := r.Report(t.Context())
		require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
	}
	fence := r.nats.Ready().NATS()
	require.NoError(t, fence.PublishRequest(wire.SubjectHealthReport, wire.SubjectHealthAnswer+".fence", nil))
	<-asked
	require.Empty(t, asked, "who comes within the second does not wait as well")

	conn := r.nats.Ready()
	away := fleet.New(fleet.Options{Conn: conn, IDs: id.SystemSource(), Now: time.Now})
	conn.Close()
	_, err = away.Report(t.Context())
	require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
}

// Who waits for another's answer leaves when it likes, and takes over when the
// one who asked leaves.
func TestNobodyIsHeldByAnother(t *testing.T) {
	r := newRig(t, time.Minute)
	want := encoded(t, wire.HealthReport{Schema: 1, MadeAt: r.now})
	var silent atomic.Bool
	silent.Store(true)
	asked := r.answer(func() []byte {
		if silent.Load() {
			return nil
		}
		return want
	})
	first, leave := context.WithCancel(t.Context())
	failed := make(chan error, 2)
	report := func(ctx context.Context) {
		_, err := r.Report(ctx)
		failed <- err
	}
	go report(first)
	<-asked
	second, gone := context.WithCancel(t.Context())
	gone()
	_, err := r.Report(second)
	require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
	require.Empty(t, failed, "the first still waits")

	silent.Store(false)
	go report(t.Context())
	leave()
	require.ErrorIs(t, <-failed, context.Canceled)
	require.NoError(t, <-failed, "that the first left is not the others' failure")
	require.Len(t, asked, 1, "who asked for itself")
}
