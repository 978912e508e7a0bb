package postgres

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/dynamicroute"
	"github.com/signalbox-dev/signalbox/controlplane/internal/preset"
	"github.com/signalbox-dev/signalbox/controlplane/internal/profile"
	"github.com/signalbox-dev/signalbox/controlplane/internal/settings"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// leading is a graph that sends everything to a model.
func leading(model string) []byte {
	return fmt.Appendf(nil, `{"schema_version":1,"entry":"s","nodes":[{"id":"s","type":"start","next":"m"},
		{"id":"m","type":"model","model":%q,"next":"e"},{"id":"e","type":"end"}]}`, model)
}

// wrongWith is what is wrong with an error's first violation, "" for no error.
func wrongWith(err error) string {
	if err == nil {
		return ""
	}
	e := fault.Of(err)
	if len(e.Violations) == 0 {
		return string(e.Code)
	}
	return e.Violations[0].Path + " " + e.Violations[0].Code
}

// A route, the settings and a routing profile name presets that a request could
// use, and no others.
func TestPresetsThatMayBeNamed(t *testing.T) {
	s := openServices(t)
	acme, shown := s.public(t)
	ours := s.create(t, "ours")
	ws := ours.Workspace.ID
	deploy := &preset.Release{Deploy: true}
	team := s.preset(t, ours, preset.New{Slug: "team", Config: saying("1"), Release: deploy})
	s.publish(t, ours, team, "2", preset.Release{})
	s.preset(t, ours, preset.New{Slug: "draft", Config: saying("1")})
	s.preset(t, ours, preset.New{Slug: "published", Config: saying("1"), Release: &preset.Release{}})
	s.preset(t, ours, preset.New{Slug: "mine", Visibility: preset.Private, Config: saying("1"), Release: deploy})
	gone := s.preset(t, ours, preset.New{Slug: "gone", Config: saying("1"), Release: deploy})
	_, _, err := s.presets.Archive(t.Context(), ws, preset.Ref{ID: gone.ID}, owner(ours), "gone", nil)
	require.NoError(t, err)

	const graph, ladder, second = "config.nodes[1].model ", "fallback_models[0] ", "routing.default_model "
	n := 0
	for name, want := range map[string]struct{ route, rung string }{
		"@team": {}, "@TEAM": {}, "@team#2": {}, "@acme/help.desk:v1": {}, "@acme/help.desk:v1#2": {},
		"@team#3":               {"not_found", "preset_not_found"},
		"@none":                 {"not_found", "preset_not_found"},
		"@team#0":               {"not_found", "preset_not_found"},
		"@draft":                {"disabled", "preset_not_found"},
		"@published#1":          {"disabled", "preset_not_found"},
		"@gone":                 {"disabled", "preset_not_found"},
		"@mine":                 {"", "not_allowed"},
		"@acme/help.desk:v1#1":  {"not_found", "preset_not_found"},
		"@acme/none":            {"not_found", "preset_not_found"},
		"@nobody/help.desk:v1":  {"not_found", "preset_not_found"},
		"@" + shown.ID.String(): {"not_found", "preset_not_found"},
	} {
		n++
		unique := fmt.Sprint("n", n)
		at := func(path, code string) string {
			if code == "" {
				return ""
			}
			return path + code
		}
		out, err := s.routes.Create(t.Context(), ws, operator, dynamicroute.NewRoute{Name: unique, Config: leading(name)})
		require.Equal(t, at(graph, want.route), wrongWith(err), name)
		require.Equal(t, name == "@mine", len(out.Warnings) > 0, name)
		_, _, err = s.settings.Update(t.Context(), ws, operator, settings.Patch{FallbackModels: &[]string{name}}, nil)
		require.Equal(t, at(ladder, want.rung), wrongWith(err), name)
		_, _, err = s.profiles.Create(t.Context(), ws, operator, profile.Draft{Name: unique, Routing: policy.Routing{DefaultModel: name}})
		require.Equal(t, at(second, want.rung), wrongWith(err), name)
	}
	_, _, err = s.presets.Create(t.Context(), ws, owner(ours), preset.New{
		Slug: "nested", Visibility: preset.Team, Versioning: preset.Sequential, Config: policy.PresetConfig{Model: "@team"},
	})
	require.Equal(t, "config.model not_allowed", wrongWith(err), "a preset stands for a model")
	_, err = s.routes.Create(t.Context(), acme.Workspace.ID, operator, dynamicroute.NewRoute{Name: "x", Config: leading("@team")})
	require.Equal(t, graph+"not_found", wrongWith(err), "another workspace's")
}

// What names a preset is told of, and keeps it from being archived; a route that
// came to name one that is gone is not deployed.
func TestANamedPresetStays(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws, me := created.Workspace.ID, owner(created)
	p := s.preset(t, created, preset.New{Slug: "team", Name: "Team", Config: saying("1"), Release: &preset.Release{Deploy: true}})
	archive := func() error {
		_, _, err := s.presets.Archive(t.Context(), ws, preset.Ref{ID: p.ID}, me, "Team", nil)
		return err
	}
	refused := func(paths ...string) {
		err := archive()
		require.True(t, fault.Is(err, fault.Conflict), "%v", err)
		var found []string
		for _, v := range fault.Of(err).Violations {
			found = append(found, v.Path)
		}
		require.Equal(t, paths, found)
	}
	r, err := s.routes.Create(t.Context(), ws, operator, dynamicroute.NewRoute{Name: "a", Config: leading("@Team#1"), Status: dynamicroute.Paused})
	require.NoError(t, err)
	route := r.Detail.Route
	s.deployed(t, route, 1)
	refused("dynamic_routes")
	_, _, err = s.settings.Update(t.Context(), ws, operator, settings.Patch{DefaultModel: ptr("@team")}, nil)
	require.NoError(t, err)
	made, _, err := s.profiles.Create(t.Context(), ws, operator, profile.Draft{Name: "p", Routing: policy.Routing{FallbackModels: []string{"@team"}}})
	require.NoError(t, err)
	refused("settings", "routing_profiles", "dynamic_routes")

	_, _, err = s.settings.Update(t.Context(), ws, operator, settings.Patch{DefaultModel: ptr("")}, nil)
	require.NoError(t, err)
	_, err = s.profiles.Delete(t.Context(), ws, made.ID, operator, nil)
	require.NoError(t, err)
	require.Equal(t, 2, s.save(t, route, leading("acme/small")))
	s.deployed(t, route, 2)
	require.NoError(t, archive(), "a version that is not deployed holds nothing")

	_, err = s.routes.Deploy(t.Context(), ws, route.ID, 1, operator, nil)
	require.Equal(t, "config.nodes[1].model disabled", wrongWith(err))
	_, err = s.routes.Rollback(t.Context(), ws, route.ID, operator, nil)
	require.Equal(t, "config.nodes[1].model disabled", wrongWith(err))
	found, err := s.routes.Get(t.Context(), ws, route.ID)
	require.NoError(t, err)
	require.Equal(t, []any{2, route.ID}, []any{found.Deployed, found.ID})
}

// A version that is rolled out holds its presets as a deployed one does, also
// while its rollout is paused, and no longer than that.
func TestAPresetOfARolloutStays(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws := created.Workspace.ID
	p := s.preset(t, created, preset.New{Slug: "team", Name: "Team", Config: saying("1"), Release: &preset.Release{Deploy: true}})
	archive := func() error {
		_, _, err := s.presets.Archive(t.Context(), ws, preset.Ref{ID: p.ID}, owner(created), "Team", nil)
		return err
	}
	route := s.route(t, ws, operator, "plans")
	s.save(t, route, leading("@team"))
	s.deployed(t, route, 1)
	_, err := s.rollouts.Start(t.Context(), ws, route.ID, 2, operator, twoSteps())
	require.NoError(t, err)
	require.Equal(t, "dynamic_routes in_use", wrongWith(archive()))
	_, err = s.rollouts.Pause(t.Context(), ws, route.ID, operator, nil)
	require.NoError(t, err)
	require.Equal(t, "dynamic_routes in_use", wrongWith(archive()))
	_, err = s.rollouts.Abort(t.Context(), ws, route.ID, operator, nil)
	require.NoError(t, err)

	require.Equal(t, 3, s.save(t, route, leading("@team#1")))
	s.deployed(t, route, 3)
	_, err = s.rollouts.Start(t.Context(), ws, route.ID, 2, operator, twoSteps())
	require.NoError(t, err)
	err = archive()
	require.Len(t, fault.Of(err).Violations, 1, "a route that names it twice is told of once: %v", err)
	_, err = s.rollouts.Abort(t.Context(), ws, route.ID, operator, nil)
	require.NoError(t, err)
	s.deployed(t, route, 1)
	require.NoError(t, archive())
}

// What the settings or a profile name cannot be kept to its creator's keys: they
// could not name it then.
func TestANamedPresetDoesNotBecomePrivate(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws := created.Workspace.ID
	p := s.preset(t, created, preset.New{Slug: "team", Name: "Team", Config: saying("1"), Release: &preset.Release{Deploy: true}})
	confine := func() error {
		_, _, err := s.presets.Update(t.Context(), ws, preset.Ref{ID: p.ID}, owner(created), preset.Patch{Visibility: ptr(preset.Private)})
		return err
	}
	_, _, err := s.settings.Update(t.Context(), ws, operator, settings.Patch{DefaultModel: ptr("@team")}, nil)
	require.NoError(t, err)
	require.Equal(t, "settings in_use", wrongWith(confine()))
	_, _, err = s.settings.Update(t.Context(), ws, operator, settings.Patch{DefaultModel: ptr("")}, nil)
	require.NoError(t, err)
	r, err := s.routes.Create(t.Context(), ws, operator, dynamicroute.NewRoute{Name: "a", Config: leading("@team")})
	require.NoError(t, err)
	s.deployed(t, r.Detail.Route, 1)
	require.NoError(t, confine(), "a route may name one, with a warning")
}

// A version that names a preset of another workspace is not deployed, and not
// rolled out, when that is public no more.
func TestAWithdrawnPresetIsNotDeployed(t *testing.T) {
	s := openServices(t)
	acme, shown := s.public(t)
	ws := s.create(t, "ours").Workspace.ID
	route := s.route(t, ws, operator, "plans")
	s.deployed(t, route, 1)
	require.Equal(t, 2, s.save(t, route, leading("@acme/help.desk:v1")))
	_, _, err := s.presets.Update(t.Context(), acme.Workspace.ID, preset.Ref{ID: shown.ID}, owner(acme), preset.Patch{Visibility: ptr(preset.Team)})
	require.NoError(t, err)
	_, err = s.routes.Deploy(t.Context(), ws, route.ID, 2, operator, nil)
	require.Equal(t, "config.nodes[1].model not_found", wrongWith(err))
	_, err = s.rollouts.Start(t.Context(), ws, route.ID, 2, operator, twoSteps())
	require.Equal(t, "config.nodes[1].model not_found", wrongWith(err))
	show := func(v preset.Visibility) {
		_, _, err := s.presets.Update(t.Context(), acme.Workspace.ID, preset.Ref{ID: shown.ID}, owner(acme), preset.Patch{Visibility: &v})
		require.NoError(t, err)
	}
	show(preset.Public)
	s.deployed(t, route, 2)
	s.deployed(t, route, 1)
	show(preset.Team)
	_, err = s.routes.Rollback(t.Context(), ws, route.ID, operator, nil)
	require.Equal(t, "config.nodes[1].model not_found", wrongWith(err), "nor does it come back")
	show(preset.Public)
	back, err := s.routes.Rollback(t.Context(), ws, route.ID, operator, nil)
	require.NoError(t, err)
	require.Equal(t, 2, back.Version.Number)
}
