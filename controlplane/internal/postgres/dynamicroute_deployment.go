package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/dynamicroute"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

type routeDeploymentRow struct {
	WorkspaceID uuid.UUID  `gorm:"column:workspace_id"`
	RouteID     uuid.UUID  `gorm:"column:route_id"`
	Number      int        `gorm:"column:number"`
	Version     int        `gorm:"column:version"`
	Rollback    bool       `gorm:"column:rollback"`
	Replaced    *int       `gorm:"column:replaced"`
	Beneath     *int       `gorm:"column:beneath"`
	RolledBack  bool       `gorm:"column:rolled_back"`
	DeployedBy  *uuid.UUID `gorm:"column:deployed_by"`
	DeployedAt  time.Time  `gorm:"column:deployed_at"`
}

func (routeDeploymentRow) TableName() string { return "dynamic_route_deployments" }

func routeDeploymentRowOf(d dynamicroute.Deployment) routeDeploymentRow {
	return routeDeploymentRow{
		WorkspaceID: d.Workspace.UUID(), RouteID: d.Route.UUID(), Number: d.Number, Version: d.Version, Rollback: d.Rollback,
		Replaced: intPtr(d.Replaced), Beneath: intPtr(d.Beneath), RolledBack: d.RolledBack,
		DeployedBy: uuidPtr(d.DeployedBy.UUID()), DeployedAt: d.DeployedAt,
	}
}

func (r routeDeploymentRow) deployment() dynamicroute.Deployment {
	return dynamicroute.Deployment{
		Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID), Route: id.FromUUID[id.RouteKind](r.RouteID), Number: r.Number,
		Version: r.Version, Rollback: r.Rollback, Replaced: intOf(r.Replaced), Beneath: intOf(r.Beneath), RolledBack: r.RolledBack,
		DeployedBy: id.FromUUID[id.UserKind](uuidOf(r.DeployedBy)), DeployedAt: r.DeployedAt.UTC(),
	}
}

// RouteDeploymentStore keeps the log of deployments. The database refuses any
// change of an entry but that it was rolled back.
type RouteDeploymentStore struct{}

// NewRouteDeploymentStore returns a store that works in the transaction of its
// context.
func NewRouteDeploymentStore() *RouteDeploymentStore { return &RouteDeploymentStore{} }

// Add implements dynamicroute.Deployments.
func (*RouteDeploymentStore) Add(ctx context.Context, ws id.Workspace, d dynamicroute.Deployment) error {
	row := routeDeploymentRowOf(d)
	return translate(tenant(ctx, ws).Create(&row).Error, "note a deployment of a dynamic route")
}

// Get implements dynamicroute.Deployments.
func (*RouteDeploymentStore) Get(ctx context.Context, ws id.Workspace, route id.Route, number int) (dynamicroute.Deployment, error) {
	var row routeDeploymentRow
	err := routeDeployments(ctx, ws, route).Where("number = ?", number).Take(&row).Error
	return row.deployment(), translate(err, "read a deployment of a dynamic route")
}

// MarkRolledBack implements dynamicroute.Deployments.
func (*RouteDeploymentStore) MarkRolledBack(ctx context.Context, ws id.Workspace, route id.Route, number int) error {
	done := routeDeployments(ctx, ws, route).Where("number = ?", number).Updates(map[string]any{"rolled_back": true})
	return changed(done, "mark a deployment of a dynamic route")
}

func routeDeployments(ctx context.Context, ws id.Workspace, route id.Route) *gorm.DB {
	return scoped(ctx, ws).Model(&routeDeploymentRow{}).Where("route_id = ?", route.UUID())
}

// publishedRoutes are the active ones with a deployed version, in the order of
// their ids. The work is theirs, however many versions and deployments there are.
func publishedRoutes(ctx context.Context, ws id.Workspace) ([]policy.Route, error) {
	var rows []struct {
		ID     uuid.UUID              `gorm:"column:id"`
		Name   string                 `gorm:"column:name"`
		Number int                    `gorm:"column:number"`
		Graph  string                 `gorm:"column:graph"`
		Slots  jsonColumn[flow.Slots] `gorm:"column:slots"`
	}
	err := kept(ctx, ws).Select("dynamic_routes.id, dynamic_routes.name, v.number, v.graph, v.slots").
		Joins(`JOIN dynamic_route_versions v ON v.workspace_id = dynamic_routes.workspace_id
			AND v.route_id = dynamic_routes.id AND v.number = dynamic_routes.deployed_version`).
		Where("dynamic_routes.status = 'active'").Order("dynamic_routes.id").Scan(&rows).Error
	if err != nil {
		return nil, translate(err, "compile the dynamic routes")
	}
	if len(rows) == 0 {
		return nil, nil
	}
	candidates, err := publishedCandidates(ctx, ws)
	if err != nil {
		return nil, err
	}
	var list []policy.Route
	for _, r := range rows {
		route := policy.Route{
			ID: id.FromUUID[id.RouteKind](r.ID), Name: r.Name,
			RouteVersion: policy.RouteVersion{Version: r.Number, Slots: r.Slots.v}, Candidate: candidates[r.ID],
		}
		if err := json.Unmarshal([]byte(r.Graph), &route.Graph); err != nil {
			return nil, fmt.Errorf("decode the graph of version %d of %s: %w", r.Number, route.ID, err)
		}
		list = append(list, route)
	}
	return list, nil
}

var _ dynamicroute.Deployments = (*RouteDeploymentStore)(nil)
