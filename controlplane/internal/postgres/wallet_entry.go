package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/wallet"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
)

type walletEntryRow struct {
	WorkspaceID uuid.UUID   `gorm:"column:workspace_id;primaryKey"`
	Number      int64       `gorm:"column:number;primaryKey;autoIncrement:false"`
	ID          uuid.UUID   `gorm:"column:id"`
	Kind        string      `gorm:"column:kind"`
	Amount      money.Nanos `gorm:"column:amount_nanos"`
	Balance     money.Nanos `gorm:"column:balance_nanos"`
	Requests    int64       `gorm:"column:requests"`
	Reference   string      `gorm:"column:reference"`
	Note        string      `gorm:"column:note"`
	ActorKind   string      `gorm:"column:actor_kind"`
	ActorName   string      `gorm:"column:actor_name"`
	RequestID   string      `gorm:"column:request_id"`
	CreatedAt   time.Time   `gorm:"column:created_at;autoCreateTime:false"`
}

func (walletEntryRow) TableName() string { return "wallet_entries" }

func walletEntryRowOf(e wallet.Entry) walletEntryRow {
	return walletEntryRow{
		WorkspaceID: e.Workspace.UUID(), Number: e.Number, ID: e.ID.UUID(), Kind: string(e.Kind), Amount: e.Amount, Balance: e.Balance,
		Requests: e.Requests, Reference: e.Reference, Note: e.Note, ActorKind: string(e.Actor), ActorName: e.ActorName,
		RequestID: e.RequestID, CreatedAt: e.CreatedAt,
	}
}

func (r walletEntryRow) entry() wallet.Entry {
	return wallet.Entry{
		ID: id.FromUUID[id.WalletEntryKind](r.ID), Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID), Number: r.Number,
		Kind: wallet.Kind(r.Kind), Amount: r.Amount, Balance: r.Balance, Requests: r.Requests, Reference: r.Reference, Note: r.Note,
		Actor: audit.ActorKind(r.ActorKind), ActorName: r.ActorName, RequestID: r.RequestID, CreatedAt: r.CreatedAt.UTC(),
	}
}

// ByReference implements wallet.Entries.
func (*WalletStore) ByReference(ctx context.Context, ws id.Workspace, reference string) (wallet.Entry, error) {
	var row walletEntryRow
	err := scoped(ctx, ws).Where("reference = ? AND reference <> ''", reference).Take(&row).Error
	return row.entry(), translate(err, "look up an entry of a wallet")
}

// List implements wallet.Entries.
func (*WalletStore) List(ctx context.Context, ws id.Workspace, q page.Query) (page.Result[wallet.Entry], error) {
	db, err := highestFirst(scoped(ctx, ws), q)
	if err != nil {
		return page.Result[wallet.Entry]{}, err
	}
	return paged(db, q, func(r walletEntryRow) uuid.UUID { return placeOf(int(r.Number)) }, walletEntryRow.entry, "list the entries of a wallet")
}
