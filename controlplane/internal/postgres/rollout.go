package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/dynamicroute"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rollout"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rollout/tally"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// RolloutStore keeps staged rollouts.
type RolloutStore struct{}

// NewRolloutStore returns a store that works in the transaction of its context.
func NewRolloutStore() *RolloutStore { return &RolloutStore{} }

// Create implements rollout.Store. The service looks first, in the transaction
// that locked the workspace, so that only a forgotten check meets the index.
func (*RolloutStore) Create(ctx context.Context, ws id.Workspace, r rollout.Rollout) error {
	row := rolloutRowOf(r)
	return translate(tenant(ctx, ws).Create(&row).Error, "begin a rollout")
}

// Latest implements rollout.Store. The clock of who began the open one may have
// been behind that of who began another.
func (*RolloutStore) Latest(ctx context.Context, ws id.Workspace, route id.Route) (rollout.Rollout, error) {
	var row rolloutRow
	err := rollouts(ctx, ws, route).Order("ended_at IS NULL DESC, id DESC").Take(&row).Error
	return row.rollout(), translate(err, "read a rollout")
}

// Update implements rollout.Store.
func (*RolloutStore) Update(ctx context.Context, ws id.Workspace, r rollout.Rollout) error {
	row := rolloutRowOf(r)
	own := scoped(ctx, ws).Model(&rolloutRow{}).Where("id = ?", row.ID)
	return updated(own, r.Version, row.changeable(), "update a rollout")
}

// List implements rollout.Store.
func (*RolloutStore) List(ctx context.Context, ws id.Workspace, route id.Route, q page.Query) (page.Result[rollout.Rollout], error) {
	return newest(rollouts(ctx, ws, route), "id", q, func(r rolloutRow) uuid.UUID { return r.ID }, rolloutRow.rollout, "list rollouts")
}

// Cells implements rollout.Store.
func (*RolloutStore) Cells(ctx context.Context, ws id.Workspace, r id.Rollout) ([]tally.Cell, error) {
	var rows []rolloutCountRow
	err := scoped(ctx, ws).Model(&rolloutCountRow{}).Where("rollout_id = ?", r.UUID()).Find(&rows).Error
	cells := make([]tally.Cell, len(rows))
	for i, row := range rows {
		cells[i] = row.cell()
	}
	return cells, translate(err, "read the counts of a rollout")
}

// Underway implements dynamicroute.Rollouts.
func (*RolloutStore) Underway(ctx context.Context, ws id.Workspace, route id.Route) (dynamicroute.Underway, error) {
	var row rolloutRow
	err := translate(openRollout(ctx, ws, route).Take(&row).Error, "look for a rollout")
	if fault.Is(err, fault.NotFound) {
		return dynamicroute.Underway{}, nil
	}
	if err != nil {
		return dynamicroute.Underway{}, err
	}
	return row.underway(), nil
}

// Open implements dynamicroute.Rollouts.
func (*RolloutStore) Open(ctx context.Context, ws id.Workspace, routes []id.Route) (map[id.Route]dynamicroute.Underway, error) {
	if len(routes) == 0 {
		return nil, nil
	}
	var rows []rolloutRow
	err := scoped(ctx, ws).Where("route_id IN ? AND ended_at IS NULL", uuidsOf(routes)).Find(&rows).Error
	open := make(map[id.Route]dynamicroute.Underway, len(rows))
	for _, row := range rows {
		open[id.FromUUID[id.RouteKind](row.RouteID)] = row.underway()
	}
	return open, translate(err, "look for rollouts")
}

func (r rolloutRow) underway() dynamicroute.Underway {
	of := r.rollout()
	return dynamicroute.Underway{ID: of.ID, Version: of.Candidate, Percent: of.Share(), Paused: of.State == rollout.Paused}
}

// Suspend implements dynamicroute.Rollouts.
func (*RolloutStore) Suspend(ctx context.Context, ws id.Workspace, route id.Route, at time.Time) error {
	done := openRollout(ctx, ws, route).Where("state = ?", string(rollout.Running)).Updates(map[string]any{
		"state": string(rollout.Paused), "updated_at": at, "version": gorm.Expr("version + 1"),
	})
	return changed(done, "pause a rollout")
}

// Abort implements dynamicroute.Rollouts.
func (*RolloutStore) Abort(ctx context.Context, ws id.Workspace, route id.Route, at time.Time) error {
	done := openRollout(ctx, ws, route).Updates(map[string]any{
		"state": string(rollout.Aborted), "updated_at": at, "ended_at": at, "version": gorm.Expr("version + 1"),
	})
	return changed(done, "abort a rollout")
}

func rollouts(ctx context.Context, ws id.Workspace, route id.Route) *gorm.DB {
	return scoped(ctx, ws).Model(&rolloutRow{}).Where("route_id = ?", route.UUID())
}

func openRollout(ctx context.Context, ws id.Workspace, route id.Route) *gorm.DB {
	return rollouts(ctx, ws, route).Where("ended_at IS NULL")
}

var (
	_ rollout.Store         = (*RolloutStore)(nil)
	_ dynamicroute.Rollouts = (*RolloutStore)(nil)
)
