package api

import (
	"github.com/oapi-codegen/nullable"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/controlplane/internal/spending"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

func projectionOf(p spending.Projection) (out gen.SpendProjection) {
	out.LinearUsd, out.LinearNanos = usdOrNull(p.Linear)
	out.WeekdayUsd, out.WeekdayNanos = usdOrNull(p.Weekday)
	return out
}

func enforcementOf(reserve bool) gen.Enforcement {
	if reserve {
		return gen.Reserve
	}
	return gen.Track
}

// reserves is nil for an absent field.
func reserves(e *gen.Enforcement) *bool {
	if e == nil {
		return nil
	}
	return pointer(*e == gen.Reserve)
}

// keyPolicy are the fields of a key that only owners and admins may choose.
type keyPolicy struct {
	limits      *gen.KeyLimitsInput
	enforcement *gen.Enforcement
	includeBYOK *bool
	softBlocked *bool
}

// patch is nil where no field is given.
func (k keyPolicy) patch() (*apikey.LimitsPatch, error) {
	if k == (keyPolicy{}) {
		return nil, nil //nolint:nilnil // absent and no error is an answer here
	}
	p := apikey.LimitsPatch{Reserve: reserves(k.enforcement), IncludeBYOK: k.includeBYOK, SoftBlocked: k.softBlocked}
	if k.limits == nil {
		return &p, nil
	}
	var v rule.Violations
	p.Daily = windowFrom(&v, "limits.daily", k.limits.Daily)
	p.Weekly = windowFrom(&v, "limits.weekly", k.limits.Weekly)
	p.Monthly = windowFrom(&v, "limits.monthly", k.limits.Monthly)
	return &p, v.Err()
}

// setLimits reads what a change says of the limits and the agent of a key.
func setLimits(p *apikey.Patch, body *gen.KeyPatch) (err error) {
	if p.Limits, err = (keyPolicy{body.Limits, body.Enforcement, body.IncludeByokInLimit, body.SoftBlocked}).patch(); err != nil {
		return err
	}
	p.Agent = orZero(body.Agent)
	return nil
}

// windowFrom reads the limits of a window: null is 0, and 0 itself nothing that
// a caller may give, since it could mean that nothing is allowed.
func windowFrom(v *rule.Violations, path string, w *gen.KeyWindowInput) (p apikey.WindowPatch) {
	if w == nil {
		return p
	}
	p.Requests = orZero(w.Requests)
	if !w.CostUsd.IsSpecified() {
		return p
	}
	p.Cost = new(money.Nanos)
	if text, err := w.CostUsd.Get(); err == nil {
		*p.Cost = amount(v, path+".cost_usd", text)
		v.Amount(path+".cost_usd", *p.Cost, "null takes the limit away; to stop a key, pause it or block it softly")
	}
	return p
}

func keyLimitsOf(l *policy.KeyLimits) (out gen.KeyLimits) {
	if l == nil {
		l = &policy.KeyLimits{}
	}
	out.Daily, out.Weekly, out.Monthly = keyWindowOf(l.Daily), keyWindowOf(l.Weekly), keyWindowOf(l.Monthly)
	return out
}

func keyWindowOf(w policy.KeyWindow) gen.KeyWindow {
	out := gen.KeyWindow{Requests: orNull(w.Requests)}
	out.CostUsd, out.CostNanos = usdOrNull(some(w.Cost))
	return out
}

// keyUsageOf writes what apikey.Service.Used tells of a key.
func keyUsageOf(uses []apikey.Use) *gen.KeyUsage {
	var out gen.KeyUsage
	for _, u := range uses {
		w := keyWindowUsageOf(u)
		switch u.Interval {
		case policy.Daily:
			out.Daily = w
		case policy.Weekly:
			out.Weekly = w
		case policy.Monthly:
			out.Monthly = w
		case policy.Lifetime:
		}
	}
	return &out
}

func keyWindowUsageOf(u apikey.Use) gen.KeyWindowUsage {
	w := gen.KeyWindowUsage{
		Requests: u.Requests, RequestsRemaining: nullable.NewNullNullable[int64](),
		CostUsd: u.Counted.String(), CostNanos: int64(u.Counted), ByokCostUsd: u.BYOK.String(), ByokCostNanos: int64(u.BYOK),
		Exceeded: u.Exceeded(), WindowStart: u.Window.Start, ResetAt: u.Window.End,
	}
	if u.Limit.Requests > 0 {
		w.RequestsRemaining = nullable.NewNullableWithValue(max(0, u.Limit.Requests-u.Requests))
	}
	var remaining *money.Nanos
	if u.Limit.Cost > 0 {
		remaining = pointer(max(0, u.Limit.Cost.Add(-u.Counted)))
	}
	w.CostRemainingUsd, w.CostRemainingNanos = usdOrNull(remaining)
	return w
}
