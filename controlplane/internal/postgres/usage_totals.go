package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// totalColumns are the sums of usage_hourly, in the order of totalFields.
var totalColumns = []string{
	"requests", "model_attempts", "upstream_calls", "errors", "refused", "canceled", "unknown", "estimated",
	"input", "cached_read", "cache_write", "output", "reasoning", "image", "audio_input", "audio_output", "cost_nanos", "charge_nanos",
}

func totalFields(t *usage.Totals) []*int64 {
	return []*int64{
		&t.Requests, &t.ModelAttempts, &t.UpstreamCalls, &t.Errors, &t.Refused, &t.Canceled, &t.Unknown, &t.Estimated,
		&t.Input, &t.CachedRead, &t.CacheWrite, &t.Output, &t.Reasoning, &t.Image, &t.AudioInput, &t.AudioOutput, (*int64)(&t.Cost), (*int64)(&t.Charge),
	}
}

var addTotalsSQL = func() string {
	arrays := []string{"$1::uuid[]", "$2::timestamptz[]", "$3::text[]", "$4::text[]", "$5::uuid[]", "$6::text[]"}
	sets := make([]string, len(totalColumns))
	for i, name := range totalColumns {
		arrays = append(arrays, fmt.Sprintf("$%d::bigint[]", len(arrays)+1))
		sets[i] = fmt.Sprintf("%s = t.%s + EXCLUDED.%s", name, name, name)
	}
	return "INSERT INTO usage_hourly AS t (workspace_id, hour, model, provider, key_id, outcome, " + strings.Join(totalColumns, ", ") +
		") SELECT * FROM unnest(" + strings.Join(arrays, ", ") +
		") ON CONFLICT (workspace_id, hour, model, provider, key_id, outcome) DO UPDATE SET " + strings.Join(sets, ", ")
}()

// addTotals adds sorted rollups to the hourly totals.
func addTotals(ctx context.Context, conn gorm.ConnPool, rollups []usage.Rollup) error {
	n := len(rollups)
	if n == 0 {
		return nil
	}
	workspaces, hours, models, providers := make([]uuid.UUID, n), make([]time.Time, n), make([]string, n), make([]string, n)
	keys, outcomes := make([]uuid.UUID, n), make([]string, n)
	sums := make([][]int64, len(totalColumns))
	for i := range sums {
		sums[i] = make([]int64, n)
	}
	for i := range rollups {
		r := &rollups[i]
		workspaces[i], hours[i], models[i], providers[i] = r.Workspace.UUID(), r.Hour, r.Model, r.Provider
		keys[i], outcomes[i] = r.Key.UUID(), string(r.Outcome)
		for j, field := range totalFields(&r.Totals) {
			sums[j][i] = *field
		}
	}
	args := []any{workspaces, hours, models, providers, keys, outcomes}
	for _, list := range sums {
		args = append(args, list)
	}
	_, err := conn.ExecContext(ctx, addTotalsSQL, args...)
	return err
}

// UsageTotals implements usage.Reader.
func (s *UsageStore) UsageTotals(ctx context.Context, ws id.Workspace, f usage.UsageFilter, limit int) ([]usage.Row, error) {
	start, group := "NULL::timestamptz", "''"
	switch f.Interval {
	case usage.Hourly:
		start = "hour"
	case usage.Daily:
		start = "date_trunc('day', hour, 'UTC')"
	case usage.Whole:
	}
	switch f.GroupBy {
	case usage.ByModel:
		group = "model"
	case usage.ByProvider:
		group = "provider"
	case usage.ByKey:
		group = "key_id::text"
	case usage.ByNone:
	}
	columns := make([]string, len(totalColumns))
	for i, name := range totalColumns {
		columns[i] = "sum(" + name + ")::bigint"
	}
	q := scoped(ctx, ws).Table("usage_hourly").Select(start + ", " + group + ", " + strings.Join(columns, ", "))
	if !f.Since.IsZero() {
		q = q.Where("hour >= ?", f.Since)
	}
	if !f.Until.IsZero() {
		q = q.Where("hour < ?", f.Until)
	}
	rows, err := q.Group("1, 2").Having("sum(model_attempts) > 0").Order("1, sum(cost_nanos) DESC, 2").Limit(limit).Rows()
	if err != nil {
		return nil, translate(err, "sum up usage")
	}
	defer func() { _ = rows.Close() }()
	var list []usage.Row
	for rows.Next() {
		var row usage.Row
		var at *time.Time
		dest := []any{&at, &row.Group}
		for _, field := range totalFields(&row.Totals) {
			dest = append(dest, field)
		}
		if err := rows.Scan(dest...); err != nil {
			return nil, translate(err, "sum up usage")
		}
		if at != nil {
			row.Start = at.UTC()
		}
		if f.GroupBy == usage.ByKey {
			key, err := uuid.Parse(row.Group)
			if err != nil {
				return nil, fmt.Errorf("read a key id: %w", err)
			}
			row.Group = id.FromUUID[id.KeyKind](key).String()
		}
		list = append(list, row)
	}
	return list, translate(rows.Err(), "sum up usage")
}
