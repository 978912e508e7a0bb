package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/dynamicroute"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// RouteKeys attaches API keys to dynamic routes.
type RouteKeys struct{}

// NewRouteKeys returns a store that works in the transaction of its context.
func NewRouteKeys() *RouteKeys { return &RouteKeys{} }

// Attached implements dynamicroute.Keys.
func (*RouteKeys) Attached(ctx context.Context, ws id.Workspace, route id.Route) ([]id.Key, error) {
	var found []uuid.UUID
	err := usableKeys(ctx, ws).Where("route_id = ?", route.UUID()).Order("id").Pluck("id", &found).Error
	if err != nil {
		return nil, translate(err, "list the keys of a dynamic route")
	}
	var keys []id.Key
	for _, u := range found {
		keys = append(keys, id.FromUUID[id.KeyKind](u))
	}
	return keys, nil
}

// Attachable implements dynamicroute.Keys.
func (*RouteKeys) Attachable(ctx context.Context, ws id.Workspace, keys []id.Key) ([]dynamicroute.Attachment, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	var rows []apiKeyRow
	err := usableKeys(ctx, ws).Select("id", "route_id").Where("id = ANY(?::uuid[])", uuidArray(keys)).Order("id").Find(&rows).Error
	if err != nil {
		return nil, translate(err, "look for keys to attach")
	}
	list := make([]dynamicroute.Attachment, len(rows))
	for i, r := range rows {
		list[i] = dynamicroute.Attachment{Key: id.FromUUID[id.KeyKind](r.ID), Route: id.FromUUID[id.RouteKind](uuidOf(r.RouteID))}
	}
	return list, nil
}

// Attach implements dynamicroute.Keys. No request of a key that is attached
// uses a snapshot from before: it need not have the route.
func (*RouteKeys) Attach(
	ctx context.Context, ws id.Workspace, route id.Route, keys []id.Key, revision int64, at time.Time,
) ([]string, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	var kids []string
	oldest := int64(0) // a key that is detached asks for no other snapshot than before
	if !route.IsZero() {
		oldest = revision
	}
	err := tenant(ctx, ws).Raw(`UPDATE api_keys SET route_id = ?, version = version + 1, revision = ?, updated_at = ?,
			min_revision = greatest(min_revision, ?)
		WHERE workspace_id = ? AND id = ANY(?::uuid[]) AND status <> 'revoked' RETURNING kid`,
		uuidPtr(route.UUID()), revision, at, oldest, ws.UUID(), uuidArray(keys)).Scan(&kids).Error
	return kids, translate(err, "attach keys to a dynamic route")
}

// usableKeys are those that are not revoked.
func usableKeys(ctx context.Context, ws id.Workspace) *gorm.DB {
	return scoped(ctx, ws).Model(&apiKeyRow{}).Where("status <> 'revoked'")
}

// uuidArray writes ids as one parameter, however many they are.
func uuidArray[K id.Kind](ids []id.ID[K]) textArray {
	list := make(textArray, len(ids))
	for i, one := range ids {
		list[i] = one.UUID().String()
	}
	return list
}

var _ dynamicroute.Keys = (*RouteKeys)(nil)
