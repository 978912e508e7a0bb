package limits

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// refuse refuses by a limit. wait is until it may be tried again; 0: until the
// limit resets, if it does.
func (a *admission) refuse(c *check, code fault.Code, reason fault.Reason, wait time.Duration) *call.Declined {
	c.ok = false
	resets := ends(c.window, a.received)
	switch {
	case c.rate != nil && c.metric != concurrent, c.window == perMinute:
		resets = a.now.Add(seconds(wait))
	case wait == 0 && !resets.IsZero():
		wait = resets.Sub(a.now)
	}
	c.resets = resets.Truncate(time.Second)
	f := fault.New(code, "").Because(reason).From(fault.Gateway)
	if wait > 0 || !resets.IsZero() {
		f = f.After(seconds(wait))
	}
	a.name(f, c, resets)
	f.Message = said(c, f.RetryAfter, resets)
	return &call.Declined{Fault: f, Header: rejection(c, f.RetryAfter)}
}

// name has the refusal say which limit it was.
func (a *admission) name(f *fault.Error, c *check, resets time.Time) {
	say := map[string]any{
		"scope": string(c.scope), "id": a.idOf(c), "used": c.used, "limit": c.limit, "limit_metric": string(c.metric), "reset_at": nil,
	}
	f.Fields = say
	if !resets.IsZero() {
		say["reset_at"] = resets.UTC().Truncate(time.Second).Format(time.RFC3339)
	}
	if c.window != "" {
		say["limit_window"] = string(c.window)
	}
	if c.metric == cost {
		say["used_usd"], say["limit_usd"] = money.Nanos(c.used).String(), money.Nanos(c.limit).String()
	}
	if c.rate != nil {
		say["policy_id"], say["limit_scope"] = c.rate.ID.String(), string(c.scope)
		return
	}
	say["current_value"], say["limit_value"] = c.used, c.limit
	if c.budget != nil && c.scope == policy.LimitsDepartment {
		say["department_id"] = c.budget.Department.String()
		if d, ok := a.view.Department(c.budget.Department); ok {
			say["department_name"] = d.Name
		}
	}
}

// said is the refusal in words.
func said(c *check, wait time.Duration, resets time.Time) string {
	again := fmt.Sprintf(" Try again in %d s.", int(wait/time.Second))
	switch {
	case c.rate != nil && c.metric == concurrent:
		return "The limit of " + plural(c.limit, "request") + " at a time is reached. Try again when one has ended."
	case c.rate != nil:
		return "The rate limit of " + plural(c.limit, strings.TrimSuffix(string(c.metric), "s")) + " a minute is reached." + again
	case c.window == perMinute:
		return "The platform allows " + plural(c.limit, "request") + " in any minute." + again
	case c.metric == requests && c.scope != policy.LimitsKey:
		return "The day's limit of " + plural(c.limit, "request") + " to free models is reached. Name another model, or wait until 00:00 UTC."
	}
	after := " It does not reset; raise it to go on."
	if !resets.IsZero() {
		after = " It resets at " + resets.Format(time.RFC3339) + "; raise it to go on before."
	}
	return "The " + named(c) + ", is reached." + after
}

// named is a limit of a window in words.
func named(c *check) string {
	what, amount := "limit", plural(c.limit, "request")
	if c.metric == cost {
		amount = "$" + money.Nanos(c.limit).String()
	}
	if c.budget != nil {
		what = "budget"
	}
	return fmt.Sprintf("%s %s of the %s, %s", c.window, what, c.scope, amount)
}

// plural is a number of things.
func plural(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.FormatInt(n, 10) + " " + thing + "s"
}

// refuseBlocked refuses a key that was blocked.
func (a *admission) refuseBlocked() error {
	c := check{scope: policy.LimitsKey, metric: "soft_blocked"}
	f := fault.New(fault.KeyLimitExceeded, "The key is blocked until a workspace admin takes that back.").
		Because(fault.KeySoftBlocked).From(fault.Gateway)
	a.name(f, &c, time.Time{})
	a.checks = append(a.checks, c)
	return &call.Declined{Fault: f}
}

// refuseUnavailable refuses for a limit that nobody could be asked about.
func (a *admission) refuseUnavailable(c *check) error {
	c.ok = false
	f := fault.New(fault.RateLimitExceeded, "The rate limit cannot be checked at the moment, and its policy admits nothing then. Try again shortly.").
		Because(fault.PolicyUnavailable).From(fault.Gateway).After(time.Second)
	a.name(f, c, time.Time{})
	delete(f.Fields, "used")
	return &call.Declined{Fault: f}
}

// refuseFunds refuses for want of credit.
func (a *admission) refuseFunds(c *check, credit *policy.Credit, spent money.Nanos) *call.Declined {
	balance := credit.Granted - spent
	f := fault.New(fault.InsufficientFunds, "The workspace's balance of $"+balance.String()+" is under the floor of $"+credit.Floor.String()+
		". Add funds, or choose a free model.").From(fault.Gateway)
	f.Fields = map[string]any{
		"scope": string(c.scope), "id": a.idOf(c), "reset_at": nil, "used": int64(spent), "limit": int64(credit.Granted),
		"balance": int64(balance), "balance_usd": balance.String(), "floor": int64(credit.Floor), "floor_usd": credit.Floor.String(),
	}
	return &call.Declined{Fault: f}
}

// quotaUnavailable refuses what cannot be accounted for.
func (a *admission) quotaUnavailable(c *check, message string) *call.Declined {
	c.unknown, c.ok = true, false
	f := fault.New(fault.QuotaUnavailable, message+" Try again shortly.").From(fault.Gateway).After(time.Second)
	return &call.Declined{Fault: f.With("scope", string(c.scope)).With("id", a.idOf(c))}
}

// ofModel has a refusal speak of one model alone.
func ofModel(err error) error {
	if refused, ok := errors.AsType[*call.Declined](err); ok {
		refused.Model = true
		return refused
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return &call.Declined{Fault: f, Model: true}
	}
	return err
}

// rejection are the headers of the limit that refused: of rates alone.
func rejection(c *check, wait time.Duration) http.Header {
	if c.rate == nil || c.metric == concurrent {
		return nil
	}
	h := make(http.Header, 3)
	set(h, c.metric, c.limit, 0, wait)
	return h
}
