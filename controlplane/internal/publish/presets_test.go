package publish_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/postgres"
	"github.com/signalbox-dev/signalbox/controlplane/internal/preset"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// empty offers nothing.
type empty struct{}

func (empty) View(context.Context) (*catalog.View, error) { return catalog.Compile(anyCatalog()) }

// presets are the service over the world's database, and who calls it in ws.
func (w *world) presets(ws id.Workspace) (*preset.Service, preset.Caller) {
	var user id.User
	err := w.db.Runner().Read(w.t.Context(), ws, func(ctx context.Context) error {
		people, err := postgres.NewWorkspaceStore().Members(ctx, ws, page.Query{})
		user = people.Items[0].User
		return err
	})
	require.NoError(w.t, err)
	store := postgres.NewPresetStore()
	return preset.NewService(preset.Deps{
		Runner: w.db.Runner(), Store: store, Versions: postgres.NewPresetVersions(), Deployments: postgres.NewPresetDeployments(), Publishers: store,
		Commons: postgres.NewPresetCommons(w.db), Guardrails: postgres.NewGuardrailStore(), Uses: store, Mutator: w.deploy, Offered: empty{}, IDs: ids, Now: time.Now,
	}), preset.Caller{By: audit.By{Actor: audit.Actor{Kind: audit.ManagementKey, User: user}}, Admin: true}
}

// public makes a public preset with a deployed version.
func (w *world) public(ws id.Workspace, handle string) (preset.Preset, publication.Publication) {
	s, me := w.presets(ws)
	_, _, err := s.PutPublisher(w.t.Context(), ws, me, handle)
	require.NoError(w.t, err)
	p, pub, err := s.Create(w.t.Context(), ws, me, preset.New{
		Slug: "a.b:c_d-e", Visibility: preset.Public, Versioning: preset.Sequential, Config: policy.PresetConfig{SystemPrompt: "1"},
		Release: &preset.Release{Deploy: true},
	})
	require.NoError(w.t, err)
	return p, pub
}

// another publishes and deploys the next version.
func (w *world) another(p preset.Preset) (preset.Preset, publication.Publication) {
	s, me := w.presets(p.Workspace)
	ref := preset.Ref{ID: p.ID}
	_, _, err := s.Update(w.t.Context(), p.Workspace, ref, me, preset.Patch{Config: &policy.PresetConfig{SystemPrompt: fmt.Sprint(p.LatestVersion + 1)}})
	require.NoError(w.t, err)
	p, _, pub, err := s.Publish(w.t.Context(), p.Workspace, ref, me, preset.Release{Deploy: true})
	require.NoError(w.t, err)
	return p, pub
}

func (w *world) version(p id.Preset, n int) (v policy.PresetVersion, ok bool) {
	e, err := w.reader.Leader(w.t.Context(), wire.BucketPolicy, wire.PresetVersion(p, n))
	return v, err == nil && json.Unmarshal(e.Data, &v) == nil
}

func (w *world) told(handle, slug string) (p policy.PublicPreset, ok bool) {
	e, err := w.reader.Leader(w.t.Context(), wire.BucketPolicy, wire.PublicPreset(handle, slug))
	return p, err == nil && json.Unmarshal(e.Data, &p) == nil
}

// whole holds what NATS has of a public preset against the database.
func (w *world) whole(p preset.Preset, handle string) {
	w.t.Helper()
	w.eventually(func() bool {
		_, err := w.reader.State(w.t.Context(), wire.BucketPolicy)
		return err == nil
	}, "the test itself must have come back to NATS")
	var pinnable []int
	for n := 1; n <= p.LatestVersion; n++ {
		pinnable = append(pinnable, n)
		v, ok := w.version(p.ID, n)
		require.True(w.t, ok, "version %d", n)
		require.Equal(w.t, policy.PresetVersion{
			Schema: policy.Schema, Workspace: p.Workspace, Preset: p.ID, Slug: p.Slug, Version: n, Config: policy.PresetConfig{SystemPrompt: fmt.Sprint(n)},
		}, v)
	}
	told, ok := w.told(handle, p.Slug)
	require.True(w.t, ok)
	require.Equal(w.t, policy.PublicPreset{
		Schema: policy.Schema, Workspace: p.Workspace, Preset: p.ID, Version: p.DeployedVersion, Versions: pinnable, Revision: p.PublicRevision,
	}, told)
}

// Whoever sees a snapshot that names a version can have it, and what is public
// names one that is there.
func TestPresetsArePublishedBeforeWhatNamesThem(t *testing.T) {
	w := newWorld(t)
	ws := w.workspace()
	p, pub := w.public(ws, "acme")
	w.start(nil)
	w.eventually(func() bool {
		if told, ok := w.told("acme", p.Slug); ok {
			_, there := w.version(p.ID, told.Version)
			require.True(t, there)
		}
		s, ok := w.snapshot(ws)
		if !ok || len(s.Presets) == 0 {
			return false
		}
		_, there := w.version(p.ID, s.Presets[0].Version)
		require.True(t, there)
		return s.Revision >= pub.Revision
	}, "the preset must be published")
	w.whole(p, "acme")
	for range 3 {
		p, pub = w.another(p)
	}
	w.published(ws, pub.Revision)
	w.whole(p, "acme")

	s, me := w.presets(ws)
	p, pub, err := s.Archive(t.Context(), ws, preset.Ref{ID: p.ID}, me, p.Name, nil)
	require.NoError(t, err)
	w.published(ws, pub.Revision)
	told, ok := w.told("acme", p.Slug)
	require.True(t, ok)
	require.Equal(t, policy.PublicPreset{Schema: policy.Schema, Workspace: ws, Preset: p.ID, Revision: pub.Revision}, told)
	_, ok = w.version(p.ID, 1)
	require.True(t, ok, "versions stay")
}

// Each is written once: what was published is not compiled again.
func TestPresetsAreWrittenOnce(t *testing.T) {
	w := newWorld(t)
	ws := w.workspace()
	p, pub := w.public(ws, "acme")
	running := w.start(nil)
	w.published(ws, pub.Revision)
	w.eventually(func() bool { return w.waiting() == 0 }, "all must be marked")
	compiled, err := postgres.NewCompiler(w.db).Compile(t.Context(), ws)
	require.NoError(t, err)
	require.Empty(t, compiled.Presets)
	require.Empty(t, compiled.Public)
	written := running.Status().Documents
	w.published(ws, w.touch(ws, "acme/small").Revision)
	w.eventually(func() bool { return w.waiting() == 0 }, "all must be marked")
	require.Equal(t, written, running.Status().Documents)
	w.whole(p, "acme")
}

func TestWhatNATSLostOfPresetsIsPutBack(t *testing.T) {
	for name, c := range map[string]struct {
		lose   func(w *world, p preset.Preset)
		healed int64
	}{
		"a version": {func(w *world, p preset.Preset) {
			w.erase(w.nats.Connect().JetStream(), wire.PresetVersion(p.ID, 1))
		}, 1},
		"what is public": {func(w *world, p preset.Preset) {
			w.erase(w.nats.Connect().JetStream(), wire.PublicPreset("acme", p.Slug))
		}, 1},
		"both": {func(w *world, p preset.Preset) {
			js := w.nats.Connect().JetStream()
			w.erase(js, wire.PresetVersion(p.ID, 1))
			w.erase(js, wire.PresetVersion(p.ID, 2))
			w.erase(js, wire.PublicPreset("acme", p.Slug))
		}, 3},
		"the news of what is public": {func(w *world, p preset.Preset) {
			old, _ := w.told("acme", p.Slug)
			old.Revision--
			old.Version = 1
			data, err := json.Marshal(old)
			require.NoError(w.t, err)
			require.NoError(w.t, w.writer.Mark(w.t.Context(), wire.BucketPolicy, wire.PublicPreset("acme", p.Slug), data))
		}, 1},
		"all of its data": {func(w *world, p preset.Preset) { w.nats.Wipe() }, -1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			running := w.start(nil)
			ws := w.workspace()
			p, _ := w.public(ws, "acme")
			p, pub := w.another(p)
			w.published(ws, pub.Revision)
			w.eventually(func() bool { return w.waiting() == 0 }, "all must be marked")
			w.whole(p, "acme")
			running.stop()
			c.lose(w, p)

			running = w.start(nil)
			w.eventually(func() bool { return running.Status().Reconciled > 0 }, "it must compare")
			w.whole(p, "acme")
			if c.healed >= 0 {
				require.Equal(t, c.healed, running.Status().Healed)
			}
		})
	}
}

// The frequent comparison counts them, so that none waits for the full one.
func TestTheFrequentComparisonMissesPresets(t *testing.T) {
	w := newWorld(t)
	running := w.start(nil)
	ws := w.workspace()
	p, pub := w.public(ws, "acme")
	w.published(ws, pub.Revision)
	w.eventually(func() bool { return w.waiting() == 0 && running.Status().Reconciled > 0 }, "all must be marked")
	compare := running.Comparisons(t.Context())
	require.NoError(t, compare())
	full := running.Status().Reconciled
	require.NoError(t, compare())
	require.Equal(t, full, running.Status().Reconciled, "nothing differs, so nothing is read")
	for _, name := range []string{wire.PresetVersion(p.ID, 1), wire.PublicPreset("acme", p.Slug)} {
		w.erase(w.nats.Connect().JetStream(), name)
		require.NoError(t, compare())
		full++
		require.Equal(t, full, running.Status().Reconciled, name)
		w.whole(p, "acme")
	}
}

// What no database knows is taken away, so that it cannot answer a name.
func TestPresetsOfNoDatabaseAreRemoved(t *testing.T) {
	w := newWorld(t)
	ws := w.workspace()
	p, pub := w.public(ws, "acme")
	stray := policy.PresetVersion{Schema: policy.Schema, Workspace: ws, Preset: id.New[id.PresetKind](ids), Slug: "stray", Version: 1}
	_, err := w.writer.PresetVersion(t.Context(), stray)
	if err != nil { // the buckets are made by the first control plane
		running := w.start(nil)
		w.published(ws, pub.Revision)
		running.stop()
		_, err = w.writer.PresetVersion(t.Context(), stray)
	}
	require.NoError(t, err)
	_, err = w.writer.PublicPreset(t.Context(), "nobody", "stray", policy.PublicPreset{Schema: policy.Schema, Workspace: ws, Preset: stray.Preset, Version: 1, Revision: 9})
	require.NoError(t, err)
	running := w.start(nil)
	w.eventually(func() bool { return running.Status().Removed == 2 }, "both must be removed")
	_, ok := w.told("nobody", "stray")
	require.False(t, ok)
	_, ok = w.version(stray.Preset, 1)
	require.False(t, ok)
	w.published(ws, pub.Revision)
	w.whole(p, "acme")
}

// NATS may be ahead of a database that was set back: what is told anew is above
// what was told.
func TestPublicPresetsOvertakeWhatWasTold(t *testing.T) {
	w := newWorld(t)
	running := w.start(nil)
	ws := w.workspace()
	p, pub := w.public(ws, "acme")
	w.published(ws, pub.Revision)
	w.eventually(func() bool { return w.waiting() == 0 }, "all must be marked")
	told, _ := w.told("acme", p.Slug)
	told.Revision += 100
	_, err := w.writer.PublicPreset(t.Context(), "acme", p.Slug, told)
	require.NoError(t, err)
	p, pub = w.another(p)
	w.published(ws, pub.Revision)
	w.eventually(func() bool { now, _ := w.told("acme", p.Slug); return now.Version == 2 }, "the new version must be told")
	now, _ := w.told("acme", p.Slug)
	require.Greater(t, now.Revision, told.Revision)
	require.Positive(t, running.Status().Raised)
}
