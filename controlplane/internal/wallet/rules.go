package wallet

import (
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Bounds of amounts. Together they keep every sum far from its type's end.
const (
	MaxEntry   = 10_000_000 * money.USD
	MaxGranted = 1_000_000_000 * money.USD // either way
	maxFloor   = 1_000_000 * money.USD
	maxFeeRate = 1_000_000 // all of the cost
	maxAfter   = 1_000_000_000_000
	maxText    = 200
)

// Validate reports every violation.
func (n NewEntry) Validate() error {
	var v rule.Violations
	switch {
	case n.Kind == TopUp && n.Amount <= 0:
		v.Add("amount_usd", rule.OutOfRange, "must be above 0")
	case n.Amount == 0:
		v.Add("amount_usd", rule.OutOfRange, "must not be 0")
	case n.Amount > MaxEntry || n.Amount < -MaxEntry:
		v.Add("amount_usd", rule.OutOfRange, "must be at most 10000000 either way")
	}
	v.Text("reference", n.Reference, maxText)
	if n.Kind == Adjustment {
		v.Name("reason", n.Note)
		v.Text("reason", n.Note, maxText)
	} else {
		v.Text("note", n.Note, maxText)
	}
	return v.Err()
}

// Validate reports every violation.
func (o Own) Validate() error {
	var v rule.Violations
	if o.Billing != nil {
		switch *o.Billing {
		case policy.BillingOff, policy.BillingPrepaid, policy.BillingInvoice:
		default:
			v.Add("billing", rule.NotAllowed, "must be off, prepaid or invoice")
		}
	}
	if o.Floor != nil && (*o.Floor < 0 || *o.Floor > maxFloor) {
		v.Add("floor_usd", rule.OutOfRange, "must be from 0 to 1000000")
	}
	if o.FeeRate != nil && (*o.FeeRate < 0 || *o.FeeRate > maxFeeRate) {
		v.Add("byok_fee_rate", rule.OutOfRange, "must be from 0 to 1000000 millionths")
	}
	if o.FeeAfter != nil && (*o.FeeAfter < 0 || *o.FeeAfter > maxAfter) {
		v.Add("byok_free_requests", rule.OutOfRange, "must be from 0 to 1000000000000")
	}
	return v.Err()
}
