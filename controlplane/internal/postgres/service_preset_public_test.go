package postgres

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/preset"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publish"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// told is what waits to be told all workspaces of the presets of one.
func (s *services) told(t *testing.T, ws id.Workspace) []publish.PublicPreset {
	t.Helper()
	compiled, err := NewCompiler(s.db).Compile(t.Context(), ws)
	require.NoError(t, err)
	return compiled.Public
}

// public makes a workspace with a handle and a public preset of two versions,
// of which the second is deployed and public.
func (s *services) public(t *testing.T) (workspace.Created, preset.Preset) {
	t.Helper()
	acme := s.create(t, "acme")
	ws, me := acme.Workspace.ID, owner(acme)
	p := s.preset(t, acme, preset.New{Slug: "help.desk:v1", Config: saying("secret"), Release: &preset.Release{Deploy: true}})
	_, _, err := s.presets.Update(t.Context(), ws, preset.Ref{ID: p.ID}, me, preset.Patch{Visibility: ptr(preset.Public)})
	because(t, err, fault.Conflict, fault.PublicProfileRequired)
	_, _, err = s.presets.PutPublisher(t.Context(), ws, me, "acme")
	require.NoError(t, err)
	s.publish(t, acme, p, "open", preset.Release{Deploy: true})
	p, _, err = s.presets.Update(t.Context(), ws, preset.Ref{ID: p.ID}, me, preset.Patch{Visibility: ptr(preset.Public)})
	require.NoError(t, err)
	require.Equal(t, "@acme/help.desk:v1", p.Canonical())
	return acme, p
}

func TestPublicPresetsAreTold(t *testing.T) {
	s := openServices(t)
	acme, p := s.public(t)
	ws, me := acme.Workspace.ID, owner(acme)
	told := s.told(t, ws)
	require.Equal(t, []publish.PublicPreset{{Handle: "acme", Slug: "help.desk:v1", PublicPreset: policy.PublicPreset{
		Schema: policy.Schema, Workspace: ws, Preset: p.ID, Version: 2, Versions: []int{2}, Revision: p.PublicRevision,
	}}}, told, "the version that was never public is not among those that can be pinned")

	s.publish(t, acme, p, "third", preset.Release{})
	require.Equal(t, told, s.told(t, ws), "what is not deployed is not public")
	after, _, _, err := s.presets.Deploy(t.Context(), ws, preset.Ref{ID: p.ID}, 3, me, nil)
	require.NoError(t, err)
	require.Greater(t, after.PublicRevision, p.PublicRevision)
	now := s.told(t, ws)[0]
	require.Equal(t, 3, now.Version)
	require.Equal(t, []int{2, 3}, now.Versions)
	require.Equal(t, after.PublicRevision, now.Revision)

	after, _, err = s.presets.Update(t.Context(), ws, preset.Ref{ID: p.ID}, me, preset.Patch{Visibility: ptr(preset.Team)})
	require.NoError(t, err)
	now = s.told(t, ws)[0]
	require.Zero(t, now.Version, "it is public no more")
	require.Empty(t, now.Versions)
	require.Equal(t, after.PublicRevision, now.Revision)
	_, _, err = s.presets.Update(t.Context(), ws, preset.Ref{ID: p.ID}, me, preset.Patch{Visibility: ptr(preset.Public)})
	require.NoError(t, err)
	_, _, err = s.presets.Archive(t.Context(), ws, preset.Ref{ID: p.ID}, me, p.Name, nil)
	require.NoError(t, err)
	require.Zero(t, s.told(t, ws)[0].Version)
}

func TestADeletedWorkspaceIsPublicNoMore(t *testing.T) {
	s := openServices(t)
	acme, p := s.public(t)
	other := s.create(t, "other")
	_, _, err := s.workspaces.Delete(t.Context(), acme.Workspace.ID, operator, workspace.Deletion{ConfirmName: acme.Workspace.Name})
	require.NoError(t, err)
	told := s.told(t, acme.Workspace.ID)
	require.Len(t, told, 1)
	require.Zero(t, told[0].Version)
	require.Greater(t, told[0].Revision, p.PublicRevision)
	_, _, err = s.presets.Fork(t.Context(), other.Workspace.ID, owner(other), preset.Source{Preset: "@acme/help.desk:v1"}, preset.New{Slug: "f", Visibility: preset.Team, Versioning: preset.Date})
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)
	_, _, err = s.presets.PutPublisher(t.Context(), other.Workspace.ID, owner(other), "acme")
	require.True(t, fault.Is(err, fault.Conflict), "its handle is nobody else's: %v", err)
}

func TestForksKeepWhatTheyAreOf(t *testing.T) {
	s := openServices(t)
	acme, p := s.public(t)
	other := s.create(t, "other")
	ws, me := other.Workspace.ID, owner(other)
	n := preset.New{Slug: "ours", Visibility: preset.Team, Versioning: preset.Sequential}
	for _, from := range []preset.Source{
		{Preset: "@acme/help.desk:v1", Version: 1},
		{Preset: p.ID.String(), Version: 1},
		{Preset: "@acme/none"},
		{Preset: "@nobody/help.desk:v1"},
		{Preset: "help.desk:v1"},
		{Preset: "@acme/help.desk:v1", Version: 9},
	} {
		_, _, err := s.presets.Fork(t.Context(), ws, me, from, n)
		require.True(t, fault.Is(err, fault.NotFound), "%v: %v", from, err)
	}
	fork, _, err := s.presets.Fork(t.Context(), ws, me, preset.Source{Preset: "@ACME/Help.Desk:v1"}, n)
	require.NoError(t, err)
	require.Equal(t, preset.Origin{Preset: p.ID, Version: 2}, fork.Upstream)
	require.Equal(t, saying("open"), fork.Draft)
	require.Equal(t, "help.desk:v1", fork.Name)
	require.Zero(t, fork.LatestVersion)

	s.publish(t, acme, p, "better", preset.Release{Deploy: true})
	got, err := s.presets.Get(t.Context(), ws, me, preset.Ref{ID: fork.ID})
	require.NoError(t, err)
	require.Equal(t, fork, got, "it is pinned")
	_, _, err = s.presets.UpdateUpstream(t.Context(), ws, preset.Ref{ID: fork.ID}, 1, me, nil)
	require.True(t, fault.Is(err, fault.NotFound))
	fork, _, err = s.presets.UpdateUpstream(t.Context(), ws, preset.Ref{ID: fork.ID}, 0, me, ptr(fork.Version))
	require.NoError(t, err)
	require.Equal(t, preset.Origin{Preset: p.ID, Version: 3}, fork.Upstream)
	require.Equal(t, saying("better"), fork.Draft)
	require.Zero(t, fork.LatestVersion, "only the draft")

	_, _, _, err = s.presets.Publish(t.Context(), ws, preset.Ref{ID: fork.ID}, me, preset.Release{Deploy: true})
	require.NoError(t, err)
	n.Slug = "grandchild"
	grandchild, _, err := s.presets.Fork(t.Context(), ws, me, preset.Source{Preset: "ours"}, n)
	require.NoError(t, err)
	require.Equal(t, []preset.Origin{{Preset: fork.ID, Version: 1}, {Preset: p.ID, Version: 3}}, grandchild.Ancestry)
	_, _, err = s.presets.UpdateUpstream(t.Context(), acme.Workspace.ID, preset.Ref{ID: p.ID}, 0, owner(acme), nil)
	require.True(t, fault.Is(err, fault.Conflict), "no fork: %v", err)
}

func TestHandlesAreOneWorkspacesEach(t *testing.T) {
	s := openServices(t)
	var made []workspace.Created
	for i := range 5 {
		made = append(made, s.create(t, fmt.Sprint("w", i)))
	}
	failed := failures(together(len(made), func(i int) error {
		_, _, err := s.presets.PutPublisher(t.Context(), made[i].Workspace.ID, owner(made[i]), "wanted")
		return err
	}))
	require.Len(t, failed, len(made)-1)
	for _, err := range failed {
		require.True(t, fault.Is(err, fault.Conflict), "%v", err)
		require.Equal(t, "handle", fault.Of(err).Violations[0].Path)
	}
	acme, _ := s.public(t)
	_, _, err := s.presets.PutPublisher(t.Context(), acme.Workspace.ID, owner(acme), "another")
	require.True(t, fault.Is(err, fault.Conflict), "a preset is public under it: %v", err)
	p, _, err := s.presets.PutPublisher(t.Context(), acme.Workspace.ID, owner(acme), "acme")
	require.NoError(t, err, "the same again changes nothing")
	require.EqualValues(t, 1, p.Version)
	free := made[0]
	for _, handle := range []string{"first-one", "second_one"} {
		p, _, err = s.presets.PutPublisher(t.Context(), free.Workspace.ID, owner(free), handle)
		require.NoError(t, err, "one that nothing is public under can be changed")
		require.Equal(t, handle, p.Handle)
	}
}

// What the system role reads for forks is what is public, and no more.
func TestTheCommonsShowNothingElse(t *testing.T) {
	s := openServices(t)
	acme, p := s.public(t)
	s.preset(t, acme, preset.New{Slug: "team", Config: saying("secret"), Release: &preset.Release{Deploy: true}})
	s.preset(t, acme, preset.New{Slug: "draft", Visibility: preset.Public, Config: saying("secret")})
	shown := func() (list []string) {
		rows, err := s.db.system.sql.QueryContext(t.Context(), "SELECT slug || '#' || number || config::text FROM public_preset_versions")
		require.NoError(t, err)
		defer func() { require.NoError(t, rows.Close()) }()
		for rows.Next() {
			var text string
			require.NoError(t, rows.Scan(&text))
			list = append(list, text)
		}
		require.NoError(t, rows.Err())
		return list
	}
	require.Equal(t, []string{`help.desk:v1#2{"system_prompt":"open"}`}, shown())
	_, err := s.db.app.sql.ExecContext(t.Context(), "SELECT * FROM public_preset_versions")
	require.ErrorContains(t, err, "permission denied")
	_, _, err = s.presets.Archive(t.Context(), acme.Workspace.ID, preset.Ref{ID: p.ID}, owner(acme), p.Name, nil)
	require.NoError(t, err)
	require.Empty(t, shown())
}

// The database itself keeps a version as it is, whatever a store does.
func TestVersionsOfPresetsStay(t *testing.T) {
	s := openServices(t)
	acme, p := s.public(t)
	ws := acme.Workspace.ID
	for statement, want := range map[string]string{
		"UPDATE preset_versions SET config = '{}' WHERE preset_id = ?":     "permission denied",
		"DELETE FROM preset_versions WHERE preset_id = ?":                  "permission denied",
		"UPDATE preset_versions SET public_at = now() WHERE preset_id = ?": "only the status changes",
		"UPDATE presets SET slug = 'other' WHERE id = ?":                   "keeps its workspace, slug",
		"UPDATE presets SET public_handle = 'other' WHERE id = ?":          "keeps its workspace, slug",
		"UPDATE preset_deployments SET version = 1 WHERE preset_id = ?":    "permission denied",
	} {
		err := s.db.Runner().InTx(t.Context(), ws, func(ctx context.Context) error {
			return tenant(ctx, ws).Exec(statement, p.ID.UUID()).Error
		})
		require.ErrorContains(t, err, want, statement)
	}
	owner, err := s.db.Direct(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, owner.Close(context.Background())) }()
	for _, statement := range []string{"UPDATE preset_versions SET label = 'x'", "DELETE FROM preset_versions"} {
		_, err := owner.Exec(t.Context(), statement)
		require.Error(t, err, statement)
	}
}
