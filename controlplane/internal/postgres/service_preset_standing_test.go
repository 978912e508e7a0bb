package postgres

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/guardrail"
	"github.com/signalbox-dev/signalbox/controlplane/internal/preset"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// presetsOver are the presets over another catalog.
func (s *services) presetsOver(c catalog.Catalog) *preset.Service {
	return preset.NewService(preset.Deps{
		Runner: s.db.Runner(), Store: NewPresetStore(), Versions: NewPresetVersions(), Deployments: NewPresetDeployments(), Publishers: NewPresetStore(),
		Commons: NewPresetCommons(s.db), Guardrails: NewGuardrailStore(), Uses: NewPresetStore(), Mutator: s.mutator, Offered: source{c}, IDs: testIDs, Now: s.clock.now,
	})
}

// A version that no longer fits the catalog or the guardrails is neither
// deployed nor rolled back to; every problem is told and nothing changes.
func TestAPresetThatDoesNotFitIsNotDeployed(t *testing.T) {
	s := openServices(t)
	acme := s.create(t, "acme")
	ws, me := acme.Workspace.ID, owner(acme)
	g := s.guardrail(t, ws, guardrail.Draft{Name: "g", Enabled: true})
	p := s.preset(t, acme, preset.New{Slug: "p", Release: &preset.Release{Deploy: true}, Config: policy.PresetConfig{
		Model: "acme/small", Providers: policy.Lists{Allow: []string{"north"}}, Guardrails: []id.Guardrail{g.ID},
	}})
	ref := preset.Ref{ID: p.ID}
	s.publish(t, acme, p, "2", preset.Release{Deploy: true})
	in(t, s.db, ws, func(ctx context.Context) error { // the service would not, while the preset names it
		return NewGuardrailStore().Delete(ctx, ws, g.ID)
	})
	before, err := s.presets.Get(t.Context(), ws, me, ref)
	require.NoError(t, err)
	revision := s.snapshot(t, ws).Revision

	changed := offered()
	changed.Providers = changed.Providers[1:]
	changed.Models[0].ID, changed.Models[0].Endpoints = "acme/other", changed.Models[0].Endpoints[1:]
	changed.Models[0].Endpoints[0].ID = catalog.EndpointID("south", "acme/other", "")
	later := s.presetsOver(changed)
	refused := func(err error, paths ...string) {
		t.Helper()
		require.True(t, fault.Is(err, fault.Conflict), "%v", err)
		require.Contains(t, fault.Of(err).Message, "Version 1 does not fit")
		var found []string
		for _, v := range fault.Of(err).Violations {
			found = append(found, v.Path)
		}
		require.Equal(t, paths, found)
	}
	_, _, _, err = later.Deploy(t.Context(), ws, ref, 1, me, nil)
	refused(err, "config.model", "config.allowed_providers[0]", "config.guardrail_ids[0]")
	_, _, _, err = later.Rollback(t.Context(), ws, ref, me, nil)
	refused(err, "config.model", "config.allowed_providers[0]", "config.guardrail_ids[0]")
	_, _, _, err = s.presets.Rollback(t.Context(), ws, ref, me, nil)
	refused(err, "config.guardrail_ids[0]")
	_, _, err = s.presets.Update(t.Context(), ws, ref, me, preset.Patch{Config: &policy.PresetConfig{Model: "acme/small"}})
	require.NoError(t, err)
	_, _, _, err = later.Publish(t.Context(), ws, ref, me, preset.Release{})
	require.Equal(t, "config.model model_not_found", wrongWith(err), "nor is a draft published")

	after, err := s.presets.Get(t.Context(), ws, me, ref)
	require.NoError(t, err)
	require.Equal(t, []any{2, 2, before.Version + 1}, []any{after.DeployedVersion, after.LatestVersion, after.Version}, "the draft alone is another")
	require.Equal(t, revision+1, s.snapshot(t, ws).Revision)
	_, v, _, err := later.Deploy(t.Context(), ws, ref, 2, me, nil)
	require.NoError(t, err, "what is deployed stays so")
	require.Equal(t, preset.Deployed, v.Status)
}
