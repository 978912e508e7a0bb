package allowance_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/allowance"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
)

const day = 24 * time.Hour

func TestTheHighestStandingThatQualifies(t *testing.T) {
	now := time.Date(2026, 5, 20, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		age     time.Duration
		paid    money.Nanos
		invoice bool
		want    allowance.Standing
		reason  allowance.Reason
	}{
		"new":                          {0, 0, false, allowance.New, allowance.Nothing},
		"almost a week":                {7*day - time.Second, 0, false, allowance.New, allowance.Nothing},
		"a week":                       {7 * day, 0, false, allowance.Standard, allowance.HasAge},
		"any top-up":                   {0, 1, false, allowance.Standard, allowance.HasPaid},
		"paid much, young":             {30*day - time.Second, 1000 * money.USD, false, allowance.Standard, allowance.HasPaid},
		"old, paid a little less":      {300 * day, 50*money.USD - 1, false, allowance.Standard, allowance.HasPaid},
		"old, never paid":              {300 * day, 0, false, allowance.Standard, allowance.HasAge},
		"paid enough for long enough":  {30 * day, 50 * money.USD, false, allowance.Trusted, allowance.HasPaidLong},
		"invoice, whatever else":       {0, 0, true, allowance.Enterprise, allowance.HasInvoice},
		"invoice, and paid for longer": {300 * day, 50 * money.USD, true, allowance.Enterprise, allowance.HasInvoice},
	} {
		standing, reason := allowance.Default().Standing(allowance.Facts{CreatedAt: now.Add(-c.age), Paid: c.paid, Invoice: c.invoice}, now)
		require.Equal(t, []any{c.want, c.reason}, []any{standing, reason}, name)
	}
}

// Time and payments never lower a standing.
func TestStandingsRise(t *testing.T) {
	order := map[allowance.Standing]int{allowance.New: 0, allowance.Standard: 1, allowance.Trusted: 2, allowance.Enterprise: 3}
	rapid.Check(t, func(t *rapid.T) {
		created := time.Unix(rapid.Int64Range(0, 1e9).Draw(t, "created"), 0)
		paid := money.Nanos(rapid.Int64Range(0, int64(100*money.USD)).Draw(t, "paid"))
		at := created.Add(time.Duration(rapid.Int64Range(0, int64(60*day)).Draw(t, "age")))
		before, _ := allowance.Default().Standing(allowance.Facts{CreatedAt: created, Paid: paid}, at)
		after, _ := allowance.Default().Standing(allowance.Facts{
			CreatedAt: created, Paid: paid + money.Nanos(rapid.Int64Range(0, int64(100*money.USD)).Draw(t, "more")),
		}, at.Add(time.Duration(rapid.Int64Range(0, int64(60*day)).Draw(t, "later"))))
		require.GreaterOrEqual(t, order[after], order[before])
	})
}

func TestGatewaysAreToldTheAllowance(t *testing.T) {
	first, second := fill.Value[id.User](1), fill.Value[id.User](2)
	seven, nine := int64(7), int64(9)
	own := allowance.Overrides{PerMinute: &seven, FreePerDay: &nine, Users: map[id.User]int64{first: 3, second: 4}}
	told := policy.Allowance{PerMinute: 7, FreePerDay: 9, Users: []policy.MemberAllowance{{User: second, PerMinute: 4}, {User: first, PerMinute: 3}}}
	off, on := allowance.Default(), allowance.Default()
	on.Enabled = true
	require.Zero(t, off.Allowance(allowance.Trusted, allowance.Overrides{}))
	require.Equal(t, told, off.Allowance(allowance.New, own), "an operator's word holds without the ladder")
	require.Equal(t, told, on.Allowance(allowance.Trusted, own))
	for standing, want := range map[allowance.Standing]int64{allowance.New: 10, allowance.Standard: 25, allowance.Trusted: 60, allowance.Enterprise: 120} {
		require.Equal(t, policy.Allowance{PerMinute: want, FreePerDay: 1500}, on.Allowance(standing, allowance.Overrides{}))
	}
}
