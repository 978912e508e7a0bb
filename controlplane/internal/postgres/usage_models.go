package postgres

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/lifecycle"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// ModelUseStore reads how models were used. It works in the transaction of its
// context.
type ModelUseStore struct{}

// NewModelUseStore returns a ModelUseStore.
func NewModelUseStore() *ModelUseStore { return &ModelUseStore{} }

// Decided implements lifecycle.Uses. The sums are those of whole hours. The time
// is the log's: the last row of a model is one step into the index. Where the log
// does not go back so far, it is the hour's.
func (*ModelUseStore) Decided(ctx context.Context, ws id.Workspace, models []string, since time.Time) ([]lifecycle.Use, error) {
	return modelUses(tenant(ctx, ws).Raw(`
		SELECT '', sums.model, sums.attempts, COALESCE(latest.started_at, sums.hour)
		FROM (
			SELECT model, sum(model_attempts)::bigint AS attempts, max(hour) AS hour FROM usage_hourly
			WHERE workspace_id = @ws AND hour >= @hour AND model = ANY(CAST(@models AS text[]))
			GROUP BY model HAVING sum(model_attempts) > 0
		) AS sums LEFT JOIN LATERAL (
			SELECT started_at FROM request_log
			WHERE workspace_id = @ws AND decided_model = sums.model AND id >= @first AND started_at >= @since
			ORDER BY id DESC LIMIT 1
		) AS latest ON true
		ORDER BY sums.model`, map[string]any{
		"ws": ws.UUID(), "hour": since.UTC().Truncate(time.Hour), "models": textArray(models), "first": firstID(since), "since": since,
	}))
}

// maxAskedNames bounds what Asked returns.
const maxAskedNames = 10_000

// Asked implements lifecycle.Uses, over the index of what was not decided as it
// was asked.
func (*ModelUseStore) Asked(ctx context.Context, ws id.Workspace, names []string, since time.Time) ([]lifecycle.Use, error) {
	return modelUses(scoped(ctx, ws).Table("request_log").
		Select("requested_model, decided_model, count(*), max(started_at)").
		Where("requested_model <> decided_model AND id = primary_id").
		Where("requested_model = ANY(?::text[])", textArray(names)).
		Where("id >= ? AND started_at >= ?", firstID(since), since).
		Group("1, 2").Order("1, 2").Limit(maxAskedNames))
}

func modelUses(q *gorm.DB) ([]lifecycle.Use, error) {
	rows, err := q.Rows()
	if err != nil {
		return nil, translate(err, "sum up the use of models")
	}
	defer func() { _ = rows.Close() }()
	var list []lifecycle.Use
	for rows.Next() {
		var u lifecycle.Use
		if err := rows.Scan(&u.Asked, &u.Decided, &u.Requests, &u.Last); err != nil {
			return nil, translate(err, "sum up the use of models")
		}
		u.Last = u.Last.UTC()
		list = append(list, u)
	}
	return list, translate(rows.Err(), "sum up the use of models")
}

var _ lifecycle.Uses = (*ModelUseStore)(nil)
