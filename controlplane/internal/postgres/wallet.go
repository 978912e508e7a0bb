package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/signalbox-dev/signalbox/controlplane/internal/wallet"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

type walletRow struct {
	WorkspaceID uuid.UUID       `gorm:"column:workspace_id;primaryKey"`
	Billing     *policy.Billing `gorm:"column:billing"`
	Floor       *money.Nanos    `gorm:"column:floor_nanos"`
	FeeRate     *int64          `gorm:"column:fee_rate"`
	FeeAfter    *int64          `gorm:"column:fee_after"`
	Granted     money.Nanos     `gorm:"column:granted_nanos"`
	Charged     money.Nanos     `gorm:"column:charged_nanos"`
	Paid        money.Nanos     `gorm:"column:paid_nanos"`
	ToppedUpAt  *time.Time      `gorm:"column:topped_up_at"`
	Entries     int64           `gorm:"column:entries"`
	Version     int64           `gorm:"column:version"`
	UpdatedAt   time.Time       `gorm:"column:updated_at;autoUpdateTime:false"`
}

func (walletRow) TableName() string { return "wallets" }

func walletRowOf(w wallet.Wallet) walletRow {
	return walletRow{
		WorkspaceID: w.Workspace.UUID(), Billing: w.Own.Billing, Floor: w.Own.Floor, FeeRate: w.Own.FeeRate, FeeAfter: w.Own.FeeAfter,
		Granted: w.Granted, Charged: w.Charged, Paid: w.Paid, ToppedUpAt: w.ToppedUpAt, Entries: w.Entries,
		Version: w.Version, UpdatedAt: w.UpdatedAt,
	}
}

func (r walletRow) wallet() wallet.Wallet {
	return wallet.Wallet{
		Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID),
		Own:       wallet.Own{Billing: r.Billing, Floor: r.Floor, FeeRate: r.FeeRate, FeeAfter: r.FeeAfter},
		Granted:   r.Granted, Charged: r.Charged, Paid: r.Paid, ToppedUpAt: utc(r.ToppedUpAt), Entries: r.Entries,
		Version: r.Version, UpdatedAt: r.UpdatedAt.UTC(),
	}
}

// terms are the columns of the terms that a workspace has of its own.
func (r walletRow) terms() map[string]any {
	return map[string]any{
		"billing": r.Billing, "floor_nanos": r.Floor, "fee_rate": r.FeeRate, "fee_after": r.FeeAfter,
		"version": r.Version, "updated_at": r.UpdatedAt,
	}
}

// sums are the columns that a new entry of an operator changes.
func (r walletRow) sums() map[string]any {
	return map[string]any{"granted_nanos": r.Granted, "paid_nanos": r.Paid, "topped_up_at": r.ToppedUpAt, "entries": r.Entries}
}

// WalletStore keeps wallets and their entries.
type WalletStore struct{ now func() time.Time }

// NewWalletStore returns a store that works in the transaction of its context.
func NewWalletStore(now func() time.Time) *WalletStore { return &WalletStore{now: now} }

// Get implements wallet.Store.
func (*WalletStore) Get(ctx context.Context, ws id.Workspace) (wallet.Wallet, error) {
	var row walletRow
	err := scoped(ctx, ws).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		var own workspaceRow
		err = tenant(ctx, ws).Select("id").Where("id = ?", ws.UUID()).Take(&own).Error
		return wallet.Wallet{Workspace: ws, Version: 1}, translate(err, "look up the workspace of a wallet")
	}
	return row.wallet(), translate(err, "read a wallet")
}

// Lock implements wallet.Store.
func (s *WalletStore) Lock(ctx context.Context, ws id.Workspace) (wallet.Wallet, error) {
	if err := s.ensure(ctx, ws); err != nil {
		return wallet.Wallet{}, err
	}
	var row walletRow
	err := scoped(ctx, ws).Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate}).Take(&row).Error
	return row.wallet(), translate(err, "lock a wallet")
}

// ensure makes the row of ws, where there is none.
func (s *WalletStore) ensure(ctx context.Context, ws id.Workspace) error {
	row := walletRowOf(wallet.Wallet{Workspace: ws, Version: 1, UpdatedAt: s.now()})
	return translate(tenant(ctx, ws).Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error, "make a wallet")
}

// SetOwn implements wallet.Store.
func (s *WalletStore) SetOwn(ctx context.Context, ws id.Workspace, w wallet.Wallet) error {
	if err := s.ensure(ctx, ws); err != nil {
		return err
	}
	own := scoped(ctx, ws).Model(&walletRow{})
	return updated(own, w.Version, walletRowOf(w).terms(), "change how a workspace pays")
}

// Append implements wallet.Store.
func (*WalletStore) Append(ctx context.Context, ws id.Workspace, w wallet.Wallet, e wallet.Entry) error {
	done := scoped(ctx, ws).Model(&walletRow{}).Where("entries = ?", w.Entries-1).Updates(walletRowOf(w).sums())
	if err := changed(done, "add to a wallet"); err != nil {
		return err
	}
	row := walletEntryRowOf(e)
	return translate(tenant(ctx, ws).Create(&row).Error, "add an entry to a wallet")
}

var (
	_ wallet.Store   = (*WalletStore)(nil)
	_ wallet.Entries = (*WalletStore)(nil)
)
