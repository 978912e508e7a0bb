package lifecycle_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/lifecycle"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

var (
	now     = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
	ws      = id.MustParse[id.WorkspaceKind]("ws_01kb7n0z1v8q5r2m3t4w5x6y7z")
	profile = id.MustParse[id.ProfileKind]("profile_01kb7n0z1v8q5r2m3t4w5x6y7z")
	key     = id.MustParse[id.KeyKind]("key_01kb7n0z1v8q5r2m3t4w5x6y7z")
)

func day(days int) *time.Time { at := now.AddDate(0, 0, days); return &at }

// world is what a workspace says and used; it implements what the service reads.
type world struct {
	t       *testing.T
	policy  policy.Snapshot
	keys    []lifecycle.Key
	decided []lifecycle.Use
	asked   []lifecycle.Use

	since time.Time
	names []string
}

func (w *world) Read(ctx context.Context, got id.Workspace, fn func(context.Context) error) error {
	require.Equal(w.t, ws, got)
	return fn(ctx)
}

func (w *world) Policy(context.Context, id.Workspace) (policy.Snapshot, error) { return w.policy, nil }

func (w *world) Listing(context.Context, id.Workspace, []string) ([]lifecycle.Key, error) {
	return w.keys, nil
}

func (w *world) Decided(_ context.Context, _ id.Workspace, models []string, since time.Time) ([]lifecycle.Use, error) {
	w.since = since
	require.Equal(w.t, []string{"acme/early", "acme/gone", "acme/late", "acme/old-1", "acme/old-2", "acme/undated"}, models)
	return w.decided, nil
}

func (w *world) Asked(_ context.Context, _ id.Workspace, names []string, since time.Time) ([]lifecycle.Use, error) {
	require.Equal(w.t, w.since, since)
	w.names = names
	return w.asked, nil
}

// View has models that go in every way, and two that stay.
func (*world) View(context.Context) (*catalog.View, error) {
	model := func(name string, l catalog.Lifecycle, aliases ...string) catalog.Model {
		return catalog.Model{ID: "acme/" + name, Author: "acme", Aliases: aliases, Lifecycle: l}
	}
	return catalog.Compile(catalog.Catalog{Schema: catalog.Schema, Revision: 1, Models: []catalog.Model{
		model("stays", catalog.Lifecycle{}), model("old-but-stays", catalog.Lifecycle{DeprecatedAt: day(1)}),
		model("gone", catalog.Lifecycle{State: catalog.Retired, RetiresAt: day(-10), Replacement: "acme/stays"}, "gone-alias"),
		model("early", catalog.Lifecycle{State: catalog.Deprecated, DeprecatedAt: day(-30), RetiresAt: day(5)}),
		model("late", catalog.Lifecycle{DeprecatedAt: day(0), RetiresAt: day(90)}),
		model("undated", catalog.Lifecycle{State: catalog.Deprecated}),
		model("old-1", catalog.Lifecycle{State: catalog.Deprecated}), model("old-2", catalog.Lifecycle{State: catalog.Deprecated}),
	}})
}

func (w *world) alerts() []lifecycle.Alert {
	w.t.Helper()
	found, err := lifecycle.NewService(lifecycle.Deps{
		Runner: w, Policies: w, Keys: w, Uses: w, Source: w, Now: func() time.Time { return now },
	}).Alerts(w.t.Context(), ws)
	require.NoError(w.t, err)
	return found
}

func models(alerts []lifecycle.Alert) (names []string) {
	for _, a := range alerts {
		names = append(names, a.Model)
	}
	return names
}

func TestNothingIsToldOfWhatConcernsNobody(t *testing.T) {
	w := &world{t: t}
	w.policy.Settings.DefaultModel = "acme/stays"
	w.policy.Settings.FallbackModels = []string{"acme/old-but-stays", "acme/unknown", "signalbox/auto", "@preset", ":"}
	require.Empty(t, w.alerts())
	require.Equal(t, now.Add(-lifecycle.Window), w.since)
}

func TestEveryPlaceThatNamesAModelIsTold(t *testing.T) {
	w := &world{t: t, keys: []lifecycle.Key{{ID: key, Name: "app", Models: []string{"acme/gone", "acme/g*", "acme/old-but-stays"}}}}
	w.policy.Settings.DefaultModel = "acme/gone"
	w.policy.Settings.FallbackModels = []string{"north:acme/gone:fast", "gone-alias"} // one place, twice
	w.policy.Auto = &policy.Auto{Models: []string{"gone"}}
	w.policy.Profiles = []policy.Profile{{ID: profile, Name: "careful", Routing: policy.Routing{DefaultModel: "gone", FallbackModels: []string{"acme/gone"}}}}
	rail, credential := id.New[id.GuardrailKind](id.SystemSource()), id.New[id.CredentialKind](id.SystemSource())
	w.policy.Guardrails = []policy.Guardrail{{ID: rail, Name: "narrow", Rules: policy.GuardrailRules{
		Models: policy.Lists{Allow: []string{"acme/gone", "acme/stays"}, Block: []string{"acme/late"}},
	}}}
	w.policy.Credentials = []policy.Credential{{ID: credential, Provider: "north", Models: []string{"gone", "acme/*"}}}
	found := w.alerts()
	require.Equal(t, []lifecycle.Alert{{
		Model: "acme/gone", State: catalog.Retired, RetiresAt: day(-10), Replacement: "acme/stays",
		References: []lifecycle.Reference{
			{Kind: lifecycle.InSettings, Field: "default_model"},
			{Kind: lifecycle.InSettings, Field: "fallback_models"},
			{Kind: lifecycle.InAuto, Field: "models"},
			{Kind: lifecycle.InProfile, ID: profile.String(), Name: "careful", Field: "default_model"},
			{Kind: lifecycle.InProfile, ID: profile.String(), Name: "careful", Field: "fallback_models"},
			{Kind: lifecycle.InGuardrail, ID: rail.String(), Name: "narrow", Field: "models.allow"},
			{Kind: lifecycle.InProviderKey, ID: credential.String(), Name: "north", Field: "models"},
			{Kind: lifecycle.InKey, ID: key.String(), Name: "app", Field: "models"},
		},
	}}, found)
}

// A pattern is a reference when nothing that it names stays.
func TestPatternsThatGoOnNamingSomethingAreNoReference(t *testing.T) {
	for pattern, want := range map[string][]string{
		"acme/*": nil, "*": nil, "acme/old-*": nil, "acme/old-?": nil,
		"acme/old-1": {"acme/old-1"}, "acme/*-1": {"acme/old-1"}, "old-2*": {"acme/old-2"}, "acme/u*": {"acme/undated"},
	} {
		w := &world{t: t, keys: []lifecycle.Key{{ID: key, Models: []string{pattern}}}}
		require.Equal(t, want, models(w.alerts()), pattern)
	}
}

func TestTheMostUrgentComesFirst(t *testing.T) {
	last := now.Add(-time.Hour)
	w := &world{t: t, decided: []lifecycle.Use{
		{Decided: "acme/late", Requests: 9, Last: last},
		{Decided: "acme/old-1", Requests: 1, Last: last},
		{Decided: "acme/undated", Requests: 5, Last: last},
		{Decided: "acme/early", Requests: 1, Last: last},
		{Decided: "acme/gone", Requests: 1, Last: last},
		{Decided: "acme/old-2", Requests: 1, Last: last},
	}}
	require.Equal(t, []string{"acme/gone", "acme/early", "acme/late", "acme/undated", "acme/old-1", "acme/old-2"}, models(w.alerts()))
}

// What asked for a model and was refused or sent elsewhere counts; what an alias
// was decided for counts once.
func TestUseIsCountedOnce(t *testing.T) {
	earlier, later := now.Add(-48*time.Hour), now.Add(-time.Hour)
	w := &world{
		t:       t,
		decided: []lifecycle.Use{{Decided: "acme/gone", Requests: 10, Last: earlier}},
		asked: []lifecycle.Use{
			{Asked: "gone-alias", Decided: "acme/gone", Requests: 10, Last: earlier},
			{Asked: "acme/gone", Decided: "", Requests: 3, Last: later},
			{Asked: "gone:cheap", Decided: "acme/stays", Requests: 2, Last: earlier},
		},
	}
	found := w.alerts()
	require.Len(t, found, 1)
	require.EqualValues(t, 15, found[0].Requests)
	require.Equal(t, later, *found[0].LastUsedAt)
	for _, name := range []string{"acme/gone", "acme/gone:fast", "gone-alias", "gone-alias:nitro", "gone", "gone:cheap"} {
		require.Contains(t, w.names, name)
	}
	require.NotContains(t, w.names, "acme/stays")
}

func TestReferencesAreBounded(t *testing.T) {
	w := &world{t: t}
	for range lifecycle.MaxReferences + 7 {
		w.keys = append(w.keys, lifecycle.Key{ID: key, Models: []string{"acme/gone"}})
	}
	found := w.alerts()
	require.Len(t, found[0].References, lifecycle.MaxReferences)
	require.Equal(t, 7, found[0].More)
}
