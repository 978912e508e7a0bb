package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/preset"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Uses implements preset.Uses.
func (*PresetStore) Uses(ctx context.Context, ws id.Workspace, p preset.Preset) (used preset.Used, err error) {
	settings, err := NewSettingsStore().Get(ctx, ws)
	if err != nil {
		return used, err
	}
	used.Settings = names(p, settings.DefaultModel, settings.FallbackModels)
	profiles, err := publishedProfiles(ctx, ws)
	if err != nil {
		return used, err
	}
	for _, one := range profiles {
		if names(p, one.Routing.DefaultModel, one.Routing.FallbackModels) {
			used.Profiles = append(used.Profiles, one.ID)
		}
	}
	used.Routes, err = routesNaming(ctx, ws, p)
	return used, err
}

// routesNaming are the routes, paused ones too, that name p in the version that
// is deployed or in the one that is rolled out beside it.
func routesNaming(ctx context.Context, ws id.Workspace, p preset.Preset) ([]id.Route, error) {
	var rows []struct {
		ID    uuid.UUID `gorm:"column:id"`
		Graph string    `gorm:"column:graph"`
	}
	err := kept(ctx, ws).Select("dynamic_routes.id, v.graph").
		Joins(`LEFT JOIN dynamic_route_rollouts o ON o.workspace_id = dynamic_routes.workspace_id
			AND o.route_id = dynamic_routes.id AND o.ended_at IS NULL`).
		Joins(`JOIN dynamic_route_versions v ON v.workspace_id = dynamic_routes.workspace_id
			AND v.route_id = dynamic_routes.id AND v.number IN (dynamic_routes.deployed_version, o.candidate)`).
		Where("position('\"@' IN v.graph) > 0").Order("dynamic_routes.id").Scan(&rows).Error
	if err != nil {
		return nil, translate(err, "look for dynamic routes that name a preset")
	}
	var list []id.Route
	for _, r := range rows {
		route := id.FromUUID[id.RouteKind](r.ID)
		var graph flow.Graph
		if err := json.Unmarshal([]byte(r.Graph), &graph); err != nil {
			return nil, fmt.Errorf("decode a graph of %s: %w", route, err)
		}
		if names(p, "", graph.Models()) && !slices.Contains(list, route) {
			list = append(list, route)
		}
	}
	return list, nil
}

// names reports whether a model or one of others is the preset, in any version.
func names(p preset.Preset, model string, others []string) bool {
	return slices.ContainsFunc(append([]string{model}, others...), func(text string) bool {
		rest, isPreset := strings.CutPrefix(text, "@")
		n, ok := policy.ParsePresetName(rest)
		return isPreset && ok && n.Slug == p.Slug && (n.Handle == "" || n.Handle == p.PublicHandle)
	})
}

var _ preset.Uses = (*PresetStore)(nil)
