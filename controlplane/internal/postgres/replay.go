package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/replay"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// ReplayLog reads the request log for replays. It works in the transaction of
// its context.
type ReplayLog struct{}

// NewReplayLog returns a ReplayLog.
func NewReplayLog() *ReplayLog { return &ReplayLog{} }

// Requests implements replay.Log. Rows are read as they are asked for.
func (*ReplayLog) Requests(
	ctx context.Context, ws id.Workspace, keys []id.Key, since time.Time, limit int, each func(*replay.Request) error,
) error {
	rows, err := scoped(ctx, ws).Table("request_log").
		Select(`id, started_at, key_id, surface, stream, input, cached_read, cache_write_5m, cache_write_1h, output, reasoning,
			image, audio_input, audio_output, decision::text`).
		Where("key_id = ANY(?::uuid[]) AND id = primary_id AND purpose = ''", uuidArray(keys)).
		Where("id >= ? AND started_at >= ?", firstID(since), since).
		Order("id DESC").Limit(limit).Rows()
	if err != nil {
		return translate(err, "read the requests to replay")
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var request, key uuid.UUID
		var surface string
		var decision *string
		var r replay.Request
		u := &r.Usage
		if err := rows.Scan(&request, &r.Started, &key, &surface, &r.Stream, &u.Input, &u.CachedRead, &u.CacheWrite5m, &u.CacheWrite1h,
			&u.Output, &u.Reasoning, &u.Image, &u.AudioInput, &u.AudioOutput, &decision); err != nil {
			return translate(err, "read the requests to replay")
		}
		r.ID, r.Key, r.Surface = id.FromUUID[id.RequestKind](request), id.FromUUID[id.KeyKind](key), catalog.Surface(surface)
		r.Started = r.Started.UTC()
		if decision != nil {
			r.Decision = []byte(*decision)
		}
		if err := each(&r); err != nil {
			return err
		}
	}
	return translate(rows.Err(), "read the requests to replay")
}

// mostMeasured is how many of the newest requests medians are taken of.
const mostMeasured = 20_000

// Durations implements replay.Log.
func (*ReplayLog) Durations(ctx context.Context, ws id.Workspace, since time.Time) (map[string]time.Duration, error) {
	var rows []struct {
		Endpoint string  `gorm:"column:endpoint"`
		Median   float64 `gorm:"column:median"` // ns
	}
	err := tenant(ctx, ws).Raw(`SELECT endpoint, percentile_cont(0.5) WITHIN GROUP (ORDER BY duration_ns) AS median
		FROM (SELECT endpoint, duration_ns FROM request_log
			WHERE workspace_id = @ws AND id >= @first AND started_at >= @since AND outcome = 'success' AND endpoint <> ''
			ORDER BY id DESC LIMIT @most) AS newest
		GROUP BY endpoint`, map[string]any{"ws": ws.UUID(), "first": firstID(since), "since": since, "most": mostMeasured}).Scan(&rows).Error
	medians := make(map[string]time.Duration, len(rows))
	for _, r := range rows {
		medians[r.Endpoint] = time.Duration(r.Median)
	}
	return medians, translate(err, "measure endpoints")
}

// Documents implements replay.Keys.
func (*RouteKeys) Documents(ctx context.Context, ws id.Workspace, route id.Route) ([]policy.Key, error) {
	var rows []apiKeyRow
	err := usableKeys(ctx, ws).Where("route_id = ?", route.UUID()).Order("id").Find(&rows).Error
	return documentsOf(rows), translate(err, "read the keys of a dynamic route")
}

var (
	_ replay.Log  = (*ReplayLog)(nil)
	_ replay.Keys = (*RouteKeys)(nil)
)
