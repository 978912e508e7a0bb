package policy_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

func TestPresetDocumentsRoundTrip(t *testing.T) {
	source := id.SystemSource()
	whole := policy.PresetVersion{
		Schema: policy.Schema, Workspace: id.New[id.WorkspaceKind](source), Preset: id.New[id.PresetKind](source), Slug: "a.b", Version: 3,
		Config: policy.PresetConfig{
			SystemPrompt: "p", Model: "a/b", Models: policy.Lists{Allow: []string{"a/*"}}, Providers: policy.Lists{Block: []string{"p"}},
			ProviderWeights: map[string]float64{"q": 2}, Params: map[string]json.RawMessage{"seed": json.RawMessage(`12345678901234567890`)},
			Guardrails: []id.Guardrail{id.New[id.GuardrailKind](source)}, Cache: &policy.PresetCache{Enabled: true, TTL: time.Minute},
		},
	}
	body, _, err := policy.Encode(whole)
	require.NoError(t, err)
	got, err := policy.DecodePresetVersion(body)
	require.NoError(t, err)
	require.Equal(t, whole, got)

	moving := policy.PublicPreset{Schema: policy.Schema, Workspace: whole.Workspace, Preset: whole.Preset, Version: 3, Versions: []int{1, 3}, Revision: 9}
	body, _, err = policy.Encode(moving)
	require.NoError(t, err)
	public, err := policy.DecodePublicPreset(body)
	require.NoError(t, err)
	require.Equal(t, moving, public)
}

func TestPresetDocumentsThatAreNone(t *testing.T) {
	_, err := policy.DecodePresetVersion([]byte(`{"schema":2}`))
	require.ErrorIs(t, err, policy.ErrSchema)
	_, err = policy.DecodePublicPreset([]byte(`{"schema":2}`))
	require.ErrorIs(t, err, policy.ErrSchema)
	for _, body := range []string{"", "[]", `{"schema":1}`, `{"schema":1,"version":1}`, `{"schema":1,"version":-1}`} {
		_, err := policy.DecodePresetVersion([]byte(body))
		require.Error(t, err, body)
		if body != `{"schema":1}` {
			_, err = policy.DecodePublicPreset([]byte(body))
			require.Error(t, err, body)
		}
	}
	withdrawn, err := policy.DecodePublicPreset([]byte(`{"schema":1,"revision":4}`))
	require.NoError(t, err)
	require.Zero(t, withdrawn.Version)
}

func TestPresetsBySlug(t *testing.T) {
	source := id.SystemSource()
	s := policy.Snapshot{Workspace: id.New[id.WorkspaceKind](source), Revision: 1}
	for _, slug := range []string{"a", "a-b", "a.b", "b"} {
		s.Presets = append(s.Presets, policy.Preset{ID: id.New[id.PresetKind](source), Slug: slug, Version: 1})
	}
	v, err := policy.Compile(s.Versioned())
	require.NoError(t, err)
	for _, want := range s.Presets {
		got, ok := v.Preset(want.Slug)
		require.True(t, ok)
		require.Equal(t, want, got)
	}
	for _, slug := range []string{"", "A", "c", "a.c"} {
		_, ok := v.Preset(slug)
		require.False(t, ok, slug)
	}
}
