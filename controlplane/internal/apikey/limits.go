package apikey

import (
	"context"
	"strconv"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/patch"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/controlplane/internal/spending"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// LimitsPatch changes the limits of a key; nil fields stay.
type LimitsPatch struct {
	Daily, Weekly, Monthly            WindowPatch
	Reserve, IncludeBYOK, SoftBlocked *bool
}

// WindowPatch changes the limits of one window; 0 takes one away.
type WindowPatch struct {
	Requests *int64
	Cost     *money.Nanos
}

// New is what p makes of no limits.
func (p LimitsPatch) New() policy.KeyLimits { return p.apply(policy.KeyLimits{}) }

func (p LimitsPatch) apply(l policy.KeyLimits) policy.KeyLimits {
	p.Daily.apply(&l.Daily)
	p.Weekly.apply(&l.Weekly)
	p.Monthly.apply(&l.Monthly)
	patch.Set(&l.Reserve, p.Reserve)
	patch.Set(&l.IncludeBYOK, p.IncludeBYOK)
	patch.Set(&l.SoftBlocked, p.SoftBlocked)
	return l
}

func (p WindowPatch) apply(w *policy.KeyWindow) {
	patch.Set(&w.Requests, p.Requests)
	patch.Set(&w.Cost, p.Cost)
}

func limitsOf(k Key) policy.KeyLimits {
	if k.Limits == nil {
		return policy.KeyLimits{}
	}
	return *k.Limits
}

// limited is nil for limits that limit nothing and say nothing.
func limited(l policy.KeyLimits) *policy.KeyLimits {
	if l == (policy.KeyLimits{}) {
		return nil
	}
	return &l
}

// window is one of a key's, with its name in paths.
type window struct {
	interval policy.Interval
	policy.KeyWindow
}

func windows(l policy.KeyLimits) [3]window {
	return [3]window{{policy.Daily, l.Daily}, {policy.Weekly, l.Weekly}, {policy.Monthly, l.Monthly}}
}

// checkLimits checks those that are set.
func checkLimits(v *rule.Violations, l policy.KeyLimits) {
	const stop = "null takes the limit away; to stop a key, pause it or block it softly"
	for _, w := range windows(l) {
		path := "limits." + string(w.interval)
		if w.Requests < 0 || w.Requests > rule.MaxRequests {
			v.Add(path+".requests", rule.OutOfRange, "must be from 1 to "+strconv.Itoa(rule.MaxRequests)+"; "+stop)
		}
		if w.Cost != 0 {
			v.Amount(path+".cost_usd", w.Cost, stop)
		}
	}
}

func checkAgent(v *rule.Violations, agent string) {
	if agent != "" {
		v.Agent("agent", agent)
	}
}

func diffLimits(d *audit.Diff, before, after Key) {
	b, a := limitsOf(before), limitsOf(after)
	now := windows(a)
	for i, w := range windows(b) {
		path := "limits." + string(w.interval)
		d.Count(path+".requests", w.Requests, now[i].Requests)
		d.Amount(path+".cost_usd", w.Cost, now[i].Cost)
	}
	d.Bool("enforcement.reserve", b.Reserve, a.Reserve)
	d.Bool("include_byok_in_limit", b.IncludeBYOK, a.IncludeBYOK)
	d.Bool("soft_blocked", b.SoftBlocked, a.SoftBlocked)
	d.Text("agent", before.Agent, after.Agent)
}

// Use is what a key used in one window of now.
type Use struct {
	Interval policy.Interval
	Window   spending.Window
	Limit    policy.KeyWindow
	wire.Spend
	Counted money.Nanos // of Cost, what counts toward Limit.Cost
}

// Exceeded reports that a limit of the window is reached.
func (u Use) Exceeded() bool {
	return (u.Limit.Requests > 0 && u.Requests >= u.Limit.Requests) || (u.Limit.Cost > 0 && u.Counted >= u.Limit.Cost)
}

// Used tells what keys of ws used: for each the day, the week and the month.
func (s *Service) Used(ctx context.Context, ws id.Workspace, keys ...Key) (map[id.Key][]Use, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	accounts := make([]wire.Account, len(keys))
	for i, k := range keys {
		accounts[i] = wire.KeyAccount(k.ID)
	}
	now := s.now()
	spent, err := txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (map[wire.Account]spending.History, error) {
		return s.d.Spending.Spent(ctx, ws, accounts, spending.Since(now))
	})
	if err != nil {
		return nil, err
	}
	used := make(map[id.Key][]Use, len(keys))
	for i, k := range keys {
		limits := limitsOf(k)
		for _, w := range windows(limits) {
			of := spending.WindowOf(w.interval, now)
			spend := spent[accounts[i]].In(of)
			used[k.ID] = append(used[k.ID], Use{
				Interval: w.interval, Window: of, Limit: w.KeyWindow, Spend: spend, Counted: spend.Counted(limits.IncludeBYOK),
			})
		}
	}
	return used, nil
}
