package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/dynamicroute"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/id"
)

type routeRow struct {
	ID              uuid.UUID  `gorm:"column:id;primaryKey"`
	WorkspaceID     uuid.UUID  `gorm:"column:workspace_id"`
	Name            string     `gorm:"column:name"`
	Slug            string     `gorm:"column:slug"`
	Description     string     `gorm:"column:description"`
	Status          string     `gorm:"column:status"`
	LatestVersion   int        `gorm:"column:latest_version"`
	DeployedVersion *int       `gorm:"column:deployed_version"`
	Deployment      int        `gorm:"column:deployment"`
	Turn            uuid.UUID  `gorm:"column:turn"`
	Version         int64      `gorm:"column:version"`
	CreatedAt       time.Time  `gorm:"column:created_at;autoCreateTime:false"`
	UpdatedAt       time.Time  `gorm:"column:updated_at;autoUpdateTime:false"`
	DeletedAt       *time.Time `gorm:"column:deleted_at"`
}

func (routeRow) TableName() string { return "dynamic_routes" }

func routeRowOf(r dynamicroute.Route) routeRow {
	return routeRow{
		ID: r.ID.UUID(), WorkspaceID: r.Workspace.UUID(), Name: r.Name, Slug: r.Slug, Description: r.Description,
		Status: string(r.Status), LatestVersion: r.Latest, DeployedVersion: intPtr(r.Deployed), Deployment: r.Deployment,
		Turn: r.Turn.UUID(), Version: r.Version, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, DeletedAt: r.DeletedAt,
	}
}

func (r routeRow) route() dynamicroute.Route {
	return dynamicroute.Route{
		ID: id.FromUUID[id.RouteKind](r.ID), Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID), Name: r.Name, Slug: r.Slug,
		Description: r.Description, Status: dynamicroute.Status(r.Status), Latest: r.LatestVersion, Deployed: intOf(r.DeployedVersion),
		Deployment: r.Deployment, Turn: id.FromUUID[id.RouteKind](r.Turn), Version: r.Version,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(), DeletedAt: utc(r.DeletedAt),
	}
}

// changeable are the columns that an update writes.
func (r routeRow) changeable() map[string]any {
	return map[string]any{
		"name": r.Name, "slug": r.Slug, "description": r.Description, "status": r.Status, "latest_version": r.LatestVersion,
		"deployed_version": r.DeployedVersion, "deployment": r.Deployment, "turn": r.Turn, "version": r.Version,
		"updated_at": r.UpdatedAt, "deleted_at": r.DeletedAt,
	}
}

// RouteStore keeps dynamic routes.
type RouteStore struct{}

// NewRouteStore returns a store that works in the transaction of its context.
func NewRouteStore() *RouteStore { return &RouteStore{} }

// Create implements dynamicroute.Store.
func (*RouteStore) Create(ctx context.Context, ws id.Workspace, r dynamicroute.Route) error {
	row := routeRowOf(r)
	return translate(tenant(ctx, ws).Create(&row).Error, "create a dynamic route")
}

// Get implements dynamicroute.Store.
func (*RouteStore) Get(ctx context.Context, ws id.Workspace, route id.Route) (dynamicroute.Route, error) {
	var row routeRow
	err := scoped(ctx, ws).Where("id = ?", route.UUID()).Take(&row).Error
	return row.route(), translate(err, "read a dynamic route")
}

// Update implements dynamicroute.Store.
func (*RouteStore) Update(ctx context.Context, ws id.Workspace, r dynamicroute.Route) error {
	row := routeRowOf(r)
	own := scoped(ctx, ws).Model(&routeRow{}).Where("id = ?", row.ID)
	return updated(own, r.Version, row.changeable(), "update a dynamic route")
}

// Touch implements dynamicroute.Store and apikey.Routes. When a route was
// changed stays: what moves a list of routes is a change of their own.
func (*RouteStore) Touch(ctx context.Context, ws id.Workspace, routes []id.Route) error {
	if len(routes) == 0 {
		return nil
	}
	done := scoped(ctx, ws).Model(&routeRow{}).Where("id IN ?", uuidsOf(routes)).Updates(map[string]any{"version": gorm.Expr("version + 1")})
	return translate(done.Error, "touch dynamic routes")
}

// listedRow is a route with how many keys it is attached to.
type listedRow struct {
	Route routeRow `gorm:"embedded"`
	Keys  int      `gorm:"column:keys"`
}

// List implements dynamicroute.Directory.
func (*RouteStore) List(ctx context.Context, ws id.Workspace, q page.Query, f dynamicroute.Filter) (page.Result[dynamicroute.Listed], error) {
	own := kept(ctx, ws).Select(`dynamic_routes.*, (SELECT count(*) FROM api_keys k
		WHERE k.workspace_id = dynamic_routes.workspace_id AND k.route_id = dynamic_routes.id AND k.status <> 'revoked') AS keys`)
	if f.Name != "" {
		own = own.Where("(lower(name) = lower(?) OR slug = ?)", f.Name, f.Name)
	}
	return newest(own, "turn", q, func(r listedRow) uuid.UUID { return r.Route.Turn }, func(r listedRow) dynamicroute.Listed {
		return dynamicroute.Listed{Route: r.Route.route(), Keys: r.Keys}
	}, "list dynamic routes")
}

// Count implements dynamicroute.Directory.
func (*RouteStore) Count(ctx context.Context, ws id.Workspace) (int, error) {
	return counted(kept(ctx, ws), "count dynamic routes")
}

// SlugTaken implements dynamicroute.Directory.
func (*RouteStore) SlugTaken(ctx context.Context, ws id.Workspace, slug string) (bool, error) {
	n, err := counted(kept(ctx, ws).Where("slug = ?", slug), "look for a slug")
	return n > 0, err
}

// kept are the routes that are not deleted.
func kept(ctx context.Context, ws id.Workspace) *gorm.DB {
	return scoped(ctx, ws).Model(&routeRow{}).Where("deleted_at IS NULL")
}

// intPtr is nil for 0.
func intPtr(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

func intOf(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

var (
	_ dynamicroute.Store     = (*RouteStore)(nil)
	_ dynamicroute.Directory = (*RouteStore)(nil)
	_ apikey.Routes          = (*RouteStore)(nil)
)
