package postgres

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/department"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/profile"
	"github.com/signalbox-dev/signalbox/controlplane/internal/settings"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// snapshot is what would be published of the workspace now.
func (s *services) snapshot(t *testing.T, ws id.Workspace) policy.Snapshot {
	t.Helper()
	compiled, err := NewCompiler(s.db).Compile(t.Context(), ws)
	require.NoError(t, err)
	return compiled.Snapshot
}

func (s *services) profile(t *testing.T, ws id.Workspace, name string, r policy.Routing) profile.Profile {
	t.Helper()
	p, _, err := s.profiles.Create(t.Context(), ws, operator, profile.Draft{Name: name, Routing: r})
	require.NoError(t, err)
	return p
}

func TestRoutingProfileLife(t *testing.T) {
	s := openServices(t)
	ws := s.create(t, "acme").Workspace.ID
	p, pub, err := s.profiles.Create(t.Context(), ws, operator, profile.Draft{Name: "Cheap", Routing: policy.Routing{
		DefaultModel: "acme/small", Provider: policy.Preferences{Only: []string{"NORTH"}},
	}})
	require.NoError(t, err)
	require.Equal(t, []string{"north"}, p.Routing.Provider.Only, "kept by its slug")
	require.Equal(t, []string{"profile.create"}, s.stored(t, pub).Changes)
	require.Equal(t, []policy.Profile{p.Published()}, s.snapshot(t, ws).Profiles)
	require.Len(t, s.lastEvent(t, ws).Diff, 3)

	got, bindings, err := s.profiles.Get(t.Context(), ws, p.ID)
	require.NoError(t, err)
	require.Equal(t, p, got)
	require.Zero(t, bindings)

	next := policy.Routing{Mode: policy.Price}
	_, _, err = s.profiles.Update(t.Context(), ws, p.ID, operator, profile.Patch{Routing: &next, IfMatch: ptr(int64(7))})
	require.True(t, fault.Is(err, fault.PreconditionFailed))
	p, _, err = s.profiles.Update(t.Context(), ws, p.ID, operator, profile.Patch{Name: ptr("cheaper"), Routing: &next, IfMatch: ptr(int64(1))})
	require.NoError(t, err)
	require.Equal(t, next, p.Routing, "all routing fields are replaced")
	require.Equal(t, int64(2), p.Version)

	_, err = s.profiles.Delete(t.Context(), ws, p.ID, operator, ptr(int64(1)))
	require.True(t, fault.Is(err, fault.PreconditionFailed))
	_, err = s.profiles.Delete(t.Context(), ws, p.ID, operator, nil)
	require.NoError(t, err)
	require.Empty(t, s.snapshot(t, ws).Profiles)
	_, _, err = s.profiles.Get(t.Context(), ws, p.ID)
	require.True(t, fault.Is(err, fault.NotFound))
	_, err = s.profiles.Delete(t.Context(), ws, p.ID, operator, nil)
	require.True(t, fault.Is(err, fault.NotFound))
}

func TestRoutingProfileNamesAreUniqueInAWorkspace(t *testing.T) {
	s := openServices(t)
	ws, other := s.create(t, "acme").Workspace.ID, s.create(t, "other").Workspace.ID
	s.profile(t, ws, "Cheap", policy.Routing{})
	second := s.profile(t, ws, "second", policy.Routing{})
	s.profile(t, other, "Cheap", policy.Routing{})
	for what, err := range map[string]error{
		"create": func() error {
			_, _, err := s.profiles.Create(t.Context(), ws, operator, profile.Draft{Name: "cHEAP"})
			return err
		}(),
		"rename": func() error {
			_, _, err := s.profiles.Update(t.Context(), ws, second.ID, operator, profile.Patch{Name: ptr("CHEAP")})
			return err
		}(),
	} {
		require.True(t, fault.Is(err, fault.Conflict), "%s: %v", what, err)
		require.Equal(t, "name", fault.Of(err).Violations[0].Path, what)
	}
	_, _, err := s.profiles.Create(t.Context(), ws, operator, profile.Draft{
		Name: " ", Routing: policy.Routing{DefaultModel: "acme/large", Provider: policy.Preferences{Only: []string{"east"}}},
	})
	require.True(t, fault.Is(err, fault.ValidationError))
	require.Len(t, fault.Of(err).Violations, 3, "every violation at once: %v", err)
}

func TestAWorkspaceHasOnlySoManyRoutingProfiles(t *testing.T) {
	s := openServices(t)
	ws := s.create(t, "acme").Workspace.ID
	in(t, s.db, ws, func(ctx context.Context) error {
		for i := range profile.Most {
			p := profileOf(ws)
			p.ID, p.Name = id.New[id.ProfileKind](testIDs), fmt.Sprint("p", i)
			if err := NewProfileStore().Create(ctx, ws, p); err != nil {
				return err
			}
		}
		return nil
	})
	_, _, err := s.profiles.Create(t.Context(), ws, operator, profile.Draft{Name: "one more"})
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	list, err := s.profiles.List(t.Context(), ws, page.Query{Limit: 250}, profile.Filter{})
	require.NoError(t, err)
	require.Len(t, list.Items, profile.Most)
}

// A profile bound to the workspace is published as its rung, and stays until
// it is unbound.
func TestBindingARoutingProfileToTheWorkspace(t *testing.T) {
	s := openServices(t)
	ws, other := s.create(t, "acme").Workspace.ID, s.create(t, "other").Workspace.ID
	p, theirs := s.profile(t, ws, "cheap", policy.Routing{Mode: policy.Price}), s.profile(t, other, "theirs", policy.Routing{})

	_, _, err := s.settings.Update(t.Context(), ws, operator, settings.Patch{Profile: &theirs.ID}, nil)
	require.True(t, fault.Is(err, fault.NotFound), "another tenant's profile is not there: %v", err)
	after, _, err := s.settings.Update(t.Context(), ws, operator, settings.Patch{Profile: &p.ID}, nil)
	require.NoError(t, err)
	require.Equal(t, p.ID, after.Profile)
	require.Equal(t, "routing_profile_id", s.lastEvent(t, ws).Diff[0].Path)
	require.Equal(t, p.ID, s.snapshot(t, ws).Profile)
	_, bindings, err := s.profiles.Get(t.Context(), ws, p.ID)
	require.NoError(t, err)
	require.True(t, bindings.Workspace)

	_, err = s.profiles.Delete(t.Context(), ws, p.ID, operator, nil)
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	require.Equal(t, "settings.routing_profile_id", fault.Of(err).Violations[0].Path)
	require.Contains(t, fault.Of(err).Message, "the whole workspace")
	err = s.db.Runner().InTx(t.Context(), ws, func(ctx context.Context) error { return NewProfileStore().Delete(ctx, ws, p.ID) })
	require.True(t, fault.Is(err, fault.Conflict), "the database holds it too: %v", err)

	_, _, err = s.settings.Update(t.Context(), ws, operator, settings.Patch{Profile: &id.Profile{}}, nil)
	require.NoError(t, err)
	require.True(t, s.snapshot(t, ws).Profile.IsZero())
	_, err = s.profiles.Delete(t.Context(), ws, p.ID, operator, nil)
	require.NoError(t, err)
}

// The database refuses a binding to another tenant's profile, whatever a
// service forgets.
func TestABindingAcrossTenantsIsRefusedByTheDatabase(t *testing.T) {
	db := openTest(t)
	a, _ := newWorkspace(t, db)
	b, _ := newWorkspace(t, db)
	err := db.Runner().InTx(t.Context(), b.ID, func(ctx context.Context) error {
		return NewSettingsStore().Update(ctx, b.ID, settings.Settings{
			Settings: policy.DefaultSettings(), Profile: profileOf(a.ID).ID, Version: 2, UpdatedAt: epoch,
		})
	})
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
}

// Settings hold models against the catalog, but only those that the change
// names.
func TestSettingsNameModelsOfTheCatalog(t *testing.T) {
	s := openServices(t)
	ws := s.create(t, "acme").Workspace.ID
	for path, p := range map[string]settings.Patch{
		"default_model":      {DefaultModel: ptr("acme/large")},
		"fallback_models[1]": {FallbackModels: &[]string{"acme/small", "signalbox/auto"}},
	} {
		_, _, err := s.settings.Update(t.Context(), ws, operator, p, nil)
		require.True(t, fault.Is(err, fault.ValidationError), "%s: %v", path, err)
		require.Equal(t, path, fault.Of(err).Violations[0].Path)
	}
	in(t, s.db, ws, func(ctx context.Context) error {
		old, err := NewSettingsStore().Get(ctx, ws)
		require.NoError(t, err)
		old.DefaultModel, old.Version = "acme/gone", old.Version+1
		return NewSettingsStore().Update(ctx, ws, old)
	})
	_, _, err := s.settings.Update(t.Context(), ws, operator, settings.Patch{MaxAttempts: ptr(3)}, nil)
	require.NoError(t, err)
}

// A key that is bound asks for the snapshot that has what it names; unbinding
// asks for none, and the profile stays published until it is deleted.
func TestBindingAKeyIsOnePublication(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws, by := created.Workspace.ID, byMember(created.Owner)
	p := s.profile(t, ws, "cheap", policy.Routing{Mode: policy.Price})
	d, _, err := s.departments.Create(t.Context(), ws, by, department.Draft{Name: "Research", Profile: p.ID})
	require.NoError(t, err)
	require.Equal(t, []policy.Department{{ID: d.ID, Name: "Research", Profile: p.ID}}, s.snapshot(t, ws).Departments)

	k, _, pub, err := s.keys.Create(t.Context(), ws, by, apikey.NewKey{Name: "ci", Department: d.ID})
	require.NoError(t, err)
	require.Equal(t, pub.Revision, k.MinRevision)
	k, pub, err = s.keys.Update(t.Context(), ws, k.ID, by, apikey.Patch{Profile: &p.ID})
	require.NoError(t, err)
	require.Equal(t, []string{k.KID}, s.stored(t, pub).KIDs)
	require.Equal(t, pub.Revision, k.MinRevision)
	require.Equal(t, "routing_profile_id", s.lastEvent(t, ws).Diff[0].Path)
	document := apikey.Document(k)
	require.Equal(t, []any{p.ID, d.ID, pub.Revision}, []any{document.Profile, document.Department, document.MinRevision})

	same, _, err := s.keys.Update(t.Context(), ws, k.ID, by, apikey.Patch{Name: ptr("renamed"), Profile: &p.ID})
	require.NoError(t, err)
	require.Equal(t, k.MinRevision, same.MinRevision, "nothing was newly bound")
	free, _, err := s.keys.Update(t.Context(), ws, k.ID, by, apikey.Patch{Profile: &id.Profile{}, Department: &id.Department{}})
	require.NoError(t, err)
	require.True(t, free.Profile.IsZero() && free.Department.IsZero())
	require.Len(t, s.snapshot(t, ws).Profiles, 1)

	_, err = s.departments.Delete(t.Context(), ws, d.ID, by, nil)
	require.NoError(t, err)
	require.Empty(t, s.snapshot(t, ws).Departments)
}

// Whoever binds names what is there, in their own workspace.
func TestBindingsNameWhatIsThere(t *testing.T) {
	s := openServices(t)
	mine, theirs := s.create(t, "mine"), s.create(t, "theirs")
	ws, by := mine.Workspace.ID, byMember(mine.Owner)
	p := s.profile(t, theirs.Workspace.ID, "theirs", policy.Routing{})
	d, _, err := s.departments.Create(t.Context(), theirs.Workspace.ID, operator, department.Draft{Name: "theirs"})
	require.NoError(t, err)
	k, _, _, err := s.keys.Create(t.Context(), ws, by, apikey.NewKey{Name: "ci"})
	require.NoError(t, err)
	own, _, err := s.departments.Create(t.Context(), ws, by, department.Draft{Name: "own"})
	require.NoError(t, err)
	for what, call := range map[string]func() error{
		"create with a profile": func() error {
			_, _, _, err := s.keys.Create(t.Context(), ws, by, apikey.NewKey{Name: "x", Profile: p.ID})
			return err
		},
		"create in a department": func() error {
			_, _, _, err := s.keys.Create(t.Context(), ws, by, apikey.NewKey{Name: "x", Department: d.ID})
			return err
		},
		"update with a profile": func() error {
			_, _, err := s.keys.Update(t.Context(), ws, k.ID, by, apikey.Patch{Profile: &p.ID})
			return err
		},
		"update in a department": func() error {
			_, _, err := s.keys.Update(t.Context(), ws, k.ID, by, apikey.Patch{Department: &d.ID})
			return err
		},
		"a department's profile": func() error {
			_, _, err := s.departments.Create(t.Context(), ws, by, department.Draft{Name: "x", Profile: p.ID})
			return err
		},
		"a department's new profile": func() error {
			_, _, err := s.departments.Update(t.Context(), ws, own.ID, by, department.Patch{Profile: &p.ID})
			return err
		},
		"what holds for a key": func() error { _, err := s.effective.Resolve(t.Context(), theirs.Workspace.ID, k.ID); return err },
	} {
		require.True(t, fault.Is(call(), fault.NotFound), what)
	}
}
