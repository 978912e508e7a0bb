package cli

import (
	"context"
	"fmt"
	"net/http"

	"github.com/oapi-codegen/nullable"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

// underway writes the open rollout of a route, "" for none.
func underway(open nullable.Nullable[client.DynamicRouteUnderway]) string {
	u, err := open.Get()
	if err != nil {
		return ""
	}
	return fmt.Sprintf("version %d at %s%%, %s", u.Version, u.Percent, u.State)
}

// openRollout is the rollout that a route has open, where a table is to show it.
// A deleted route, whose versions can still be read, has none.
func (a *app) openRollout(ctx context.Context, api *client.ClientWithResponses, route string) (nullable.Nullable[client.DynamicRouteUnderway], error) {
	if a.output != "table" {
		return nil, nil
	}
	r, err := api.GetDynamicRouteWithResponse(ctx, route)
	if err == nil && r.StatusCode() == http.StatusNotFound {
		return nil, nil
	}
	if err := done(r, err); err != nil {
		return nil, err
	}
	return r.JSON200.Data.Rollout, nil
}

// versionStatus is that of a version, and its share where it is rolled out.
func versionStatus(v client.DynamicRouteVersionSummary, open nullable.Nullable[client.DynamicRouteUnderway]) string {
	if u, err := open.Get(); err == nil && u.Version == v.Version {
		return fmt.Sprintf("candidate %s%%", u.Percent)
	}
	return string(v.Status)
}
