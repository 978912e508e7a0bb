package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/allowance"
	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/wallet"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

func atEpoch() time.Time { return epoch }

// storeMoney gives the owner's workspace terms, an entry in its wallet and an
// allowance.
func storeMoney(ctx context.Context, t *testing.T, owner workspace.Member) {
	t.Helper()
	ws := owner.Workspace
	w, err := NewWalletStore(atEpoch).Lock(ctx, ws)
	require.NoError(t, err)
	w.Granted, w.Paid, w.Entries = 70, 70, 1
	require.NoError(t, NewWalletStore(atEpoch).Append(ctx, ws, w, wallet.Entry{
		ID: id.New[id.WalletEntryKind](testIDs), Workspace: ws, Number: 1, Kind: wallet.TopUp, Amount: 70, Balance: 70,
		Reference: "paid", Actor: audit.Operator, CreatedAt: epoch,
	}))
	w.Own.Billing, w.Version = ptr(policy.BillingInvoice), 2
	require.NoError(t, NewWalletStore(atEpoch).SetOwn(ctx, ws, w))
	require.NoError(t, NewAllowanceStore().SetOverrides(ctx, ws, allowance.Overrides{
		Workspace: ws, PerMinute: ptr(int64(7)), Users: map[id.User]int64{owner.User: 3}, Version: 2, UpdatedAt: epoch,
	}))
	require.NoError(t, NewAllowanceStore().SetPublished(ctx, ws, allowance.Published{Standing: allowance.Trusted, At: epoch}))
}

// The wallet and the allowance of one workspace are nothing to another.
func TestMoneyOfOthersIsOutOfReach(t *testing.T) {
	db := openTest(t)
	a, ownerA := newWorkspace(t, db)
	b, _ := newWorkspace(t, db)
	wallets, allowances := NewWalletStore(atEpoch), NewAllowanceStore()
	in(t, db, a.ID, func(ctx context.Context) error {
		storeMoney(ctx, t, ownerA)
		return nil
	})
	in(t, db, b.ID, func(ctx context.Context) error {
		w, err := wallets.Get(ctx, b.ID)
		require.NoError(t, err)
		require.Equal(t, wallet.Wallet{Workspace: b.ID, Version: 1}, w)
		_, err = wallets.ByReference(ctx, b.ID, "paid")
		require.True(t, fault.Is(err, fault.NotFound), "%v", err)
		entries, err := wallets.List(ctx, b.ID, page.Query{})
		require.NoError(t, err)
		require.Empty(t, entries.Items)
		account, err := allowances.Account(ctx, b.ID)
		require.NoError(t, err)
		require.Equal(t, allowance.Account{CreatedAt: b.CreatedAt, Overrides: allowance.Overrides{Workspace: b.ID, Version: 1}}, account)
		missing, err := allowances.Missing(ctx, b.ID, []id.User{ownerA.User})
		require.NoError(t, err)
		require.Equal(t, []id.User{ownerA.User}, missing)

		for _, sql := range []string{"UPDATE wallets SET granted_nanos = 0", "UPDATE allowances SET per_minute = 1", "UPDATE published_standings SET standing = 'new'"} {
			done := tenant(ctx, b.ID).Exec(sql)
			require.NoError(t, done.Error)
			require.Zero(t, done.RowsAffected, sql)
		}
		return nil
	})
	for _, sql := range []string{
		"INSERT INTO wallets (workspace_id, granted_nanos, charged_nanos, paid_nanos, entries, version, updated_at) VALUES (?, 0, 0, 0, 0, 1, now())",
		"INSERT INTO wallet_entries (workspace_id, number, id, kind, amount_nanos, balance_nanos, requests, reference, note, actor_kind, actor_name, request_id, created_at)" +
			" VALUES (?, 2, gen_random_uuid(), 'top_up', 1, 1, 0, '', '', 'operator', '', '', now())",
		"INSERT INTO allowances (workspace_id, users, version, updated_at) VALUES (?, '{}', 1, now())",
	} {
		err := db.Runner().InTx(t.Context(), b.ID, func(ctx context.Context) error { return tenant(ctx, b.ID).Exec(sql, a.ID.UUID()).Error })
		require.ErrorContains(t, err, "row-level security", sql)
	}
	in(t, db, a.ID, func(ctx context.Context) error {
		w, err := wallets.Get(ctx, a.ID)
		require.NoError(t, err)
		require.EqualValues(t, 70, w.Granted)
		require.Equal(t, policy.BillingInvoice, *w.Own.Billing)
		_, err = wallets.Get(ctx, b.ID)
		require.Error(t, err, "in a transaction of another workspace")
		return nil
	})
}
