package fleet_test

import (
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/controlplane/internal/endpointhealth/fleet"
	"github.com/signalbox-dev/signalbox/shared/fault"
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
		Conn: r.nats.Ready(), Instance: uuid.New(), Log: natstest.Discard(), Now: func() time.Time { return r.now }, Wait: wait,
	})
	return r
}

// answer has a gateway answer with bodies, and returns how often it was asked.
func (r *rig) answer(conn *natsconn.Conn, bodies ...[]byte) *atomic.Int64 {
	r.t.Helper()
	var asked atomic.Int64
	sub, err := conn.NATS().QueueSubscribe(wire.SubjectHealthReport, wire.QueueHealth, func(m *nats.Msg) {
		asked.Add(1)
		for _, body := range bodies {
			_ = conn.NATS().Publish(m.Reply, body)
		}
	})
	require.NoError(r.t, err)
	require.NoError(r.t, conn.NATS().Flush())
	r.t.Cleanup(func() { _ = sub.Unsubscribe() })
	return &asked
}

func encoded(t *testing.T, report wire.HealthReport) []byte {
	t.Helper()
	body, err := json.Marshal(report)
	require.NoError(t, err)
	return body
}

func TestOneGatewayAnswersAndTheAnswerServesForASecond(t *testing.T) {
	r := newRig(t, 10*time.Second)
	want := wire.HealthReport{Schema: 1, MadeAt: r.now, Endpoints: []wire.ReportedHealth{{ID: "north:acme/small", Requests: 100, Uptime: 1, State: "closed"}}}
	broken := encoded(t, wire.HealthReport{Schema: 9})
	asked := r.answer(r.nats.Ready(), broken, []byte("{"), encoded(t, want))
	for range 3 {
		got, err := r.Report(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	require.EqualValues(t, 1, asked.Load())
	r.now = r.now.Add(time.Second)
	_, err := r.Report(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 2, asked.Load())
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
	asked := r.answer(r.nats.Ready())
	for range 3 {
		_, err := r.Report(t.Context())
		require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
	}
	require.EqualValues(t, 1, asked.Load(), "who comes within the second does not wait as well")

	conn := r.nats.Ready()
	away := fleet.New(fleet.Options{Conn: conn, Instance: uuid.New(), Log: natstest.Discard(), Now: time.Now})
	conn.Close()
	_, err := away.Report(t.Context())
	require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
}
