package postgres

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

const usageSpendsSQL = `SELECT workspace_id, account, day, requests, cost_nanos, byok_nanos FROM spend_days WHERE day >= ?
	UNION ALL SELECT workspace_id, account, NULL, requests, cost_nanos, byok_nanos FROM spend_totals`

// aheadColumns are those of the log that accounts are counted by.
var aheadColumns = slices.DeleteFunc(slices.Clone(usageColumns), func(c usageColumn) bool {
	return !slices.Contains([]string{
		"workspace_id", "id", "started_at", "primary_id", "key_id", "user_id", "purpose", "outcome", "credential_source",
		"cost_nanos", "charge_nanos", "attribution",
	}, c.name)
})

// usageAheadSQL selects what is in the totals and beyond a gap of its gateway's
// sequences. Those are few: they are on their way, or a gateway's disk is lost.
var usageAheadSQL = "SELECT " + usageNames(aheadColumns, "r.") + ` FROM request_log r JOIN usage_marks m ON m.gateway_id = r.gateway_id
	WHERE m.ahead <> '[]' AND r.sequence > m.committed AND r.outcome <> 'refused'`

var errAgain = errors.New("what was visited cannot be visited again")

// UsageSpends implements usage.Source.
func (s *UsageStore) UsageSpends(ctx context.Context, since time.Time, visit func(usage.Spend) error) (map[id.Gateway]uint64, error) {
	var marks map[id.Gateway]uint64
	began := false
	err := s.system.Read(ctx, func(ctx context.Context) error {
		if began {
			return errAgain
		}
		began = true
		var gap bool
		var err error
		if marks, gap, err = committedMarks(ctx); err != nil {
			return err
		}
		var ahead map[usage.SpendCell]wire.Spend
		if gap {
			if ahead, err = spendsAhead(ctx); err != nil {
				return err
			}
		}
		return visitSpends(ctx, since, func(s usage.Spend) error {
			if s.Spend = s.Less(ahead[s.SpendCell]); s.IsZero() {
				return nil
			}
			return visit(s)
		})
	})
	return marks, err
}

// committedMarks are those of all gateways that have one, and whether anything
// is stored beyond a gap.
func committedMarks(ctx context.Context) (marks map[id.Gateway]uint64, gap bool, err error) {
	var list []struct {
		GatewayID uuid.UUID
		Committed int64
		Gap       bool
	}
	if err := system(ctx).Raw("SELECT gateway_id, committed, ahead <> '[]' AS gap FROM usage_marks").Scan(&list).Error; err != nil {
		return nil, false, translate(err, "read the usage marks")
	}
	marks = make(map[id.Gateway]uint64, len(list))
	for _, m := range list {
		if m.Committed > 0 {
			marks[id.FromUUID[id.GatewayKind](m.GatewayID)] = uint64(m.Committed)
		}
		gap = gap || m.Gap
	}
	return marks, gap, nil
}

// spendsAhead is what of each cell is beyond a gap.
func spendsAhead(ctx context.Context) (map[usage.SpendCell]wire.Spend, error) {
	rows, err := system(ctx).Raw(usageAheadSQL).Rows()
	if err != nil {
		return nil, translate(err, "read usage beyond a gap")
	}
	ahead := make(map[usage.SpendCell]wire.Spend)
	err = visitUsage(rows, aheadColumns, func(e *usage.Entry) {
		usage.SpendsOf(e, func(c usage.SpendCell, s wire.Spend) { ahead[c] = ahead[c].Add(s) })
	})
	return ahead, translate(err, "read usage beyond a gap")
}

func visitSpends(ctx context.Context, since time.Time, visit func(usage.Spend) error) error {
	rows, err := system(ctx).Raw(usageSpendsSQL, date(since)).Rows()
	if err != nil {
		return translate(err, "read the totals of accounts")
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var ws uuid.UUID
		var s usage.Spend
		var day *time.Time
		var requests, cost, byok int64
		if err := rows.Scan(&ws, &s.Account, &day, &requests, &cost, &byok); err != nil {
			return translate(err, "read the totals of accounts")
		}
		s.Workspace, s.Spend = id.FromUUID[id.WorkspaceKind](ws), spendOf(requests, cost, byok)
		if day != nil {
			s.Day = day.UTC()
		}
		if err := visit(s); err != nil {
			return err
		}
	}
	return translate(rows.Err(), "read the totals of accounts")
}

// UsageSince implements usage.Source.
func (s *UsageStore) UsageSince(ctx context.Context, t time.Time) (bool, error) {
	var any bool
	err := s.system.Read(ctx, func(ctx context.Context) error {
		err := system(ctx).Raw("SELECT EXISTS (SELECT FROM usage_marks WHERE updated_at >= ?)", t).Scan(&any).Error
		return translate(err, "look for recent usage")
	})
	return any, err
}

var _ usage.Source = (*UsageStore)(nil)
