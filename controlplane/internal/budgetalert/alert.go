// Package budgetalert owns that a workspace is told when a share of a limit on
// costs is reached: the shares, when one is, and that each is told of once. It
// knows nothing of SQL, of how limits are enforced, or of how the telling is done.
package budgetalert

import (
	"math/bits"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/spending"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Limit is a limit on costs in a window.
type Limit struct {
	ID          string            // the budget's, or the key's
	Scope       policy.LimitScope // who it is about
	Target      string            // their id, or the agent's name; "" for the workspace
	Interval    policy.Interval
	Amount      money.Nanos
	IncludeBYOK bool
	Account     wire.Account // where what they spend is counted
}

// used is what counts toward the limit of what was spent in the window.
func (l Limit) used(h spending.History, w spending.Window) money.Nanos {
	return h.In(w).Counted(l.IncludeBYOK)
}

// Alert says that a share of a limit was reached. There is one for each window,
// share and amount of a limit: a limit that is changed tells anew of what is
// reached of the new amount.
type Alert struct {
	ID          id.Event
	Workspace   id.Workspace
	LimitID     string
	Scope       policy.LimitScope
	Target      string
	Interval    policy.Interval
	WindowStart time.Time // zero for a lifetime
	Share       int       // whole percents
	Amount      money.Nanos
	Used        money.Nanos // when it was noticed
	At          time.Time
}

// ResetAt is when the window ends; nil for a lifetime.
func (a Alert) ResetAt() *time.Time {
	if a.Interval == policy.Lifetime {
		return nil
	}
	end := spending.WindowOf(a.Interval, a.WindowStart).End
	return &end
}

// reached are those of the shares that used has reached of the limit.
func reached(used, limit money.Nanos, shares []int) []int {
	if used <= 0 || limit <= 0 {
		return nil
	}
	var list []int
	for _, share := range shares {
		// used × 100 ≥ limit × share, in 128 bits.
		usedHigh, usedLow := bits.Mul64(uint64(used), 100)
		wantHigh, wantLow := bits.Mul64(uint64(limit), uint64(share))
		if usedHigh > wantHigh || usedHigh == wantHigh && usedLow >= wantLow {
			list = append(list, share)
		}
	}
	return list
}

// data is what the event says.
type data struct {
	Scope       policy.LimitScope `json:"scope"`
	LimitID     string            `json:"id"`
	Target      string            `json:"target,omitempty"`
	Interval    policy.Interval   `json:"interval"`
	WindowStart *time.Time        `json:"window_start,omitempty"`
	ResetAt     *time.Time        `json:"reset_at,omitempty"`
	Share       int               `json:"share"`
	UsedNanos   money.Nanos       `json:"used_nanos"`
	UsedUSD     string            `json:"used_usd"`
	LimitNanos  money.Nanos       `json:"limit_nanos"`
	LimitUSD    string            `json:"limit_usd"`
}

func (a Alert) data() data {
	d := data{
		Scope: a.Scope, LimitID: a.LimitID, Target: a.Target, Interval: a.Interval, ResetAt: a.ResetAt(), Share: a.Share,
		UsedNanos: a.Used, UsedUSD: a.Used.String(), LimitNanos: a.Amount, LimitUSD: a.Amount.String(),
	}
	if !a.WindowStart.IsZero() {
		d.WindowStart = &a.WindowStart
	}
	return d
}
