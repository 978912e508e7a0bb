package postgres

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/guardrail"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

func (s *services) guardrail(t *testing.T, ws id.Workspace, d guardrail.Draft) guardrail.Guardrail {
	t.Helper()
	g, _, err := s.guardrails.Create(t.Context(), ws, operator, d)
	require.NoError(t, err)
	return g
}

func (s *services) key(t *testing.T, of workspace.Created, name string) apikey.Key {
	t.Helper()
	k, _, _, err := s.keys.Create(t.Context(), of.Workspace.ID, byMember(of.Owner), apikey.NewKey{Name: name})
	require.NoError(t, err)
	return k
}

func blocking(models ...string) policy.GuardrailRules {
	return policy.GuardrailRules{Models: policy.Lists{Block: models}}
}

func TestGuardrailLife(t *testing.T) {
	s := openServices(t)
	ws := s.create(t, "acme").Workspace.ID
	g, pub, err := s.guardrails.Create(t.Context(), ws, operator, guardrail.Draft{
		Enabled: true, Name: "Careful", Description: "no small ones", Rules: policy.GuardrailRules{
			Models: policy.Lists{Allow: []string{"small"}, Block: []string{"acme/sm*"}},
		},
	})
	require.True(t, fault.Is(err, fault.ValidationError), "it allows what it blocks: %v", err)
	require.Zero(t, g)
	require.Zero(t, pub)
	g, pub, err = s.guardrails.Create(t.Context(), ws, operator, guardrail.Draft{
		Enabled: true, Name: "Careful", Description: "of the north", Rules: policy.GuardrailRules{
			Models: policy.Lists{Allow: []string{"small", "acme/sm*"}}, Providers: policy.Lists{Allow: []string{"NORTH"}},
		},
	})
	require.NoError(t, err)
	require.Equal(t, policy.GuardrailRules{
		Models: policy.Lists{Allow: []string{"acme/small", "acme/sm*"}}, Providers: policy.Lists{Allow: []string{"north"}},
	}, g.Rules, "kept by their ids and slugs")
	require.True(t, g.Enabled)
	require.Equal(t, []string{"guardrail.create"}, s.stored(t, pub).Changes)
	require.Equal(t, []policy.Guardrail{g.Published(nil, nil)}, s.snapshot(t, ws).Guardrails)
	require.Greater(t, s.snapshot(t, ws).Schema, policy.Schema, "not for gateways that do not know guardrails")
	require.Len(t, s.lastEvent(t, ws).Diff, 5)

	got, bindings, err := s.guardrails.Get(t.Context(), ws, g.ID)
	require.NoError(t, err)
	require.Equal(t, g, got)
	require.Zero(t, bindings)

	_, _, err = s.guardrails.Update(t.Context(), ws, g.ID, operator, guardrail.Patch{Enabled: ptr(false), IfMatch: ptr(int64(7))})
	require.True(t, fault.Is(err, fault.PreconditionFailed))
	g, _, err = s.guardrails.Update(t.Context(), ws, g.ID, operator, guardrail.Patch{Enabled: ptr(false), IfMatch: ptr(int64(1))})
	require.NoError(t, err)
	require.Empty(t, s.snapshot(t, ws).Guardrails, "a disabled one is not published")
	g, _, err = s.guardrails.Update(t.Context(), ws, g.ID, operator, guardrail.Patch{
		Name: ptr("careful"), Enabled: ptr(true), WholeWorkspace: ptr(true), Models: &policy.Lists{Block: []string{"*"}}, Providers: &policy.Lists{},
		Data: &guardrail.DataPolicy{DenyTraining: true},
	})
	require.NoError(t, err)
	require.Equal(t, policy.GuardrailRules{Models: policy.Lists{Block: []string{"*"}}, DenyTraining: true}, g.Rules, "to block everything is allowed")
	require.Equal(t, int64(3), g.Version)
	require.True(t, s.snapshot(t, ws).Guardrails[0].Workspace)

	_, err = s.guardrails.Delete(t.Context(), ws, g.ID, operator, ptr(int64(1)))
	require.True(t, fault.Is(err, fault.PreconditionFailed))
	_, err = s.guardrails.Delete(t.Context(), ws, g.ID, operator, nil)
	require.True(t, fault.Is(err, fault.Conflict))
	require.Contains(t, fault.Of(err).Message, "the whole workspace")
	_, _, err = s.guardrails.Update(t.Context(), ws, g.ID, operator, guardrail.Patch{WholeWorkspace: ptr(false)})
	require.NoError(t, err)
	_, err = s.guardrails.Delete(t.Context(), ws, g.ID, operator, nil)
	require.NoError(t, err)
	require.Empty(t, s.snapshot(t, ws).Guardrails)
	require.Equal(t, policy.Schema, s.snapshot(t, ws).Schema)
	_, _, err = s.guardrails.Get(t.Context(), ws, g.ID)
	require.True(t, fault.Is(err, fault.NotFound))
	_, err = s.guardrails.Delete(t.Context(), ws, g.ID, operator, nil)
	require.True(t, fault.Is(err, fault.NotFound))
}

// A change is held against the catalog where it names something, and the whole
// of what it makes where it changes a rule.
func TestAGuardrailIsHeldAgainstTheCatalog(t *testing.T) {
	s := openServices(t)
	ws := s.create(t, "acme").Workspace.ID
	_, _, err := s.guardrails.Create(t.Context(), ws, operator, guardrail.Draft{Enabled: true, Name: " ", Description: "\n", Rules: policy.GuardrailRules{
		Models: policy.Lists{Allow: []string{"acme/large", "beta/*"}}, Providers: policy.Lists{Block: []string{"east"}},
	}})
	require.True(t, fault.Is(err, fault.ValidationError))
	require.Len(t, fault.Of(err).Violations, 5, "every violation at once: %v", err)

	g := s.guardrail(t, ws, guardrail.Draft{Enabled: true, Name: "north", Rules: policy.GuardrailRules{Providers: policy.Lists{Allow: []string{"north"}}}})
	_, _, err = s.guardrails.Update(t.Context(), ws, g.ID, operator, guardrail.Patch{Data: &guardrail.DataPolicy{RequireZDR: true}})
	require.True(t, fault.Is(err, fault.ValidationError), "north promises nothing: %v", err)
	require.Equal(t, "data_policy", fault.Of(err).Violations[0].Path)
	in(t, s.db, ws, func(ctx context.Context) error {
		old := g
		old.Rules.Providers.Allow, old.Version = []string{"gone"}, 2
		return NewGuardrailStore().Update(ctx, ws, old)
	})
	_, _, err = s.guardrails.Update(t.Context(), ws, g.ID, operator, guardrail.Patch{Name: ptr("renamed")})
	require.NoError(t, err, "a name says nothing about providers")
}

func TestGuardrailNamesAreUniqueInAWorkspace(t *testing.T) {
	s := openServices(t)
	ws, other := s.create(t, "acme").Workspace.ID, s.create(t, "other").Workspace.ID
	s.guardrail(t, ws, guardrail.Draft{Enabled: true, Name: "Careful"})
	second := s.guardrail(t, ws, guardrail.Draft{Enabled: true, Name: "second"})
	s.guardrail(t, other, guardrail.Draft{Enabled: true, Name: "Careful"})
	_, _, err := s.guardrails.Create(t.Context(), ws, operator, guardrail.Draft{Enabled: true, Name: "cAREFUL"})
	require.True(t, fault.Is(err, fault.Conflict))
	_, _, err = s.guardrails.Update(t.Context(), ws, second.ID, operator, guardrail.Patch{Name: ptr("CAREFUL")})
	require.True(t, fault.Is(err, fault.Conflict))
	require.Equal(t, "name", fault.Of(err).Violations[0].Path)
	list, err := s.guardrails.List(t.Context(), ws, page.Query{}, guardrail.Filter{Name: "SECOND"})
	require.NoError(t, err)
	require.Equal(t, []guardrail.Guardrail{second}, list.Items)

	in(t, s.db, ws, func(ctx context.Context) error {
		for i := 2; i < policy.MaxGuardrails; i++ {
			g := guardrailOf(ws)
			g.ID, g.Name = id.New[id.GuardrailKind](testIDs), fmt.Sprint("g", i)
			if err := NewGuardrailStore().Create(ctx, ws, g); err != nil {
				return err
			}
		}
		return nil
	})
	_, _, err = s.guardrails.Create(t.Context(), ws, operator, guardrail.Draft{Enabled: true, Name: "one more"})
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
}

// A binding is one publication, and what is bound is in the snapshot with the
// rules.
func TestBindingGuardrails(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws := created.Workspace.ID
	g, k, revoked := s.guardrail(t, ws, guardrail.Draft{Enabled: true, Name: "a", Rules: blocking("small")}), s.key(t, created, "one"), s.key(t, created, "two")
	second := s.guardrail(t, ws, guardrail.Draft{Enabled: true, Name: "b"})
	bind := guardrail.Rebinding[id.KeyKind]{Guardrail: g.ID, IDs: []id.Key{revoked.ID, k.ID}}
	after, pub, err := s.guardrails.AddKeys(t.Context(), ws, operator, bind)
	require.NoError(t, err)
	require.Equal(t, int64(2), after.Version)
	require.Equal(t, []string{"guardrail.add_keys"}, s.stored(t, pub).Changes)
	require.Equal(t, "keys", s.lastEvent(t, ws).Diff[0].Path)
	require.Equal(t, k.ID.String(), s.snapshot(t, ws).Guardrails[0].Keys[0].String(), "sorted")
	_, _, err = s.guardrails.AddKeys(t.Context(), ws, operator, guardrail.Rebinding[id.KeyKind]{Guardrail: second.ID, IDs: []id.Key{k.ID}})
	require.NoError(t, err, "a key may have several")
	_, _, err = s.guardrails.AddKeys(t.Context(), ws, operator, bind)
	require.NoError(t, err, "what is bound stays bound")
	require.Empty(t, s.lastEvent(t, ws).Diff)
	owner := created.Owner.User
	_, _, err = s.guardrails.AddMembers(t.Context(), ws, operator, guardrail.Rebinding[id.UserKind]{Guardrail: g.ID, IDs: []id.User{owner}, IfMatch: ptr(int64(9))})
	require.True(t, fault.Is(err, fault.PreconditionFailed))
	_, _, err = s.guardrails.AddMembers(t.Context(), ws, operator, guardrail.Rebinding[id.UserKind]{Guardrail: g.ID, IDs: []id.User{owner}})
	require.NoError(t, err)
	published := s.snapshot(t, ws).Guardrails
	require.Equal(t, []id.User{owner}, published[0].Members)
	require.Equal(t, []id.Key{k.ID}, published[1].Keys)

	keys, err := s.guardrails.Keys(t.Context(), ws, g.ID, page.Query{Limit: 1})
	require.NoError(t, err)
	require.Equal(t, []guardrail.Binding[id.KeyKind]{{ID: revoked.ID, AddedAt: epoch}}, keys.Items)
	keys, err = s.guardrails.Keys(t.Context(), ws, g.ID, page.Query{Limit: 1, Cursor: keys.Next})
	require.NoError(t, err)
	require.Equal(t, k.ID, keys.Items[0].ID)
	members, err := s.guardrails.Members(t.Context(), ws, g.ID, page.Query{})
	require.NoError(t, err)
	require.Len(t, members.Items, 1)

	before, _, err := s.guardrails.Get(t.Context(), ws, g.ID)
	require.NoError(t, err)
	_, _, err = s.keys.Revoke(t.Context(), ws, revoked.ID, operator, nil)
	require.NoError(t, err)
	require.Contains(t, s.lastEvent(t, ws).Diff, audit.Change{Path: "guardrails", Before: g.ID.String()}, "it lets go of it, and that is told")
	after, bindings, err := s.guardrails.Get(t.Context(), ws, g.ID)
	require.NoError(t, err)
	require.Equal(t, before.Version+1, after.Version, "what it binds is another thing now")
	require.Equal(t, []id.Key{k.ID}, s.snapshot(t, ws).Guardrails[0].Keys, "a revoked key needs none")
	require.Equal(t, guardrail.Bindings{Members: []id.User{owner}, Keys: []id.Key{k.ID}}, bindings)
	_, err = s.guardrails.Delete(t.Context(), ws, g.ID, operator, nil)
	require.True(t, fault.Is(err, fault.Conflict))
	require.Len(t, fault.Of(err).Violations, 2)
	err = s.db.Runner().InTx(t.Context(), ws, func(ctx context.Context) error { return NewGuardrailStore().Delete(ctx, ws, g.ID) })
	require.True(t, fault.Is(err, fault.Conflict), "the database holds it too: %v", err)

	_, _, err = s.guardrails.RemoveKeys(t.Context(), ws, operator, guardrail.Rebinding[id.KeyKind]{Guardrail: g.ID, IDs: []id.Key{k.ID}})
	require.NoError(t, err)
	_, _, err = s.guardrails.RemoveKeys(t.Context(), ws, operator, guardrail.Rebinding[id.KeyKind]{Guardrail: g.ID, IDs: []id.Key{k.ID}})
	require.True(t, fault.Is(err, fault.ValidationError), "it is not bound: %v", err)
	_, _, err = s.guardrails.RemoveMembers(t.Context(), ws, operator, guardrail.Rebinding[id.UserKind]{Guardrail: g.ID, IDs: []id.User{owner}})
	require.NoError(t, err)
	require.Equal(t, "members", s.lastEvent(t, ws).Diff[0].Path)
	_, err = s.guardrails.Delete(t.Context(), ws, g.ID, operator, nil)
	require.NoError(t, err, "a revoked key lets go of it")
}

// Whoever binds names what is there, in their own workspace: every mistake is
// told, and nothing is bound.
func TestGuardrailsBindWhatIsThere(t *testing.T) {
	s := openServices(t)
	mine, theirs := s.create(t, "mine"), s.create(t, "theirs")
	ws := mine.Workspace.ID
	g, other := s.guardrail(t, ws, guardrail.Draft{Enabled: true, Name: "a"}), s.guardrail(t, theirs.Workspace.ID, guardrail.Draft{Enabled: true, Name: "a"})
	own, foreign, dead := s.key(t, mine, "own"), s.key(t, theirs, "foreign"), s.key(t, mine, "dead")
	_, _, err := s.keys.Revoke(t.Context(), ws, dead.ID, operator, nil)
	require.NoError(t, err)

	_, _, err = s.guardrails.AddKeys(t.Context(), ws, operator, guardrail.Rebinding[id.KeyKind]{Guardrail: g.ID, IDs: []id.Key{own.ID, foreign.ID, dead.ID}})
	require.True(t, fault.Is(err, fault.ValidationError), "%v", err)
	require.Equal(t, []string{"key_ids[1]", "key_ids[2]"}, []string{fault.Of(err).Violations[0].Path, fault.Of(err).Violations[1].Path})
	require.Empty(t, s.snapshot(t, ws).Guardrails[0].Keys)
	for what, call := range map[string]func() error{
		"the same key twice": func() error {
			_, _, err := s.guardrails.AddKeys(t.Context(), ws, operator, guardrail.Rebinding[id.KeyKind]{Guardrail: g.ID, IDs: []id.Key{own.ID, own.ID}})
			return err
		},
		"no key": func() error {
			_, _, err := s.guardrails.AddKeys(t.Context(), ws, operator, guardrail.Rebinding[id.KeyKind]{Guardrail: g.ID})
			return err
		},
		"a member of another workspace": func() error {
			_, _, err := s.guardrails.AddMembers(t.Context(), ws, operator, guardrail.Rebinding[id.UserKind]{Guardrail: g.ID, IDs: []id.User{theirs.Owner.User}})
			return err
		},
		"one that is not bound": func() error {
			_, _, err := s.guardrails.RemoveMembers(t.Context(), ws, operator, guardrail.Rebinding[id.UserKind]{Guardrail: g.ID, IDs: []id.User{mine.Owner.User}})
			return err
		},
	} {
		require.True(t, fault.Is(call(), fault.ValidationError), what)
	}
	_, _, err = s.guardrails.AddKeys(t.Context(), ws, operator, guardrail.Rebinding[id.KeyKind]{Guardrail: other.ID, IDs: []id.Key{own.ID}})
	require.True(t, fault.Is(err, fault.NotFound), "another's guardrail: %v", err)
	_, err = s.guardrails.Keys(t.Context(), ws, other.ID, page.Query{})
	require.True(t, fault.Is(err, fault.NotFound))
	err = s.db.Runner().InTx(t.Context(), ws, func(ctx context.Context) error {
		return NewGuardrailKeys().Add(ctx, ws, g.ID, []id.Key{foreign.ID}, epoch)
	})
	require.True(t, fault.Is(err, fault.Conflict), "the database holds it too: %v", err)

	// A snapshot carries so many bindings and no more.
	in(t, s.db, ws, func(ctx context.Context) error {
		const columns = `name, suffix, status, secret_hash, models, surfaces, scopes, version, revision, min_revision, created_at, updated_at`
		return tenant(ctx, ws).Exec(`WITH made AS (
				INSERT INTO api_keys (id, workspace_id, kid, `+columns+`)
				SELECT gen_random_uuid(), workspace_id, lpad(n::text, 16, '0'), `+columns+`
				FROM api_keys, generate_series(1, ?) n WHERE id = ? RETURNING id)
			INSERT INTO guardrail_keys SELECT ?, ?, id, now() FROM made`, policy.MaxGuardrailBindings, own.ID.UUID(), ws.UUID(), g.ID.UUID()).Error
	})
	_, _, err = s.guardrails.AddKeys(t.Context(), ws, operator, guardrail.Rebinding[id.KeyKind]{Guardrail: g.ID, IDs: []id.Key{own.ID}})
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
}

// What holds for a key is what would be published now, of its owner too.
func TestEffectiveShowsGuardrails(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws := created.Workspace.ID
	k, g := s.key(t, created, "one"), s.guardrail(t, ws, guardrail.Draft{Enabled: true, Name: "a", Rules: policy.GuardrailRules{Providers: policy.Lists{Block: []string{"south"}}}})
	_, _, err := s.guardrails.AddMembers(t.Context(), ws, operator, guardrail.Rebinding[id.UserKind]{Guardrail: g.ID, IDs: []id.User{created.Owner.User}})
	require.NoError(t, err)
	r, err := s.effective.Resolve(t.Context(), ws, k.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"south"}, r.Routing.Provider.Ignore)
	require.Equal(t, policy.GuardsMember, r.Guardrails[0].Scope)
	r, err = s.effective.Resolve(t.Context(), ws, id.Key{})
	require.NoError(t, err)
	require.Empty(t, r.Guardrails, "the workspace itself has no owner")
}
