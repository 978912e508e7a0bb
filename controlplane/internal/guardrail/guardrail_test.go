package guardrail

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
)

func TestPublishedForgetsNothing(t *testing.T) {
	g := fill.Value[Guardrail](1)
	p := g.Published([]id.User{fill.Value[id.User](1)}, []id.Key{fill.Value[id.Key](1)})
	require.Empty(t, fill.Zero(p))
	require.Equal(t, []any{g.ID, g.Name, g.Rules}, []any{p.ID, p.Name, p.Rules})
}

// A patch that sets everything makes of nothing what it says, one that sets
// nothing changes nothing.
func TestPatchForgetsNothing(t *testing.T) {
	all := fill.Value[Guardrail](1)
	p := Patch{
		Name: &all.Name, Description: &all.Description, Enabled: &all.Enabled, WholeWorkspace: &all.WholeWorkspace,
		Models: &all.Rules.Models, Providers: &all.Rules.Providers, Data: &DataPolicy{all.Rules.RequireZDR, all.Rules.DenyTraining},
	}
	fixed := Guardrail{ID: all.ID, Workspace: all.Workspace, Version: all.Version, CreatedAt: all.CreatedAt, UpdatedAt: all.UpdatedAt}
	require.Equal(t, all, p.apply(fixed))
	require.Equal(t, all, (&Patch{}).apply(all))
	require.True(t, p.rules())
	require.False(t, (&Patch{Name: &all.Name}).rules())
}

// The audit diff shows a change of every rule, and nothing else.
func TestTheDiffForgetsNothing(t *testing.T) {
	all := fill.Value[Guardrail](1)
	seen := map[string]bool{}
	note := func(changed Guardrail) {
		changes := diff(all, changed)
		require.Len(t, changes, 1)
		seen[changes[0].Path] = true
	}
	for _, change := range []func(*Guardrail){
		func(g *Guardrail) { g.Name = "" }, func(g *Guardrail) { g.Description = "" },
		func(g *Guardrail) { g.Enabled = false }, func(g *Guardrail) { g.WholeWorkspace = false },
		func(g *Guardrail) { g.Rules.Models.Allow = nil }, func(g *Guardrail) { g.Rules.Models.Block = nil },
		func(g *Guardrail) { g.Rules.Providers.Allow = nil }, func(g *Guardrail) { g.Rules.Providers.Block = nil },
		func(g *Guardrail) { g.Rules.RequireZDR = false }, func(g *Guardrail) { g.Rules.DenyTraining = false },
	} {
		changed := all
		change(&changed)
		note(changed)
	}
	require.Len(t, seen, 4+leaves(reflect.TypeFor[policy.GuardrailRules]()))
	require.Len(t, diff(Guardrail{}, all), len(seen))
}

func leaves(t reflect.Type) (n int) {
	for f := range t.Fields() {
		if f.Type.Kind() == reflect.Struct {
			n += leaves(f.Type)
		} else {
			n++
		}
	}
	return n
}

func TestInUseNamesWhatItBinds(t *testing.T) {
	ids := id.SystemSource()
	key, member, limit := id.New[id.KeyKind](ids), id.New[id.UserKind](ids), id.New[id.RatePolicyKind](ids)
	err := fault.Of(inUse(true, Bindings{Members: []id.User{member}, Keys: []id.Key{key, key}, More: 3}, []string{"support"}, []id.RatePolicy{limit}))
	require.Equal(t, fault.Conflict, err.Code)
	require.Len(t, err.Violations, 6)
	require.Equal(t, fault.Violation{Path: "rate_limits", Code: "in_use", Message: "binds the rate-limit policy " + limit.String()}, err.Violations[5])
	require.Equal(t, "The guardrail binds the whole workspace, the member "+member.String()+", the API key "+key.String()+
		" and 6 more. Take it off there first, or switch it off instead: versions of presets keep what they name.", err.Message)
}
