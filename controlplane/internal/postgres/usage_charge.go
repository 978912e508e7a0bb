package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/controlplane/internal/wallet"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// chargeWalletsSQL takes what is charged from wallets, and keeps them locked in
// the order of the arrays until the transaction ends.
const chargeWalletsSQL = `INSERT INTO wallets AS w (workspace_id, granted_nanos, charged_nanos, paid_nanos, entries, version, updated_at)
	SELECT k.workspace_id, 0, k.amount, 0, k.entries, 1, $4 FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) AS k (workspace_id, amount, entries)
	ON CONFLICT (workspace_id) DO UPDATE SET charged_nanos = w.charged_nanos + EXCLUDED.charged_nanos, entries = w.entries + EXCLUDED.entries
	RETURNING workspace_id, granted_nanos - charged_nanos, entries`

const addChargesSQL = `INSERT INTO wallet_entries
	(workspace_id, number, id, amount_nanos, balance_nanos, requests, kind, reference, note, actor_kind, actor_name, request_id, created_at)
	SELECT k.*, $7, '', '', $8, '', '', $9 FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::bigint[], $5::bigint[], $6::bigint[])
	  AS k (workspace_id, number, id, amount, balance, requests)`

// addCharges writes sorted lines into wallets.
func (s *UsageStore) addCharges(ctx context.Context, conn gorm.ConnPool, charges []usage.Charge) error {
	if len(charges) == 0 {
		return nil
	}
	after, err := chargeWallets(ctx, conn, charges, s.now())
	if err != nil {
		return err
	}
	n := len(charges)
	workspaces, numbers, ids := make([]uuid.UUID, n), make([]int64, n), make([]uuid.UUID, n)
	amounts, balances, requests := make([]int64, n), make([]int64, n), make([]int64, n)
	// Backwards: the last line of a workspace has the balance that is now.
	for i := n - 1; i >= 0; i-- {
		c := charges[i]
		state := after[c.Workspace.UUID()]
		workspaces[i], numbers[i], ids[i] = c.Workspace.UUID(), state.entries, id.New[id.WalletEntryKind](s.ids).UUID()
		amounts[i], balances[i], requests[i] = -int64(c.Amount), state.balance, c.Entries
		after[c.Workspace.UUID()] = walletState{balance: state.balance + int64(c.Amount), entries: state.entries - 1}
	}
	_, err = conn.ExecContext(ctx, addChargesSQL, workspaces, numbers, ids, amounts, balances, requests, string(wallet.Charge), string(audit.System), s.now())
	return err
}

// walletState is what a wallet has after its last entry.
type walletState struct{ balance, entries int64 }

func chargeWallets(ctx context.Context, conn gorm.ConnPool, charges []usage.Charge, now time.Time) (map[uuid.UUID]walletState, error) {
	var workspaces []uuid.UUID
	var amounts, entries []int64
	for _, c := range charges {
		if last := len(workspaces) - 1; last < 0 || workspaces[last] != c.Workspace.UUID() {
			workspaces, amounts, entries = append(workspaces, c.Workspace.UUID()), append(amounts, 0), append(entries, 0)
		}
		last := len(workspaces) - 1
		amounts[last], entries[last] = amounts[last]+int64(c.Amount), entries[last]+1
	}
	rows, err := conn.QueryContext(ctx, chargeWalletsSQL, workspaces, amounts, entries, now)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	after := make(map[uuid.UUID]walletState, len(workspaces))
	for rows.Next() {
		var ws uuid.UUID
		var state walletState
		if err := rows.Scan(&ws, &state.balance, &state.entries); err != nil {
			return nil, err
		}
		after[ws] = state
	}
	return after, rows.Err()
}
