package health_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// gateway is one of several tables, each under the same clock, which tell each
// other by messages that the test carries.
type gateway struct {
	*world
	self     uuid.UUID
	sequence uint64
}

// fleet is several gateways.
type fleet struct {
	now      time.Time
	gateways []*gateway
	started  int
}

func newFleet(n int) *fleet {
	f := &fleet{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	for range n {
		f.start()
	}
	return f
}

func (f *fleet) start() *gateway {
	f.started++
	g := &gateway{world: newWorld(), self: uuid.UUID{0: 7, 15: byte(f.started)}}
	g.now = f.now
	f.gateways = append(f.gateways, g)
	return g
}

func (f *fleet) pass(d time.Duration) {
	f.now = f.now.Add(d)
	for _, g := range f.gateways {
		g.now = g.now.Add(d)
	}
}

// sent are messages as they cross the wire.
func (g *gateway) sent(messages []wire.Health) (bodies [][]byte) {
	for i := range messages {
		m := &messages[i]
		g.sequence++
		m.Instance, m.SentAt, m.Sequence = g.self, g.now, g.sequence
		bodies = append(bodies, wire.AppendHealth(nil, m))
	}
	return bodies
}

// answer is everything that the gateway knows, as it crosses the wire.
func (g *gateway) answer() (bodies [][]byte) {
	for _, m := range g.table.Everything(g.self) {
		m.Instance, m.SentAt = g.self, g.now
		bodies = append(bodies, wire.AppendHealth(nil, &m))
	}
	return bodies
}

func (g *gateway) hear(t require.TestingT, bodies ...[]byte) {
	for _, body := range bodies {
		require.LessOrEqual(t, len(body), wire.MaxHealth)
		m, err := wire.ParseHealth(body)
		require.NoError(t, err)
		g.table.Apply(g.self, &m)
	}
}

// exchange has every gateway tell all others what is new.
func (f *fleet) exchange(t require.TestingT) {
	for _, from := range f.gateways {
		bodies := from.sent(from.table.Deltas())
		for _, to := range f.gateways {
			to.hear(t, bodies...)
		}
	}
}

// good is an answer of so many milliseconds to the first byte.
func (w *world) good(firstByte int) {
	w.table.Observe(health.Observation{
		Endpoint: name, At: w.now, Verdict: health.Succeeded, FirstByte: time.Duration(firstByte) * time.Millisecond,
		Generation: time.Second, InputTokens: 100, CachedTokens: 25, OutputTokens: 50,
	})
}

func TestSeveralGatewaysKnowWhatOneWould(t *testing.T) {
	f, one := newFleet(3), newWorld()
	verdicts := []health.Verdict{health.Succeeded, health.Succeeded, health.Succeeded, health.Failed, health.RateLimited, health.GeoBlocked, health.Neutral}
	random := rand.New(rand.NewPCG(1, 2))
	for second := range 600 {
		for range 3 {
			o := health.Observation{
				Endpoint: fmt.Sprint("e", random.IntN(3)), Verdict: verdicts[random.IntN(len(verdicts))],
				FirstByte: time.Duration(random.IntN(5000)) * time.Millisecond, Generation: time.Second,
				InputTokens: random.Int64N(9000), OutputTokens: random.Int64N(900),
			}
			o.CachedTokens = o.InputTokens / 3
			at := f.gateways[random.IntN(3)]
			o.At = at.now
			at.table.Observe(o)
			o.At = one.now
			one.table.Observe(o)
		}
		f.pass(time.Second)
		one.pass(time.Second)
		if second%7 == 0 {
			f.exchange(t)
		}
	}
	f.exchange(t)
	f.pass(time.Second)
	one.pass(time.Second)
	for e := range 3 {
		name := fmt.Sprint("e", e)
		want := one.table.View().Endpoint(name)
		want.Open, want.CoolingUntil = false, time.Time{} // when a gateway hears of a 429 makes a difference to the next
		require.NotZero(t, want.CacheHit)
		for _, g := range f.gateways {
			got := g.table.View().Endpoint(name)
			got.Open, got.CoolingUntil = false, time.Time{}
			require.Equal(t, want, got)
			published, _ := g.table.Published(name)
			wanted, ok := one.table.Published(name)
			require.True(t, ok)
			published.State, wanted.State = "", "" // as Open and CoolingUntil above
			published.Until, wanted.Until = time.Time{}, time.Time{}
			require.Equal(t, wanted, published)
		}
	}
}

// TestMergingIsIndifferent: whatever is lost, comes twice or in another order,
// once everything was repeated all know the sum.
func TestMergingIsIndifferent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newFleet(3)
		var under []struct {
			to   *gateway
			body []byte
		}
		var total int64
		carry := func(from *gateway, bodies [][]byte) {
			for _, to := range f.gateways {
				for _, body := range bodies {
					for range rapid.IntRange(0, 2).Draw(t, "copies") {
						under = append(under, struct {
							to   *gateway
							body []byte
						}{to, body})
					}
				}
			}
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			g := f.gateways[rapid.IntRange(0, len(f.gateways)-1).Draw(t, "gateway")]
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0, 1:
				for range rapid.IntRange(1, 5).Draw(t, "calls") {
					g.good(rapid.IntRange(1, 4000).Draw(t, "ms"))
					total++
				}
			case 2:
				carry(g, g.sent(g.table.Deltas()))
			case 3:
				carry(g, g.answer())
			case 4:
				if len(under) > 0 {
					i := rapid.IntRange(0, len(under)-1).Draw(t, "arrives")
					under[i].to.hear(t, under[i].body)
					under = append(under[:i], under[i+1:]...)
				}
			case 5:
				f.pass(time.Duration(rapid.IntRange(0, 5).Draw(t, "seconds")) * time.Second)
			}
		}
		for _, g := range f.gateways {
			g.table.Repeat(time.Hour)
		}
		f.exchange(t)
		for _, late := range under {
			late.to.hear(t, late.body)
		}
		f.pass(time.Second)
		for _, g := range f.gateways {
			require.Equal(t, total, g.see().Calls)
			require.Zero(t, g.table.Status().Trouble[health.TroubleCounts])
		}
	})
}

func TestOnesRateLimitCoolsAll(t *testing.T) {
	f := newFleet(3)
	f.gateways[0].limited(40 * time.Second)
	f.gateways[0].used(own(1), health.RateLimited, 50*time.Second)
	<-f.gateways[0].table.News()
	bodies := f.gateways[0].sent(f.gateways[0].table.Standings())
	require.Len(t, bodies, 1)
	for _, g := range f.gateways[1:] {
		g.hear(t, bodies...)
		require.Equal(t, f.now.Add(40*time.Second), g.see().CoolingUntil)
		require.Equal(t, f.now.Add(50*time.Second), g.standing(own(1)).CoolingUntil)
		g.limited(time.Second)
		require.Equal(t, f.now.Add(40*time.Second), g.see().CoolingUntil, "a later deadline is never replaced by an earlier one")
		require.Empty(t, g.table.Standings(), "and nobody is told what they know")
	}
	f.pass(41 * time.Second)
	g := f.gateways[1]
	g.limited(0)
	g.limited(0)
	f.exchange(t)
	f.pass(10 * time.Second)
	f.gateways[2].limited(0)
	require.Equal(t, f.now.Add(20*time.Second), f.gateways[2].see().CoolingUntil, "the doubling goes on at another gateway")
}

func TestBurstOfRateLimitsIsTellable(t *testing.T) {
	f := newFleet(2)
	told := 0
	for range 1000 {
		f.gateways[0].limited(30 * time.Second) // each a millisecond later
		told += len(f.gateways[0].table.Standings())
		f.pass(time.Millisecond)
	}
	require.Equal(t, 1, told)
}

func TestCredentialStandingIsMerged(t *testing.T) {
	f := newFleet(3)
	a, b := f.gateways[0], f.gateways[1]
	a.used(own(1), health.Refused, 0)
	f.exchange(t)
	require.Equal(t, decide.CredentialHealth{CoolingUntil: f.now.Add(30 * time.Second), Refused: 1}, b.standing(own(1)))
	b.used(own(1), health.Refused, 0)
	require.Equal(t, 1, b.standing(own(1)).Refused, "calls under way together count once, wherever they were made")
	f.pass(30 * time.Second)
	b.used(own(1), health.Refused, 0)
	f.exchange(t)
	require.Equal(t, decide.CredentialHealth{CoolingUntil: f.now.Add(time.Minute), Refused: 2}, a.standing(own(1)))
	f.pass(time.Minute)
	a.used(own(1), health.Succeeded, 0)
	f.exchange(t)
	for _, g := range f.gateways {
		require.Zero(t, g.standing(own(1)).Refused)
	}
}

func TestOnesFailuresOpenEverywhere(t *testing.T) {
	f := newFleet(3)
	f.gateways[0].observe(health.Failed, 8)
	for _, g := range f.gateways[1:] {
		g.hear(t, f.gateways[0].sent(f.gateways[0].table.Standings())...)
	}
	require.True(t, f.gateways[0].see().Open)
	f.exchange(t)
	for _, g := range f.gateways {
		require.True(t, g.see().Open)
		require.EqualValues(t, 1, g.table.Status().Opened)
	}
}

func TestFailuresOfAllAddUp(t *testing.T) {
	f := newFleet(4)
	for _, g := range f.gateways {
		g.observe(health.Failed, 2)
		require.False(t, g.see().Open)
	}
	f.exchange(t)
	f.exchange(t)
	for _, g := range f.gateways {
		require.True(t, g.see().Open, "two failures at each of four gateways")
	}
	f.pass(30 * time.Second)
	f.gateways[0].observe(health.Failed, 1)
	f.exchange(t)
	f.pass(59 * time.Second)
	for _, g := range f.gateways {
		require.InDelta(t, 1, g.open(), 0, "the second opening is of a minute: four gateways opened it once")
	}
	f.pass(time.Second)
	for _, g := range f.gateways {
		require.InDelta(t, 0.95, g.open(), 0.02)
	}
}

func TestSuccessesOfAllClose(t *testing.T) {
	f := newFleet(3)
	f.gateways[0].observe(health.Failed, 8)
	f.exchange(t)
	f.pass(30 * time.Second)
	for _, g := range f.gateways {
		require.InDelta(t, 0.95, g.open(), 0.02, "every gateway lets 5 %% through, which is 5 %% of all")
	}
	f.gateways[0].observe(health.Succeeded, 2)
	f.gateways[1].observe(health.Succeeded, 2)
	f.exchange(t)
	require.InDelta(t, 0.95, f.gateways[2].open(), 0.02)
	f.gateways[2].observe(health.Succeeded, 1)
	f.exchange(t)
	for _, g := range f.gateways {
		require.Zero(t, g.open())
	}
	f.gateways[1].observe(health.Failed, 7)
	f.exchange(t)
	require.Zero(t, f.gateways[0].open(), "failures from before are forgotten")
}

func TestClosingReachesWhoMissedTheProbes(t *testing.T) {
	f := newFleet(2)
	a, b := f.gateways[0], f.gateways[1]
	a.observe(health.Failed, 8)
	f.exchange(t)
	stale := a.sent([]wire.Health{{Endpoints: []wire.EndpointHealth{{ID: name, Standing: wire.EndpointStanding{OpenUntil: f.now.Add(30 * time.Second), Opened: 1}}}}})
	f.pass(30 * time.Second)
	a.observe(health.Succeeded, 5)
	closing := a.sent(a.table.Standings())
	b.hear(t, closing...)
	require.Zero(t, b.open())
	b.hear(t, stale...)
	require.Zero(t, b.open(), "an opening that is over does not come back")
	b.observe(health.Failed, 8)
	require.InDelta(t, 1, b.open(), 0)
	b.hear(t, closing...)
	require.InDelta(t, 1, b.open(), 0, "nor does its closing end the next")
}

func TestFailedProbeWinsOverClosing(t *testing.T) {
	f := newFleet(2)
	f.gateways[0].observe(health.Failed, 8)
	f.exchange(t)
	f.pass(31 * time.Second)
	f.gateways[0].observe(health.Succeeded, 5)
	f.gateways[1].observe(health.Failed, 1)
	f.exchange(t)
	f.exchange(t)
	for _, g := range f.gateways {
		require.InDelta(t, 1, g.open(), 0)
	}
}

func TestLatecomerHasTheView(t *testing.T) {
	f := newFleet(2)
	for range 40 { // 20 minutes, so that most of it is in sums
		for i := range 3 {
			f.gateways[0].good(400 + i)
			f.gateways[1].observe(health.Failed, 1)
			f.gateways[1].good(2000)
		}
		f.exchange(t)
		f.pass(30 * time.Second)
	}
	f.gateways[0].limited(time.Minute)
	f.gateways[0].used(own(1), health.Refused, 0)
	f.exchange(t)
	f.pass(time.Second)
	late := f.start()
	late.hear(t, f.gateways[0].answer()...)
	late.hear(t, f.gateways[1].answer()...)
	late.hear(t, f.gateways[0].answer()...)
	require.Equal(t, f.gateways[0].see(), late.see(), "several answers count once")
	require.EqualValues(t, 360, late.see().Calls)
	require.Equal(t, 1, late.standing(own(1)).Refused)
	late.good(400)
	f.exchange(t)
	f.pass(time.Second)
	for _, g := range f.gateways {
		require.EqualValues(t, 361, g.see().Calls)
	}
	f.pass(29 * time.Minute)
	for _, g := range f.gateways {
		require.Equal(t, f.gateways[0].see().Calls, g.see().Calls, "it ages alike everywhere")
		require.Less(t, g.see().Calls, int64(30))
	}
}

func TestRestartedGatewayIsNotCountedTwice(t *testing.T) {
	f := newFleet(2)
	for range 30 {
		f.gateways[0].good(100)
		f.gateways[1].good(100)
		f.exchange(t)
		f.pass(10 * time.Second)
	}
	f.gateways = f.gateways[1:] // killed
	back := f.start()
	back.hear(t, f.gateways[0].answer()...)
	require.EqualValues(t, 60, back.see().Calls, "it knows what it counted before, from the others")
	back.good(100)
	f.exchange(t)
	back.hear(t, f.gateways[0].answer()...)
	f.gateways[0].hear(t, back.answer()...)
	f.pass(time.Second)
	for _, g := range f.gateways {
		require.EqualValues(t, 61, g.see().Calls)
	}
	f.pass(31 * time.Minute)
	require.Zero(t, back.see().Calls, "what it counted in its earlier life ages like the rest")
}

func TestOutageIsCaughtUp(t *testing.T) {
	f := newFleet(2)
	f.gateways[0].good(100)
	f.gateways[1].good(100)
	_, _ = f.gateways[0].table.Deltas(), f.gateways[1].table.Deltas() // lost
	f.pass(3 * time.Minute)
	for _, g := range f.gateways {
		g.table.Repeat(time.Hour)
	}
	f.exchange(t)
	f.pass(time.Second)
	for _, g := range f.gateways {
		require.EqualValues(t, 2, g.see().Calls)
	}
	f.gateways[0].observe(health.Succeeded, 3)
	_ = f.gateways[0].table.Deltas() // lost
	f.pass(10 * time.Minute)
	f.gateways[0].table.Repeat(time.Hour)
	f.exchange(t)
	f.pass(time.Second)
	require.EqualValues(t, 2, f.gateways[1].see().Calls, "after four minutes only sums are left,")
	f.gateways[1].hear(t, f.gateways[0].answer()...)
	f.pass(time.Second)
	require.EqualValues(t, 5, f.gateways[1].see().Calls, "of which the larger is taken")
}

// TestOfTwoSumsTheLargerCounts: gateways that were apart for long agree on the
// larger sum of a bucket that is closed, and never on both together.
func TestOfTwoSumsTheLargerCounts(t *testing.T) {
	f := newFleet(2)
	f.gateways[0].observe(health.Succeeded, 2)
	f.gateways[1].observe(health.Succeeded, 5)
	f.pass(10 * time.Minute)
	for range 2 {
		f.gateways[0].hear(t, f.gateways[1].answer()...)
		f.gateways[1].hear(t, f.gateways[0].answer()...)
	}
	f.pass(time.Second)
	for _, g := range f.gateways {
		require.EqualValues(t, 5, g.see().Calls)
	}
	f = newFleet(2)
	f.gateways[0].observe(health.Succeeded, 2)
	f.gateways[1].observe(health.Succeeded, 5)
	f.pass(10 * time.Minute)
	f.gateways[1].hear(t, f.gateways[0].answer()...)
	f.pass(time.Second)
	require.EqualValues(t, 5, f.gateways[1].see().Calls, "a smaller sum replaces nothing")
}
