package postgres

import (
	"context"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rollout"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rollout/tally"
	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/money"
)

type rolloutCountRow struct {
	WorkspaceID uuid.UUID `gorm:"column:workspace_id"`
	RolloutID   uuid.UUID `gorm:"column:rollout_id"`
	Step        int       `gorm:"column:step"`
	Candidate   bool      `gorm:"column:candidate"`
	Bucket      int       `gorm:"column:bucket"`
	Requests    int64     `gorm:"column:requests"`
	CostNanos   int64     `gorm:"column:cost_nanos"`
}

func (rolloutCountRow) TableName() string { return "dynamic_route_rollout_counts" }

func (r rolloutCountRow) cell() tally.Cell {
	return tally.Cell{Step: r.Step, Candidate: r.Candidate, Bucket: r.Bucket, Requests: r.Requests, Cost: money.Nanos(r.CostNanos)}
}

// addTrialsSQL counts for the step that a rollout is at, and not at all for one
// that has ended or never was. The order is that in which everyone locks cells.
const addTrialsSQL = `INSERT INTO dynamic_route_rollout_counts AS t (workspace_id, rollout_id, step, candidate, bucket, requests, cost_nanos)
	SELECT r.workspace_id, r.id, r.step, c.candidate, c.bucket, c.requests, c.cost_nanos
	FROM unnest($1::uuid[], $2::uuid[], $3::boolean[], $4::smallint[], $5::bigint[], $6::bigint[])
		AS c (workspace_id, rollout_id, candidate, bucket, requests, cost_nanos)
	JOIN dynamic_route_rollouts r ON r.workspace_id = c.workspace_id AND r.id = c.rollout_id AND r.ended_at IS NULL
	ORDER BY r.workspace_id, r.id, r.step, c.candidate, c.bucket
	ON CONFLICT (workspace_id, rollout_id, step, candidate, bucket)
	DO UPDATE SET requests = t.requests + EXCLUDED.requests, cost_nanos = t.cost_nanos + EXCLUDED.cost_nanos`

// addTrials adds to the counts of rollouts.
func addTrials(ctx context.Context, conn gorm.ConnPool, trials []usage.Trial) error {
	n := len(trials)
	if n == 0 {
		return nil
	}
	workspaces, ids, candidates := make([]uuid.UUID, n), make([]uuid.UUID, n), make([]bool, n)
	buckets, requests, costs := make([]int16, n), make([]int64, n), make([]int64, n)
	for i, t := range trials {
		workspaces[i], ids[i], candidates[i] = t.Workspace.UUID(), t.Rollout.UUID(), t.Candidate
		buckets[i], requests[i], costs[i] = int16(t.Bucket), t.Requests, int64(t.Cost)
	}
	_, err := conn.ExecContext(ctx, addTrialsSQL, workspaces, ids, candidates, buckets, requests, costs)
	return err
}

// Docket reads the open rollouts of all workspaces.
type Docket struct{ system *System }

// NewDocket returns a docket over db.
func NewDocket(db *DB) *Docket { return &Docket{system: db.System()} }

// Open implements rollout.Docket.
func (d *Docket) Open(ctx context.Context) ([]rollout.Case, error) {
	var cases []rollout.Case
	err := d.system.Read(ctx, func(ctx context.Context) error {
		var rows []rolloutRow
		if err := openRollouts(ctx).Find(&rows).Error; err != nil {
			return translate(err, "read the open rollouts")
		}
		cases = make([]rollout.Case, len(rows))
		if len(rows) == 0 {
			return nil
		}
		at := make(map[uuid.UUID]*rollout.Case, len(rows))
		for i, r := range rows {
			cases[i].Rollout = r.rollout()
			at[r.ID] = &cases[i]
		}
		var counts []rolloutCountRow
		if err := countsOfOpen(ctx).Find(&counts).Error; err != nil {
			return translate(err, "read the counts of the open rollouts")
		}
		for _, c := range counts {
			if of := at[c.RolloutID]; of != nil {
				of.Cells = append(of.Cells, c.cell())
			}
		}
		return nil
	})
	return cases, err
}

// openRollouts are those of workspaces that are not deleted.
func openRollouts(ctx context.Context) *gorm.DB {
	return system(ctx).Model(&rolloutRow{}).Where("ended_at IS NULL").
		Where("workspace_id NOT IN (SELECT id FROM workspaces WHERE status = 'deleted')")
}

func countsOfOpen(ctx context.Context) *gorm.DB {
	return system(ctx).Model(&rolloutCountRow{}).
		Joins(`JOIN dynamic_route_rollouts r ON r.workspace_id = dynamic_route_rollout_counts.workspace_id
			AND r.id = dynamic_route_rollout_counts.rollout_id AND r.ended_at IS NULL`)
}

var _ rollout.Docket = (*Docket)(nil)
