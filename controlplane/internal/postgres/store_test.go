package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/credential"
	"github.com/signalbox-dev/signalbox/controlplane/internal/department"
	"github.com/signalbox-dev/signalbox/controlplane/internal/managementkey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/profile"
	"github.com/signalbox-dev/signalbox/controlplane/internal/settings"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
)

// Every field of a key survives storing, and every field that may change
// survives an update.
func TestAPIKeysAreStoredWhole(t *testing.T) {
	db := openTest(t)
	w, owner := newWorkspace(t, db)
	store := NewAPIKeyStore()
	k := filledKey(t, owner, 1)
	next := filledKey(t, owner, 2)
	next.ID, next.KID, next.CreatedAt, next.LastUsedAt, next.Version = k.ID, k.KID, k.CreatedAt, k.LastUsedAt, 2
	in(t, db, w.ID, func(ctx context.Context) error {
		require.NoError(t, store.Create(ctx, w.ID, k))
		got, err := store.Get(ctx, w.ID, k.ID)
		require.NoError(t, err)
		require.Equal(t, k, got)
		require.NoError(t, store.Update(ctx, w.ID, next))
		got, err = store.Get(ctx, w.ID, k.ID)
		require.Equal(t, next, got)
		return err
	})
}

func TestManagementKeysAreStoredWhole(t *testing.T) {
	db := openTest(t)
	w, owner := newWorkspace(t, db)
	store := NewManagementKeyStore()
	k := filledManagementKey(t, owner, 1)
	next := filledManagementKey(t, owner, 2)
	next.ID, next.KID, next.CreatedAt, next.LastUsedAt, next.Version = k.ID, k.KID, k.CreatedAt, k.LastUsedAt, 2
	next.Template = managementkey.FullControl
	in(t, db, w.ID, func(ctx context.Context) error {
		require.NoError(t, store.Create(ctx, w.ID, k))
		got, err := store.Get(ctx, w.ID, k.ID)
		require.NoError(t, err)
		require.Equal(t, k, got)
		require.NoError(t, store.Update(ctx, w.ID, next))
		got, err = store.Get(ctx, w.ID, k.ID)
		require.Equal(t, next, got)
		return err
	})
	require.NoError(t, db.System().InTx(t.Context(), func(ctx context.Context) error {
		at := epoch.Add(time.Hour)
		require.NoError(t, NewManagementKeyDirectory().Touch(ctx, k.ID, at))
		got, member, err := NewManagementKeyDirectory().ByKID(ctx, k.KID)
		next.LastUsedAt = &at
		require.Equal(t, next, got)
		require.Equal(t, owner, member)
		return err
	}))
}

func TestWorkspacesAndMembersAreStoredWhole(t *testing.T) {
	db := openTest(t)
	w, owner := newWorkspace(t, db)
	store := NewWorkspaceStore()
	next := fill.Value[workspace.Workspace](3)
	next.ID, next.CreatedAt, next.Version, next.Slug, next.Status = w.ID, w.CreatedAt, 2, "next", policy.WorkspaceActive
	in(t, db, w.ID, func(ctx context.Context) error {
		got, err := store.Get(ctx, w.ID)
		require.NoError(t, err)
		require.Equal(t, w, got)
		member, err := store.Member(ctx, w.ID, owner.User)
		require.NoError(t, err)
		require.Equal(t, owner, member)
		require.NoError(t, store.Update(ctx, next))
		got, err = store.Get(ctx, w.ID)
		require.Equal(t, next, got)
		return err
	})
}

func TestSettingsAreStoredWhole(t *testing.T) {
	db := openTest(t)
	w, _ := newWorkspace(t, db)
	store := NewSettingsStore()
	for version := int64(2); version <= 3; version++ { // both values of every bool
		next := fill.Value[settings.Settings](int(version))
		next.RoutingMode, next.ModelsWithoutModel, next.MaxAttempts, next.MaxModels = policy.Latency, policy.ModelsUseFirst, 3, 4
		next.LogRetentionDays, next.Version, next.Profile = int(version)*10, version, profileOf(w.ID).ID
		in(t, db, w.ID, func(ctx context.Context) error {
			require.NoError(t, store.Update(ctx, w.ID, next))
			got, err := store.Get(ctx, w.ID)
			require.Equal(t, next, got)
			return err
		})
	}
}

func TestRoutingProfilesAreStoredWhole(t *testing.T) {
	db := openTest(t)
	w, _ := newWorkspace(t, db)
	store, first := NewProfileStore(), profileOf(w.ID)
	next := fill.Value[profile.Profile](2)
	next.ID, next.Workspace, next.CreatedAt, next.Version = first.ID, w.ID, first.CreatedAt, 2
	in(t, db, w.ID, func(ctx context.Context) error {
		got, err := store.Get(ctx, w.ID, first.ID)
		require.NoError(t, err)
		require.Equal(t, first, got)
		require.NoError(t, store.Update(ctx, w.ID, next))
		got, err = store.Get(ctx, w.ID, first.ID)
		require.NoError(t, err)
		require.Equal(t, next, got)
		list, err := store.List(ctx, w.ID, page.Query{}, profile.Filter{Name: strings.ToUpper(next.Name)})
		require.NoError(t, err)
		require.Equal(t, []profile.Profile{next}, list.Items)
		list, err = store.List(ctx, w.ID, page.Query{}, profile.Filter{Name: "another"})
		require.NoError(t, err)
		require.Empty(t, list.Items)
		require.True(t, fault.Is(NewProfileStore().Bindable(ctx, w.ID, id.New[id.ProfileKind](testIDs)), fault.NotFound))
		require.NoError(t, NewDepartmentStore().Delete(ctx, w.ID, departmentOf(w.ID).ID), "which is bound to it")
		require.NoError(t, store.Delete(ctx, w.ID, first.ID))
		_, err = store.Get(ctx, w.ID, first.ID)
		require.True(t, fault.Is(err, fault.NotFound))
		require.True(t, fault.Is(store.Delete(ctx, w.ID, first.ID), fault.NotFound))
		return nil
	})
}

func TestDepartmentsAreStoredWhole(t *testing.T) {
	db := openTest(t)
	w, _ := newWorkspace(t, db)
	store, first := NewDepartmentStore(), departmentOf(w.ID)
	next := fill.Value[department.Department](2)
	next.ID, next.Workspace, next.CreatedAt, next.Version, next.Profile = first.ID, w.ID, first.CreatedAt, 2, id.Profile{}
	in(t, db, w.ID, func(ctx context.Context) error {
		got, err := store.Get(ctx, w.ID, first.ID)
		require.NoError(t, err)
		require.Equal(t, first, got)
		require.NoError(t, store.Update(ctx, w.ID, next))
		got, err = store.Get(ctx, w.ID, first.ID)
		require.NoError(t, err)
		require.Equal(t, next, got)
		list, err := store.List(ctx, w.ID, page.Query{}, department.Filter{Name: strings.ToUpper(next.Name)})
		require.NoError(t, err)
		require.Equal(t, []department.Department{next}, list.Items)
		list, err = store.List(ctx, w.ID, page.Query{}, department.Filter{Name: "another"})
		require.NoError(t, err)
		require.Empty(t, list.Items)
		require.NoError(t, store.Delete(ctx, w.ID, first.ID))
		require.True(t, fault.Is(store.Delete(ctx, w.ID, first.ID), fault.NotFound))
		return nil
	})
}

func TestAuditEventsAreStoredWholeAndForGood(t *testing.T) {
	db := openTest(t)
	w, owner := newWorkspace(t, db)
	e := fill.Value[audit.Event](1)
	e.ID, e.Workspace, e.Actor.Kind, e.Actor.User, e.Action = id.New[id.AuditEventKind](testIDs), w.ID, audit.ManagementKey, owner.User, "key.create"
	require.Empty(t, fill.Zero(e))
	in(t, db, w.ID, func(ctx context.Context) error {
		require.NoError(t, NewAuditStore().Append(ctx, w.ID, e))
		got, err := NewAuditStore().List(ctx, w.ID, page.Query{}, audit.Filter{})
		require.Equal(t, []audit.Event{e}, got.Items)
		return err
	})
	owned := db.DirectSQL()
	defer owned.Close()
	for _, statement := range []string{"UPDATE audit_events SET actor_name = 'x'", "DELETE FROM audit_events", "TRUNCATE audit_events"} {
		_, err := owned.ExecContext(t.Context(), statement)
		require.ErrorContains(t, err, "append-only", statement)
	}
}

func TestAuditFilters(t *testing.T) {
	db := openTest(t)
	w, owner := newWorkspace(t, db)
	var events []audit.Event
	for i := range 4 {
		e := auditEvent(w.ID)
		e.At, e.TargetID = epoch.Add(time.Duration(i)*time.Minute), fmt.Sprintf("t%d", i)
		events = append(events, e)
	}
	events[0].Action, events[1].TargetType = "key.revoke", "settings"
	events[2].Actor = audit.Actor{Kind: audit.ManagementKey, ID: "mk_1", User: owner.User, Name: "ci"}
	in(t, db, w.ID, func(ctx context.Context) error {
		for _, e := range events {
			require.NoError(t, NewAuditStore().Append(ctx, w.ID, e))
		}
		return nil
	})
	cases := map[string]struct {
		filter audit.Filter
		want   []int // newest first
	}{
		"all":         {audit.Filter{}, []int{3, 2, 1, 0}},
		"action":      {audit.Filter{Action: "key.revoke"}, []int{0}},
		"target type": {audit.Filter{TargetType: "settings"}, []int{1}},
		"target id":   {audit.Filter{TargetID: "t3"}, []int{3}},
		"actor":       {audit.Filter{Actor: "mk_1"}, []int{2}},
		"user":        {audit.Filter{Actor: owner.User.String()}, []int{2}},
		"window":      {audit.Filter{Since: epoch.Add(time.Minute), Until: epoch.Add(3 * time.Minute)}, []int{2, 1}},
		"together":    {audit.Filter{Actor: "mk_1", Action: "key.revoke"}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			in(t, db, w.ID, func(ctx context.Context) error {
				got, err := NewAuditStore().List(ctx, w.ID, page.Query{}, c.filter)
				require.NoError(t, err)
				var want []audit.Event
				for _, i := range c.want {
					want = append(want, events[i])
				}
				require.ElementsMatch(t, want, got.Items)
				return nil
			})
		})
	}
}

// An update against an old version changes nothing and tells the present one;
// one of a missing thing is not found.
func TestUpdatesNeedThePresentVersion(t *testing.T) {
	db := openTest(t)
	w, owner := newWorkspace(t, db)
	k, mk := filledKey(t, owner, 1), filledManagementKey(t, owner, 1)
	in(t, db, w.ID, func(ctx context.Context) error {
		require.NoError(t, NewAPIKeyStore().Create(ctx, w.ID, k))
		return NewManagementKeyStore().Create(ctx, w.ID, mk)
	})
	s := settings.Settings{Settings: policy.DefaultSettings(), UpdatedAt: epoch, Version: 7}
	staleKey, staleMK, staleW := k, mk, w
	staleKey.Version, staleMK.Version, staleW.Version = 7, 7, 7
	for name, update := range map[string]func(ctx context.Context) error{
		"api key":        func(ctx context.Context) error { return NewAPIKeyStore().Update(ctx, w.ID, staleKey) },
		"management key": func(ctx context.Context) error { return NewManagementKeyStore().Update(ctx, w.ID, staleMK) },
		"workspace":      func(ctx context.Context) error { return NewWorkspaceStore().Update(ctx, staleW) },
		"settings":       func(ctx context.Context) error { return NewSettingsStore().Update(ctx, w.ID, s) },
	} {
		t.Run(name, func(t *testing.T) {
			err := db.Runner().InTx(t.Context(), w.ID, update)
			require.True(t, fault.Is(err, fault.PreconditionFailed), "%v", err)
			require.Equal(t, int64(1), fault.Of(err).Fields["version"])
		})
	}
	missing := filledKey(t, owner, 3)
	err := db.Runner().InTx(t.Context(), w.ID, func(ctx context.Context) error { return NewAPIKeyStore().Update(ctx, w.ID, missing) })
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)
}

// Pages cover the list exactly once, although keys are created between them.
func TestPagesAreStableUnderInserts(t *testing.T) {
	db := openTest(t)
	w, owner := newWorkspace(t, db)
	store := NewAPIKeyStore()
	create := func() id.Key {
		k := filledKey(t, owner, 1)
		in(t, db, w.ID, func(ctx context.Context) error { return store.Create(ctx, w.ID, k) })
		return k.ID
	}
	var want []id.Key
	for range 7 {
		want = append(want, create())
	}
	slices.Reverse(want)
	var got []id.Key
	q := page.Query{Limit: 3}
	for pages := 1; ; pages++ {
		var found page.Result[apikey.Key]
		in(t, db, w.ID, func(ctx context.Context) (err error) {
			found, err = store.List(ctx, w.ID, q, apikey.Filter{}, epoch)
			return err
		})
		for _, k := range found.Items {
			got = append(got, k.ID)
		}
		if found.Next == "" {
			require.Equal(t, 3, pages)
			break
		}
		create()
		q.Cursor = found.Next
	}
	require.Equal(t, want, got)

	in(t, db, w.ID, func(ctx context.Context) error {
		_, err := store.List(ctx, w.ID, page.Query{Cursor: "nonsense!"}, apikey.Filter{}, epoch)
		require.True(t, fault.Is(err, fault.ValidationError))
		require.Equal(t, "cursor", fault.Of(err).Violations[0].Path)
		return nil
	})
}

func TestListByEffectiveStatus(t *testing.T) {
	db := openTest(t)
	w, owner := newWorkspace(t, db)
	past, future := epoch.Add(-time.Minute), epoch.Add(time.Minute)
	keys := map[policy.KeyStatus]apikey.Key{}
	for status, shape := range map[policy.KeyStatus]struct {
		stored  policy.KeyStatus
		expires *time.Time
	}{
		policy.KeyActive: {policy.KeyActive, &future}, policy.KeyPaused: {policy.KeyPaused, nil},
		policy.KeyRevoked: {policy.KeyRevoked, &past}, credential.Expired: {policy.KeyActive, &past},
	} {
		k := filledKey(t, owner, 1)
		k.Status, k.ExpiresAt = shape.stored, shape.expires
		require.Equal(t, status, k.Effective(epoch))
		in(t, db, w.ID, func(ctx context.Context) error { return NewAPIKeyStore().Create(ctx, w.ID, k) })
		keys[status] = k
	}
	for status, k := range keys {
		in(t, db, w.ID, func(ctx context.Context) error {
			got, err := NewAPIKeyStore().List(ctx, w.ID, page.Query{}, apikey.Filter{Status: status}, epoch)
			require.Equal(t, []apikey.Key{k}, got.Items, status)
			return err
		})
	}
}
