package postgres

import (
	"context"
	"database/sql"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// usageListColumns leave out the decision, which comes last.
var usageListColumns = usageColumns[:len(usageColumns)-1]

// UsageEntries implements usage.Reader.
func (s *UsageStore) UsageEntries(
	ctx context.Context, ws id.Workspace, before id.Request, limit int, f usage.LogFilter,
) ([]usage.Entry, error) {
	return usageEntries(usageListed(ctx, ws, before, limit, f), usageListColumns)
}

func usageListed(ctx context.Context, ws id.Workspace, before id.Request, limit int, f usage.LogFilter) *gorm.DB {
	q := usageLog(ctx, ws, usageListColumns)
	if !before.IsZero() {
		q = q.Where("id < ? AND started_at <= ?", before.UUID(), before.Time())
	}
	// The bound on the id reads the index, that on the time leaves out partitions.
	if !f.Since.IsZero() {
		q = q.Where("id >= ? AND started_at >= ?", firstID(f.Since), f.Since)
	}
	if !f.Until.IsZero() {
		q = q.Where("id < ? AND started_at < ?", firstID(f.Until.Add(time.Millisecond)), f.Until)
	}
	if !f.Primary.IsZero() {
		// Said once for each of two indexes: the one over primary_id leaves the
		// row of the primary request itself out.
		q = q.Where("((id = @primary AND primary_id = @primary) OR (primary_id = @primary AND primary_id <> id))", sql.Named("primary", f.Primary.UUID())).
			Where("started_at BETWEEN ? AND ?", f.Primary.Time(), f.Primary.Time().Add(longestRequest))
	}
	if !f.Key.IsZero() {
		q = q.Where("key_id = ?", f.Key.UUID())
	}
	if f.Model != "" {
		q = q.Where("decided_model = ?", f.Model)
	}
	if f.Provider != "" {
		q = q.Where("provider = ?", f.Provider)
	}
	if f.Session != "" {
		q = q.Where("session_id = ? AND session_id <> ''", f.Session)
	}
	if f.Outcome != "" {
		q = q.Where("outcome = ?", string(f.Outcome))
	}
	if f.StatusClass > 0 {
		q = q.Where("status BETWEEN ? AND ?", f.StatusClass*100, f.StatusClass*100+99)
	}
	return q.Order("id DESC").Limit(limit)
}

// firstID is the lowest UUIDv7 of t's millisecond.
func firstID(t time.Time) uuid.UUID {
	ms := max(t.UnixMilli(), 0)
	var u uuid.UUID
	for i := range 6 {
		u[i] = byte(ms >> (8 * (5 - i)))
	}
	return u
}

// UsageEntry implements usage.Reader.
func (s *UsageStore) UsageEntry(ctx context.Context, ws id.Workspace, req id.Request) (usage.Entry, error) {
	q := usageLog(ctx, ws, usageColumns).Where("id = ? AND started_at = ?", req.UUID(), req.Time())
	list, err := usageEntries(q, usageColumns)
	if err == nil && len(list) == 0 {
		err = translate(sql.ErrNoRows, "read a request log entry")
	}
	if err != nil {
		return usage.Entry{}, err
	}
	return list[0], nil
}

// Bounds of a request's model attempts.
const (
	longestRequest   = 48 * time.Hour
	maxModelAttempts = 200
)

// UsageRelated implements usage.Reader.
func (s *UsageStore) UsageRelated(ctx context.Context, ws id.Workspace, primary id.Request) ([]usage.Entry, error) {
	first, err := s.UsageEntry(ctx, ws, primary)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return nil, err
	}
	var list []usage.Entry
	if err == nil {
		first.Decision = nil
		list = append(list, first)
	}
	others, err := usageEntries(usageLog(ctx, ws, usageListColumns).
		Where("primary_id = ? AND primary_id <> id", primary.UUID()).
		Where("started_at BETWEEN ? AND ?", primary.Time(), primary.Time().Add(longestRequest)).
		Order("id").Limit(maxModelAttempts), usageListColumns)
	return append(list, others...), err
}

func usageLog(ctx context.Context, ws id.Workspace, columns []usageColumn) *gorm.DB {
	return scoped(ctx, ws).Table("request_log").Select(usageNames(columns, ""))
}

func usageEntries(q *gorm.DB, columns []usageColumn) ([]usage.Entry, error) {
	rows, err := q.Rows()
	if err != nil {
		return nil, translate(err, "read the request log")
	}
	list, err := scanUsage(rows, columns)
	return list, translate(err, "read the request log")
}
