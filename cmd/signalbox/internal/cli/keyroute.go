package cli

import (
	"context"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

// routeNames are the names of dynamic routes by their ids.
type routeNames map[string]string

// routeNames looks the routes of keys up, where a table is to name them. Who may
// see keys alone gets ids.
func (a *app) routeNames(ctx context.Context, api *client.ClientWithResponses, keys ...client.Key) (routeNames, error) {
	names := routeNames{}
	attached := false
	for _, k := range keys {
		attached = attached || k.DynamicRouteID != nil
	}
	if !attached || a.output != "table" {
		return names, nil
	}
	_, all, err := pages[client.DynamicRouteListed](0, func(cursor *string, size int) (answer, error) {
		return api.ListDynamicRoutesWithResponse(ctx, &client.ListDynamicRoutesParams{Cursor: cursor, Limit: &size})
	})
	if exitCode(ctx, err) == ExitRefused {
		return names, nil
	}
	for _, r := range all {
		names[r.ID] = r.Name
	}
	return names, err
}

// of is the name of a key's route, or its id where that is not known; nil for
// none.
func (n routeNames) of(k client.Key) *string {
	if k.DynamicRouteID == nil {
		return nil
	}
	if name, known := n[*k.DynamicRouteID]; known {
		return &name
	}
	return k.DynamicRouteID
}
