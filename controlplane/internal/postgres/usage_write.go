package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// UsageStore keeps the request log, the hourly totals, those of accounts, and the gateways' marks.
// Arrays go to the driver directly: gorm would spread them into lists.
type UsageStore struct {
	system *System
	ids    *id.Source
	now    func() time.Time
}

// NewUsageStore returns a store over db.
func NewUsageStore(db *DB, ids *id.Source, now func() time.Time) *UsageStore {
	return &UsageStore{system: db.System(), ids: ids, now: now}
}

// WriteUsage implements usage.Writer. Locks are taken in one order by everyone:
// log rows by workspace and id, then totals by cell, then counts of rollouts by
// cell, then totals of accounts, those of all time before those of days and each
// by cell, then wallets by workspace, then marks by gateway.
func (s *UsageStore) WriteUsage(ctx context.Context, b usage.Batch) (usage.Written, error) {
	var written usage.Written
	err := s.system.InTx(ctx, func(ctx context.Context) error {
		written = usage.Written{}
		conn, err := driverOf(system(ctx))
		if err != nil {
			return err
		}
		added, removed, err := writeEntries(ctx, conn, b.Entries, &written)
		if err != nil {
			return translate(err, "write the request log")
		}
		if err := addTotals(ctx, conn, usage.Rollups(added, removed)); err != nil {
			return translate(err, "add to the hourly totals")
		}
		if err := addTrials(ctx, conn, usage.Trials(added)); err != nil {
			return translate(err, "count what rollouts come to")
		}
		if err := touchKeys(ctx, conn, added); err != nil {
			return translate(err, "note the use of keys")
		}
		if err := addSpends(ctx, conn, usage.Spends(added, removed)); err != nil {
			return translate(err, "add to the totals of accounts")
		}
		if err := s.addCharges(ctx, conn, usage.Charges(added, removed)); err != nil {
			return translate(err, "charge wallets")
		}
		before, err := s.advanceMarks(ctx, conn, b.Arrivals)
		if err != nil {
			return translate(err, "advance the usage marks")
		}
		written.Dead, err = s.keepDead(ctx, conn, b.Dead, before)
		return translate(err, "keep dead letters")
	})
	if rejected(err) {
		return usage.Written{}, fmt.Errorf("%w: %w", usage.ErrRejected, err)
	}
	return written, err
}

// rejected reports whether the server refuses the data as such: data exceptions
// (class 22), integrity violations (23), and values too large for an index (54).
func rejected(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (strings.HasPrefix(pg.Code, "22") || strings.HasPrefix(pg.Code, "23") || strings.HasPrefix(pg.Code, "54"))
}

// driverOf is the transaction beneath db.
func driverOf(db *gorm.DB) (gorm.ConnPool, error) {
	if db.Error != nil {
		return nil, db.Error
	}
	return db.Statement.ConnPool, nil
}

// writeEntries returns what came into the log and what it replaced there.
func writeEntries(ctx context.Context, conn gorm.ConnPool, entries []usage.Entry, w *usage.Written) (added, removed []usage.Entry, err error) {
	if len(entries) == 0 {
		return nil, nil, nil
	}
	fresh, err := insertUsage(ctx, conn, entries)
	if err != nil {
		return nil, nil, err
	}
	var known []usage.Entry // rows that may stand there as unknown
	for _, e := range entries {
		switch {
		case fresh[e.ID]:
			added = append(added, e)
		case e.Outcome != wire.Unknown:
			known = append(known, e)
		}
	}
	w.Inserted = len(added)
	removed, err = removeUnknown(ctx, conn, known)
	if err != nil {
		return nil, nil, err
	}
	if len(removed) > 0 {
		gone := make(map[id.Request]bool, len(removed))
		for _, e := range removed {
			gone[e.ID] = true
		}
		var instead []usage.Entry
		for _, e := range known {
			if gone[e.ID] {
				instead = append(instead, e)
			}
		}
		if _, err := insertUsage(ctx, conn, instead); err != nil {
			return nil, nil, err
		}
		added = append(added, instead...)
	}
	w.Upgraded = len(removed)
	w.Repeated = len(entries) - len(added)
	return added, removed, nil
}

var insertUsageSQL = func() string {
	arrays := make([]string, len(usageColumns))
	for i, c := range usageColumns {
		arrays[i] = fmt.Sprintf("$%d::%s[]", i+1, c.element)
	}
	return "INSERT INTO request_log (" + usageNames(usageColumns, "") + ") SELECT * FROM unnest(" + strings.Join(arrays, ", ") +
		") ON CONFLICT DO NOTHING RETURNING id"
}()

// insertUsage inserts entries that are not there, and returns which.
func insertUsage(ctx context.Context, conn gorm.ConnPool, entries []usage.Entry) (map[id.Request]bool, error) {
	list := make([]usageRow, len(entries))
	for i := range entries {
		var err error
		if list[i], err = usageRowOf(&entries[i]); err != nil {
			return nil, err
		}
	}
	args := make([]any, len(usageColumns))
	for i, c := range usageColumns {
		args[i] = c.array(list)
	}
	rows, err := conn.QueryContext(ctx, insertUsageSQL, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	fresh := make(map[id.Request]bool, len(entries))
	for rows.Next() {
		var u uuid.UUID
		if err := rows.Scan(&u); err != nil {
			return nil, err
		}
		fresh[id.FromUUID[id.RequestKind](u)] = true
	}
	return fresh, rows.Err()
}

var removeUnknownSQL = "DELETE FROM request_log r USING unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::uuid[]) AS k (workspace_id, id, started_at, gateway_id)" +
	" WHERE r.workspace_id = k.workspace_id AND r.id = k.id AND r.started_at = k.started_at AND r.gateway_id = k.gateway_id" +
	" AND r.started_at BETWEEN $5 AND $6 AND r.outcome = 'unknown' RETURNING " + usageNames(usageColumns, "r.")

// removeUnknown takes out the rows with the ids of entries whose outcome is
// unknown, and returns them. They are few: a gateway died, and what it could
// not say is now known after all. No other gateway may say it in its place: that
// would give a charge back.
func removeUnknown(ctx context.Context, conn gorm.ConnPool, entries []usage.Entry) ([]usage.Entry, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	workspaces, ids, times := make([]uuid.UUID, len(entries)), make([]uuid.UUID, len(entries)), make([]time.Time, len(entries))
	gateways := make([]uuid.UUID, len(entries))
	low, high := entries[0].StartedAt, entries[0].StartedAt
	for i, e := range entries {
		workspaces[i], ids[i], times[i], gateways[i] = e.Workspace.UUID(), e.ID.UUID(), e.StartedAt, e.Gateway.UUID()
		if e.StartedAt.Before(low) {
			low = e.StartedAt
		}
		if e.StartedAt.After(high) {
			high = e.StartedAt
		}
	}
	rows, err := conn.QueryContext(ctx, removeUnknownSQL, workspaces, ids, times, gateways, low, high)
	if err != nil {
		return nil, err
	}
	return scanUsage(rows, usageColumns)
}

func scanUsage(rows *sql.Rows, columns []usageColumn) ([]usage.Entry, error) {
	var list []usage.Entry
	err := visitUsage(rows, columns, func(e *usage.Entry) { list = append(list, *e) })
	return list, err
}

// visitUsage visits the entries in rows, and closes them.
func visitUsage(rows *sql.Rows, columns []usageColumn, visit func(*usage.Entry)) error {
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var r usageRow
		dest := make([]any, len(columns))
		for i, c := range columns {
			dest[i] = c.dest(&r)
		}
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		e, err := r.entry()
		if err != nil {
			return err
		}
		visit(&e)
	}
	return rows.Err()
}
