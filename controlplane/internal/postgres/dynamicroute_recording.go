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

// record adds to a snapshot what decision records keep for replay: what the
// versions read that its routes have, and those beside them that may follow or
// come back, the newest one of each route and the deployed one of a paused one.
func record(ctx context.Context, ws id.Workspace, s *policy.Snapshot) error {
	var rows []struct {
		ID     uuid.UUID `gorm:"column:id"`
		Number int       `gorm:"column:number"`
		Graph  string    `gorm:"column:graph"`
		Live   bool      `gorm:"column:live"` // the snapshot has it
	}
	err := kept(ctx, ws).Select(`dynamic_routes.id, v.number, live, CASE WHEN live THEN '' ELSE v.graph END AS graph`).
		Joins(`JOIN dynamic_route_versions v ON v.workspace_id = dynamic_routes.workspace_id
			AND v.route_id = dynamic_routes.id AND v.number IN (dynamic_routes.deployed_version, dynamic_routes.latest_version)`).
		Joins(`CROSS JOIN LATERAL (SELECT dynamic_routes.status = 'active' AND v.number = coalesce(dynamic_routes.deployed_version, 0)) AS of (live)`).
		Order("dynamic_routes.id, v.number").Scan(&rows).Error
	if err != nil {
		return translate(err, "compile what is recorded")
	}
	published := make(map[id.Route]*policy.Route, len(s.Routes))
	for i := range s.Routes {
		published[s.Routes[i].ID] = &s.Routes[i]
	}
	for i, r := range rows {
		route := id.FromUUID[id.RouteKind](r.ID)
		var graphs []flow.Graph
		if p := published[route]; p != nil && r.Live {
			graphs = append(graphs, p.Graph)
			if p.Candidate != nil {
				graphs = append(graphs, p.Candidate.Graph)
			}
		}
		if !r.Live {
			var g flow.Graph
			if err := json.Unmarshal([]byte(r.Graph), &g); err != nil {
				return fmt.Errorf("decode the graph of version %d of %s: %w", r.Number, route, err)
			}
			graphs = append(graphs, g)
		}
		if i > 0 && rows[i-1].ID == r.ID {
			last := &s.Recordings[len(s.Recordings)-1]
			*last = last.With(graphs...)
			continue
		}
		s.Recordings = append(s.Recordings, policy.RecordingOf(route, graphs...))
	}
	if len(s.Recordings) == 0 {
		return nil
	}
	s.ReplayKey, err = replayKey(ctx, ws)
	return err
}

// replayKey is what the workspace's recorded texts are hidden under.
func replayKey(ctx context.Context, ws id.Workspace) ([]byte, error) {
	var row struct {
		Key []byte `gorm:"column:replay_key"`
	}
	err := scoped(ctx, ws).Table("settings").Select("replay_key").Take(&row).Error
	return row.Key, translate(err, "read the replay key")
}
