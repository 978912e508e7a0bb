package app

import (
	"fmt"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/allowance"
	"github.com/signalbox-dev/signalbox/controlplane/internal/wallet"
	"github.com/signalbox-dev/signalbox/shared/config"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Billing is how workspaces pay that have no terms of their own.
type Billing struct {
	// Default is off, prepaid or invoice.
	Default string `mapstructure:"default"`
	// FloorUSD is what a prepaid wallet must hold for managed models.
	FloorUSD string `mapstructure:"floor_usd"`
	// BYOKFeeRate is the fee for requests with a workspace's own credentials, in
	// millionths of what they would have cost: 25000 are 2.5 %. 0: no fee.
	BYOKFeeRate int64 `mapstructure:"byok_fee_rate"`
	// BYOKFreeRequests a UTC month are without that fee.
	BYOKFreeRequests int64 `mapstructure:"byok_free_requests"`
}

// Allowances are what the platform lets each user of a workspace do, by the
// workspace's standing.
type Allowances struct {
	// Enabled gives each workspace an allowance by its standing.
	Enabled bool `mapstructure:"enabled"`
	// New is the requests in any minute of each user of a workspace that is new.
	New int64 `mapstructure:"new"`
	// Standard is that of a workspace that ever topped up, or is of standard_age.
	Standard int64 `mapstructure:"standard"`
	// Trusted is that of a workspace that paid trusted_paid_usd and is of trusted_age.
	Trusted int64 `mapstructure:"trusted"`
	// Enterprise is that of a workspace that pays by invoice.
	Enterprise int64 `mapstructure:"enterprise"`
	// StandardAge is how old a workspace is at least for standard.
	StandardAge time.Duration `mapstructure:"standard_age"`
	// TrustedAge is how old a workspace is at least for trusted.
	TrustedAge time.Duration `mapstructure:"trusted_age"`
	// TrustedPaidUSD is what a workspace's top-ups come to at least for trusted.
	TrustedPaidUSD string `mapstructure:"trusted_paid_usd"`
	// FreePerDay are the requests to free models of each user on a UTC day.
	FreePerDay int64 `mapstructure:"free_per_day"`
}

func defaultBilling() Billing {
	t := wallet.Default()
	return Billing{Default: string(t.Billing), FloorUSD: t.Floor.String(), BYOKFeeRate: t.FeeRate, BYOKFreeRequests: t.FeeAfter}
}

func defaultAllowances() Allowances {
	s := allowance.Default()
	return Allowances{
		Enabled: s.Enabled, New: s.New, Standard: s.Standard, Trusted: s.Trusted, Enterprise: s.Enterprise,
		StandardAge: s.StandardAge, TrustedAge: s.TrustedAge, TrustedPaidUSD: s.TrustedPaid.String(), FreePerDay: s.FreePerDay,
	}
}

// terms are b as the wallets know them.
func (b Billing) terms() wallet.Terms {
	floor, _ := money.Parse(b.FloorUSD) // Validate looked
	return wallet.Terms{Billing: policy.Billing(b.Default), Floor: floor, FeeRate: b.BYOKFeeRate, FeeAfter: b.BYOKFreeRequests}
}

// ladder is a as the allowances know it.
func (a Allowances) ladder() allowance.Settings {
	paid, _ := money.Parse(a.TrustedPaidUSD) // Validate looked
	return allowance.Settings{
		Enabled: a.Enabled, New: a.New, Standard: a.Standard, Trusted: a.Trusted, Enterprise: a.Enterprise,
		StandardAge: a.StandardAge, TrustedAge: a.TrustedAge, TrustedPaid: paid, FreePerDay: a.FreePerDay,
	}
}

// Validate reports everything that is wrong with b.
func (b Billing) Validate() error {
	var checks config.Checks
	t := b.terms()
	_, err := money.Parse(b.FloorUSD)
	checks.Want(wallet.Own{Billing: &t.Billing}.Validate() == nil, "default", "off, prepaid or invoice")
	checks.Want(err == nil && wallet.Own{Floor: &t.Floor}.Validate() == nil, "floor_usd", "an amount in USD, such as 1.00")
	checks.Want(wallet.Own{FeeRate: &t.FeeRate}.Validate() == nil, "byok_fee_rate", "0 to 1000000 millionths")
	checks.Want(wallet.Own{FeeAfter: &t.FeeAfter}.Validate() == nil, "byok_free_requests", "0 or more")
	return checks.Err()
}

// Validate reports everything that is wrong with a.
func (a Allowances) Validate() error {
	var checks config.Checks
	for key, n := range map[string]int64{"new": a.New, "standard": a.Standard, "trusted": a.Trusted, "enterprise": a.Enterprise} {
		checks.Want(n >= 1 && n <= allowance.MaxPerMinute, key, fmt.Sprintf("1 to %d", allowance.MaxPerMinute))
	}
	checks.Want(a.FreePerDay >= 1 && a.FreePerDay <= allowance.MaxFreePerDay, "free_per_day", fmt.Sprintf("1 to %d", allowance.MaxFreePerDay))
	paid, err := money.Parse(a.TrustedPaidUSD)
	checks.Want(err == nil && paid >= 0, "trusted_paid_usd", "an amount in USD, such as 50.00")
	checks.Want(a.StandardAge >= 0 && a.TrustedAge >= 0, "standard_age, trusted_age", "0 or more")
	return checks.Err()
}
