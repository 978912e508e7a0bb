package postgres

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/autorouting"
	"github.com/signalbox-dev/signalbox/controlplane/internal/byok"
	"github.com/signalbox-dev/signalbox/controlplane/internal/guardrail"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Whatever takes patterns of models keeps one * for a run of them, and refuses
// one that is dear to match.
func TestPatternsAreKeptCheapToMatch(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws, by := created.Workspace.ID, byMember(created.Owner)
	k, b, g := s.key(t, created, "app"), s.bring(t, created, byok.NewCredential{}), s.guardrail(t, ws, guardrail.Draft{Enabled: true, Name: "a"})
	for name, save := range map[string]func(models []string) ([]string, error){
		"key": func(models []string) ([]string, error) {
			got, _, _, err := s.keys.Create(t.Context(), ws, by, apikey.NewKey{Name: "one", Models: models})
			return got.Models, err
		},
		"key changed": func(models []string) ([]string, error) {
			got, _, err := s.keys.Update(t.Context(), ws, k.ID, by, apikey.Patch{Models: &models})
			return got.Models, err
		},
		"provider key": func(models []string) ([]string, error) {
			got, _, err := s.byok.Create(t.Context(), ws, by, byok.NewCredential{Name: "two", Provider: "openai", Key: secret.NewString(broughtKey), Models: models})
			return got.Models, err
		},
		"provider key changed": func(models []string) ([]string, error) {
			got, _, err := s.byok.Update(t.Context(), ws, b.ID, by, byok.Patch{Models: &models})
			return got.Models, err
		},
		"auto": func(models []string) ([]string, error) {
			got, _, err := s.auto.Update(t.Context(), ws, by, autorouting.Patch{Models: &models}, nil)
			return got.Models, err
		},
		"guardrail": func(models []string) ([]string, error) {
			got, _, err := s.guardrails.Create(t.Context(), ws, by, guardrail.Draft{Name: "b", Rules: blocking(models...)})
			return got.Rules.Models.Block, err
		},
		"guardrail changed": func(models []string) ([]string, error) {
			got, _, err := s.guardrails.Update(t.Context(), ws, g.ID, by, guardrail.Patch{Models: &policy.Lists{Block: models}})
			return got.Rules.Models.Block, err
		},
	} {
		kept, err := save([]string{"acme/s***"})
		require.NoError(t, err, name)
		require.Equal(t, []string{"acme/s*"}, kept, name)
		_, err = save([]string{"*a*c*m*e*/*s*m*a*"})
		require.True(t, fault.Is(err, fault.ValidationError), "%s: %v", name, err)
		require.Equal(t, "too_long", fault.Of(err).Violations[0].Code, name)
	}
}

// The patterns of all guardrails of a workspace are bounded together, whether
// they bind or not. Ids are not, and what takes some away is never refused.
func TestThePatternsOfGuardrailsAreBounded(t *testing.T) {
	s := openServices(t)
	ws, other := s.create(t, "acme").Workspace.ID, s.create(t, "other").Workspace.ID
	own := s.guardrail(t, ws, guardrail.Draft{Name: "own", Rules: blocking("acme/s*", "acme/*")})
	in(t, s.db, ws, func(ctx context.Context) error {
		for i, n := range []int{200, 200, 200, 200, policy.MaxGuardrailPatterns - 800 - 2} {
			g := guardrailOf(ws)
			g.ID, g.Name, g.Rules.Models = id.New[id.GuardrailKind](testIDs), fmt.Sprint("g", i), policy.Lists{Allow: []string{"acme/small"}}
			for j := range n {
				g.Rules.Models.Block = append(g.Rules.Models.Block, fmt.Sprint("none/*", j))
			}
			if err := NewGuardrailStore().Create(ctx, ws, g); err != nil {
				return err
			}
		}
		others, err := NewGuardrailStore().Patterns(ctx, ws, own.ID)
		require.Equal(t, policy.MaxGuardrailPatterns-2, others)
		return err
	})
	update := func(models ...string) error {
		_, _, err := s.guardrails.Update(t.Context(), ws, own.ID, operator, guardrail.Patch{Models: &policy.Lists{Block: models}})
		return err
	}
	_, _, err := s.guardrails.Create(t.Context(), ws, operator, guardrail.Draft{Name: "one more", Rules: blocking("acme/s*")})
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	s.guardrail(t, ws, guardrail.Draft{Name: "an id", Rules: blocking("acme/small")})
	s.guardrail(t, other, guardrail.Draft{Name: "elsewhere", Rules: blocking("acme/s*")})
	require.NoError(t, update("acme/sm*", "acme/*"))
	require.True(t, fault.Is(update("acme/sm*", "acme/*", "acme/s*"), fault.Conflict))
	require.NoError(t, update("acme/small"))
	require.NoError(t, update("acme/small", "acme/*", "acme/s*"))
}

// So are those of all provider keys.
func TestThePatternsOfProviderKeysAreBounded(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws, by := created.Workspace.ID, byMember(created.Owner)
	patterns := func(n int) []string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprint("acme/*", i)
		}
		return list
	}
	for range 3 {
		s.bring(t, created, byok.NewCredential{Models: patterns(250)})
	}
	last := s.bring(t, created, byok.NewCredential{Models: patterns(policy.MaxCredentialPatterns - 750)})
	create := func(models ...string) error {
		_, _, err := s.byok.Create(t.Context(), ws, by, byok.NewCredential{Name: "more", Provider: "openai", Key: secret.NewString(broughtKey), Models: models})
		return err
	}
	update := func(models []string) error {
		_, _, err := s.byok.Update(t.Context(), ws, last.ID, by, byok.Patch{Models: &models})
		return err
	}
	require.True(t, fault.Is(create("acme/*"), fault.Conflict))
	require.NoError(t, create("acme/small"))
	require.True(t, fault.Is(update(patterns(policy.MaxCredentialPatterns-749)), fault.Conflict))
	require.NoError(t, update(patterns(policy.MaxCredentialPatterns-751)))
	require.NoError(t, create("acme/*"))
	require.True(t, fault.Is(create("acme/*"), fault.Conflict))
}
