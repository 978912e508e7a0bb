package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

const day = 24 * time.Hour

// UsageEnsureDays implements usage.Upkeep. Each day has a transaction of its
// own, so that writers wait for one at most.
func (s *UsageStore) UsageEnsureDays(ctx context.Context, first, last time.Time) (int, error) {
	made := 0
	for d := first.UTC(); !d.After(last); d = d.Add(day) {
		var fresh bool
		err := s.system.InTx(ctx, func(ctx context.Context) error {
			err := system(ctx).Raw("SELECT request_log_ensure_day(?::date)", d.Format(time.DateOnly)).Scan(&fresh).Error
			return translate(err, "make a request log partition")
		})
		if err != nil {
			return made, err
		}
		if fresh {
			made++
		}
	}
	return made, nil
}

// UsageDropDays implements usage.Upkeep.
func (s *UsageStore) UsageDropDays(ctx context.Context, before time.Time) (int, error) {
	var dropped int
	err := s.system.InTx(ctx, func(ctx context.Context) error {
		err := system(ctx).Raw("SELECT request_log_drop_days(?::date)", before.UTC().Format(time.DateOnly)).Scan(&dropped).Error
		if err != nil || dropped == 0 {
			return translate(err, "drop request log partitions")
		}
		return keptSince(ctx, uuid.Nil, before.UTC().Truncate(day))
	})
	return dropped, err
}

// keptSince notes that what is older than since is not whole in the log of a
// workspace, or with the zero id of any; with the highest id, which no workspace
// has, in the daily totals of accounts.
func keptSince(ctx context.Context, ws uuid.UUID, since time.Time) error {
	err := system(ctx).Exec(`INSERT INTO request_log_kept AS k (workspace_id, since) VALUES (?, ?)
		ON CONFLICT (workspace_id) DO UPDATE SET since = greatest(k.since, EXCLUDED.since)`, ws, since).Error
	return translate(err, "note what is kept of the request log")
}

// UsageRetention implements usage.Upkeep.
func (s *UsageStore) UsageRetention(ctx context.Context) (int, error) {
	days := policy.DefaultSettings().LogRetentionDays
	err := s.system.Read(ctx, func(ctx context.Context) error {
		err := system(ctx).Raw(
			`SELECT COALESCE(max(COALESCE(s.log_retention_days, ?)), ?)
			 FROM workspaces w LEFT JOIN settings s ON s.workspace_id = w.id`, days, days).Scan(&days).Error
		return translate(err, "read the longest retention")
	})
	return days, err
}

// expiredAtOnce bounds the workspaces that one look finds.
const expiredAtOnce = 100

// UsageExpired implements usage.Upkeep.
func (s *UsageStore) UsageExpired(ctx context.Context, now time.Time) ([]usage.Expired, error) {
	var found []struct {
		ID   uuid.UUID
		Days int
	}
	err := s.system.Read(ctx, func(ctx context.Context) error {
		// One look into the index for each workspace: the LIMIT keeps the
		// planner from reading the whole log, the bound on the id stops the
		// look where the oldest entry is young enough.
		err := system(ctx).Raw(
			`SELECT r.id, r.days
			 FROM (SELECT w.id, COALESCE(s.log_retention_days, ?) AS days
			       FROM workspaces w LEFT JOIN settings s ON s.workspace_id = w.id) r
			 CROSS JOIN LATERAL (SELECT ?::timestamptz - r.days * interval '24 hours' AS at) cutoff
			 CROSS JOIN LATERAL (
			       SELECT FROM request_log l
			       WHERE l.workspace_id = r.id AND l.started_at < cutoff.at
			         AND l.id < (lpad(to_hex(ceil(extract(epoch FROM cutoff.at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
			       ORDER BY l.id LIMIT 1) old
			 LIMIT ?`, policy.DefaultSettings().LogRetentionDays, now, expiredAtOnce).Scan(&found).Error
		return translate(err, "find expired request log entries")
	})
	list := make([]usage.Expired, len(found))
	for i, f := range found {
		list[i] = usage.Expired{Workspace: id.FromUUID[id.WorkspaceKind](f.ID), Before: now.Add(-time.Duration(f.Days) * day)}
	}
	return list, err
}

// UsageDelete implements usage.Upkeep.
func (s *UsageStore) UsageDelete(ctx context.Context, ws id.Workspace, cutoff time.Time, limit int) (int, error) {
	var deleted int64
	err := s.system.InTx(ctx, func(ctx context.Context) error {
		deleted = 0
		// A range of ids, so that every batch reads only what it deletes.
		var ids []uuid.UUID
		err := system(ctx).Raw(
			`SELECT max(id::text)::uuid FROM (
			   SELECT id FROM request_log WHERE workspace_id = ? AND id < ? AND started_at < ? ORDER BY id LIMIT ?) oldest
			 HAVING count(*) > 0`,
			ws.UUID(), firstID(cutoff.Add(time.Millisecond)), cutoff, limit).Scan(&ids).Error
		if err != nil || len(ids) == 0 {
			return translate(err, "find expired request log entries")
		}
		last := id.FromUUID[id.RequestKind](ids[0])
		done := system(ctx).Exec("DELETE FROM request_log WHERE workspace_id = ? AND id <= ? AND started_at <= ? AND started_at < ?",
			ws.UUID(), last.UUID(), last.Time(), cutoff)
		deleted = done.RowsAffected
		if done.Error != nil {
			return translate(done.Error, "delete expired request log entries")
		}
		return keptSince(ctx, ws.UUID(), cutoff)
	})
	return int(deleted), err
}

// UsageDropSpends implements usage.Upkeep. Rows that somebody writes to now, or
// another keeper deletes, are left for the next time.
func (s *UsageStore) UsageDropSpends(ctx context.Context, before time.Time, limit int) (int, error) {
	var deleted int64
	err := s.system.InTx(ctx, func(ctx context.Context) error {
		done := system(ctx).Exec(
			`DELETE FROM spend_days d USING (SELECT workspace_id, account, day FROM spend_days
			   WHERE day < ? LIMIT ? FOR UPDATE SKIP LOCKED) old
			 WHERE d.workspace_id = old.workspace_id AND d.account = old.account AND d.day = old.day`, date(before), limit)
		deleted = done.RowsAffected
		if done.Error != nil || deleted == 0 {
			return translate(done.Error, "delete totals of accounts")
		}
		return keptSince(ctx, uuid.Max, before.UTC().Truncate(day))
	})
	return int(deleted), err
}

var (
	_ usage.Writer = (*UsageStore)(nil)
	_ usage.Reader = (*UsageStore)(nil)
	_ usage.Upkeep = (*UsageStore)(nil)
)
