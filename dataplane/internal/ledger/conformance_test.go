package ledger

import (
	"context"
	"crypto/rand"
	"flag"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/spool"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// part is what a gateway has of a ledger, of either kind.
type part interface {
	views
	Exact(ctx context.Context, ws id.Workspace, account wire.Account, now time.Time, after Point) (Totals, Point, error)
	Seen() uint64
	OnProgress(fn func(Progress))
}

// views is what requests go by.
type views interface {
	Usage(ctx context.Context, ws id.Workspace, key id.Key, now time.Time) flow.Usage
	Totals(ctx context.Context, ws id.Workspace, accounts []wire.Account, now time.Time) []Totals
	AppendTotals(ctx context.Context, dst []Totals, ws id.Workspace, accounts []wire.Account, now time.Time) []Totals
}

// subject is a ledger of several gateways under test.
type subject interface {
	gateways() []part
	// finish puts a finished request of a gateway on record.
	finish(t require.TestingT, gateway int, ws id.Workspace, key id.Key, at time.Time, s wire.Spend)
	// complete puts an event of a gateway on record.
	complete(t require.TestingT, gateway int, e wire.UsageEvent)
	// again has a gateway count once more what it counted, as after an answer
	// that did not come.
	again(t require.TestingT, gateway int)
}

// inMemory is a subject over Memory.
type inMemory struct {
	parts []*MemoryGateway
	taken [][]spool.Count
}

func newInMemory(gateways int) *inMemory {
	m, s := NewMemory(), &inMemory{taken: make([][]spool.Count, gateways)}
	for range gateways {
		s.parts = append(s.parts, m.Gateway())
	}
	return s
}

func (s *inMemory) gateways() (list []part) {
	for _, p := range s.parts {
		list = append(list, p)
	}
	return list
}

func (s *inMemory) finish(t require.TestingT, gateway int, ws id.Workspace, key id.Key, at time.Time, spend wire.Spend) {
	s.complete(t, gateway, eventOf(ws, key, at, spend))
}

func (s *inMemory) complete(_ require.TestingT, gateway int, e wire.UsageEvent) {
	c := spool.Count{Sequence: uint64(len(s.taken[gateway]) + 1), Workspace: e.Workspace, At: e.ID.Time(), Spends: e.Spends(nil)}
	s.taken[gateway] = append(s.taken[gateway], c)
	s.parts[gateway].Add(c)
}

func (s *inMemory) again(_ require.TestingT, gateway int) {
	for _, c := range s.taken[gateway] {
		s.parts[gateway].Add(c)
	}
}

// onNATS is a subject over real NATS.
type onNATS struct{ nodes []*node }

func (s *onNATS) gateways() (list []part) {
	for _, n := range s.nodes {
		list = append(list, n.ledger)
	}
	return list
}

func (s *onNATS) finish(t require.TestingT, gateway int, ws id.Workspace, key id.Key, at time.Time, spend wire.Spend) {
	s.complete(t, gateway, eventOf(ws, key, at, spend))
}

func (s *onNATS) complete(t require.TestingT, gateway int, e wire.UsageEvent) {
	require.NoError(t, s.nodes[gateway].spool.Complete(e))
}

func (s *onNATS) again(_ require.TestingT, gateway int) {
	s.nodes[gateway].store.lose(1)
	l := s.nodes[gateway].ledger
	l.mu.Lock()
	l.part()
	l.mu.Unlock()
}

var (
	ids    = id.SystemSource()
	monday = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
)

func newKey() (id.Workspace, id.Key) {
	return id.New[id.WorkspaceKind](ids), id.New[id.KeyKind](ids)
}

func known(requests int64, cost money.Nanos) flow.Bucket {
	return flow.Bucket{Known: true, Requests: requests, Cost: cost}
}

const (
	soon  = 20 * time.Second
	often = 2 * time.Millisecond
)

// sees waits until all gateways see the same usage.
func sees(t *testing.T, s subject, ws id.Workspace, key id.Key, now time.Time, want flow.Usage) {
	t.Helper()
	for i, g := range s.gateways() {
		var got flow.Usage
		require.Eventually(t, func() bool {
			got = g.Usage(t.Context(), ws, key, now)
			return got == want
		}, soon, often, "gateway %d", i)
		require.Equal(t, want, got)
	}
}

// TestConformance holds both kinds of ledger to one meaning.
func TestConformance(t *testing.T) {
	kinds := map[string]func(t *testing.T, now func() time.Time) subject{
		"memory": func(*testing.T, func() time.Time) subject { return newInMemory(3) },
		"nats": func(t *testing.T, now func() time.Time) subject {
			b := newBench(t)
			b.fill(nil, nil)
			s := &onNATS{}
			for range 3 {
				s.nodes = append(s.nodes, b.node(now))
			}
			return s
		},
	}
	for kind, build := range kinds {
		for name, check := range map[string]func(*testing.T, subject, *clock){
			"nothing is zero": nothingIsZero, "sums over gateways": sumsOverGateways, "a retry counts once": retriesCountOnce,
			"windows begin anew": windowsBeginAnew, "keys are apart": keysAreApart, "large amounts": largeAmounts, "a model": likeAModel,
			"accounts": accountsOfARequest, "exact": exactAfterProgress,
		} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				c := newClock(monday)
				check(t, build(t, c.now), c)
			})
		}
	}
}

func nothingIsZero(t *testing.T, s subject, _ *clock) {
	ws, key := newKey()
	sees(t, s, ws, key, monday, flow.Usage{Daily: known(0, 0), Weekly: known(0, 0), Monthly: known(0, 0)})
}

func sumsOverGateways(t *testing.T, s subject, _ *clock) {
	ws, key := newKey()
	for i := range 30 {
		s.finish(t, i%3, ws, key, monday, wire.Spend{Requests: 1, Cost: 7})
	}
	s.finish(t, 1, ws, key, monday, wire.Spend{Cost: 5}) // another model of a request
	all := known(30, 215)
	sees(t, s, ws, key, monday, flow.Usage{Daily: all, Weekly: all, Monthly: all})
}

func retriesCountOnce(t *testing.T, s subject, _ *clock) {
	ws, key := newKey()
	for i := range 12 {
		for g := range 3 {
			s.finish(t, g, ws, key, monday, wire.Spend{Requests: 1, Cost: 2})
		}
		s.again(t, i%3)
	}
	all := known(36, 72)
	sees(t, s, ws, key, monday, flow.Usage{Daily: all, Weekly: all, Monthly: all})
}

// windowsBeginAnew finishes requests around the borders, with requests that
// were under way when a window ended.
func windowsBeginAnew(t *testing.T, s subject, c *clock) {
	ws, key := newKey()
	one := wire.Spend{Requests: 1, Cost: 10}
	saturday := time.Date(2026, 11, 28, 23, 59, 59, 0, time.UTC)
	c.set(saturday)
	s.finish(t, 0, ws, key, saturday, one)
	sees(t, s, ws, key, saturday, flow.Usage{Daily: known(1, 10), Weekly: known(1, 10), Monthly: known(1, 10)})

	sunday := saturday.Add(time.Second) // midnight
	c.set(sunday)
	sees(t, s, ws, key, sunday, flow.Usage{Daily: known(0, 0), Weekly: known(1, 10), Monthly: known(1, 10)})
	s.finish(t, 1, ws, key, saturday, one) // it began before midnight
	s.finish(t, 1, ws, key, sunday, one)
	sees(t, s, ws, key, sunday, flow.Usage{Daily: known(1, 10), Weekly: known(3, 30), Monthly: known(3, 30)})

	c.set(monday)
	sees(t, s, ws, key, monday, flow.Usage{Daily: known(0, 0), Weekly: known(0, 0), Monthly: known(3, 30)})
	s.finish(t, 2, ws, key, sunday, one)
	s.finish(t, 2, ws, key, monday, one)
	sees(t, s, ws, key, monday, flow.Usage{Daily: known(1, 10), Weekly: known(1, 10), Monthly: known(5, 50)})
	sees(t, s, ws, key, sunday, flow.Usage{Daily: known(2, 20), Weekly: known(4, 40), Monthly: known(4, 40)})

	december := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	c.set(december)
	s.finish(t, 0, ws, key, december, one)
	sees(t, s, ws, key, december, flow.Usage{Daily: known(1, 10), Weekly: known(2, 20), Monthly: known(1, 10)})
}

func keysAreApart(t *testing.T, s subject, _ *clock) {
	ws, key := newKey()
	other, otherKey := newKey()
	s.finish(t, 0, ws, key, monday, wire.Spend{Requests: 1, Cost: 1})
	s.finish(t, 1, ws, otherKey, monday, wire.Spend{Requests: 1, Cost: 2})
	s.finish(t, 2, other, key, monday, wire.Spend{Requests: 1, Cost: 3})
	for _, c := range []struct {
		ws   id.Workspace
		key  id.Key
		cost money.Nanos
	}{{ws, key, 1}, {ws, otherKey, 2}, {other, key, 3}} {
		all := known(1, c.cost)
		sees(t, s, c.ws, c.key, monday, flow.Usage{Daily: all, Weekly: all, Monthly: all})
	}
	sees(t, s, other, otherKey, monday, flow.Usage{Daily: known(0, 0), Weekly: known(0, 0), Monthly: known(0, 0)})
}

func largeAmounts(t *testing.T, s subject, _ *clock) {
	ws, key := newKey()
	for g := range 3 {
		s.finish(t, g, ws, key, monday, wire.Spend{Requests: 1, Cost: math.MaxInt64})
	}
	all := known(3, math.MaxInt64)
	sees(t, s, ws, key, monday, flow.Usage{Daily: all, Weekly: all, Monthly: all})
}

// fewer divides how many draws rapid makes until t ends.
func fewer(t *testing.T, by int) {
	checks := flag.Lookup("rapid.checks").Value
	all, err := strconv.Atoi(checks.String())
	require.NoError(t, err)
	require.NoError(t, checks.Set(strconv.Itoa(max(1, all/by))))
	t.Cleanup(func() { require.NoError(t, checks.Set(strconv.Itoa(all))) })
}

// likeAModel compares with plain sums.
func likeAModel(t *testing.T, s subject, c *clock) {
	times := []time.Time{
		time.Date(2026, 10, 31, 23, 0, 0, 0, time.UTC), time.Date(2026, 11, 1, 1, 0, 0, 0, time.UTC),
		monday.AddDate(0, 0, -2), monday.AddDate(0, 0, -1), monday, monday.Add(3 * time.Hour),
	}
	if _, memory := s.(*inMemory); !memory {
		fewer(t, 6) // each waits for NATS
	}
	rapid.Check(t, func(r *rapid.T) {
		c.set(c.now().Add(2 * warm)) // the accounts of the run before are not in use any more
		d := newDrawing()
		want := make(map[wire.Account]Totals)
		for _, a := range d.accounts() {
			want[a] = Totals{Known: true}
		}
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			g := rapid.IntRange(0, 2).Draw(r, "gateway")
			if rapid.IntRange(0, 5).Draw(r, "what") == 0 {
				s.again(r, g)
				continue
			}
			e := d.event(r, rapid.SampledFrom(times).Draw(r, "at"))
			s.complete(r, g, e)
			for _, spend := range e.Spends(nil) {
				want[spend.Account] = want[spend.Account].with(spend, e.ID.Time())
			}
		}
		accounts := d.accounts()
		for i, g := range s.gateways() {
			require.Eventually(r, func() bool {
				for j, got := range g.Totals(context.Background(), d.ws, accounts, monday) {
					if got != want[accounts[j]] {
						return false
					}
				}
				return true
			}, soon, often, "gateway %d", i)
			for _, a := range accounts {
				got, _, err := g.Exact(context.Background(), d.ws, a, monday, Point{})
				require.NoError(r, err)
				require.Equal(r, want[a], got, a)
			}
		}
	})
}

// with is t after what an event of a time added, as of monday.
func (t Totals) with(s wire.AccountSpend, at time.Time) Totals {
	if !at.Before(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)) {
		t.Monthly = t.Monthly.Add(s.Spend)
	}
	if !at.Before(monday.Truncate(24 * time.Hour)) {
		t.Weekly, t.Daily = t.Weekly.Add(s.Spend), t.Daily.Add(s.Spend)
	}
	if s.Account.Lifetime() {
		t.Lifetime = t.Lifetime.Add(s.Spend)
	}
	return t
}

// accountsOfARequest: one request is on all of its accounts, with one wait.
func accountsOfARequest(t *testing.T, s subject, _ *clock) {
	ws, key := newKey()
	dept, guard, user := id.New[id.DepartmentKind](ids), id.New[id.GuardrailKind](ids), id.New[id.UserKind](ids)
	october := time.Date(2026, 10, 3, 0, 0, 0, 0, time.UTC)
	for g, at := range []time.Time{monday, monday, october} {
		e := eventOf(ws, key, at, wire.Spend{Requests: 1, Cost: 10})
		e.User, e.CredentialSource, e.Charge = user, "byok", 3
		e.Attribution = wire.Attribution{Departments: []id.Department{dept}, Guardrails: []id.Guardrail{guard}, Agent: "an agent", Free: true}
		s.complete(t, g, e)
	}
	windows := func(now, ever wire.Spend) Totals {
		return Totals{Known: true, Daily: now, Weekly: now, Monthly: now, Lifetime: ever}
	}
	two, three := wire.Spend{Requests: 2, Cost: 20, BYOK: 20}, wire.Spend{Requests: 3, Cost: 30, BYOK: 30}
	accounts := []wire.Account{
		wire.KeyAccount(key), wire.DepartmentAccount(dept), wire.GuardrailAccount(guard), wire.AgentAccount("an agent"), wire.AccountWorkspace,
		wire.AccountCharged, wire.AccountBYOK, wire.FreeAccount(user), wire.FreeAccount(id.User{}),
	}
	want := []Totals{
		windows(two, wire.Spend{}), windows(two, wire.Spend{}), windows(two, three), windows(two, three), windows(two, three),
		windows(wire.Spend{Cost: 6}, wire.Spend{Cost: 9}), windows(wire.Spend{Requests: 2}, wire.Spend{}), windows(wire.Spend{Requests: 2}, wire.Spend{}),
		{Known: true},
	}
	for _, g := range s.gateways() {
		var got []Totals
		require.Eventually(t, func() bool {
			got = g.Totals(t.Context(), ws, accounts, monday)
			return got[4] == want[4]
		}, soon, often)
		require.Equal(t, want, got)
		require.Equal(t, append(want[:1:1], want...), g.AppendTotals(t.Context(), want[:1:1], ws, accounts, monday))
	}
}

// exactAfterProgress: what a gateway was told to be counted is in what any reads
// after that point.
func exactAfterProgress(t *testing.T, s subject, _ *clock) {
	ws, key := newKey()
	points := make(chan Progress, 1000)
	s.gateways()[0].OnProgress(func(p Progress) { points <- p })
	for n := int64(1); n <= 20; n++ {
		s.finish(t, 0, ws, key, monday, wire.Spend{Requests: 1, Cost: 10})
		require.Equal(t, uint64(n), s.gateways()[0].Seen())
		var p Progress
		for p.Sequence < uint64(n) {
			select {
			case p = <-points:
			case <-time.After(soon):
				require.Fail(t, "no progress")
			}
		}
		for _, g := range s.gateways() {
			got, at, err := g.Exact(t.Context(), ws, wire.AccountWorkspace, monday, p.Point)
			require.NoError(t, err)
			require.Equal(t, wire.Spend{Requests: n, Cost: money.Nanos(10 * n)}, got.Lifetime)
			require.Equal(t, got.Lifetime, got.Daily)
			require.Equal(t, p.Epoch, at.Epoch)
			require.GreaterOrEqual(t, at.Stream, p.Stream)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, at, err := s.gateways()[1].Exact(ctx, ws, wire.AccountWorkspace, monday, Point{})
	require.NoError(t, err)
	_, _, err = s.gateways()[1].Exact(ctx, ws, wire.AccountWorkspace, monday, Point{Epoch: at.Epoch, Stream: at.Stream + 1000})
	require.ErrorIs(t, err, ErrUnavailable, "no such state yet")
	_, _, err = s.gateways()[1].Exact(t.Context(), ws, wire.AccountWorkspace, monday, Point{Epoch: "another", Stream: 1})
	require.ErrorIs(t, err, ErrUnavailable)
}

// drawing draws events of one workspace.
type drawing struct {
	ws    id.Workspace
	keys  [2]id.Key
	dept  id.Department
	guard id.Guardrail
}

func newDrawing() *drawing {
	return &drawing{
		ws: id.New[id.WorkspaceKind](ids), keys: [2]id.Key{id.New[id.KeyKind](ids), id.New[id.KeyKind](ids)},
		dept: id.New[id.DepartmentKind](ids), guard: id.New[id.GuardrailKind](ids),
	}
}

func (d *drawing) accounts() []wire.Account {
	return []wire.Account{
		wire.KeyAccount(d.keys[0]), wire.KeyAccount(d.keys[1]), wire.AccountWorkspace, wire.DepartmentAccount(d.dept), wire.GuardrailAccount(d.guard),
		wire.AgentAccount("a"), wire.AccountBYOK, wire.AccountCharged, wire.FreeAccount(id.User{}),
	}
}

func (d *drawing) event(r *rapid.T, at time.Time) wire.UsageEvent {
	spend := wire.Spend{Requests: rapid.Int64Range(0, 1).Draw(r, "requests"), Cost: money.Nanos(rapid.Int64Range(0, 1e6).Draw(r, "cost"))}
	e := eventOf(d.ws, d.keys[rapid.IntRange(0, 1).Draw(r, "key")], at, spend)
	e.CredentialSource = rapid.SampledFrom([]string{"managed", "byok"}).Draw(r, "credential")
	e.Outcome = rapid.SampledFrom([]wire.Outcome{wire.Success, wire.Failed, wire.Unknown, wire.Refused}).Draw(r, "outcome")
	e.Charge = money.Nanos(rapid.Int64Range(0, 100).Draw(r, "charge"))
	if rapid.Bool().Draw(r, "attributed") {
		e.Attribution = wire.Attribution{Departments: []id.Department{d.dept}, Guardrails: []id.Guardrail{d.guard}, Agent: "a", Free: true}
	}
	return e
}

// eventOf is a usage event of a time that counts as s.
func eventOf(ws id.Workspace, key id.Key, at time.Time, s wire.Spend) wire.UsageEvent {
	req := id.New[id.RequestKind](id.NewSource(func() time.Time { return at }, rand.Reader))
	e := wire.UsageEvent{
		Schema: wire.UsageSchema, ID: req, PrimaryID: req, Workspace: ws, Key: key, StartedAt: at, Outcome: wire.Success, Attempts: 1,
	}
	e.Cost.Total = s.Cost
	if s.Requests == 0 {
		e.PrimaryID = id.New[id.RequestKind](ids)
	}
	return e
}
