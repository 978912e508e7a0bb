package limits_test

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger"
	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger/rate"
	"github.com/signalbox-dev/signalbox/dataplane/internal/limits"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// A Wednesday.
var noon = time.Date(2026, 3, 11, 12, 0, 0, 0, time.UTC)

var (
	ws      = id.MustParse[id.WorkspaceKind]("ws_00000000000000000000000001")
	theKey  = id.MustParse[id.KeyKind]("key_00000000000000000000000002")
	theUser = id.MustParse[id.UserKind]("user_00000000000000000000000003")
	theDept = id.MustParse[id.DepartmentKind]("dept_00000000000000000000000004")
	theRail = id.MustParse[id.GuardrailKind]("guard_00000000000000000000000005")
)

func rateID(n int) id.RatePolicy { return id.FromUUID[id.RatePolicyKind](uuidOf(n)) }

func budgetID(n int) id.Budget { return id.FromUUID[id.BudgetKind](uuidOf(n)) }

func uuidOf(n int) (u [16]byte) {
	u[14], u[15] = byte(n>>8), byte(n)
	return u
}

// world is everything around the gates. It notes what is held of it.
type world struct {
	now     time.Time
	unknown bool // no counter can be told
	away    bool // no cell answers
	totals  map[wire.Account]ledger.Totals
	minutes map[string]rate.Minute
	full    map[string]limits.Took // subjects of cells that have no room

	added    map[string]int64
	taken    map[string]int64
	slots    map[string]int
	reserved map[string]money.Nanos
	settled  []settled
	asked    int // of cells
	bounds   [][]limits.Bound
	spent    money.Nanos // of every bound
	seen     uint64
	leave    context.CancelFunc // called by whoever is asked next
}

type settled struct {
	name    string
	actual  money.Nanos
	through uint64
}

func newWorld() *world {
	return &world{
		now: noon, totals: map[wire.Account]ledger.Totals{}, minutes: map[string]rate.Minute{}, full: map[string]limits.Took{},
		added: map[string]int64{}, taken: map[string]int64{}, slots: map[string]int{}, reserved: map[string]money.Nanos{},
	}
}

func (w *world) gate() *limits.Gate {
	return limits.New(limits.Options{Ledger: w, Rates: w, Cells: w, Now: func() time.Time { return w.now }})
}

// held is everything that is held, nothing left out.
func (w *world) held() map[string]int64 {
	all := map[string]int64{}
	add := func(kind, name string, n int64) {
		if n != 0 {
			all[kind+" "+name] = n
		}
	}
	for name, n := range w.added {
		add("added", name, n)
	}
	for name, n := range w.taken {
		add("taken", name, n)
	}
	for name, n := range w.slots {
		add("slot", name, int64(n))
	}
	for name, n := range w.reserved {
		add("reserved", name, int64(n))
	}
	return all
}

// AppendTotals implements limits.Ledger.
func (w *world) AppendTotals(_ context.Context, dst []ledger.Totals, of id.Workspace, accounts []wire.Account, _ time.Time) []ledger.Totals {
	if of != ws {
		panic("another workspace")
	}
	for _, account := range accounts {
		t := w.totals[account]
		t.Known = !w.unknown
		dst = append(dst, t)
	}
	return dst
}

// Seen implements limits.Ledger.
func (w *world) Seen() uint64 { return w.seen }

// AppendMinutes implements limits.Rates.
func (w *world) AppendMinutes(_ context.Context, dst []rate.Minute, of id.Workspace, asked []rate.Asked) []rate.Minute {
	if of != ws {
		panic("another workspace")
	}
	for _, a := range asked {
		m := w.minutes[a.Name.Token()]
		m.Known = !w.unknown
		dst = append(dst, m)
	}
	return dst
}

// Add implements limits.Rates.
func (w *world) Add(_ id.Workspace, n int64, names ...rate.Name) {
	for _, name := range names {
		w.added[name.Token()] += n
	}
}

func (w *world) ask(ctx context.Context) error {
	w.asked++
	if w.leave != nil {
		w.leave()
	}
	if w.away || ctx.Err() != nil {
		return context.DeadlineExceeded
	}
	return nil
}

// Take implements limits.Cells.
func (w *world) Take(ctx context.Context, s limits.Subject, n int64, l limits.Most) (limits.Took, error) {
	err := w.ask(ctx)
	if err != nil && l.Unavailable == policy.DenyUnavailable {
		return limits.Took{}, err
	}
	if full, ok := w.full[s.Name]; ok {
		return full, nil
	}
	used := w.taken[s.Name]
	if used+n > l.N {
		return limits.Took{Used: used, Wait: time.Second}, nil
	}
	w.taken[s.Name] += n
	return limits.Took{OK: true, Used: used}, nil
}

// GiveBack implements limits.Cells.
func (w *world) GiveBack(s limits.Subject, n int64) { w.taken[s.Name] -= n }

// Acquire implements limits.Cells.
func (w *world) Acquire(ctx context.Context, s limits.Subject, l limits.Most) (limits.Slot, limits.Took, error) {
	err := w.ask(ctx)
	if err != nil && l.Unavailable == policy.DenyUnavailable {
		return nil, limits.Took{}, err
	}
	if full, ok := w.full[s.Name]; ok {
		return nil, full, nil
	}
	used := int64(w.slots[s.Name])
	if used >= l.N {
		return nil, limits.Took{Used: used}, nil
	}
	w.slots[s.Name]++
	return &slot{w, s.Name}, limits.Took{OK: true, Used: used}, nil
}

type slot struct {
	w    *world
	name string
}

func (s *slot) Release() { s.w.slots[s.name]-- }

// Reserve implements limits.Cells.
func (w *world) Reserve(ctx context.Context, s limits.Subject, amount money.Nanos, bounds []limits.Bound) (limits.Reservation, limits.Reserved, error) {
	if err := w.ask(ctx); err != nil {
		return nil, limits.Reserved{}, err
	}
	r := &reservation{w: w, name: s.Name}
	kept, err := r.Raise(ctx, amount, bounds)
	if err != nil || !kept.OK {
		return nil, kept, err
	}
	return r, kept, nil
}

type reservation struct {
	w      *world
	name   string
	amount money.Nanos
}

func (r *reservation) Raise(_ context.Context, amount money.Nanos, bounds []limits.Bound) (limits.Reserved, error) {
	w := r.w
	w.bounds = append(w.bounds, bounds)
	others := w.reserved[r.name] - r.amount
	for i, b := range bounds {
		if w.spent+others+amount > b.Limit {
			return limits.Reserved{Index: i, Spent: w.spent, Held: others}, nil
		}
	}
	w.reserved[r.name], r.amount = others+amount, amount
	return limits.Reserved{OK: true, Index: -1, Spent: w.spent, Held: others}, nil
}

func (r *reservation) Settle(actual money.Nanos, through uint64) {
	r.w.reserved[r.name] -= r.amount
	r.w.settled = append(r.w.settled, settled{r.name, actual, through})
}

// asking is a request of the key, under some limits.
type asking struct {
	limits     *policy.Limits
	key        policy.Key
	guardrails []policy.Guardrail
	members    []policy.Membership
	call       call.Call
	chain      []decide.Step
}

// ask is a request under limits.
func ask(l policy.Limits) asking {
	return asking{
		limits: &l,
		key:    policy.Key{ID: theKey, Workspace: ws, CreatedBy: theUser},
		call: call.Call{
			Surface: catalog.Chat, Received: noon, Body: []byte(`{"max_tokens":10}`),
			Request: call.Request{OutputTokens: 10},
		},
		chain: []decide.Step{model("acme/small", managed)},
	}
}

func (a *asking) view(t require.TestingT) *policy.View {
	if a.limits != nil { // as they are published
		slices.SortFunc(a.limits.RatePolicies, func(x, y policy.RatePolicy) int { return strings.Compare(x.ID.String(), y.ID.String()) })
		slices.SortFunc(a.limits.Budgets, func(x, y policy.Budget) int { return strings.Compare(x.ID.String(), y.ID.String()) })
	}
	v, err := policy.Compile(policy.Snapshot{
		Workspace: ws, Revision: 1, Status: policy.WorkspaceActive, Limits: a.limits, Guardrails: a.guardrails, Members: a.members,
		Departments: []policy.Department{{ID: theDept, Name: "Support"}},
	})
	require.NoError(t, err)
	return v
}

// admit asks the gates for the first model.
func (a *asking) admit(t require.TestingT, w *world) (call.Grant, *call.Declined) {
	return a.admitStep(t, w, 0, nil)
}

func (a *asking) admitStep(t require.TestingT, w *world, step int, held call.Grant) (call.Grant, *call.Declined) {
	grant, err := w.gate().Admit(context.Background(), &a.call, &call.Principal{Key: a.key}, call.Pinned{Policy: a.view(t)}, &decide.Plan{Chain: a.chain}, step, held)
	if err == nil {
		return grant, nil
	}
	require.Nil(t, grant)
	refused, ok := err.(*call.Declined) //nolint:errorlint // it is not wrapped
	require.True(t, ok, "%v", err)
	return nil, refused
}

var (
	managed = decide.CredentialUse{Source: decide.CredentialManaged}
	byok    = decide.CredentialUse{Source: decide.CredentialBYOK}
)

// model is a step whose tokens cost 1 nano-USD each.
func model(name string, credentials ...decide.CredentialUse) decide.Step {
	return priced(name, 1_000_000, credentials...)
}

func priced(name string, price money.PerMillion, credentials ...decide.CredentialUse) decide.Step {
	e := &catalog.Endpoint{ID: "north:" + name, Price: &catalog.Price{Input: &price, Output: &price}, Context: 8_000}
	return decide.Step{
		Model:      &catalog.Model{ID: name},
		Candidates: []decide.Candidate{{Endpoint: e, Provider: &catalog.Provider{Slug: "north"}, Credentials: credentials}},
	}
}

// worst is the bound of a request of ask to a model with that price.
func worst(price int64) money.Nanos { return money.Nanos((17+4096+10)*price + 10) }

func used(in, out int64) meter.Usage { return meter.Usage{Input: in, Output: out} }

func costing(n money.Nanos) meter.Cost { return meter.Cost{Total: n} }
