package exchange_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/dataplane/internal/health/exchange"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, natstest.Leaks()...) }

const (
	soon     = 15 * time.Second
	tick     = 2 * time.Millisecond
	endpoint = "north:acme/small"
)

// fleet is gateways around one NATS server, under one clock that the test moves.
type fleet struct {
	t    testing.TB
	nats *natstest.Server
	now  atomic.Int64 // Unix milliseconds

	every time.Duration // between what is new
}

func newFleet(t testing.TB) *fleet {
	f := &fleet{t: t, nats: natstest.New(t), every: 5 * time.Millisecond}
	f.now.Store(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).UnixMilli())
	return f
}

func (f *fleet) clock() time.Time { return time.UnixMilli(f.now.Load()).UTC() }

func (f *fleet) pass(d time.Duration) { f.now.Add(d.Milliseconds()) }

// gateway is a table and its exchange, which runs.
type gateway struct {
	*fleet
	table   *health.Table
	metrics *prometheus.Registry
	kill    func()
}

func (f *fleet) start() *gateway {
	conn := f.nats.Connect()
	g := &gateway{fleet: f, metrics: prometheus.NewRegistry()}
	g.table = health.New(health.Options{Now: f.clock, Seed: func() uint64 { return 1 }, Refresh: time.Millisecond})
	x := exchange.New(exchange.Options{
		Conn: conn, Table: g.table, Instance: uuid.New(), Log: natstest.Discard(), Now: f.clock,
		Every: f.every, Repeat: 100 * time.Millisecond,
	})
	g.metrics.MustRegister(x)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- x.Run(ctx) }()
	g.kill = sync.OnceFunc(func() {
		cancel()
		require.NoError(f.t, <-ended)
		// Until the server knows that it listens no more, others may be sent to it
		// with what they ask.
		_ = conn.NATS().Flush() // fails where the server has ended, which then knows
	})
	f.t.Cleanup(g.kill)
	return g
}

func (g *gateway) metric(name, label string) float64 {
	families, err := g.metrics.Gather()
	require.NoError(g.t, err)
	for _, f := range families {
		if f.GetName() != "signalbox_gateway_"+name {
			continue
		}
		for _, m := range f.GetMetric() {
			if label == "" || len(m.GetLabel()) > 0 && m.GetLabel()[0].GetValue() == label {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	g.t.Fatalf("no metric %s %s", name, label)
	return 0
}

// ready waits until the gateway has asked and answers others.
func (g *gateway) ready() *gateway {
	g.eventually(func() bool {
		conn, to := g.probe(), wire.SubjectHealthAnswer+".probe"
		sub, err := conn.SubscribeSync(to)
		require.NoError(g.t, err)
		defer func() { require.NoError(g.t, sub.Unsubscribe()) }()
		require.NoError(g.t, conn.PublishRequest(wire.SubjectHealthView, to, nil))
		_, err = sub.NextMsg(time.Second)
		return err == nil
	}, "a gateway that answers")
	return g
}

func (f *fleet) probe() *nats.Conn { return f.nats.Ready().NATS() }

func (f *fleet) eventually(condition func() bool, what string, args ...any) {
	f.t.Helper()
	require.Eventually(f.t, condition, soon, tick, append([]any{what}, args...)...)
}

func (g *gateway) observe(v health.Verdict, n int) {
	for range n {
		g.table.Observe(health.Observation{
			Endpoint: endpoint, At: g.clock(), Verdict: v, FirstByte: 200 * time.Millisecond, Generation: time.Second,
			InputTokens: 100, OutputTokens: 20,
		})
	}
}

func (g *gateway) see() decide.EndpointHealth { return g.table.View().Endpoint(endpoint) }

// calls is what the gateway knows, once its statistics are worked out anew.
func (g *gateway) calls() int64 {
	g.pass(time.Millisecond)
	return g.see().Calls
}

func TestTotalsAreTheSum(t *testing.T) {
	f := newFleet(t)
	gateways := []*gateway{f.start(), f.start(), f.start()}
	for i, g := range gateways {
		g.observe(health.Succeeded, 10*(i+1))
		g.observe(health.Failed, i+1)
	}
	for _, g := range gateways {
		f.eventually(func() bool { return g.calls() == 66 }, "66 calls")
		require.InDelta(t, 60.0/66, g.see().Success, 1e-9)
		require.EqualValues(t, 100, g.see().InputTokens)
	}
	require.Equal(t, gateways[0].see(), gateways[1].see())
	require.Equal(t, gateways[0].see(), gateways[2].see())
	// Who was told all by one gateway may not have heard the other one yet.
	f.eventually(func() bool { return gateways[0].metric("health_gateways", "") == 2 }, "both others")
	require.Zero(t, gateways[0].metric("health_trouble_total", "counts"))
}

func TestRateLimitIsKnownEverywhereAtOnce(t *testing.T) {
	f := newFleet(t)
	a, b, c := f.start(), f.start(), f.start()
	own := id.New[id.CredentialKind](id.SystemSource())
	a.observe(health.Succeeded, 1)
	f.eventually(func() bool { return b.calls() == 1 && c.calls() == 1 }, "all listen")
	a.table.Observe(health.Observation{Endpoint: endpoint, At: a.clock(), Verdict: health.RateLimited, RetryAfter: time.Minute})
	a.table.Observe(health.Observation{Endpoint: endpoint, Credential: own, At: a.clock(), Verdict: health.Refused})
	until := f.clock().Add(time.Minute)
	for _, g := range []*gateway{b, c} {
		f.eventually(func() bool { return g.see().CoolingUntil.Equal(until) }, "cools")
		f.eventually(func() bool { return g.table.View().Credential(own).Refused == 1 }, "is refused")
	}
	a.observe(health.Failed, 20)
	for _, g := range []*gateway{a, b, c} {
		f.eventually(func() bool { return g.metric("breaker_changes_total", "open") == 1 }, "opens")
	}
}

func TestStandingsDoNotWaitForTheNextSecond(t *testing.T) {
	f := newFleet(t)
	f.every = time.Hour
	a, b := f.start().ready(), f.start().ready()
	a.table.Observe(health.Observation{Endpoint: endpoint, At: a.clock(), Verdict: health.RateLimited, RetryAfter: time.Minute})
	f.eventually(func() bool { return b.see().Open }, "cools")
	require.Zero(t, b.calls(), "what was counted comes later")
}

// Whoever asks what users may be told gets it from one gateway, with what the
// others counted, and only where answers go.
func TestAnyGatewayReports(t *testing.T) {
	f := newFleet(t)
	a, b := f.start().ready(), f.start().ready()
	a.observe(health.Succeeded, 80)
	b.observe(health.Failed, 20)
	f.eventually(func() bool { return a.calls() == 100 && b.calls() == 100 }, "both know all")
	conn := f.probe()
	ask := func(to string) (*nats.Msg, error) {
		sub, err := conn.SubscribeSync(to)
		require.NoError(t, err)
		defer func() { require.NoError(t, sub.Unsubscribe()) }()
		require.NoError(t, conn.PublishRequest(wire.SubjectHealthReport, to, nil))
		return sub.NextMsg(soon)
	}
	m, err := ask(wire.SubjectHealthAnswer + ".control-plane")
	require.NoError(t, err)
	report, err := wire.ParseHealthReport(m.Data)
	require.NoError(t, err)
	require.Len(t, report.Endpoints, 1)
	require.Equal(t, endpoint, report.Endpoints[0].ID)
	require.EqualValues(t, 100, report.Endpoints[0].Requests)
	require.InDelta(t, 0.2, report.Endpoints[0].Errors, 1e-9)

	// A question whose answer would go elsewhere is passed over: the next one is
	// the first that is answered.
	elsewhere, err := conn.SubscribeSync("elsewhere")
	require.NoError(t, err)
	for range 8 { // so that both gateways got some
		require.NoError(t, conn.PublishRequest(wire.SubjectHealthReport, "elsewhere", nil))
	}
	for range 8 {
		_, err = ask(wire.SubjectHealthAnswer + ".control-plane")
		require.NoError(t, err)
	}
	pending, _, err := elsewhere.Pending()
	require.NoError(t, err)
	require.Zero(t, pending)
}

func TestLatecomerAsks(t *testing.T) {
	f := newFleet(t)
	a := f.start()
	for range 60 { // ten minutes
		a.observe(health.Succeeded, 3)
		f.pass(10 * time.Second)
	}
	a.observe(health.Failed, 8)
	a.ready()
	want := a.calls()
	require.EqualValues(t, 188, want)
	b := f.start()
	f.eventually(func() bool { return b.calls() == want }, "the view")
	require.Equal(t, a.see(), b.see())
	c := f.start()
	f.eventually(func() bool { return c.metric("health_answers_total", "") == 2 }, "two answers")
	require.Equal(t, want, c.calls(), "which count once")
}

func TestKilledGatewayIsNotCountedTwice(t *testing.T) {
	f := newFleet(t)
	a, b := f.start(), f.start()
	a.observe(health.Succeeded, 5)
	b.observe(health.Succeeded, 7)
	f.eventually(func() bool { return a.calls() == 12 && b.calls() == 12 }, "12 calls")
	a.kill()
	b.ready()
	f.pass(2 * time.Second) // what b answered when it was asked first is no answer any more
	a = f.start()
	f.eventually(func() bool { return a.calls() == 12 }, "what it counted before")
	a.observe(health.Succeeded, 1)
	f.eventually(func() bool { return a.calls() == 13 && b.calls() == 13 }, "13 calls")
	a.kill()
	f.pass(31 * time.Minute)
	require.Zero(t, b.calls(), "a gateway that left stops counting")
}

func TestOutageOfNATS(t *testing.T) {
	f := newFleet(t)
	a, b := f.start(), f.start()
	a.observe(health.Succeeded, 1)
	f.eventually(func() bool { return b.calls() == 1 }, "both listen")
	f.nats.Stop()
	a.observe(health.Succeeded, 2)
	b.observe(health.Succeeded, 4)
	a.table.Observe(health.Observation{Endpoint: endpoint, At: a.clock(), Verdict: health.RateLimited, RetryAfter: time.Hour})
	require.EqualValues(t, 3, a.calls(), "each goes by what it sees itself")
	require.EqualValues(t, 5, b.calls())
	require.False(t, b.see().Open)
	late := f.start()
	late.observe(health.Succeeded, 8)
	require.EqualValues(t, 8, late.calls(), "also one that starts meanwhile")
	f.nats.Start()
	for _, g := range []*gateway{a, b, late} {
		f.eventually(func() bool { return g.calls() == 15 && g.see().Open }, "all of it")
	}
}

func TestWhatNobodyHeardIsSaidAgain(t *testing.T) {
	f := newFleet(t)
	a, b := f.start(), f.start()
	a.observe(health.Succeeded, 1)
	f.eventually(func() bool { return b.calls() == 1 }, "both listen")
	a.observe(health.Succeeded, 2)
	_, _ = a.table.Deltas(), b.table.Deltas() // takes what would have been said
	f.eventually(func() bool { return b.calls() == 3 }, "what was lost")
}

func TestJunkOnTheSubject(t *testing.T) {
	f := newFleet(t)
	a := f.start().ready()
	conn := f.probe()
	huge := make([]byte, wire.MaxHealth+1)
	huge[0] = 1
	for _, body := range [][]byte{nil, []byte("{}"), huge, {1, 2, 3}} {
		require.NoError(t, conn.Publish(wire.SubjectHealth, body))
		require.NoError(t, conn.Publish(wire.SubjectHealthView, body)) // asks for no answer
	}
	require.NoError(t, conn.Publish(wire.SubjectHealth, []byte{9}))
	f.eventually(func() bool {
		return a.metric("health_trouble_total", "malformed") == 3 && a.metric("health_trouble_total", "version") == 2
	}, "all refused")
	b := f.start()
	a.observe(health.Succeeded, 1)
	f.eventually(func() bool { return b.calls() == 1 }, "and nothing the worse")
}

// BenchmarkDelta is what a second of 100 busy endpoints costs: the bytes of its
// messages, and the time to take them elsewhere.
func BenchmarkDelta(b *testing.B) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	fresh := func() *health.Table {
		return health.New(health.Options{Now: func() time.Time { return now }, Seed: func() uint64 { return 1 }})
	}
	for _, calls := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("%d calls a second at each", calls), func(b *testing.B) {
			from, to := fresh(), fresh()
			self, sequence, bytes := uuid.New(), uint64(0), 0
			b.ReportAllocs()
			for b.Loop() {
				now = now.Add(time.Second)
				for e := range 100 {
					for n := range calls {
						from.Observe(health.Observation{
							Endpoint: fmt.Sprint("provider-", e, ":author/model-", e), At: now, Verdict: health.Succeeded,
							FirstByte: time.Duration(200+n*37%1800) * time.Millisecond, Generation: time.Second, InputTokens: 1000, OutputTokens: int64(20 + n),
						})
					}
				}
				for _, m := range from.Deltas() {
					sequence++
					m.Instance, m.Sequence, m.SentAt = self, sequence, now
					body := wire.AppendHealth(nil, &m)
					bytes += len(body)
					told, err := wire.ParseHealth(body)
					if err != nil {
						b.Fatal(err)
					}
					to.Apply(uuid.Nil, &told)
				}
			}
			b.ReportMetric(float64(bytes)/float64(b.N), "B/s")
		})
	}
}
