package postgres

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// publishedCandidates are the versions that are being rolled out, by their
// routes, with the share that they have now.
func publishedCandidates(ctx context.Context, ws id.Workspace) (map[uuid.UUID]*policy.RouteCandidate, error) {
	var rows []struct {
		Rollout rolloutRow             `gorm:"embedded"`
		Graph   string                 `gorm:"column:graph"`
		Slots   jsonColumn[flow.Slots] `gorm:"column:slots"`
	}
	err := scoped(ctx, ws).Model(&rolloutRow{}).Select("dynamic_route_rollouts.*, v.graph, v.slots").
		Joins(`JOIN dynamic_route_versions v ON v.workspace_id = dynamic_route_rollouts.workspace_id
			AND v.route_id = dynamic_route_rollouts.route_id AND v.number = dynamic_route_rollouts.candidate`).
		Where("dynamic_route_rollouts.ended_at IS NULL").Scan(&rows).Error
	if err != nil {
		return nil, translate(err, "compile the rollouts")
	}
	found := make(map[uuid.UUID]*policy.RouteCandidate, len(rows))
	for _, row := range rows {
		r := row.Rollout.rollout()
		c := policy.RouteCandidate{
			RouteVersion: policy.RouteVersion{Version: r.Candidate, Slots: row.Slots.v}, Rollout: r.ID, Percent: r.Share(),
		}
		if err := json.Unmarshal([]byte(row.Graph), &c.Graph); err != nil {
			return nil, fmt.Errorf("decode the graph of version %d of %s: %w", r.Candidate, r.Route, err)
		}
		found[row.Rollout.RouteID] = &c
	}
	return found, nil
}
