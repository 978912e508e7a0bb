package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/dynamicroute"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// routeVersionRow keeps the graph as its canonical JSON, byte for byte.
type routeVersionRow struct {
	WorkspaceID uuid.UUID              `gorm:"column:workspace_id"`
	RouteID     uuid.UUID              `gorm:"column:route_id"`
	Number      int                    `gorm:"column:number"`
	Graph       string                 `gorm:"column:graph"`
	Slots       jsonColumn[flow.Slots] `gorm:"column:slots"`
	Digest      string                 `gorm:"column:digest"`
	Parent      *int                   `gorm:"column:parent"`
	Note        string                 `gorm:"column:note"`
	CreatedBy   *uuid.UUID             `gorm:"column:created_by"`
	CreatedAt   time.Time              `gorm:"column:created_at;autoCreateTime:false"`
	Status      string                 `gorm:"column:status"`
}

func (routeVersionRow) TableName() string { return "dynamic_route_versions" }

func routeVersionRowOf(v dynamicroute.Version) (routeVersionRow, error) {
	graph, err := json.Marshal(v.Graph)
	if err != nil {
		return routeVersionRow{}, fmt.Errorf("encode a graph: %w", err)
	}
	return routeVersionRow{
		WorkspaceID: v.Workspace.UUID(), RouteID: v.Route.UUID(), Number: v.Number, Graph: string(graph),
		Slots: jsonColumn[flow.Slots]{v.Slots}, Digest: v.Digest, Parent: intPtr(v.Parent), Note: v.Note,
		CreatedBy: uuidPtr(v.CreatedBy.UUID()), CreatedAt: v.CreatedAt, Status: string(v.Status),
	}, nil
}

func (r routeVersionRow) version() (dynamicroute.Version, error) {
	v := dynamicroute.Version{
		Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID), Route: id.FromUUID[id.RouteKind](r.RouteID), Number: r.Number,
		Slots: r.Slots.v, Digest: r.Digest, Parent: intOf(r.Parent), Note: r.Note,
		CreatedBy: id.FromUUID[id.UserKind](uuidOf(r.CreatedBy)), CreatedAt: r.CreatedAt.UTC(), Status: dynamicroute.VersionStatus(r.Status),
	}
	if r.Graph == "" { // not selected
		return v, nil
	}
	if err := json.Unmarshal([]byte(r.Graph), &v.Graph); err != nil {
		return v, fmt.Errorf("decode the graph of version %d: %w", r.Number, err)
	}
	return v, nil
}

// RouteVersionStore keeps versions of dynamic routes. The database refuses any
// change of one but of its status.
type RouteVersionStore struct{}

// NewRouteVersionStore returns a store that works in the transaction of its
// context.
func NewRouteVersionStore() *RouteVersionStore { return &RouteVersionStore{} }

// Add implements dynamicroute.Versions.
func (*RouteVersionStore) Add(ctx context.Context, ws id.Workspace, v dynamicroute.Version) error {
	row, err := routeVersionRowOf(v)
	if err != nil {
		return err
	}
	return translate(tenant(ctx, ws).Create(&row).Error, "save a version of a dynamic route")
}

// Get implements dynamicroute.Versions.
func (*RouteVersionStore) Get(ctx context.Context, ws id.Workspace, route id.Route, number int) (dynamicroute.Version, error) {
	var row routeVersionRow
	if err := routeVersions(ctx, ws, route).Where("number = ?", number).Take(&row).Error; err != nil {
		return dynamicroute.Version{}, translate(err, "read a version of a dynamic route")
	}
	return row.version()
}

// List implements dynamicroute.Versions.
func (*RouteVersionStore) List(ctx context.Context, ws id.Workspace, route id.Route, q page.Query) (page.Result[dynamicroute.Version], error) {
	db, err := highestFirst(routeVersions(ctx, ws, route).Omit("graph", "slots"), q)
	if err != nil {
		return page.Result[dynamicroute.Version]{}, err
	}
	var rows []routeVersionRow
	if err := db.Find(&rows).Error; err != nil {
		return page.Result[dynamicroute.Version]{}, translate(err, "list versions of a dynamic route")
	}
	var versions []dynamicroute.Version
	for _, row := range rows {
		v, err := row.version()
		if err != nil {
			return page.Result[dynamicroute.Version]{}, err
		}
		versions = append(versions, v)
	}
	return page.Cut(versions, q, func(v dynamicroute.Version) uuid.UUID { return placeOf(v.Number) }), nil
}

// Mark implements dynamicroute.Versions.
func (*RouteVersionStore) Mark(ctx context.Context, ws id.Workspace, route id.Route, number int, status dynamicroute.VersionStatus) error {
	done := routeVersions(ctx, ws, route).Where("number = ?", number).Updates(map[string]any{"status": string(status)})
	return changed(done, "mark a version of a dynamic route")
}

func routeVersions(ctx context.Context, ws id.Workspace, route id.Route) *gorm.DB {
	return scoped(ctx, ws).Model(&routeVersionRow{}).Where("route_id = ?", route.UUID())
}

var _ dynamicroute.Versions = (*RouteVersionStore)(nil)
