package affinity_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/affinity"
	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
)

func TestASessionStaysWhereItsFirstTurnWent(t *testing.T) {
	w := newWorld(t)
	a, b := w.gateway(), w.gateway()
	require.Empty(t, a.at(turnOf("s")))
	a.answered(turnOf("s"), "north", nil)
	require.Equal(t, "north", a.at(turnOf("s")), "at once on the gateway that made it")
	b.eventually(turnOf("s"), "north")
	require.Empty(t, b.at(turnOf("s2")))

	// A workspace's session is nobody else's.
	foreign := turnOf("s")
	foreign.Workspace = other
	require.Empty(t, a.at(foreign))
	require.Empty(t, b.at(foreign))
	require.NotEqual(t, b.find(turnOf("s")).Hint, b.find(foreign).Hint)
	require.Positive(t, b.count("signalbox_affinity_turns_total", "hit", "session"))
	require.Positive(t, b.count("signalbox_affinity_turns_total", "miss", "session"))
}

func TestAMoveIsSeenByOthers(t *testing.T) {
	w := newWorld(t)
	a, b := w.gateway(), w.gateway()
	a.answered(turnOf("s"), "north", nil)
	b.eventually(turnOf("s"), "north")
	trace := b.answered(turnOf("s"), "south", left(decide.BreakOpen))
	require.Equal(t, &decide.AffinityTrace{
		Source: "session", Hit: true, Endpoint: "north:acme/small", Break: decide.BreakOpen, MovedTo: "south:acme/small", Hint: true,
	}, trace)
	a.eventually(turnOf("s"), "south")
	require.InDelta(t, 1, b.count("signalbox_affinity_breaks_total", "breaker_open"), 0)
	// Only what the turn left is moved: this one left a pin that is not there.
	late := turnOf("s")
	late.Conversation = a.find(turnOf("s"))
	late.Conversation.Pins = []decide.Pin{{Model: "acme/small", Provider: "north", Endpoint: "north:acme/small"}}
	a.ended(late, "east", left(decide.BreakOpen))
	require.Equal(t, "south", a.at(turnOf("s")))
}

func TestFirstTurnsOnTwoGatewaysConverge(t *testing.T) {
	w := newWorld(t)
	gateways := []*gateway{w.gateway(), w.gateway()}
	for i := range 20 {
		session := fmt.Sprint("s", i)
		var both sync.WaitGroup
		calls := []*call.Call{turnOf(session), turnOf(session)}
		for j, g := range gateways { // neither knows of the other's turn
			calls[j].Conversation = g.find(turnOf(session))
		}
		for j, g := range gateways {
			both.Go(func() { g.ended(calls[j], []string{"north", "south"}[j], nil) })
		}
		both.Wait()
		require.Eventually(t, func() bool {
			one, two := gateways[0].at(turnOf(session)), gateways[1].at(turnOf(session))
			return one != "" && one == two
		}, 20*time.Second, time.Millisecond)
	}
}

func TestAPinIsWrittenAgainAfterAQuarterOfItsLife(t *testing.T) {
	w := newWorld(t)
	g := w.gateway()
	g.answered(turnOf("s"), "north", nil)
	written := func(n int) {
		t.Helper()
		require.Eventually(t, func() bool { _, writes := w.store.Count(); return writes == n }, 20*time.Second, time.Millisecond)
	}
	written(1)
	w.store.Pass(6*time.Hour - time.Second)
	g.answered(turnOf("s"), "north", nil)
	g.answered(turnOf("other"), "north", nil) // by then the one before it is through
	written(2)
	w.store.Pass(time.Second)
	g.answered(turnOf("s"), "north", nil)
	written(3)
	w.store.Pass(24*time.Hour - time.Second)
	require.Equal(t, "north", g.at(turnOf("s")), "a day from its last writing")
	w.store.Pass(time.Second)
	require.Empty(t, g.at(turnOf("s")))
	require.Empty(t, w.gateway().at(turnOf("s")))
}

func TestOpeningsArePinnedByWhatProvidersReport(t *testing.T) {
	w := newWorld(t)
	a, b := w.gateway(), w.gateway()
	opening := func(text string) *call.Call {
		c := turnOf("")
		c.Request.Caching.Opening = call.Opening{Turns: []byte(`[{"role":"user","content":"` + text + `"}]`)}
		return c
	}
	a.answered(opening("x"), "north", nil)
	require.Empty(t, a.at(opening("x")), "nothing was cached")
	a.answered(opening("x"), "north", cached)
	require.Equal(t, "north", a.at(opening("x")))
	b.eventually(opening("x"), "north")
	gets, _ := w.store.Count()
	require.Zero(t, gets, "openings are heard of, never asked for")
	w.store.Pass(time.Hour)
	require.Empty(t, b.at(opening("x")), "as long as the provider keeps its cache")

	marked := opening("y")
	marked.Request.Caching.Marked = true
	a.answered(marked, "north", nil)
	require.Equal(t, "north", a.at(marked))
	// A gateway that starts asks for what its callers say to be a conversation.
	require.Equal(t, "north", w.gateway().at(func() *call.Call { c := opening("y"); c.Request.Caching.Marked = true; return c }()))
}

func TestWhatIsNotAnsweredPinsNothing(t *testing.T) {
	w := newWorld(t)
	g := w.gateway()
	g.answered(turnOf("s"), "north", func(_ *decide.Plan, o *call.Outcome) { o.Failure = fault.New(fault.UpstreamTimeout, "late") })
	g.answered(turnOf("s"), "north", func(_ *decide.Plan, o *call.Outcome) { o.Reply = nil })
	require.Empty(t, g.at(turnOf("s")))
	g.answered(turnOf("s"), "north", func(_ *decide.Plan, o *call.Outcome) {
		o.Failure, o.Canceled = fault.New(fault.ClientClosed, "left"), true
	})
	require.Equal(t, "north", g.at(turnOf("s")), "a caller who stops an answer goes on")
	count := turnOf("s")
	count.Action = call.Count
	require.Empty(t, g.find(count).Source)
	require.Empty(t, g.Find(t.Context(), turnOf("s"), decide.AffinityRules{}).Source)
}

func TestWithTheStoreAwayARequestIsAsIfThereWereNoPins(t *testing.T) {
	w := newWorld(t)
	a, b := w.gateway(), w.gateway()
	a.answered(turnOf("known"), "north", nil)
	b.eventually(turnOf("known"), "north")
	w.store.Stop()
	require.Empty(t, b.at(turnOf("unknown")))
	require.Equal(t, "north", b.at(turnOf("known")), "what is held counts")
	gets, _ := w.store.Count()
	for i := range 50 {
		require.Empty(t, b.at(turnOf(fmt.Sprint(i))))
	}
	after, _ := w.store.Count()
	require.Equal(t, gets, after, "a store that failed is left alone")
	require.Positive(t, b.count("signalbox_affinity_lookups_total", "skipped"))

	b.answered(turnOf("new"), "south", nil)
	require.Equal(t, "south", b.at(turnOf("new")), "on this gateway it is pinned all the same")
	require.Eventually(t, func() bool { return b.count("signalbox_affinity_write_failures_total", "store") == 1 }, 20*time.Second, time.Millisecond)
	w.store.Start(true)
	w.store.Pass(time.Second)
	require.Empty(t, a.at(turnOf("new")))
	b.answered(turnOf("new"), "south", nil) // the next turn writes it
	a.eventually(turnOf("new"), "south")
	// What memory lost is brought back by whoever holds it.
	require.Equal(t, "north", b.at(turnOf("known")))
	b.answered(turnOf("known"), "north", nil)
	w2 := w.gateway()
	w2.eventually(turnOf("known"), "north")
}

func TestARequestWaitsForTheStoreNoLongerThanTheBound(t *testing.T) {
	w := newWorld(t)
	release := w.store.Hang()
	defer release()
	// A store that never answers: that this returns at all is the bound's doing.
	g := newGateway(t, w.store, w.store.Now)
	require.Empty(t, g.at(turnOf("s")))
	require.InDelta(t, 1, g.count("signalbox_affinity_lookups_total", "failed"), 0)
	require.Empty(t, g.at(turnOf("s")))
	require.InDelta(t, 1, g.count("signalbox_affinity_lookups_total", "skipped"), 0)
	// A caller who has left says nothing of the store.
	w.store.Pass(time.Hour)
	gone, leave := context.WithCancel(t.Context())
	leave()
	g.Find(gone, turnOf("s"), all)
	gets, _ := w.store.Count()
	g.at(turnOf("s"))
	after, _ := w.store.Count()
	require.Equal(t, gets+1, after)
}

func TestWhatIsAbsentIsBelievedForAWhile(t *testing.T) {
	w := newWorld(t)
	a, b := w.gateway(), w.gateway()
	for range 5 {
		require.Empty(t, a.at(turnOf("s")))
	}
	gets, _ := w.store.Count()
	require.Equal(t, 1, gets)
	b.answered(turnOf("s"), "north", nil)
	a.eventually(turnOf("s"), "north") // heard of, although it was believed absent
	w.store.Pass(10 * time.Second)
	require.Empty(t, a.at(turnOf("s2")))
	w.store.Pass(10 * time.Second)
	require.Empty(t, a.at(turnOf("s2")))
	again, _ := w.store.Count()
	require.GreaterOrEqual(t, again, gets+2)
}

func TestWhatWaitsIsWrittenAtTheEnd(t *testing.T) {
	w := newWorld(t)
	g := newGateway(t, w.store, w.store.Now) // nobody writes yet
	for i := range 100 {
		g.answered(turnOf(fmt.Sprint(i)), "north", nil)
	}
	_, writes := w.store.Count()
	require.Zero(t, writes)
	ctx, end := context.WithCancel(context.Background())
	end()
	require.NoError(t, g.Run(ctx))
	_, writes = w.store.Count()
	require.Equal(t, 100, writes)
}

func TestAFullQueueIsCountedAndTheNextTurnWrites(t *testing.T) {
	w := newWorld(t)
	g := newGateway(t, w.store, w.store.Now)
	for i := range 6000 {
		g.answered(turnOf(fmt.Sprint(i)), "north", nil)
	}
	lost := g.count("signalbox_affinity_write_failures_total", "queue_full")
	require.Greater(t, lost, 1000.0)
	g.run(func() bool { _, writes := w.store.Count(); return writes == 6000-int(lost) })
	for i := range 6000 {
		g.answered(turnOf(fmt.Sprint(i)), "north", nil)
		if i%500 == 0 {
			require.Eventually(t, func() bool { _, writes := w.store.Count(); return writes > 0 }, time.Second, time.Millisecond)
		}
	}
	require.Eventually(t, func() bool {
		for i := range 6000 { // those that found it full again
			if _, err := w.store.Get(t.Context(), affinity.Name{Workspace: ws, Digest: g.find(turnOf(fmt.Sprint(i))).Name}); errors.Is(err, affinity.ErrAbsent) {
				g.answered(turnOf(fmt.Sprint(i)), "north", nil)
			}
		}
		_, writes := w.store.Count()
		return writes == 6000
	}, 20*time.Second, 10*time.Millisecond)
}

func TestModelsOfOneSessionHavePinsOfTheirOwn(t *testing.T) {
	w := newWorld(t)
	g := w.gateway()
	for i := range decide.MaxPins + 2 {
		w.store.Pass(time.Second)
		g.answered(turnOf("s"), "north", func(_ *decide.Plan, o *call.Outcome) { o.Reply.Step.Model.ID = fmt.Sprint("acme/m", i) })
	}
	pins := g.find(turnOf("s")).Pins
	require.Len(t, pins, decide.MaxPins)
	require.Equal(t, "acme/m9", pins[0].Model, "the latest first")
	require.Equal(t, "acme/m2", pins[7].Model)
}

func TestTheModelOfASession(t *testing.T) {
	w := newWorld(t)
	a, b := w.gateway(), w.gateway()
	unnamed := func() *call.Call { c := turnOf("s"); c.Request.Model = ""; return c }
	a.answered(turnOf("s"), "north", nil)
	require.Empty(t, a.find(unnamed()).Model, "a named model governs no turn that names none")
	a.answered(unnamed(), "north", nil)
	require.Equal(t, "acme/small", a.find(unnamed()).Model)
	require.Eventually(t, func() bool { return b.find(unnamed()).Model == "acme/small" }, 20*time.Second, time.Millisecond)
}

func TestRealNATSAwayAndBack(t *testing.T) {
	server := natstest.New(t)
	one, two := server.Ready(), server.Connect()
	require.Eventually(t, two.Connected, 10*time.Second, time.Millisecond)
	now := func() time.Time { return time.Now() }
	a := newGateway(t, affinity.NewNATS(one), now).run(func() bool { return true })
	b := newGateway(t, affinity.NewNATS(two), now).run(func() bool { return true })
	a.answered(turnOf("s"), "north", nil)
	b.eventually(turnOf("s"), "north")
	server.Stop()
	require.Eventually(t, func() bool { return !one.Connected() && !two.Connected() }, 20*time.Second, time.Millisecond)
	require.Equal(t, "north", b.at(turnOf("s")))
	require.Empty(t, b.at(turnOf("s2")))
	a.answered(turnOf("s2"), "south", nil)
	require.Eventually(t, func() bool { return a.count("signalbox_affinity_write_failures_total", "store") > 0 }, 20*time.Second, time.Millisecond)
	server.Start()
	server.Ensure(one)
	require.Eventually(t, func() bool {
		a.answered(turnOf("s2"), "south", nil)
		a.answered(turnOf("s"), "north", nil)
		return b.at(turnOf("s2")) == "south"
	}, 20*time.Second, 10*time.Millisecond)
}

func TestAPeekCountsNothingAndAsksNobody(t *testing.T) {
	w := newWorld(t)
	a, b := w.gateway(), w.gateway()
	require.Empty(t, b.Peek(turnOf("s"), decide.AffinityRules{}).Source)
	require.Equal(t, decide.FromSession, b.Peek(turnOf("s"), all).Source)
	a.answered(turnOf("s"), "north", nil)
	require.Empty(t, b.Peek(turnOf("s"), all).Pins, "it holds nothing of it")
	b.eventually(turnOf("s"), "north")
	gets, _ := w.store.Count()
	counted := b.count("signalbox_affinity_turns_total") + b.count("signalbox_affinity_lookups_total")
	require.Equal(t, b.find(turnOf("s")).Conversation, b.Peek(turnOf("s"), all).Conversation)
	b.Peek(turnOf("unknown"), all)
	after, _ := w.store.Count()
	require.Equal(t, gets, after)
	require.InDelta(t, counted+1, b.count("signalbox_affinity_turns_total")+b.count("signalbox_affinity_lookups_total"), 0, "the turn of find")
}

// deaf is a store whose watcher can be made to miss what is written.
type deaf struct {
	affinity.Store
	off    atomic.Bool
	missed func()
}

func (s *deaf) Watch(ctx context.Context, heard func(affinity.Name, []byte), missed func()) error {
	s.missed = missed
	return s.Store.Watch(ctx, func(n affinity.Name, doc []byte) {
		if !s.off.Load() {
			heard(n, doc)
		}
	}, missed)
}

// A pin that was moved while a gateway could not hear of it is not gone by once
// it hears again: it is asked for, once.
func TestAfterAGapWhatIsHeldIsConfirmed(t *testing.T) {
	opening := func() *call.Call {
		c := turnOf("")
		c.Request.Caching.Opening = call.Opening{Turns: []byte(`[{"role":"user","content":"x"}]`)}
		return c
	}
	for name, turn := range map[string]func() *call.Call{
		"an opening": opening, "a session": func() *call.Call { return turnOf("s") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			a, before := w.gateway(), w.store.Watchers()
			store := &deaf{Store: w.store}
			b := newGateway(t, store, w.store.Now).run(func() bool { return w.store.Watchers() > before })
			a.answered(turn(), "north", cached)
			b.eventually(turn(), "north")
			store.off.Store(true)
			a.answered(turn(), "south", left(decide.BreakOpen))
			n := affinity.Name{Workspace: ws, Digest: a.find(turn()).Name}
			require.Eventually(t, func() bool {
				data, err := w.store.Get(t.Context(), n)
				return err == nil && strings.Contains(string(data), "south")
			}, 20*time.Second, time.Millisecond)
			require.Equal(t, "north", b.at(turn()), "the gap is not known of yet")
			store.off.Store(false)
			store.missed()
			gets, _ := w.store.Count()
			for range 3 {
				require.Equal(t, "south", b.at(turn()))
			}
			unseen := opening()
			unseen.Request.Model = "acme/other"
			require.Empty(t, b.at(unseen))
			after, _ := w.store.Count()
			require.Equal(t, gets+1, after, "and openings that nobody knows are asked for as little as before")
		})
	}
}

// mute is a store that cannot be listened to.
type mute struct{ affinity.Store }

var errMute = errors.New("cannot listen")

func (mute) Watch(context.Context, func(affinity.Name, []byte), func()) error { return errMute }

func TestRunEndsAndTellsWhenItCannotListen(t *testing.T) {
	w := newWorld(t)
	g := newGateway(t, mute{w.store}, w.store.Now)
	g.answered(turnOf("s"), "north", nil)
	require.ErrorIs(t, g.Run(t.Context()), errMute)
	_, writes := w.store.Count()
	require.Equal(t, 1, writes, "what waits is written all the same")
}

func TestRunEndsWithAConnectionThatIsClosed(t *testing.T) {
	server := natstest.New(t)
	conn := server.Ready()
	conn.NATS().Close()
	require.ErrorIs(t, newGateway(t, affinity.NewNATS(conn), time.Now).Run(t.Context()), nats.ErrConnectionClosed)
}

// afterwards is a store on which something happens between a write and the
// writer's hearing of it.
type afterwards struct {
	affinity.Store
	then func()
}

func (s *afterwards) Change(ctx context.Context, n affinity.Name, change func([]byte) ([]byte, time.Duration)) ([]byte, error) {
	data, err := s.Store.Change(ctx, n, change)
	if then := s.then; then != nil {
		s.then = nil
		then()
	}
	return data, err
}

func TestAMoveThatOvertakesAWriteIsNotLost(t *testing.T) {
	w := newWorld(t)
	b := w.gateway()
	slow := &afterwards{Store: w.store}
	a := newGateway(t, slow, w.store.Now)
	slow.then = func() {
		b.answered(turnOf("s"), "south", left(decide.BreakOpen))
		n := affinity.Name{Workspace: ws, Digest: b.find(turnOf("s")).Name}
		require.Eventually(t, func() bool {
			data, err := w.store.Get(context.Background(), n)
			return err == nil && strings.Contains(string(data), "south")
		}, 20*time.Second, time.Millisecond)
	}
	before := w.store.Watchers()
	a.run(func() bool { return w.store.Watchers() > before })
	a.answered(turnOf("s"), "north", nil)
	a.eventually(turnOf("s"), "south")
	require.Equal(t, "south", b.at(turnOf("s")))
}

// overtaken is a store on which something happens between a reading and the
// reader's hearing of it.
type overtaken struct {
	affinity.Store
	then  func()
	heard atomic.Int32
}

func (s *overtaken) Watch(ctx context.Context, heard func(affinity.Name, []byte), missed func()) error {
	return s.Store.Watch(ctx, func(n affinity.Name, doc []byte) {
		heard(n, doc)
		s.heard.Add(1)
	}, missed)
}

func (s *overtaken) Get(ctx context.Context, n affinity.Name) ([]byte, error) {
	data, err := s.Store.Get(ctx, n)
	if then := s.then; then != nil {
		s.then = nil
		then()
	}
	return data, err
}

func TestAPinThatOvertakesALookUpIsNotLost(t *testing.T) {
	w := newWorld(t)
	a, before := w.gateway(), w.store.Watchers()
	slow := &overtaken{Store: w.store}
	b := newGateway(t, slow, w.store.Now).run(func() bool { return w.store.Watchers() > before })
	slow.then = func() {
		a.answered(turnOf("s"), "north", nil)
		require.Eventually(t, func() bool { return slow.heard.Load() == 1 }, 20*time.Second, time.Millisecond)
	}
	require.Empty(t, b.at(turnOf("s")))
	require.Equal(t, "north", b.at(turnOf("s")), "what was read before is not believed")
}

func TestDocumentsOfAnotherVersionArePassedOver(t *testing.T) {
	for _, data := range []string{"", "{}", "[]", `{"v":2,"pins":[{"m":"acme/small","p":"x","e":"x:acme/small","at":1,"until":99999999999}]}`} {
		w := newWorld(t)
		g := w.gateway()
		n := affinity.Name{Workspace: ws, Digest: g.Find(t.Context(), turnOf("s"), all).Name}
		_, err := w.store.Change(t.Context(), n, func([]byte) ([]byte, time.Duration) { return []byte(data), time.Hour })
		require.NoError(t, err)
		require.Empty(t, g.at(turnOf("s")))
		g.answered(turnOf("s"), "north", nil)
		w.gateway().eventually(turnOf("s"), "north")
	}
}
