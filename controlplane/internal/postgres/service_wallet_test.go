package postgres

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/controlplane/internal/wallet"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

var prepaid = wallet.Terms{Billing: policy.BillingPrepaid, Floor: money.USD, FeeRate: 25_000, FeeAfter: 250_000}

func walletsOf(db *DB, now func() time.Time, terms wallet.Terms) *wallet.Service {
	return wallet.NewService(wallet.Deps{
		Runner: db.Runner(), Store: NewWalletStore(now), Entries: NewWalletStore(now), Counter: NewSpendingStore(),
		Mutator: deploy.New(db.Runner(), NewPublicationStore(), NewAuditStore(), testIDs, now), Terms: terms, IDs: testIDs, Now: now,
	})
}

func TestTopUpsAndAdjustments(t *testing.T) {
	s := openServices(t)
	ws := s.create(t, "acme").Workspace.ID
	wallets := walletsOf(s.db, s.clock.now, prepaid)
	a, err := wallets.Get(t.Context(), ws)
	require.NoError(t, err)
	require.Equal(t, wallet.Account{Wallet: wallet.Wallet{Workspace: ws, Version: 1}, Terms: prepaid}, a)

	first, pub, err := wallets.Add(t.Context(), ws, operator, wallet.NewEntry{Kind: wallet.TopUp, Amount: 100 * money.USD, Reference: "inv-1", Note: "card"})
	require.NoError(t, err)
	require.Equal(t, []string{"credit.top_up"}, s.stored(t, pub).Changes)
	event := s.lastEvent(t, ws)
	require.Equal(t, first.ID.String(), event.TargetID)
	require.Equal(t, operator.Actor, event.Actor)
	require.Contains(t, fmt.Sprint(event.Diff), "{granted_usd 0.00 100.00}")

	s.clock.advance(time.Hour)
	second, _, err := wallets.Add(t.Context(), ws, operator, wallet.NewEntry{Kind: wallet.Adjustment, Amount: -150 * money.USD, Note: "a refund"})
	require.NoError(t, err)
	require.EqualValues(t, 2, second.Number)
	require.Equal(t, -50*money.USD, second.Balance)
	third, _, err := wallets.Add(t.Context(), ws, operator, wallet.NewEntry{Kind: wallet.TopUp, Amount: 1})
	require.NoError(t, err)

	a, err = wallets.Get(t.Context(), ws)
	require.NoError(t, err)
	require.Equal(t, wallet.Wallet{
		Workspace: ws, Granted: -50*money.USD + 1, Paid: 100*money.USD + 1, ToppedUpAt: &first.CreatedAt, Entries: 3, Version: 1, UpdatedAt: epoch,
	}, a.Wallet)
	found, err := wallets.Entries(t.Context(), ws, page.Query{Limit: 2})
	require.NoError(t, err)
	require.Equal(t, []wallet.Entry{third, second}, found.Items)
	found, err = wallets.Entries(t.Context(), ws, page.Query{Limit: 2, Cursor: found.Next})
	require.NoError(t, err)
	require.Equal(t, []wallet.Entry{first}, found.Items)
	require.Empty(t, found.Next)
}

func TestAReferenceIsAddedOnce(t *testing.T) {
	s := openServices(t)
	ws := s.create(t, "acme").Workspace.ID
	wallets := walletsOf(s.db, s.clock.now, prepaid)
	pay := wallet.NewEntry{Kind: wallet.TopUp, Amount: money.USD, Reference: "inv-1"}
	var group sync.WaitGroup
	made := make([]wallet.Entry, 12)
	var published [12]bool
	for i := range made {
		group.Go(func() {
			e, pub, err := wallets.Add(context.Background(), ws, operator, pay)
			require.NoError(t, err)
			made[i], published[i] = e, !pub.ID.IsZero()
		})
	}
	group.Wait()
	changes := 0
	for i := range made {
		require.Equal(t, made[0], made[i])
		if published[i] {
			changes++
		}
	}
	require.Equal(t, 1, changes)
	a, err := wallets.Get(t.Context(), ws)
	require.NoError(t, err)
	require.Equal(t, money.USD, a.Balance())

	for _, other := range []wallet.NewEntry{
		{Kind: wallet.TopUp, Amount: 2 * money.USD, Reference: "inv-1"},
		{Kind: wallet.Adjustment, Amount: money.USD, Reference: "inv-1", Note: "why"},
	} {
		_, _, err = wallets.Add(t.Context(), ws, operator, other)
		require.True(t, fault.Is(err, fault.Conflict), "%v", err)
		require.Equal(t, "reference", fault.Of(err).Violations[0].Path)
	}
	other := s.create(t, "other").Workspace.ID
	_, pub, err := wallets.Add(t.Context(), other, operator, pay)
	require.NoError(t, err)
	require.False(t, pub.ID.IsZero(), "references of workspaces are apart")
}

func TestWhatAWalletRefuses(t *testing.T) {
	s := openServices(t)
	ws := s.create(t, "acme").Workspace.ID
	wallets := walletsOf(s.db, s.clock.now, prepaid)
	for path, list := range map[string][]wallet.NewEntry{
		"amount_usd": {
			{Kind: wallet.TopUp},
			{Kind: wallet.TopUp, Amount: -1},
			{Kind: wallet.TopUp, Amount: wallet.MaxEntry + 1},
			{Kind: wallet.TopUp, Amount: math.MaxInt64},
			{Kind: wallet.Adjustment, Note: "x"},
			{Kind: wallet.Adjustment, Amount: math.MinInt64, Note: "x"},
			{Kind: wallet.Adjustment, Amount: -wallet.MaxEntry - 1, Note: "x"},
		},
		"reason":    {{Kind: wallet.Adjustment, Amount: 1}, {Kind: wallet.Adjustment, Amount: 1, Note: strings.Repeat("x", 201)}, {Kind: wallet.Adjustment, Amount: 1, Note: "\u200b"}},
		"reference": {{Kind: wallet.TopUp, Amount: 1, Reference: "a\x00b"}, {Kind: wallet.TopUp, Amount: 1, Reference: strings.Repeat("x", 201)}},
		"note":      {{Kind: wallet.TopUp, Amount: 1, Note: "a\nb"}},
	} {
		for _, n := range list {
			_, _, err := wallets.Add(t.Context(), ws, operator, n)
			require.True(t, fault.Is(err, fault.ValidationError), "%v: %v", n, err)
			require.Equal(t, path, fault.Of(err).Violations[0].Path)
		}
	}
	in(t, s.db, ws, func(ctx context.Context) error {
		w, err := NewWalletStore(s.clock.now).Lock(ctx, ws)
		require.NoError(t, err)
		w.Granted, w.Paid, w.Entries = wallet.MaxGranted, wallet.MaxGranted, 1
		return NewWalletStore(s.clock.now).Append(ctx, ws, w, wallet.Entry{
			ID: id.New[id.WalletEntryKind](testIDs), Workspace: ws, Number: 1, Kind: wallet.TopUp, Amount: 1, Actor: operator.Kind, CreatedAt: epoch,
		})
	})
	_, _, err := wallets.Add(t.Context(), ws, operator, wallet.NewEntry{Kind: wallet.TopUp, Amount: 1})
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)

	nobody := id.New[id.WorkspaceKind](testIDs)
	_, err = wallets.Get(t.Context(), nobody)
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)
	_, err = wallets.Entries(t.Context(), nobody, page.Query{})
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)
	_, _, err = wallets.Add(t.Context(), nobody, operator, wallet.NewEntry{Kind: wallet.TopUp, Amount: 1})
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)
	_, _, err = wallets.SetTerms(t.Context(), nobody, operator, func(*wallet.Own) {}, nil)
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)
}

func TestTermsOfAWorkspace(t *testing.T) {
	s := openServices(t)
	ws := s.create(t, "acme").Workspace.ID
	wallets := walletsOf(s.db, s.clock.now, prepaid)
	a, pub, err := wallets.SetTerms(t.Context(), ws, operator, func(o *wallet.Own) {
		o.Billing, o.Floor = ptr(policy.BillingInvoice), ptr(money.Nanos(0))
	}, ptr(int64(1)))
	require.NoError(t, err)
	require.Equal(t, []string{"billing.update"}, s.stored(t, pub).Changes)
	require.Equal(t, wallet.Terms{Billing: policy.BillingInvoice, FeeRate: 25_000, FeeAfter: 250_000}, a.Terms)
	require.EqualValues(t, 2, a.Version)
	stored, err := wallets.Get(t.Context(), ws)
	require.NoError(t, err)
	require.Equal(t, a, stored)
	_, _, err = wallets.SetTerms(t.Context(), ws, operator, func(*wallet.Own) {}, ptr(int64(1)))
	require.True(t, fault.Is(err, fault.PreconditionFailed), "%v", err)
	a, _, err = wallets.SetTerms(t.Context(), ws, operator, func(o *wallet.Own) { o.Billing, o.FeeRate = nil, ptr(int64(0)) }, nil)
	require.NoError(t, err)
	require.Equal(t, wallet.Terms{Billing: policy.BillingPrepaid, FeeAfter: 250_000}, a.Terms, "what is taken away is as the deployment says")
	for path, edit := range map[string]wallet.Edit{
		"billing":            func(o *wallet.Own) { o.Billing = ptr(policy.Billing("credit")) },
		"floor_usd":          func(o *wallet.Own) { o.Floor = ptr(money.Nanos(-1)) },
		"byok_fee_rate":      func(o *wallet.Own) { o.FeeRate = ptr(int64(1_000_001)) },
		"byok_free_requests": func(o *wallet.Own) { o.FeeAfter = ptr(int64(-1)) },
	} {
		_, _, err = wallets.SetTerms(t.Context(), ws, operator, edit, nil)
		require.True(t, fault.Is(err, fault.ValidationError), "%v", err)
		require.Equal(t, path, fault.Of(err).Violations[0].Path)
	}
}

func TestOwnRequestsOfTheMonth(t *testing.T) {
	b := newUsageBench(t)
	w, _ := newWorkspace(t, b.db)
	b.ws = w.ID
	own := func(at time.Time, change func(e *usage.Entry)) {
		e := b.entry(at)
		e.CredentialSource = "byok"
		if change != nil {
			change(&e)
		}
		b.write(e)
	}
	own(b.now, nil)
	own(time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), nil)
	own(time.Date(2026, 4, 30, 23, 59, 59, 0, time.UTC), nil)
	own(b.now, func(e *usage.Entry) { e.CredentialSource = "managed" })
	own(b.now, func(e *usage.Entry) { e.Outcome = wire.Failed })
	a, err := walletsOf(b.db, func() time.Time { return b.now }, prepaid).Get(t.Context(), b.ws)
	require.NoError(t, err)
	require.EqualValues(t, 2, a.OwnRequests)
	require.EqualValues(t, 249_998, a.FreeRequests())
}

// Entries stay as they are, whoever asks.
func TestEntriesOfWalletsStay(t *testing.T) {
	b := newUsageBench(t)
	b.write(b.charged(b.now, 5))
	for _, change := range []string{
		"UPDATE wallet_entries SET amount_nanos = 0", "UPDATE wallet_entries SET note = 'x' WHERE false", "DELETE FROM wallet_entries", "TRUNCATE wallet_entries", "TRUNCATE wallet_entries CASCADE",
	} {
		_, err := b.owner.ExecContext(t.Context(), change)
		require.ErrorContains(t, err, "never changes", change)
	}
	err := b.db.Runner().InTx(t.Context(), b.ws, func(ctx context.Context) error {
		return scoped(ctx, b.ws).Where("true").Delete(&walletEntryRow{}).Error
	})
	require.Error(t, err)
	_, entries := b.wallet(b.ws)
	require.Len(t, entries, 1)
}
