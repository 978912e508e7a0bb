package limits

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger"
	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger/rate"
	"github.com/signalbox-dev/signalbox/dataplane/internal/limits/bound"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// asker is what the gates read of a request.
type asker struct {
	ws       id.Workspace
	key      id.Key
	user     id.User           // who has the key; zero: nobody
	limits   *policy.KeyLimits // nil: none
	received time.Time
	surface  catalog.Surface
	action   call.Action
	purpose  string
}

// admission is one request on its way through the gates, and what it holds once
// it has passed. It is for one goroutine. Its lists are used again by others.
type admission struct {
	asker
	gate *Gate
	view *policy.View
	call *call.Call   // as long as the request runs
	step *decide.Step // the model that is asked for
	now  time.Time

	terms     call.Terms
	guarded   int   // guardrails of terms that were held against the request before
	perMinute int64 // the allowance of requests; 0: none
	rules     []rule
	books     books
	rates     rates
	checks    []check

	took         []Subject   // of cells, one each
	counted      []rate.Name // one each, added when all gates have passed
	slots        []Slot
	reservations []held
	asked        *bound.Request // what its cost depends on; nil: nobody needed it yet
	rails        []id.Guardrail
}

// gates are the gates in their order.
var gates = [...]func(*admission, context.Context) error{
	(*admission).keyState,
	(*admission).allowance,
	(*admission).freeModels,
	(*admission).policies,
	(*admission).concurrency,
	(*admission).keyLimits,
	(*admission).budgets,
	(*admission).creditFloor,
}

// perModel are those that are asked again for each model.
var perModel = [...]func(*admission, context.Context) error{
	(*admission).freeModels,
	(*admission).moreGuardrails,
	(*admission).raise,
	(*admission).creditFloor,
}

func newAdmission(g *Gate, c *call.Call, p *call.Principal, v *policy.View, step *decide.Step) *admission {
	k := &p.Key
	var a *admission
	select {
	case a = <-g.free:
	default:
		a = new(admission)
	}
	a.asker = asker{
		ws: k.Workspace, key: k.ID, user: k.CreatedBy, limits: k.Limits,
		received: c.Received, surface: c.Surface, action: c.Action, purpose: c.Purpose,
	}
	a.gate, a.view, a.call, a.step, a.now = g, v, c, step, g.Now()
	a.terms = call.Terms{Attribution: attribution(c, k, v)}
	a.guardBy(step.Preset)
	if l := v.Limited(); l != nil {
		a.terms.Billing = l.Credit.Billing
		a.perMinute = l.PerMinute(a.user)
	}
	a.resolve(c, step.Preset)
	return a
}

// recycle gives an admission to the next request, once nobody asks it anything.
func (a *admission) recycle() {
	free := a.gate.free
	*a = admission{
		rules: a.rules[:0], checks: a.checks[:0], took: a.took[:0], counted: a.counted[:0], rails: a.rails[:0],
		books: books{accounts: a.books.accounts[:0], totals: a.books.totals[:0]},
		rates: rates{asked: a.rates.asked[:0], minutes: a.rates.minutes[:0]},
	}
	select {
	case free <- a:
	default:
	}
}

// gateways says that the gateway makes the request itself, within another. It takes
// nothing but what it costs, and is refused when the other would be.
func (a *admission) gateways() bool { return a.purpose != "" }

// costs says that the request may cost something: counting tokens and looking
// after a job do not.
func (a *admission) costs() bool { return a.action == call.Generate }

// admit runs all gates, and takes when all have passed. Whatever ends it before,
// what was taken is given back.
func (a *admission) admit(ctx context.Context) (call.Grant, error) {
	passed := false
	defer func() {
		if !passed {
			a.undo()
			a.recycle()
		}
	}()
	a.look(ctx)
	for _, gate := range gates {
		if err := gate(a, ctx); err != nil {
			return nil, a.explained(err)
		}
	}
	a.gate.Rates.Add(a.ws, 1, a.counted...)
	passed = true
	return &grant{a}, nil
}

// further runs the gates of one model. What the request holds stays as it is when
// one refuses.
func (a *admission) further(ctx context.Context, step *decide.Step) error {
	before, terms, checks, reservations := a.step, a.terms, len(a.checks), len(a.reservations)
	a.step, a.now, a.guarded = step, a.gate.Now(), len(a.terms.Guardrails)
	a.guardBy(step.Preset)
	a.look(ctx)
	for _, gate := range perModel {
		if err := gate(a, ctx); err != nil {
			err = a.explained(err)
			release(a.reservations[reservations:])
			a.step, a.terms, a.checks, a.reservations = before, terms, a.checks[:checks], a.reservations[:reservations]
			return err
		}
	}
	return nil
}

// explained gives a refusal the checks that led to it.
func (a *admission) explained(err error) error {
	if refused, ok := errors.AsType[*call.Declined](err); ok {
		refused.Checks = a.told(a.checks)
	}
	return err
}

// undo gives back what was taken.
func (a *admission) undo() {
	for _, s := range a.took {
		a.gate.Cells.GiveBack(s, 1)
	}
	for _, slot := range a.slots {
		slot.Release()
	}
	release(a.reservations)
}

func (a *admission) subject(name string) Subject { return Subject{a.ws, name} }

// books are the totals of the accounts that limits of the request are about.
type books struct {
	accounts []wire.Account
	totals   []ledger.Totals
}

// want asks for an account.
func (b *books) want(account wire.Account) {
	if !slices.Contains(b.accounts, account) {
		b.accounts = append(b.accounts, account)
	}
}

// of are the totals of an account that was wanted.
func (b *books) of(account wire.Account) *ledger.Totals {
	if at := slices.Index(b.accounts, account); at >= 0 && at < len(b.totals) {
		return &b.totals[at]
	}
	return &ledger.Totals{}
}

// look reads what the gates go by, all of it at once.
func (a *admission) look(ctx context.Context) {
	a.books.accounts = a.books.accounts[:0]
	a.wantAccounts(&a.books)
	if len(a.books.accounts) > 0 {
		a.books.totals = a.gate.Ledger.AppendTotals(ctx, a.books.totals[:0], a.ws, a.books.accounts, a.received)
	}
	if a.rates.looked {
		return
	}
	a.rates.looked = true
	a.rates.want(a)
	if len(a.rates.asked) > 0 {
		a.rates.minutes = a.gate.Rates.AppendMinutes(ctx, a.rates.minutes[:0], a.ws, a.rates.asked)
	}
}

// wantAccounts asks for those that the request's limits are about.
func (a *admission) wantAccounts(b *books) {
	if a.limits != nil {
		b.want(wire.KeyAccount(a.key))
	}
	l := a.view.Limited()
	if l == nil {
		return
	}
	if l.Allowance.FreePerDay > 0 && a.step.Model.Free() && !a.gateways() {
		b.want(wire.FreeAccount(a.user))
	}
	if !a.costs() {
		return
	}
	a.eachAccount(func(account wire.Account, _ []*policy.Budget) { b.want(account) })
	a.wantCredit(b, &l.Credit)
}
