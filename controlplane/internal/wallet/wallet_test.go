package wallet_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/wallet"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

func TestGatewaysAreToldTheCredit(t *testing.T) {
	prepaid := wallet.Terms{Billing: policy.BillingPrepaid, Floor: money.USD, FeeRate: 25_000, FeeAfter: 250_000}
	for name, c := range map[string]struct {
		terms   wallet.Terms
		granted money.Nanos
		want    policy.Credit
	}{
		"nothing said":       {wallet.Terms{}, 5, policy.Credit{}},
		"without billing":    {wallet.Terms{Billing: policy.BillingOff, Floor: 1, FeeRate: 1, FeeAfter: 1}, 5, policy.Credit{}},
		"prepaid":            {prepaid, 5, policy.Credit{Billing: policy.BillingPrepaid, Granted: 5, Floor: money.USD, FeeRate: 25_000, FeeAfter: 250_000}},
		"a rate of nothing":  {wallet.Terms{Billing: policy.BillingInvoice, FeeAfter: 7}, 0, policy.Credit{Billing: policy.BillingInvoice}},
		"a fee from the one": {wallet.Terms{Billing: policy.BillingInvoice, FeeRate: 9}, 0, policy.Credit{Billing: policy.BillingInvoice, FeeRate: 9}},
	} {
		require.Equal(t, c.want, c.terms.Credit(c.granted), name)
	}
}

func TestOwnTermsTakeThePlaceOfTheDeployments(t *testing.T) {
	base := wallet.Terms{Billing: policy.BillingPrepaid, Floor: 1, FeeRate: 2, FeeAfter: 3}
	require.Equal(t, base, base.With(wallet.Own{}))
	require.Equal(t, wallet.Terms{}, base.With(wallet.Own{Billing: new(policy.Billing), Floor: new(money.Nanos), FeeRate: new(int64), FeeAfter: new(int64)}), "nothing is a value")
}

func TestFreeRequestsThatRemain(t *testing.T) {
	a := wallet.Account{Terms: wallet.Terms{FeeAfter: 10}, OwnRequests: 4}
	require.EqualValues(t, 6, a.FreeRequests())
	a.OwnRequests = 11
	require.Zero(t, a.FreeRequests())
}
