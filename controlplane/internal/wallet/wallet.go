// Package wallet owns how workspaces pay: the terms of the deployment and those
// of one workspace, what was paid in, adjusted and charged, and how operators
// change it. It knows nothing of SQL or HTTP, and not what is charged for.
package wallet

import (
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/patch"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Terms are how a workspace pays.
type Terms struct {
	Billing policy.Billing
	Floor   money.Nanos // managed models need at least this left
	// FeeRate is the fee for requests with the workspace's own credentials, in
	// millionths of what they would have cost; 0: none. It is due once a UTC month
	// had FeeAfter of them.
	FeeRate  int64
	FeeAfter int64
}

// Default are the terms as a deployment comes: without billing.
func Default() Terms {
	return Terms{Billing: policy.BillingOff, Floor: money.USD, FeeAfter: 250_000}
}

// Own are the terms that one workspace has in place of the deployment's; nil:
// none.
type Own struct {
	Billing  *policy.Billing
	Floor    *money.Nanos
	FeeRate  *int64
	FeeAfter *int64
}

// With are t with those of one workspace in their place.
func (t Terms) With(o Own) Terms {
	patch.Set(&t.Billing, o.Billing)
	patch.Set(&t.Floor, o.Floor)
	patch.Set(&t.FeeRate, o.FeeRate)
	patch.Set(&t.FeeAfter, o.FeeAfter)
	return t
}

// Credit is what gateways are told. Without billing that is nothing.
func (t Terms) Credit(granted money.Nanos) policy.Credit {
	if t.Billing == policy.BillingOff || t.Billing == "" {
		return policy.Credit{}
	}
	c := policy.Credit{Billing: t.Billing, Granted: granted, Floor: t.Floor}
	if t.FeeRate > 0 {
		c.FeeRate, c.FeeAfter = t.FeeRate, t.FeeAfter
	}
	return c
}

// Wallet is what a workspace has. The zero Wallet at version 1 is that of a
// workspace of which nothing is known.
type Wallet struct {
	Workspace  id.Workspace
	Own        Own
	Granted    money.Nanos // top-ups and adjustments
	Charged    money.Nanos
	Paid       money.Nanos // top-ups
	ToppedUpAt *time.Time  // first
	Entries    int64       // the number of the last
	Version    int64       // of Own; rises with every change, from 1
	UpdatedAt  time.Time
}

// Balance is what is left.
func (w Wallet) Balance() money.Nanos { return w.Granted.Add(-w.Charged) }

// Kind says what an entry is.
type Kind string

// The kinds.
const (
	TopUp      Kind = "top_up"     // somebody paid
	Adjustment Kind = "adjustment" // an operator gave or took something, and says why
	Charge     Kind = "charge"     // of usage; given back where an estimate was replaced
)

// Entry is one line of a wallet. It never changes.
type Entry struct {
	ID        id.WalletEntry
	Workspace id.Workspace
	Number    int64 // from 1, without gaps
	Kind      Kind
	Amount    money.Nanos // what the balance rises by
	Balance   money.Nanos // after it
	Requests  int64       // that a charge is for; less than 0 where it is given back
	Reference string      // unique in the workspace; "" for none
	Note      string
	Actor     audit.ActorKind // operator or system
	ActorName string
	RequestID string
	CreatedAt time.Time
}

// NewEntry is what an operator gives.
type NewEntry struct {
	Kind      Kind // TopUp or Adjustment
	Amount    money.Nanos
	Reference string // of the payment; makes it safe to give it again
	Note      string // an Adjustment needs one
}
