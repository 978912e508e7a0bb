// Package allowance owns how much the platform lets the users of a workspace
// do: the ladder of standings, what an operator sets in its place, and that
// gateways learn of a standing that rose by itself. It knows nothing of SQL or
// HTTP, and does not count.
package allowance

import (
	"bytes"
	"maps"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/patch"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Standing is how well the platform knows a workspace.
type Standing string

// The standings, lowest first.
const (
	New        Standing = "new"
	Standard   Standing = "standard"
	Trusted    Standing = "trusted"
	Enterprise Standing = "enterprise"
)

// Reason says what a workspace has its standing for.
type Reason string

// The reasons.
const (
	Nothing     Reason = "nothing_yet"
	HasPaid     Reason = "topped_up"
	HasAge      Reason = "age"
	HasPaidLong Reason = "paid_and_age"
	HasInvoice  Reason = "invoice"
)

// Settings are the ladder of the deployment.
type Settings struct {
	Enabled bool // else nobody has an allowance but by an operator's word

	// Requests a minute by standing.
	New, Standard, Trusted, Enterprise int64

	StandardAge time.Duration // of the workspace; a top-up does as well
	TrustedAge  time.Duration // with TrustedPaid
	TrustedPaid money.Nanos   // top-ups together

	FreePerDay int64 // requests to free models on a UTC day
}

// Default is the ladder as it comes, which is off.
func Default() Settings {
	return Settings{
		New: 10, Standard: 25, Trusted: 60, Enterprise: 120, FreePerDay: 1500,
		StandardAge: 7 * 24 * time.Hour, TrustedAge: 30 * 24 * time.Hour, TrustedPaid: 50 * money.USD,
	}
}

// Facts are what a standing follows from.
type Facts struct {
	CreatedAt time.Time   // of the workspace
	Paid      money.Nanos // its top-ups
	Invoice   bool        // how it pays
}

// Standing is the highest that the workspace qualifies for.
func (s Settings) Standing(f Facts, now time.Time) (Standing, Reason) {
	age := now.Sub(f.CreatedAt)
	switch {
	case f.Invoice:
		return Enterprise, HasInvoice
	case f.Paid >= s.TrustedPaid && age >= s.TrustedAge:
		return Trusted, HasPaidLong
	case f.Paid > 0:
		return Standard, HasPaid
	case age >= s.StandardAge:
		return Standard, HasAge
	}
	return New, Nothing
}

// PerMinute is the allowance of a standing.
func (s Settings) PerMinute(standing Standing) int64 {
	switch standing {
	case Standard:
		return s.Standard
	case Trusted:
		return s.Trusted
	case Enterprise:
		return s.Enterprise
	case New:
	}
	return s.New
}

// Overrides are what an operator set in place of the ladder. The zero Overrides
// at version 1 are those of a workspace that has none.
type Overrides struct {
	Workspace  id.Workspace
	PerMinute  *int64            // nil: by standing
	FreePerDay *int64            // nil: as the deployment says
	Users      map[id.User]int64 // requests a minute, in place of the workspace's
	Version    int64             // rises with every change, from 1
	UpdatedAt  time.Time
}

// Allowance is what gateways are told.
func (s Settings) Allowance(standing Standing, o Overrides) policy.Allowance {
	var a policy.Allowance
	if s.Enabled {
		a.PerMinute, a.FreePerDay = s.PerMinute(standing), s.FreePerDay
	}
	patch.Set(&a.PerMinute, o.PerMinute)
	patch.Set(&a.FreePerDay, o.FreePerDay)
	for _, user := range slices.SortedFunc(maps.Keys(o.Users), compareUsers) {
		a.Users = append(a.Users, policy.MemberAllowance{User: user, PerMinute: o.Users[user]})
	}
	return a
}

func compareUsers(a, b id.User) int {
	au, bu := a.UUID(), b.UUID()
	return bytes.Compare(au[:], bu[:])
}
