package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/byok"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/override"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/reseal"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

const broughtKey = "sk-canary-0123456789abcdef"

func (s *services) bring(t *testing.T, created workspace.Created, n byok.NewCredential) byok.Credential {
	t.Helper()
	if n.Provider == "" {
		n.Provider = "openai"
	}
	if n.Key.IsZero() {
		n.Key = secret.NewString(broughtKey)
	}
	n.Name = "ours"
	c, _, err := s.byok.Create(t.Context(), created.Workspace.ID, byMember(created.Owner), n)
	require.NoError(t, err)
	return c
}

// published is what the compiler makes of a workspace's provider keys.
func (s *services) published(t *testing.T, ws id.Workspace) []policy.Credential {
	t.Helper()
	compiled, err := NewCompiler(s.db).Compile(t.Context(), ws)
	require.NoError(t, err)
	return compiled.Snapshot.Credentials
}

func TestProviderKeyLife(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws, by := created.Workspace.ID, byMember(created.Owner)
	key, _, _, err := s.keys.Create(t.Context(), ws, by, apikey.NewKey{Name: "app"})
	require.NoError(t, err)

	c := s.bring(t, created, byok.NewCredential{Models: []string{"openai/*"}, APIKeys: []id.Key{key.ID}})
	require.Equal(t, policy.UsePriority, c.Use)
	require.Equal(t, []string{"sk-can", "cdef"}, []string{c.Prefix, c.Suffix})
	opened, err := s.keyring.Open(c.Sealed, policy.CredentialBinding(ws, "openai")...)
	require.NoError(t, err)
	require.Equal(t, broughtKey, opened.Reveal())
	require.Equal(t, []policy.Credential{byok.Published(c)}, s.published(t, ws))
	event := s.lastEvent(t, ws)
	require.Equal(t, "byok.create", event.Action)
	require.Contains(t, event.Diff, audit.Change{Path: "key", After: "changed"})

	stored, err := s.byok.Get(t.Context(), ws, c.ID)
	require.NoError(t, err)
	require.Equal(t, c, stored)

	c, _, err = s.byok.Disable(t.Context(), ws, c.ID, by, ptr(int64(1)))
	require.NoError(t, err)
	require.Empty(t, s.published(t, ws), "a disabled key leaves the gateways")
	_, _, err = s.byok.Enable(t.Context(), ws, c.ID, by, ptr(int64(1)))
	require.True(t, fault.Is(err, fault.PreconditionFailed))
	c, _, err = s.byok.Enable(t.Context(), ws, c.ID, by, nil)
	require.NoError(t, err)

	before := c.Sealed
	c, _, err = s.byok.Update(t.Context(), ws, c.ID, by, byok.Patch{Key: ptr(secret.NewString("sk-other-9876543210fedcba")), Models: &[]string{}})
	require.NoError(t, err)
	require.NotEqual(t, before, c.Sealed)
	require.Equal(t, "dcba", c.Suffix)

	_, err = s.byok.Delete(t.Context(), ws, c.ID, by, ptr(int64(2)))
	require.True(t, fault.Is(err, fault.PreconditionFailed))
	_, err = s.byok.Delete(t.Context(), ws, c.ID, by, nil)
	require.NoError(t, err)
	require.Empty(t, s.published(t, ws))
	_, err = s.byok.Delete(t.Context(), ws, c.ID, by, nil)
	require.True(t, fault.Is(err, fault.NotFound))
}

// A row that was moved to another workspace or provider, by whoever can write
// to the database, does not open there: the seal is bound to both.
func TestAMovedProviderKeyDoesNotOpen(t *testing.T) {
	s := openServices(t)
	mine, theirs := s.create(t, "mine"), s.create(t, "theirs")
	c := s.bring(t, mine, byok.NewCredential{})
	opens := func(p policy.Credential, ws id.Workspace) bool {
		_, err := s.keyring.Open(p.Sealed, policy.CredentialBinding(ws, p.Provider)...)
		if err != nil {
			require.ErrorIs(t, err, seal.ErrOpen)
		}
		return err == nil
	}
	require.True(t, opens(s.published(t, mine.Workspace.ID)[0], mine.Workspace.ID))

	owned := s.db.DirectSQL()
	defer owned.Close()
	move := func(column string, to any) {
		t.Helper()
		_, err := owned.ExecContext(t.Context(), "UPDATE byok_credentials SET "+column+" = $1 WHERE id = $2", to, c.ID.UUID())
		require.NoError(t, err)
	}
	move("workspace_id", theirs.Workspace.ID.UUID())
	require.Empty(t, s.published(t, mine.Workspace.ID))
	require.False(t, opens(s.published(t, theirs.Workspace.ID)[0], theirs.Workspace.ID), "in another workspace")
	move("workspace_id", mine.Workspace.ID.UUID())
	move("provider", "anthropic")
	require.False(t, opens(s.published(t, mine.Workspace.ID)[0], mine.Workspace.ID), "at another provider")
	move("provider", "openai")
	require.True(t, opens(s.published(t, mine.Workspace.ID)[0], mine.Workspace.ID), "at home again")
}

func TestProviderKeysKeepTheirOrder(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws, by := created.Workspace.ID, byMember(created.Owner)
	order := func() (ids []id.Credential) {
		for _, c := range s.published(t, ws) {
			if c.Provider == "openai" && c.Use == policy.UsePriority {
				ids = append(ids, c.ID)
			}
		}
		return ids
	}
	a, b, c := s.bring(t, created, byok.NewCredential{}), s.bring(t, created, byok.NewCredential{}), s.bring(t, created, byok.NewCredential{})
	other := s.bring(t, created, byok.NewCredential{Use: policy.UseFallback})
	s.bring(t, created, byok.NewCredential{Provider: "anthropic"})
	require.Equal(t, []id.Credential{a.ID, b.ID, c.ID}, order())

	reorder := func(ids ...id.Credential) error {
		_, _, err := s.byok.Reorder(t.Context(), ws, by, byok.Order{Provider: "openai", Use: policy.UsePriority, Credentials: ids})
		return err
	}
	require.NoError(t, reorder(c.ID, a.ID, b.ID))
	require.Equal(t, []id.Credential{c.ID, a.ID, b.ID}, order())
	require.Equal(t, "byok.reorder", s.lastEvent(t, ws).Action)
	for _, ids := range [][]id.Credential{{a.ID, b.ID}, {a.ID, b.ID, b.ID}, {a.ID, b.ID, c.ID, other.ID}, {a.ID, b.ID, other.ID}, nil} {
		require.True(t, fault.Is(reorder(ids...), fault.ValidationError))
	}
	require.Equal(t, []id.Credential{c.ID, a.ID, b.ID}, order())

	moved, _, err := s.byok.Update(t.Context(), ws, other.ID, by, byok.Patch{Use: ptr(policy.UsePriority)})
	require.NoError(t, err)
	require.Equal(t, 4, moved.Position)
	require.Equal(t, []id.Credential{c.ID, a.ID, b.ID, other.ID}, order())
	_, err = s.byok.Delete(t.Context(), ws, a.ID, by, nil)
	require.NoError(t, err)
	late := s.bring(t, created, byok.NewCredential{})
	require.Equal(t, []id.Credential{c.ID, b.ID, other.ID, late.ID}, order())
}

// TestAnOrderThatWasSeenEarlierIsStale: whatever happened to one of the
// credentials since, and whoever was first.
func TestAnOrderThatWasSeenEarlierIsStale(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws, by := created.Workspace.ID, byMember(created.Owner)
	a, b := s.bring(t, created, byok.NewCredential{}), s.bring(t, created, byok.NewCredential{})
	see := func() byok.Ordered {
		seen, err := s.byok.InOrder(t.Context(), ws, "OpenAI", policy.UsePriority)
		require.NoError(t, err)
		return seen
	}
	reorder := func(seen int64, ids ...id.Credential) (byok.Ordered, error) {
		after, _, err := s.byok.Reorder(t.Context(), ws, by, byok.Order{Provider: "openai", Use: policy.UsePriority, Credentials: ids, IfMatch: &seen})
		return after, err
	}
	changes := map[string]func(){
		"reordered": func() {
			_, _, err := s.byok.Reorder(t.Context(), ws, by, byok.Order{Provider: "openai", Use: policy.UsePriority, Credentials: []id.Credential{b.ID, a.ID}})
			require.NoError(t, err)
			_, _, err = s.byok.Reorder(t.Context(), ws, by, byok.Order{Provider: "openai", Use: policy.UsePriority, Credentials: []id.Credential{a.ID, b.ID}})
			require.NoError(t, err)
		},
		"renamed": func() {
			_, _, err := s.byok.Update(t.Context(), ws, a.ID, by, byok.Patch{Name: ptr("renamed")})
			require.NoError(t, err)
		},
		"away and back": func() {
			for _, use := range []policy.CredentialUse{policy.UseFallback, policy.UsePriority} {
				_, _, err := s.byok.Update(t.Context(), ws, b.ID, by, byok.Patch{Use: &use})
				require.NoError(t, err)
			}
		},
	}
	for name, change := range changes {
		seen := see()
		require.Len(t, seen.Credentials, 2)
		change()
		_, err := reorder(seen.Version, b.ID, a.ID)
		require.True(t, fault.Is(err, fault.PreconditionFailed), "%s: %v", name, err)
		require.Equal(t, a.ID, see().Credentials[0].ID, name)
	}
	// One that has gone, with a change that makes up for its version.
	seen := see()
	_, err := s.byok.Delete(t.Context(), ws, b.ID, by, nil)
	require.NoError(t, err)
	for see().Version < seen.Version {
		_, _, err = s.byok.Disable(t.Context(), ws, a.ID, by, nil)
		require.NoError(t, err)
	}
	require.Equal(t, seen.Version, see().Version)
	_, err = reorder(seen.Version, b.ID, a.ID)
	require.True(t, fault.Is(err, fault.ValidationError), "%v", err)
	after, err := reorder(see().Version, a.ID)
	require.NoError(t, err)
	require.Equal(t, see(), after)
}

func TestProviderKeyRefusals(t *testing.T) {
	s := openServices(t)
	created, theirs := s.create(t, "acme"), s.create(t, "other")
	ws, by := created.Workspace.ID, byMember(created.Owner)
	foreign, _, _, err := s.keys.Create(t.Context(), theirs.Workspace.ID, byMember(theirs.Owner), apikey.NewKey{Name: "theirs"})
	require.NoError(t, err)
	good := byok.NewCredential{Provider: "openai", Name: "x", Key: secret.NewString(broughtKey)}
	for name, c := range map[string]struct {
		change func(*byok.NewCredential)
		path   string
	}{
		"provider":         {func(n *byok.NewCredential) { n.Provider = "canary" }, "provider"},
		"name":             {func(n *byok.NewCredential) { n.Name = " " }, "name"},
		"use":              {func(n *byok.NewCredential) { n.Use = "canary" }, "use"},
		"models":           {func(n *byok.NewCredential) { n.Models = []string{"can ary"} }, "models[0]"},
		"key twice":        {func(n *byok.NewCredential) { n.APIKeys = []id.Key{foreign.ID, foreign.ID} }, "api_keys[1]"},
		"another's key":    {func(n *byok.NewCredential) { n.APIKeys = []id.Key{foreign.ID} }, "api_keys[0]"},
		"no key":           {func(n *byok.NewCredential) { n.Key = secret.String{} }, "key"},
		"a key and a line": {func(n *byok.NewCredential) { n.Key = secret.NewString("canary 1234567\n890") }, "key"},
		"the machine's":    {func(n *byok.NewCredential) { n.Provider, n.Key = "vertex", secret.NewString("metadata") }, "key"},
		"its own exchange": {func(n *byok.NewCredential) {
			n.Provider = "vertex"
			n.Key = secret.NewString(`{"type":"service_account","client_email":"a","private_key":"canary","token_uri":"https://canary.example"}`)
		}, "key"},
	} {
		t.Run(name, func(t *testing.T) {
			n := good
			c.change(&n)
			_, _, err := s.byok.Create(t.Context(), ws, by, n)
			require.True(t, fault.Is(err, fault.ValidationError), "%v", err)
			require.Equal(t, c.path, fault.Of(err).Violations[0].Path)
			require.NotContains(t, fmt.Sprint(fault.Of(err).Violations, err), "canary")
		})
	}
	require.Empty(t, s.published(t, ws))
	for range 16 {
		s.bring(t, created, byok.NewCredential{})
	}
	_, _, err = s.byok.Create(t.Context(), ws, by, good)
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	last := s.bring(t, created, byok.NewCredential{Use: policy.UseFallback})
	_, _, err = s.byok.Update(t.Context(), ws, last.ID, by, byok.Patch{Use: ptr(policy.UsePriority)})
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
}

// A deleted workspace keeps no provider keys.
func TestProviderKeysGoWithTheirWorkspace(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	s.bring(t, created, byok.NewCredential{})
	_, _, err := s.workspaces.Delete(t.Context(), created.Workspace.ID, byMember(created.Owner), workspace.Deletion{ConfirmName: created.Workspace.Name})
	require.NoError(t, err)
	owned := s.db.DirectSQL()
	defer owned.Close()
	var left int
	require.NoError(t, owned.QueryRowContext(t.Context(), "SELECT count(*) FROM byok_credentials").Scan(&left))
	require.Zero(t, left)
}

// After a rotation every credential is sealed by the new key, published, and
// opens without the old one; what does not open is left as it is.
func TestRotationSealsProviderKeysAnew(t *testing.T) {
	s := openServices(t)
	mine, theirs := s.create(t, "mine"), s.create(t, "theirs")
	var brought []byok.Credential
	for _, n := range []byok.NewCredential{{}, {Use: policy.UseFallback}, {Provider: "anthropic", Disabled: true}} {
		brought = append(brought, s.bring(t, mine, n), s.bring(t, theirs, n))
	}
	moved := s.bring(t, theirs, byok.NewCredential{Provider: "google"})
	owned := s.db.DirectSQL()
	defer owned.Close()
	_, err := owned.ExecContext(t.Context(), "UPDATE byok_credentials SET provider = 'openai-compatible' WHERE id = $1", moved.ID.UUID())
	require.NoError(t, err)

	s.gateway.answer = func(wire.CheckRequest) (wire.CheckReply, error) {
		return wire.CheckReply{Status: wire.CheckValid, HTTPStatus: 200, Call: wire.CheckListModels}, nil
	}
	brought[0], err = s.byok.Verify(t.Context(), mine.Workspace.ID, brought[0].ID, byMember(mine.Owner))
	require.NoError(t, err)
	rotated, err := s.keyring.Rotate()
	require.NoError(t, err)
	deps := byok.ResealerDeps{
		System: s.db.System(), Seals: NewBYOKSeals(), Runner: s.db.Runner(), Store: NewBYOKStore(), Directory: NewBYOKStore(),
		Mutator: s.mutator, Now: s.clock.now,
	}
	resealer := byok.NewResealer(deps)
	report, err := resealer.Reseal(t.Context(), rotated)
	require.NoError(t, err)
	require.Equal(t, len(brought), report.Done)
	require.Len(t, report.Unopened, 1)
	require.Equal(t, "byok.reseal", s.lastEvent(t, mine.Workspace.ID).Action)
	fresh, err := rotated.Drop()
	require.NoError(t, err)
	for _, before := range brought {
		now, err := s.byok.Get(t.Context(), before.Workspace, before.ID)
		require.NoError(t, err)
		require.NotEqual(t, before.Sealed, now.Sealed)
		plain, err := fresh.Open(now.Sealed, policy.CredentialBinding(now.Workspace, now.Provider)...)
		require.NoError(t, err)
		require.Equal(t, broughtKey, plain.Reveal())
		now.Sealed, now.Version, now.UpdatedAt = before.Sealed, before.Version, before.UpdatedAt
		require.Equal(t, before, now, "nothing else changed")
	}
	require.Len(t, s.published(t, mine.Workspace.ID), 2)
	left, err := s.byok.Get(t.Context(), theirs.Workspace.ID, moved.ID)
	require.NoError(t, err)
	require.Equal(t, moved.Sealed, left.Sealed)

	// What does not open is looked at again and again. That begins no change, and
	// publishes nothing.
	deps.Mutator = brokenFor{s.mutator, theirs.Workspace.ID}
	resealer = byok.NewResealer(deps)
	revision := s.revision(t, theirs.Workspace.ID)
	report, err = resealer.Reseal(t.Context(), rotated)
	require.NoError(t, err)
	require.Zero(t, report.Done, "once is enough")
	require.Len(t, report.Unopened, 1)
	require.Equal(t, revision, s.revision(t, theirs.Workspace.ID))
	count, err := resealer.Seals(t.Context())
	require.NoError(t, err)
	require.Equal(t, reseal.Count{s.keyring.PrimaryID(): 1, rotated.PrimaryID(): len(brought)}, count)

	// Who has not promoted the key yet leaves what it sealed.
	waiting, err := s.keyring.Append()
	require.NoError(t, err)
	report, err = resealer.Reseal(t.Context(), waiting)
	require.NoError(t, err)
	require.Zero(t, report.Done)
}

// revision is what a workspace has come to.
func (s *services) revision(t *testing.T, ws id.Workspace) int64 {
	t.Helper()
	compiled, err := NewCompiler(s.db).Compile(t.Context(), ws)
	require.NoError(t, err)
	return compiled.Snapshot.Revision
}

// brokenFor is a mutator that fails for one workspace.
type brokenFor struct {
	byok.Mutator
	ws id.Workspace
}

func (b brokenFor) Mutate(ctx context.Context, ws id.Workspace, c *deploy.Change, fn func(context.Context, int64) error) (publication.Publication, error) {
	if ws == b.ws {
		return publication.Publication{}, errors.New("canary")
	}
	return b.Mutator.Mutate(ctx, ws, c, fn)
}

// A workspace that cannot be sealed anew keeps no other from it, and is told of
// at the end.
func TestRotationGoesOnPastAWorkspaceThatFails(t *testing.T) {
	s := openServices(t)
	first, second, third := s.create(t, "first"), s.create(t, "second"), s.create(t, "third")
	var brought []byok.Credential
	for _, ws := range []workspace.Created{first, second, third} {
		brought = append(brought, s.bring(t, ws, byok.NewCredential{}))
	}
	rotated, err := s.keyring.Rotate()
	require.NoError(t, err)
	deps := byok.ResealerDeps{
		System: s.db.System(), Seals: NewBYOKSeals(), Runner: s.db.Runner(), Store: NewBYOKStore(), Directory: NewBYOKStore(),
		Mutator: brokenFor{s.mutator, first.Workspace.ID}, Now: s.clock.now,
	}
	report, err := byok.NewResealer(deps).Reseal(t.Context(), rotated)
	require.ErrorContains(t, err, first.Workspace.ID.String())
	require.Equal(t, 2, report.Done)
	for i, c := range brought {
		now, err := s.byok.Get(t.Context(), c.Workspace, c.ID)
		require.NoError(t, err)
		require.Equal(t, i > 0, !rotated.IsStale(now.Sealed))
	}
	deps.Mutator = s.mutator
	report, err = byok.NewResealer(deps).Reseal(t.Context(), rotated)
	require.NoError(t, err)
	require.Equal(t, 1, report.Done)
}

// The operator's keys come under the new key as a version of their own, for it
// to be published; the version before has none any more.
func TestRotationSealsTheOperatorsKeysAnew(t *testing.T) {
	s := openServices(t)
	store, ids := NewOverrideStore(), id.SystemSource()
	overrides := override.NewService(override.Deps{
		System: s.db.System(), Store: store, History: store, Base: offered(), Sealer: s.keyring, IDs: ids, Now: s.clock.now,
	})
	for slug, key := range map[string]string{"north": "canary-north", "south": "canary-south"} {
		_, err := overrides.PutProvider(t.Context(), override.Options{By: operator}, slug, override.Entry{"api_key": json.RawMessage(strconv.Quote(key))})
		require.NoError(t, err)
	}
	before, _, err := overrides.Get(t.Context())
	require.NoError(t, err)

	rotated, err := s.keyring.Rotate()
	require.NoError(t, err)
	resealer := override.NewResealer(override.ResealerDeps{System: s.db.System(), Store: store, IDs: ids, Now: s.clock.now})
	report, err := resealer.Reseal(t.Context(), rotated)
	require.NoError(t, err)
	require.Equal(t, reseal.Report{Done: 2}, report)
	fresh, err := rotated.Drop()
	require.NoError(t, err)
	now, _, err := overrides.Get(t.Context())
	require.NoError(t, err)
	require.Equal(t, before.Version+1, now.Version)
	require.Equal(t, before.Document, now.Document)
	for _, slug := range []string{"north", "south"} {
		plain, err := fresh.Open(now.Keys[slug], policy.PlatformBinding(slug)...)
		require.NoError(t, err)
		require.Equal(t, "canary-"+slug, plain.Reveal())
		earlier, err := overrides.At(t.Context(), before.Version)
		require.NoError(t, err)
		require.Empty(t, earlier.Keys[slug], "no old seal stays")
	}
	events, err := overrides.Events(t.Context(), page.Query{Limit: 1})
	require.NoError(t, err)
	require.Equal(t, "catalog.reseal", events.Items[0].Action)
	require.NotContains(t, fmt.Sprint(events.Items[0]), "canary")
	count, err := resealer.Seals(t.Context())
	require.NoError(t, err)
	require.Equal(t, reseal.Count{rotated.PrimaryID(): 2}, count)

	report, err = resealer.Reseal(t.Context(), rotated)
	require.NoError(t, err)
	require.Zero(t, report.Done)
	now, _, err = overrides.Get(t.Context())
	require.NoError(t, err)
	require.Equal(t, before.Version+1, now.Version, "nothing to seal makes no version")
}
