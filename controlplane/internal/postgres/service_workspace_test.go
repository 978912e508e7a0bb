package postgres

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/managementkey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/settings"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

func TestCreateWorkspace(t *testing.T) {
	s := openServices(t)
	created, pub, err := s.workspaces.Create(t.Context(), operator, workspace.NewWorkspace{
		Name: "  Acme & Söhne  ", Owner: workspace.NewOwner{Email: " Ada@Example.COM ", Name: "Ada"},
	})
	require.NoError(t, err)
	w := created.Workspace
	require.Equal(t, "Acme & Söhne", w.Name)
	require.Equal(t, "acme-s-hne", w.Slug)
	require.Equal(t, workspace.Member{
		Workspace: w.ID, User: created.Owner.User, Email: "ada@example.com", Name: "Ada", Role: workspace.Owner, CreatedAt: epoch,
	}, created.Owner)
	require.Equal(t, int64(1), pub.Revision)
	require.Equal(t, []string{"workspace.create"}, s.stored(t, pub).Changes)

	got, err := s.workspaces.Get(t.Context(), w.ID)
	require.NoError(t, err)
	require.Equal(t, w, got)
	first, err := s.settings.Get(t.Context(), w.ID)
	require.NoError(t, err)
	require.Equal(t, policy.DefaultSettings(), first.Settings)
	event := s.lastEvent(t, w.ID)
	require.Equal(t, "workspace.create", event.Action)
	require.Equal(t, operator.Actor, event.Actor)
	require.Equal(t, w.ID.String(), event.TargetID)
}

func TestCreateWorkspaceRefusals(t *testing.T) {
	s := openServices(t)
	s.create(t, "acme")
	_, _, err := s.workspaces.Create(t.Context(), operator, workspace.NewWorkspace{Name: "x\n", Slug: "No Good", Owner: workspace.NewOwner{Email: "nobody"}})
	require.True(t, fault.Is(err, fault.ValidationError))
	var paths []string
	for _, v := range fault.Of(err).Violations {
		paths = append(paths, v.Path)
	}
	require.ElementsMatch(t, []string{"slug", "owner.email"}, paths, "white space around the name is taken away")

	_, _, err = s.workspaces.Create(t.Context(), operator, workspace.NewWorkspace{Name: "Other", Slug: "acme", Owner: workspace.NewOwner{Email: "b@example.com"}})
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	require.Equal(t, "slug", fault.Of(err).Violations[0].Path)
	all, err := s.workspaces.ListAll(t.Context(), page.Query{})
	require.NoError(t, err)
	require.Len(t, all.Items, 1, "nothing half-done")
}

// The same person can own several workspaces, also when they are created at
// the same moment.
func TestOneUserForOneEmail(t *testing.T) {
	s := openServices(t)
	const n = 6
	results := make(chan workspace.Created, n)
	errs := make(chan error, n)
	for i := range n {
		go func() {
			created, _, err := s.workspaces.Create(t.Context(), operator, workspace.NewWorkspace{
				Name: "W", Slug: fmt.Sprintf("w-%d", i), Owner: workspace.NewOwner{Email: "ada@example.com", Name: "Ada"},
			})
			results <- created
			errs <- err
		}()
	}
	users := map[id.User]bool{}
	for range n {
		require.NoError(t, <-errs)
		users[(<-results).Owner.User] = true
	}
	require.Len(t, users, 1)
}

func TestUpdateWorkspace(t *testing.T) {
	s := openServices(t)
	w := s.create(t, "acme").Workspace
	updated, pub, err := s.workspaces.Update(t.Context(), w.ID, operator, workspace.Patch{Name: ptr("New"), Tags: &[]string{"z", "a"}}, ptr(int64(1)))
	require.NoError(t, err)
	require.Equal(t, []string{"a", "z"}, updated.Tags)
	require.Equal(t, int64(2), updated.Version)
	require.Equal(t, int64(2), pub.Revision)
	require.Len(t, s.lastEvent(t, w.ID).Diff, 2)

	_, _, err = s.workspaces.Update(t.Context(), w.ID, operator, workspace.Patch{Name: ptr("Newer")}, ptr(int64(1)))
	require.True(t, fault.Is(err, fault.PreconditionFailed))
	require.Equal(t, int64(2), fault.Of(err).Fields["version"])
	_, _, err = s.workspaces.Update(t.Context(), id.New[id.WorkspaceKind](testIDs), operator, workspace.Patch{Name: ptr("x")}, nil)
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)
}

// Deleting a workspace ends every credential in it and frees its slug, and
// nothing can be added to it afterwards.
func TestDeleteWorkspace(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	w, by := created.Workspace, byMember(created.Owner)
	var kids []string
	for range 3 {
		k, _, _, err := s.keys.Create(t.Context(), w.ID, by, apikey.NewKey{Name: "k"})
		require.NoError(t, err)
		kids = append(kids, k.KID)
	}
	gone, _, err := s.keys.Revoke(t.Context(), w.ID, s.firstKey(t, w.ID), by, nil)
	require.NoError(t, err)
	_, plain, _, err := s.management.Create(t.Context(), w.ID, by, managementkey.NewKey{Name: "m", Template: managementkey.FullControl}, managementkey.Scopes())
	require.NoError(t, err)

	_, _, err = s.workspaces.Delete(t.Context(), w.ID, by, workspace.Deletion{ConfirmName: "acme"})
	require.Equal(t, "confirm_name", fault.Of(err).Violations[0].Path)
	deleted, pub, err := s.workspaces.Delete(t.Context(), w.ID, by, workspace.Deletion{ConfirmName: "Acme", IfMatch: ptr(int64(1))})
	require.NoError(t, err)
	require.Equal(t, policy.WorkspaceDeleted, deleted.Status)
	republished := s.stored(t, pub).KIDs
	require.NotContains(t, republished, gone.KID, "it was revoked before")
	require.Subset(t, kids, republished)
	require.Len(t, republished, 2)

	_, err = s.workspaces.Get(t.Context(), w.ID)
	require.True(t, fault.Is(err, fault.NotFound))
	token, err := secret.ParseToken(plain.Reveal())
	require.NoError(t, err)
	_, _, err = s.management.Authenticate(t.Context(), token)
	require.Equal(t, fault.KeyRevoked, fault.Of(err).Reason)
	keys, err := s.keys.List(t.Context(), w.ID, page.Query{}, apikey.Filter{Status: policy.KeyRevoked})
	require.NoError(t, err)
	require.Len(t, keys.Items, 3)
	for _, k := range keys.Items {
		if k.ID != gone.ID {
			require.Equal(t, pub.Revision, k.Revision)
		}
	}

	_, _, _, err = s.keys.Create(t.Context(), w.ID, by, apikey.NewKey{Name: "late"})
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)
	_, _, err = s.settings.Update(t.Context(), w.ID, by, settings.Patch{MaxModels: ptr(3)}, nil)
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)
	s.create(t, "acme")
}

func (s *services) firstKey(t *testing.T, ws id.Workspace) id.Key {
	t.Helper()
	found, err := s.keys.List(t.Context(), ws, page.Query{Limit: 1}, apikey.Filter{})
	require.NoError(t, err)
	return found.Items[0].ID
}

func TestUpdateSettings(t *testing.T) {
	s := openServices(t)
	w := s.create(t, "acme").Workspace
	got, pub, err := s.settings.Update(t.Context(), w.ID, operator, settings.Patch{
		RoutingMode: ptr(policy.Price), BetaChannel: ptr(true), AlphaChannel: ptr(true), BYOKFallback: ptr(false),
	}, ptr(int64(1)))
	require.NoError(t, err)
	require.Equal(t, int64(2), got.Version)
	require.Equal(t, int64(2), pub.Revision)
	stored, err := s.settings.Get(t.Context(), w.ID)
	require.NoError(t, err)
	require.Equal(t, got, stored)
	require.False(t, stored.BYOKFallback, "false is stored as false")
	require.Len(t, s.lastEvent(t, w.ID).Diff, 4)

	_, _, err = s.settings.Update(t.Context(), w.ID, operator, settings.Patch{
		RoutingMode: ptr(policy.Mode("canary")), BetaChannel: ptr(false), MaxAttempts: ptr(0), MaxModels: ptr(35),
		FallbackModels: &[]string{"a/b", "a/b", ""}, LogRetentionDays: ptr(4000), ModelsWithoutModel: ptr("canary"), DefaultModel: ptr("a b"),
	}, nil)
	require.Len(t, fault.Of(err).Violations, 9, "%v", fault.Of(err).Violations)
	require.NotContains(t, fmt.Sprint(fault.Of(err).Violations), "canary")
	_, _, err = s.settings.Update(t.Context(), w.ID, operator, settings.Patch{}, ptr(int64(1)))
	require.True(t, fault.Is(err, fault.PreconditionFailed))

	events, err := s.audit.List(t.Context(), w.ID, page.Query{}, auditFilter("settings.update"))
	require.NoError(t, err)
	require.Len(t, events.Items, 1, "refused changes leave nothing")
}

func TestMembers(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws := created.Workspace.ID
	got, err := s.workspaces.Member(t.Context(), ws, created.Owner.User)
	require.NoError(t, err)
	require.Equal(t, created.Owner, got)
	list, err := s.workspaces.Members(t.Context(), ws, page.Query{})
	require.NoError(t, err)
	require.Equal(t, []workspace.Member{created.Owner}, list.Items)

	// A page that ends exactly at the last row has no next one.
	in(t, s.db, ws, func(ctx context.Context) error {
		user := userRow{ID: testIDs.UUID(), Email: "b@example.com", CreatedAt: epoch}
		if err := tenant(ctx, ws).Create(&user).Error; err != nil {
			return err
		}
		return tenant(ctx, ws).Create(&memberRow{WorkspaceID: ws.UUID(), UserID: user.ID, Role: "viewer", CreatedAt: epoch}).Error
	})
	first, err := s.workspaces.Members(t.Context(), ws, page.Query{Limit: 1})
	require.NoError(t, err)
	require.Equal(t, "b@example.com", first.Items[0].Email)
	second, err := s.workspaces.Members(t.Context(), ws, page.Query{Limit: 1, Cursor: first.Next})
	require.NoError(t, err)
	require.Equal(t, []workspace.Member{created.Owner}, second.Items)
	require.Empty(t, second.Next)
}
