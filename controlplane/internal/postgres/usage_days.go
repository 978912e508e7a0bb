package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// usageDaysSQL sums up the hourly totals. What gateways refused is not used.
const usageDaysSQL = `SELECT workspace_id, key_id, date_trunc('day', hour, 'UTC') AS day, sum(requests)::bigint, sum(cost_nanos)::bigint
	FROM usage_hourly WHERE hour >= ? AND outcome <> 'refused' AND key_id <> ? GROUP BY 1, 2, 3`

// usageAheadSQL sums up what is in the totals and beyond a gap of its gateway's
// sequences. Those are few: they are on their way, or a gateway's disk is lost.
const usageAheadSQL = `SELECT r.workspace_id, r.key_id, date_trunc('day', r.started_at, 'UTC') AS day,
	  -count(*) FILTER (WHERE r.id = r.primary_id), -sum(r.cost_nanos)::bigint
	FROM request_log r JOIN usage_marks m ON m.gateway_id = r.gateway_id
	WHERE m.ahead <> '[]' AND r.sequence > m.committed AND r.started_at >= ? AND r.outcome <> 'refused' AND r.key_id <> ?
	GROUP BY 1, 2, 3`

var errAgain = errors.New("what was visited cannot be visited again")

// UsageDays implements usage.Days.
func (s *UsageStore) UsageDays(ctx context.Context, since time.Time, visit func(usage.DaySpend) error) (map[id.Gateway]uint64, error) {
	marks, began := make(map[id.Gateway]uint64), false
	err := s.system.Read(ctx, func(ctx context.Context) error {
		if began {
			return errAgain
		}
		began = true
		var list []struct {
			GatewayID uuid.UUID
			Committed int64
			Gap       bool
		}
		err := system(ctx).Raw("SELECT gateway_id, committed, ahead <> '[]' AS gap FROM usage_marks").Scan(&list).Error
		if err != nil {
			return translate(err, "read the usage marks")
		}
		queries := []string{usageDaysSQL}
		for _, m := range list {
			if m.Committed > 0 {
				marks[id.FromUUID[id.GatewayKind](m.GatewayID)] = uint64(m.Committed)
			}
			if m.Gap && len(queries) == 1 {
				queries = append(queries, usageAheadSQL)
			}
		}
		for _, query := range queries {
			if err := visitDays(system(ctx).Raw(query, since, uuid.Nil), visit); err != nil {
				return err
			}
		}
		return nil
	})
	return marks, err
}

func visitDays(q *gorm.DB, visit func(usage.DaySpend) error) error {
	rows, err := q.Rows()
	if err != nil {
		return translate(err, "sum up the usage of keys")
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var ws, key uuid.UUID
		var day time.Time
		var requests, cost int64
		if err := rows.Scan(&ws, &key, &day, &requests, &cost); err != nil {
			return translate(err, "sum up the usage of keys")
		}
		err := visit(usage.DaySpend{
			Workspace: id.FromUUID[id.WorkspaceKind](ws), Key: id.FromUUID[id.KeyKind](key), Day: day.UTC(),
			Spend: wire.Spend{Requests: requests, Cost: money.Nanos(cost)},
		})
		if err != nil {
			return err
		}
	}
	return translate(rows.Err(), "sum up the usage of keys")
}

var _ usage.Days = (*UsageStore)(nil)
