package limits

import (
	"net/http"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// grant is that of a request which passed the gates. Once it is settled it holds
// nothing, and says nothing.
type grant struct{ of *admission }

// Terms implements call.Grant.
func (g *grant) Terms() call.Terms {
	if g.of == nil {
		return call.Terms{}
	}
	return g.of.terms
}

// Checks implements call.Grant.
func (g *grant) Checks() []decide.LimitCheck {
	if g.of == nil {
		return nil
	}
	return g.of.told(g.of.checks)
}

// Header implements call.Grant.
func (g *grant) Header() http.Header {
	if g.of == nil {
		return nil
	}
	return success(g.of.checks)
}

// Settle implements call.Grant.
func (g *grant) Settle(used meter.Usage, c meter.Cost, own bool) {
	if g.of == nil {
		return
	}
	a := g.of
	g.of = nil
	defer a.recycle()
	a.settle(used.InputTotal()+used.OutputTotal(), c, own)
}

// settle counts what the request used, and ends what is held for it.
func (a *admission) settle(tokens int64, c meter.Cost, own bool) {
	for _, slot := range a.slots {
		slot.Release()
	}
	if tokens > 0 {
		a.counted = a.counted[:0]
		for i := range a.rules {
			if a.rules[i].policy.Tokens > 0 {
				a.counted = append(a.counted, a.rules[i].name(ofTokens))
			}
		}
		a.gate.Rates.Add(a.ws, tokens, a.counted...)
	}
	if len(a.reservations) == 0 {
		return
	}
	through := a.gate.Ledger.Seen()
	for i := range a.reservations {
		r := &a.reservations[i]
		actual := c.Total
		if own && !r.byok {
			actual = 0
		}
		r.settle(actual, through)
	}
}

// unlimited is the grant of a request that nothing limits.
type unlimited struct{ terms call.Terms }

var nothing = &unlimited{}

// free is the grant where nothing is limited: it says what the request counts
// toward, and has nothing to give back.
func free(c *call.Call, p *call.Principal, v *policy.View) call.Grant {
	a := attribution(c, &p.Key, v)
	if len(a.Departments) == 0 && a.Agent == "" {
		return nothing
	}
	return &unlimited{call.Terms{Attribution: a}}
}

// Terms implements call.Grant.
func (u *unlimited) Terms() call.Terms { return u.terms }

// Checks implements call.Grant.
func (*unlimited) Checks() []decide.LimitCheck { return nil }

// Header implements call.Grant.
func (*unlimited) Header() http.Header { return nil }

// Settle implements call.Grant.
func (*unlimited) Settle(meter.Usage, meter.Cost, bool) {}

var (
	_ call.Grant = (*grant)(nil)
	_ call.Grant = (*unlimited)(nil)
)
