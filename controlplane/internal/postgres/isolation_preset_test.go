package postgres

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/preset"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// storePreset stores a preset of the member with all that belongs to it.
func storePreset(ctx context.Context, t *testing.T, m workspace.Member) {
	t.Helper()
	p, v, d := presetOf(m)
	require.NoError(t, NewPresetStore().Create(ctx, m.Workspace, p))
	require.NoError(t, NewPresetVersions().Add(ctx, m.Workspace, v))
	require.NoError(t, NewPresetDeployments().Append(ctx, m.Workspace, p.ID, d))
	require.NoError(t, NewPresetStore().PutPublisher(ctx, m.Workspace, preset.Publisher{
		Workspace: m.Workspace, Handle: m.Workspace.String()[15:], Version: 1, CreatedAt: epoch, UpdatedAt: epoch,
	}))
}

// seesNoPreset calls every method under ws for what storePreset stored.
func seesNoPreset(ctx context.Context, t *testing.T, ws id.Workspace, m workspace.Member) {
	t.Helper()
	p, v, d := presetOf(m)
	store, versions, deployments := NewPresetStore(), NewPresetVersions(), NewPresetDeployments()
	for _, r := range []preset.Ref{{ID: p.ID}, {Slug: p.Slug}} {
		_, err := store.Find(ctx, ws, r)
		require.True(t, fault.Is(err, fault.NotFound), "%v", err)
	}
	p.Version++
	require.True(t, fault.Is(store.Update(ctx, ws, p), fault.NotFound))
	list, err := store.List(ctx, ws, page.Query{}, preset.Filter{Archived: true})
	require.NoError(t, err)
	require.Empty(t, list.Items)
	n, err := store.Count(ctx, ws)
	require.NoError(t, err)
	require.Zero(t, n)
	_, err = store.RevokeAll(ctx, ws, 9, epoch)
	require.NoError(t, err)
	publisher, err := store.Publisher(ctx, ws)
	require.NoError(t, err)
	require.Zero(t, publisher)
	used, err := store.Used(ctx, ws)
	require.NoError(t, err)
	require.False(t, used)
	_, err = versions.Get(ctx, ws, p.ID, v.Number)
	require.True(t, fault.Is(err, fault.NotFound))
	require.True(t, fault.Is(versions.Mark(ctx, ws, v), fault.NotFound))
	published, err := versions.List(ctx, ws, p.ID, page.Query{})
	require.NoError(t, err)
	require.Empty(t, published.Items)
	labels, err := versions.Labels(ctx, ws, p.ID)
	require.NoError(t, err)
	require.Empty(t, labels)
	present, err := deployments.Present(ctx, ws, p.ID)
	require.NoError(t, err)
	require.Zero(t, present)
	_, err = deployments.At(ctx, ws, p.ID, d.Seq)
	require.True(t, fault.Is(err, fault.NotFound))
	documents, public, err := changedPresets(ctx, ws)
	require.NoError(t, err)
	require.Empty(t, documents)
	require.Empty(t, public)
	compiled, err := publishedPresets(ctx, ws)
	require.NoError(t, err)
	require.Empty(t, compiled)
	absent, err := NewGuardrailStore().Absent(ctx, ws, []id.Guardrail{guardrailOf(m.Workspace).ID})
	require.NoError(t, err)
	require.Len(t, absent, 1)
}
