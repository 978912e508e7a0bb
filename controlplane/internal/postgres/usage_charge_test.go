package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/controlplane/internal/wallet"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// charged is an entry of the log that is charged for.
func (b *usageBench) charged(at time.Time, amount money.Nanos) usage.Entry {
	e := b.entry(at)
	e.Cost, e.Charge = meter.Cost{Total: amount}, amount
	return e
}

// wallet is what the workspace has, and its entries, oldest first.
func (b *usageBench) wallet(ws id.Workspace) (charged money.Nanos, entries []wallet.Entry) {
	b.t.Helper()
	err := b.db.Runner().Read(context.Background(), ws, func(ctx context.Context) error {
		var row walletRow
		if err := scoped(ctx, ws).Find(&row).Error; err != nil {
			return err
		}
		charged = row.Charged
		found, err := NewWalletStore(time.Now).List(ctx, ws, page.Query{Limit: page.MaxLimit})
		for i := len(found.Items) - 1; i >= 0; i-- {
			entries = append(entries, found.Items[i])
		}
		require.EqualValues(b.t, len(entries), row.Entries)
		return err
	})
	require.NoError(b.t, err)
	return charged, entries
}

func TestABatchIsChargedOnce(t *testing.T) {
	b := newUsageBench(t)
	free := b.entry(b.now)
	b.write(free)
	charged, entries := b.wallet(b.ws)
	require.Zero(t, charged)
	require.Empty(t, entries, "without a charge there is no wallet")

	first, second := b.charged(b.now, 5), b.charged(b.now, 7)
	b.write(first, second, b.entry(b.now))
	b.write(first, second)
	b.write(second, b.charged(b.now, 11))
	charged, entries = b.wallet(b.ws)
	require.EqualValues(t, 23, charged)
	require.Len(t, entries, 2)
	require.EqualValues(t, 23, b.totals().Charge)
	e := entries[0]
	require.Equal(t, wallet.Entry{
		ID: e.ID, Workspace: b.ws, Number: 1, Kind: wallet.Charge, Amount: -12, Balance: -12, Requests: 2, Actor: audit.System, CreatedAt: b.now,
	}, e)
	require.False(t, e.ID.IsZero())
	e = entries[1]
	require.Equal(t, []any{int64(2), money.Nanos(-11), money.Nanos(-23), int64(1)}, []any{e.Number, e.Amount, e.Balance, e.Requests})
}

func TestAnEstimateIsGivenBack(t *testing.T) {
	b := newUsageBench(t)
	done := b.charged(b.now, 30)
	guess := done
	guess.Outcome, guess.Charge = wire.Unknown, 50
	b.write(guess)
	b.write(done, b.charged(b.now, 1))
	b.write(done, guess)
	charged, entries := b.wallet(b.ws)
	require.EqualValues(t, 31, charged)
	var amounts, balances []money.Nanos
	var requests []int64
	for _, e := range entries {
		amounts, balances, requests = append(amounts, e.Amount), append(balances, e.Balance), append(requests, e.Requests)
	}
	require.Equal(t, []money.Nanos{-50, -31, 50}, amounts)
	require.Equal(t, []money.Nanos{-50, -81, -31}, balances, "each has the balance after it")
	require.Equal(t, []int64{1, 2, -1}, requests)
	require.EqualValues(t, 31, b.totals().Charge)
}

// Another gateway that claims to know how a request ended takes no charge back.
func TestOnlyItsGatewayReplacesAnEstimate(t *testing.T) {
	b := newUsageBench(t)
	guess := b.charged(b.now, 50)
	guess.Outcome = wire.Unknown
	b.write(guess)
	claim := guess
	claim.Gateway, claim.Outcome, claim.Charge = id.New[id.GatewayKind](testIDs), wire.Success, 0
	require.Equal(t, usage.Written{Repeated: 1}, b.write(claim))
	charged, entries := b.wallet(b.ws)
	require.EqualValues(t, 50, charged)
	require.Len(t, entries, 1)
	done := guess
	done.Outcome, done.Charge = wire.Success, 30
	require.Equal(t, usage.Written{Upgraded: 1}, b.write(done))
	charged, _ = b.wallet(b.ws)
	require.EqualValues(t, 30, charged)
}

// TestManyBatchesLoseNothing has fifty batches of the same workspaces at once,
// in all orders, each written twice, beside operators who top up.
func TestManyBatchesLoseNothing(t *testing.T) {
	b := newUsageBench(t)
	one, _ := newWorkspace(t, b.db)
	two, _ := newWorkspace(t, b.db)
	wallets := walletsOf(b.db, func() time.Time { return b.now }, wallet.Terms{})
	workspaces := []id.Workspace{one.ID, two.ID}
	var group sync.WaitGroup
	want := map[id.Workspace]money.Nanos{}
	for n := range 50 {
		var batch []usage.Entry
		for range 10 {
			e := b.charged(b.now.Add(time.Duration(rand.IntN(100))*time.Minute), money.Nanos(rand.IntN(1000)))
			e.Workspace, e.Gateway, e.Sequence = workspaces[rand.IntN(2)], id.New[id.GatewayKind](testIDs), 1
			want[e.Workspace] += e.Charge
			batch = append(batch, e)
		}
		slices.SortFunc(batch, usage.Compare)
		for range 2 {
			group.Go(func() {
				_, err := b.store.WriteUsage(context.Background(), usage.Batch{Entries: batch})
				require.NoError(t, err)
			})
		}
		group.Go(func() {
			_, _, err := wallets.Add(context.Background(), workspaces[n%2], operator, wallet.NewEntry{Kind: wallet.TopUp, Amount: 10, Reference: fmt.Sprint("ref-", n)})
			require.NoError(t, err)
		})
	}
	group.Wait()
	for _, ws := range workspaces {
		charged, entries := b.wallet(ws)
		require.Equal(t, want[ws], charged)
		var balance money.Nanos
		for i, e := range entries {
			balance += e.Amount
			require.EqualValues(t, i+1, e.Number)
			require.Equal(t, balance, e.Balance)
		}
		require.Equal(t, 25*10-want[ws], balance)
	}
}
