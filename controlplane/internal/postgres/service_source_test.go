package postgres

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/byok"
	"github.com/signalbox-dev/signalbox/controlplane/internal/override"
	"github.com/signalbox-dev/signalbox/controlplane/internal/profile"
	"github.com/signalbox-dev/signalbox/controlplane/internal/settings"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// TestTheCatalogIsLookedUpBeforeATransaction: inside one it would take a second
// connection while the first is held, and enough callers at once would wait for
// each other. The source refuses to be asked there, so each of these fails when
// it asks too late.
func TestTheCatalogIsLookedUpBeforeATransaction(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws, by := created.Workspace.ID, byMember(created.Owner)

	model, fallbacks := "acme/small", []string{"small"}
	_, _, err := s.settings.Update(t.Context(), ws, by, settings.Patch{DefaultModel: &model, FallbackModels: &fallbacks}, nil)
	require.NoError(t, err)

	routing := policy.Routing{DefaultModel: model}
	made, _, err := s.profiles.Create(t.Context(), ws, by, profile.Draft{Name: "ours", Routing: routing})
	require.NoError(t, err)
	_, _, err = s.profiles.Update(t.Context(), ws, made.ID, by, profile.Patch{Routing: &routing})
	require.NoError(t, err)

	brought, _, err := s.byok.Create(t.Context(), ws, by, byok.NewCredential{Provider: "openai", Name: "ours", Key: secret.NewString("sk-0123456789abcdef")})
	require.NoError(t, err)
	_, _, err = s.byok.Update(t.Context(), ws, brought.ID, by, byok.Patch{Key: ptr(secret.NewString("sk-another-0123456789"))})
	require.NoError(t, err)
	_, _, err = s.byok.Reorder(t.Context(), ws, by, byok.Order{Provider: "OpenAI", Use: policy.UsePriority, Credentials: []id.Credential{brought.ID}})
	require.NoError(t, err)

	_, err = s.effective.Resolve(t.Context(), ws, id.Key{})
	require.NoError(t, err)
}

func TestASourceIsNotAskedInsideATransaction(t *testing.T) {
	db := openTest(t)
	source, err := override.NewSource(db.System(), NewOverrideStore(), offered())
	require.NoError(t, err)
	view, err := source.View(t.Context())
	require.NoError(t, err)
	_, ok := view.Model("acme/small")
	require.True(t, ok)
	ws := id.New[id.WorkspaceKind](testIDs)
	err = db.Runner().InTx(t.Context(), ws, func(ctx context.Context) error {
		_, err := source.View(ctx)
		return err
	})
	require.ErrorIs(t, err, errScope)
}
