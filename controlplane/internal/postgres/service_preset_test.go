package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/guardrail"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/preset"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// saying is a configuration that differs by its text.
func saying(text string) policy.PresetConfig { return policy.PresetConfig{SystemPrompt: text} }

func owner(of workspace.Created) preset.Caller {
	return preset.Caller{By: byMember(of.Owner), Admin: true}
}

func (s *services) preset(t *testing.T, of workspace.Created, n preset.New) preset.Preset {
	t.Helper()
	if n.Visibility == "" {
		n.Visibility = preset.Team
	}
	if n.Versioning == "" {
		n.Versioning = preset.Sequential
	}
	p, _, err := s.presets.Create(t.Context(), of.Workspace.ID, owner(of), n)
	require.NoError(t, err)
	return p
}

// edit makes the draft say text.
func (s *services) edit(t *testing.T, of workspace.Created, p preset.Preset, text string) {
	t.Helper()
	_, _, err := s.presets.Update(t.Context(), of.Workspace.ID, preset.Ref{ID: p.ID}, owner(of), preset.Patch{Config: ptr(saying(text))})
	require.NoError(t, err)
}

// publish makes the draft, which says text, the next version.
func (s *services) publish(t *testing.T, of workspace.Created, p preset.Preset, text string, r preset.Release) preset.Version {
	t.Helper()
	s.edit(t, of, p, text)
	_, v, _, err := s.presets.Publish(t.Context(), of.Workspace.ID, preset.Ref{ID: p.ID}, owner(of), r)
	require.NoError(t, err)
	return v
}

func because(t *testing.T, err error, code fault.Code, reason fault.Reason) {
	t.Helper()
	require.True(t, fault.Is(err, code), "%v", err)
	require.Equal(t, reason, fault.Of(err).Reason)
}

func TestPresetLife(t *testing.T) {
	s := openServices(t)
	acme := s.create(t, "acme")
	ws, me := acme.Workspace.ID, owner(acme)
	p := s.preset(t, acme, preset.New{Slug: "support", Config: policy.PresetConfig{
		SystemPrompt: "Be brief.", Model: "small", Models: policy.Lists{Allow: []string{"acme/*"}},
		Routing:   policy.Routing{Mode: policy.Price, Provider: policy.Preferences{Order: []string{"NORTH"}}},
		Providers: policy.Lists{Block: []string{"south"}}, ProviderWeights: map[string]float64{"NORTH": 2},
		Params: map[string]json.RawMessage{"temperature": json.RawMessage("0.2"), "seed": json.RawMessage("9007199254740993")},
		Cache:  &policy.PresetCache{Enabled: true, TTL: time.Minute},
	}})
	require.Equal(t, "support", p.Name)
	require.Equal(t, []string{"north"}, p.Draft.Routing.Provider.Order, "kept by slugs")
	require.Equal(t, map[string]float64{"north": 2}, p.Draft.ProviderWeights)
	require.Empty(t, s.snapshot(t, ws).Presets, "a draft answers nothing")
	_, _, _, err := s.presets.Deploy(t.Context(), ws, preset.Ref{Slug: "support"}, 1, me, nil)
	require.True(t, fault.Is(err, fault.NotFound), "nothing is published: %v", err)
	_, _, _, err = s.presets.Rollback(t.Context(), ws, preset.Ref{Slug: "support"}, me, nil)
	because(t, err, fault.Conflict, fault.NothingToRollBack)

	after, v, pub, err := s.presets.Publish(t.Context(), ws, preset.Ref{Slug: "support"}, me, preset.Release{Notes: "the first", IfMatch: ptr(int64(1))})
	require.NoError(t, err)
	require.Equal(t, []string{"preset.publish"}, s.stored(t, pub).Changes)
	require.Equal(t, "v1", v.Label)
	require.Equal(t, preset.Published, v.Status)
	require.Equal(t, 0, after.DeployedVersion)
	require.False(t, after.Changed())
	got, err := s.presets.GetVersions(t.Context(), ws, me, preset.Ref{ID: p.ID}, 1)
	require.NoError(t, err)
	require.Equal(t, v, got[0])
	require.Equal(t, "9007199254740993", string(got[0].Config.Params["seed"]), "numbers stay what they are")
	_, _, _, err = s.presets.Publish(t.Context(), ws, preset.Ref{Slug: "support"}, me, preset.Release{})
	because(t, err, fault.Conflict, fault.NothingToPublish)
	_, _, _, err = s.presets.Deploy(t.Context(), ws, preset.Ref{Slug: "support"}, 1, me, ptr(int64(1)))
	require.True(t, fault.Is(err, fault.PreconditionFailed))

	after, v, _, err = s.presets.Deploy(t.Context(), ws, preset.Ref{Slug: "support"}, 1, me, nil)
	require.NoError(t, err)
	require.Equal(t, preset.Deployed, v.Status)
	require.Equal(t, []policy.Preset{{ID: p.ID, Slug: "support", Version: 1}}, s.snapshot(t, ws).Presets)
	require.Greater(t, s.snapshot(t, ws).Schema, policy.Schema, "not for gateways that do not know presets")

	_, _, err = s.presets.Archive(t.Context(), ws, preset.Ref{ID: p.ID}, me, "Support", nil)
	require.True(t, fault.Is(err, fault.ValidationError), "the name is another: %v", err)
	after, _, err = s.presets.Archive(t.Context(), ws, preset.Ref{ID: p.ID}, me, "support", ptr(after.Version))
	require.NoError(t, err)
	require.NotNil(t, after.ArchivedAt)
	require.Empty(t, s.snapshot(t, ws).Presets)
	_, err = s.presets.GetVersions(t.Context(), ws, me, preset.Ref{ID: p.ID}, 1)
	require.NoError(t, err, "versions stay readable")
	_, _, _, err = s.presets.Deploy(t.Context(), ws, preset.Ref{ID: p.ID}, 1, me, nil)
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	_, _, err = s.presets.Create(t.Context(), ws, me, preset.New{Slug: "support", Visibility: preset.Team, Versioning: preset.Date})
	require.True(t, fault.Is(err, fault.Conflict), "its slug is not given out again: %v", err)
	require.Equal(t, "slug", fault.Of(err).Violations[0].Path)
}

// A rollback goes to what the present deployment replaced, never to what was
// rolled back, and stops at the start.
func TestPresetsWalkBack(t *testing.T) {
	s := openServices(t)
	acme := s.create(t, "acme")
	ws, me := acme.Workspace.ID, owner(acme)
	p := s.preset(t, acme, preset.New{Slug: "p", Config: saying("1"), Release: &preset.Release{Deploy: true}})
	require.Equal(t, 1, p.DeployedVersion)
	ref := preset.Ref{ID: p.ID}
	for n := 2; n <= 4; n++ {
		s.publish(t, acme, p, fmt.Sprint(n), preset.Release{})
	}
	deploy := func(n int) {
		_, _, _, err := s.presets.Deploy(t.Context(), ws, ref, n, me, nil)
		require.NoError(t, err)
	}
	back := func(want int) {
		t.Helper()
		after, v, _, err := s.presets.Rollback(t.Context(), ws, ref, me, nil)
		require.NoError(t, err)
		require.Equal(t, want, after.DeployedVersion)
		require.Equal(t, want, v.Number)
		require.Equal(t, want, s.snapshot(t, ws).Presets[0].Version)
	}
	deploy(2)
	deploy(3)
	back(2)
	deploy(4) // in place of 2, since 3 was rolled back
	deploy(4) // changes nothing
	back(2)
	back(1)
	_, _, _, err := s.presets.Rollback(t.Context(), ws, ref, me, nil)
	because(t, err, fault.Conflict, fault.NothingToRollBack)
	deploy(3)
	back(1)
	list, err := s.presets.ListVersions(t.Context(), ws, me, ref, page.Query{List: "v", Limit: 3})
	require.NoError(t, err)
	require.Len(t, list.Items, 3)
	rest, err := s.presets.ListVersions(t.Context(), ws, me, ref, page.Query{List: "v", Limit: 3, Cursor: list.Next})
	require.NoError(t, err)
	var statuses []preset.Status
	for _, v := range append(list.Items, rest.Items...) {
		statuses = append(statuses, v.Status)
	}
	require.Equal(t, []preset.Status{preset.Superseded, preset.Superseded, preset.Superseded, preset.Deployed}, statuses)
}

func TestPresetLabels(t *testing.T) {
	s := openServices(t)
	acme := s.create(t, "acme")
	ws, me := acme.Workspace.ID, owner(acme)
	p := s.preset(t, acme, preset.New{Slug: "dated", Versioning: preset.Date})
	require.Equal(t, epoch.Format("2006.01.02"), s.publish(t, acme, p, "1", preset.Release{}).Label)
	require.Equal(t, epoch.Format("2006.01.02")+".2", s.publish(t, acme, p, "2", preset.Release{}).Label)
	s.clock.advance(24 * time.Hour)
	require.Equal(t, epoch.Add(24*time.Hour).Format("2006.01.02"), s.publish(t, acme, p, "3", preset.Release{}).Label)

	p = s.preset(t, acme, preset.New{Slug: "semantic", Versioning: preset.SemVer, Config: saying("0"), Release: &preset.Release{}})
	s.edit(t, acme, p, "1")
	for _, label := range []string{"", "1.0.0", "0.9.9", "1.0", "v2.0.0", "1.0.0-rc.1"} {
		_, _, _, err := s.presets.Publish(t.Context(), ws, preset.Ref{ID: p.ID}, me, preset.Release{Label: label})
		require.True(t, fault.Is(err, fault.ValidationError), "%s: %v", label, err)
		require.Equal(t, "version_label", fault.Of(err).Violations[0].Path)
	}
	require.Equal(t, "1.1.0", s.publish(t, acme, p, "2", preset.Release{Label: "1.1.0"}).Label)
}

// What is private is used by its creator's keys, and is not there for others.
func TestPrivatePresets(t *testing.T) {
	s := openServices(t)
	acme := s.create(t, "acme")
	ws, me := acme.Workspace.ID, owner(acme)
	p := s.preset(t, acme, preset.New{Slug: "mine", Visibility: preset.Private, Config: saying("x"), Release: &preset.Release{Deploy: true}})
	require.Equal(t, acme.Owner.User, s.snapshot(t, ws).Presets[0].Owner)
	other := me
	other.User, other.Admin = s.create(t, "other").Owner.User, false
	ref := preset.Ref{ID: p.ID}
	_, err := s.presets.Get(t.Context(), ws, other, ref)
	require.True(t, fault.Is(err, fault.NotFound))
	_, err = s.presets.ListVersions(t.Context(), ws, other, ref, page.Query{})
	require.True(t, fault.Is(err, fault.NotFound))
	_, _, err = s.presets.Fork(t.Context(), ws, other, preset.Source{Preset: "mine"}, preset.New{Slug: "stolen", Visibility: preset.Team, Versioning: preset.Date})
	require.True(t, fault.Is(err, fault.NotFound))
	list, err := s.presets.List(t.Context(), ws, other, page.Query{}, preset.Filter{})
	require.NoError(t, err)
	require.Empty(t, list.Items)
	other.Admin = true
	_, err = s.presets.Get(t.Context(), ws, other, ref)
	require.NoError(t, err, "an admin sees it")
	_, _, err = s.presets.Update(t.Context(), ws, ref, other, preset.Patch{Description: ptr("changed")})
	require.True(t, fault.Is(err, fault.Forbidden), "and does not change it: %v", err)

	_, _, err = s.presets.Update(t.Context(), ws, ref, me, preset.Patch{Visibility: ptr(preset.Team)})
	require.NoError(t, err)
	require.Zero(t, s.snapshot(t, ws).Presets[0].Owner, "at once")
	_, _, err = s.presets.Update(t.Context(), ws, ref, other, preset.Patch{Description: ptr("changed"), Visibility: ptr(preset.Private)})
	require.True(t, fault.Is(err, fault.Forbidden), "an admin could not undo that: %v", err)
	require.Zero(t, s.snapshot(t, ws).Presets[0].Owner)
	_, _, err = s.presets.Update(t.Context(), ws, ref, other, preset.Patch{Description: ptr("changed"), Visibility: ptr(preset.Team)})
	require.NoError(t, err)
	_, _, err = s.presets.Update(t.Context(), ws, ref, me, preset.Patch{Visibility: ptr(preset.Private)})
	require.NoError(t, err, "its creator can")
	_, _, err = s.presets.Update(t.Context(), ws, ref, me, preset.Patch{Visibility: ptr(preset.Team)})
	require.NoError(t, err)
	other.Admin = false
	_, err = s.presets.Get(t.Context(), ws, other, ref)
	require.NoError(t, err)
	_, _, err = s.presets.Update(t.Context(), ws, ref, other, preset.Patch{Description: ptr("changed")})
	require.True(t, fault.Is(err, fault.Forbidden))
	_, _, err = s.presets.Archive(t.Context(), ws, ref, other, "mine", nil)
	require.True(t, fault.Is(err, fault.Forbidden))
	member := me
	member.Admin = false
	_, _, err = s.presets.Update(t.Context(), ws, ref, member, preset.Patch{Visibility: ptr(preset.Public)})
	require.True(t, fault.Is(err, fault.Forbidden), "to all workspaces an admin shows it: %v", err)
}

// Every violation of a configuration is told at once, and none repeats what was
// given.
func TestPresetConfigIsHeldAgainstTheCatalog(t *testing.T) {
	s := openServices(t)
	acme := s.create(t, "acme")
	_, _, err := s.presets.Create(t.Context(), acme.Workspace.ID, owner(acme), preset.New{
		Slug: "Bad Slug", Visibility: preset.Team, Versioning: preset.Sequential, Config: policy.PresetConfig{
			SystemPrompt: "\x00canary", Model: "@canary", Routing: policy.Routing{FallbackModels: []string{"canary/x"}},
			Models: policy.Lists{Allow: []string{"canary*"}}, Providers: policy.Lists{Allow: []string{"north", "canary"}, Block: []string{"north"}},
			ProviderWeights: map[string]float64{"canary": 1, "south": 1000},
			Params:          map[string]json.RawMessage{"model": nil, "bad canary": json.RawMessage("1"), "top_p": json.RawMessage("null")},
			Guardrails:      []id.Guardrail{{}}, Cache: &policy.PresetCache{TTL: time.Second},
		},
	})
	require.True(t, fault.Is(err, fault.ValidationError))
	var paths []string
	for _, v := range fault.Of(err).Violations {
		paths = append(paths, v.Path)
		require.NotContains(t, v.Message, "canary")
	}
	require.ElementsMatch(t, []string{
		"slug", "config.system_prompt", "config.model", "config.fallback_models[0]", "config.allowed_models[0]",
		"config.allowed_providers[1]", "config.denied_providers[0]", "config.provider_weights[0]", "config.provider_weights.south",
		"config.params[0]", "config.params.model", "config.params.top_p", "config.guardrail_ids[0]", "config.cache.ttl_seconds",
	}, paths)
}

func TestPresetGuardrails(t *testing.T) {
	s := openServices(t)
	acme, other := s.create(t, "acme"), s.create(t, "other")
	mine := s.guardrail(t, acme.Workspace.ID, guardrail.Draft{Name: "g", Enabled: true})
	theirs := s.guardrail(t, other.Workspace.ID, guardrail.Draft{Name: "g", Enabled: true})
	with := func(list ...id.Guardrail) preset.New {
		return preset.New{Slug: "guarded", Visibility: preset.Team, Versioning: preset.Sequential, Config: policy.PresetConfig{Guardrails: list}, Release: &preset.Release{Deploy: true}}
	}
	_, _, err := s.presets.Create(t.Context(), acme.Workspace.ID, owner(acme), with(mine.ID, theirs.ID))
	require.True(t, fault.Is(err, fault.ValidationError))
	require.Equal(t, "config.guardrail_ids[1]", fault.Of(err).Violations[0].Path)
	p := s.preset(t, acme, with(mine.ID))
	_, _, err = s.presets.PutPublisher(t.Context(), acme.Workspace.ID, owner(acme), "acme")
	require.NoError(t, err)
	s.edit(t, acme, p, "without")
	_, _, err = s.presets.Update(t.Context(), acme.Workspace.ID, preset.Ref{ID: p.ID}, owner(acme), preset.Patch{Visibility: ptr(preset.Public)})
	require.True(t, fault.Is(err, fault.Conflict), "the deployed version has one: %v", err)
	s.publish(t, acme, p, "without it", preset.Release{Deploy: true})
	_, _, err = s.presets.Update(t.Context(), acme.Workspace.ID, preset.Ref{ID: p.ID}, owner(acme), preset.Patch{Visibility: ptr(preset.Public)})
	require.NoError(t, err)
	_, _, _, err = s.presets.Rollback(t.Context(), acme.Workspace.ID, preset.Ref{ID: p.ID}, owner(acme), nil)
	require.True(t, fault.Is(err, fault.Conflict), "nor does it come back: %v", err)
	require.Equal(t, "config.guardrail_ids not_allowed", wrongWith(err))
	_, _, err = s.presets.Update(t.Context(), acme.Workspace.ID, preset.Ref{ID: p.ID}, owner(acme), preset.Patch{Config: &policy.PresetConfig{Guardrails: []id.Guardrail{mine.ID}}})
	require.True(t, fault.Is(err, fault.ValidationError))
	kept, _, err := s.presets.Update(t.Context(), acme.Workspace.ID, preset.Ref{ID: p.ID}, owner(acme), preset.Patch{
		Visibility: ptr(preset.Team), Config: &policy.PresetConfig{Guardrails: []id.Guardrail{mine.ID}},
	})
	require.NoError(t, err, "it is public no more with the same change")
	_, _, err = s.presets.Update(t.Context(), acme.Workspace.ID, preset.Ref{ID: p.ID}, owner(acme), preset.Patch{
		Visibility: ptr(preset.Public), Config: &kept.Draft,
	})
	require.Equal(t, "config.guardrail_ids not_allowed", wrongWith(err))
}

// Who makes a preset and releases its first version at once is told of with
// both.
func TestThePresetThatIsReleasedAtOnceIsToldOf(t *testing.T) {
	s := openServices(t)
	acme := s.create(t, "acme")
	s.preset(t, acme, preset.New{Slug: "support", Config: saying("1"), Release: &preset.Release{Deploy: true}})
	told := make(map[string]string)
	for _, c := range s.lastEvent(t, acme.Workspace.ID).Diff {
		told[c.Path] = c.After
	}
	require.Equal(t, []string{"support", "1", "1"}, []string{told["slug"], told["latest_version"], told["deployed_version"]})
}

// together runs fn n times at once and returns what each failed with.
func together(n int, fn func(i int) error) []error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = fn(i) })
	}
	all.Wait()
	return errs
}

func failures(errs []error) (failed []error) {
	for _, err := range errs {
		if err != nil {
			failed = append(failed, err)
		}
	}
	return failed
}

func TestPresetsAreChangedByManyAtOnce(t *testing.T) {
	s := openServices(t)
	acme := s.create(t, "acme")
	ws, me := acme.Workspace.ID, owner(acme)
	p := s.preset(t, acme, preset.New{Slug: "p", Config: saying("1")})
	ref := preset.Ref{ID: p.ID}
	failed := failures(together(6, func(int) error {
		_, _, _, err := s.presets.Publish(t.Context(), ws, ref, me, preset.Release{})
		return err
	}))
	require.Len(t, failed, 5, "a draft is published once")
	for _, err := range failed {
		because(t, err, fault.Conflict, fault.NothingToPublish)
	}
	s.publish(t, acme, p, "2", preset.Release{})
	s.publish(t, acme, p, "3", preset.Release{})
	require.Empty(t, failures(together(9, func(i int) error {
		_, _, _, err := s.presets.Deploy(t.Context(), ws, ref, i%3+1, me, nil)
		return err
	})))
	got, err := s.presets.Get(t.Context(), ws, me, ref)
	require.NoError(t, err)
	list, err := s.presets.ListVersions(t.Context(), ws, me, ref, page.Query{})
	require.NoError(t, err)
	for _, v := range list.Items {
		require.Equal(t, v.Number == got.DeployedVersion, v.Status == preset.Deployed, "one is deployed")
	}
	in(t, s.db, ws, func(ctx context.Context) error {
		d, err := NewPresetDeployments().Present(ctx, ws, p.ID)
		require.Equal(t, got.DeployedVersion, d.Version)
		return err
	})
	stale := got.Version
	require.Len(t, failures(together(4, func(i int) error {
		_, _, _, err := s.presets.Deploy(t.Context(), ws, ref, i%3+1, me, &stale)
		return err
	})), 3, "one saw the present version")
}

// A guardrail that a version names cannot go while the preset can be asked for:
// what was published to be held by it would be free. Switching it off is for
// the workspace to do.
func TestAGuardrailOfAPresetStays(t *testing.T) {
	s := openServices(t)
	mine, theirs := s.create(t, "mine"), s.create(t, "theirs")
	ws := mine.Workspace.ID
	g := s.guardrail(t, ws, guardrail.Draft{Enabled: true, Name: "a"})
	p := s.preset(t, mine, preset.New{Slug: "support", Name: "support", Config: policy.PresetConfig{Guardrails: []id.Guardrail{g.ID}}})
	s.preset(t, theirs, preset.New{Slug: "other", Name: "other"})
	remove := func() error {
		_, err := s.guardrails.Delete(t.Context(), ws, g.ID, operator, nil)
		return err
	}
	held := func(why string) {
		t.Helper()
		err := remove()
		require.True(t, fault.Is(err, fault.Conflict), "%s: %v", why, err)
		require.Contains(t, fault.Of(err).Message, "@support", why)
	}
	held("the draft names it")
	_, _, _, err := s.presets.Publish(t.Context(), ws, preset.Ref{ID: p.ID}, owner(mine), preset.Release{})
	require.NoError(t, err)
	s.edit(t, mine, p, "without")
	held("a version names it")
	_, _, err = s.presets.Archive(t.Context(), ws, preset.Ref{ID: p.ID}, owner(mine), p.Name, nil)
	require.NoError(t, err)
	require.NoError(t, remove(), "nobody can ask for an archived preset")
}

// The database itself keeps what was published and deployed, whoever asks.
func TestTheDatabaseKeepsTheHistoryOfPresets(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws := created.Workspace.ID
	s.preset(t, created, preset.New{Slug: "team", Config: saying("1"), Release: &preset.Release{Deploy: true}})
	owner := s.db.DirectSQL()
	defer func() { require.NoError(t, owner.Close()) }()
	for _, statement := range []string{
		"UPDATE preset_versions SET config = '{}'", "UPDATE preset_versions SET number = 2", "DELETE FROM preset_versions", "TRUNCATE preset_versions CASCADE",
		"UPDATE preset_deployments SET version = 1", "DELETE FROM preset_deployments", "TRUNCATE preset_deployments", "TRUNCATE presets CASCADE",
	} {
		err := s.db.Runner().InTx(t.Context(), ws, func(ctx context.Context) error { return tenant(ctx, ws).Exec(statement).Error })
		require.ErrorContains(t, err, "permission denied", "%s by the application", statement)
		tx, err := owner.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		for _, table := range []string{"preset_versions", "preset_deployments"} {
			_, err = tx.ExecContext(t.Context(), "ALTER TABLE "+table+" NO FORCE ROW LEVEL SECURITY")
			require.NoError(t, err)
		}
		_, err = tx.ExecContext(t.Context(), statement)
		require.ErrorContains(t, err, "SQLSTATE 23000", "%s by the owner", statement)
		require.NoError(t, tx.Rollback())
	}
}
