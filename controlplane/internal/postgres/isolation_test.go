package postgres

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/autorouting"
	"github.com/signalbox-dev/signalbox/controlplane/internal/budget"
	"github.com/signalbox-dev/signalbox/controlplane/internal/byok"
	"github.com/signalbox-dev/signalbox/controlplane/internal/department"
	"github.com/signalbox-dev/signalbox/controlplane/internal/dynamicroute"
	"github.com/signalbox-dev/signalbox/controlplane/internal/guardrail"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/preset"
	"github.com/signalbox-dev/signalbox/controlplane/internal/profile"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Everything that workspace A has is invisible and untouchable under B, in
// every method of every store.
func TestStoresShowNothingOfOthers(t *testing.T) {
	db := openTest(t)
	a, ownerA := newWorkspace(t, db)
	b, _ := newWorkspace(t, db)
	key, mk := filledKey(t, ownerA, 1), filledManagementKey(t, ownerA, 1)
	event, own := auditEvent(a.ID), filledCredential(t, ownerA, 1)
	in(t, db, a.ID, func(ctx context.Context) error {
		require.NoError(t, NewAPIKeyStore().Create(ctx, a.ID, key))
		require.NoError(t, NewManagementKeyStore().Create(ctx, a.ID, mk))
		require.NoError(t, NewBYOKStore().Create(ctx, a.ID, own))
		require.NoError(t, NewAutoRoutingStore().Update(ctx, a.ID, changedAuto()))
		require.NoError(t, NewRouteVersionStore().Add(ctx, a.ID, versionOf(a.ID)))
		require.NoError(t, NewRouteDeploymentStore().Add(ctx, a.ID, deploymentOf(a.ID)))
		storeRollout(ctx, t, ownerA)
		require.NoError(t, NewGuardrailStore().Create(ctx, a.ID, guardrailOf(a.ID)))
		require.NoError(t, NewGuardrailKeys().Add(ctx, a.ID, guardrailOf(a.ID).ID, []id.Key{key.ID}, epoch))
		storePreset(ctx, t, ownerA)
		require.NoError(t, NewBudgetStore().Create(ctx, a.ID, budgetOf(ownerA)))
		return NewAuditStore().Append(ctx, a.ID, event)
	})
	notFound := func(err error) { t.Helper(); require.True(t, fault.Is(err, fault.NotFound), "%v", err) }

	in(t, db, b.ID, func(ctx context.Context) error {
		seesNoBudget(ctx, t, b.ID, ownerA)
		_, err := NewAPIKeyStore().Get(ctx, b.ID, key.ID)
		notFound(err)
		stolen := key
		stolen.Version++
		notFound(NewAPIKeyStore().Update(ctx, b.ID, stolen))
		keys, err := NewAPIKeyStore().List(ctx, b.ID, page.Query{}, apikey.Filter{}, epoch)
		require.NoError(t, err)
		require.Empty(t, keys.Items)
		byKID, err := NewAPIKeyStore().ByKIDs(ctx, b.ID, []string{key.KID})
		require.NoError(t, err)
		require.Empty(t, byKID)
		kids, err := NewAPIKeyStore().RevokeAll(ctx, b.ID, 9, epoch)
		require.NoError(t, err)
		require.Empty(t, kids)

		listing, err := NewAPIKeyStore().Listing(ctx, b.ID, key.Models)
		require.NoError(t, err)
		require.Empty(t, listing)

		auto, err := NewAutoRoutingStore().Get(ctx, b.ID)
		require.NoError(t, err)
		require.Equal(t, autorouting.Default(), auto)

		_, err = NewManagementKeyStore().Get(ctx, b.ID, mk.ID)
		notFound(err)
		stolenMK := mk
		stolenMK.Version++
		notFound(NewManagementKeyStore().Update(ctx, b.ID, stolenMK))
		mks, err := NewManagementKeyStore().List(ctx, b.ID, page.Query{})
		require.NoError(t, err)
		require.Empty(t, mks.Items)
		_, err = NewManagementKeyStore().RevokeAll(ctx, b.ID, 9, epoch)
		require.NoError(t, err)

		_, err = NewBYOKStore().Get(ctx, b.ID, own.ID)
		notFound(err)
		stolenOwn := own
		notFound(NewBYOKStore().Delete(ctx, b.ID, stolenOwn))
		stolenOwn.Version++
		notFound(NewBYOKStore().Update(ctx, b.ID, stolenOwn))
		brought, err := NewBYOKStore().List(ctx, b.ID, page.Query{}, byok.Filter{})
		require.NoError(t, err)
		require.Empty(t, brought.Items)
		all, err := NewBYOKStore().All(ctx, b.ID)
		require.NoError(t, err)
		require.Empty(t, all)
		missing, err := NewBYOKStore().Missing(ctx, b.ID, []id.Key{key.ID})
		require.NoError(t, err)
		require.Equal(t, []id.Key{key.ID}, missing, "another's key is not there")
		_, err = NewBYOKStore().RevokeAll(ctx, b.ID, 9, epoch)
		require.NoError(t, err)
		departmentA := departmentOf(a.ID)
		_, err = NewDepartmentStore().Get(ctx, b.ID, departmentA.ID)
		notFound(err)
		notFound(NewDepartmentStore().Bindable(ctx, b.ID, departmentA.ID))
		stolenDepartment := departmentA
		stolenDepartment.Version++
		notFound(NewDepartmentStore().Update(ctx, b.ID, stolenDepartment))
		notFound(NewDepartmentStore().Delete(ctx, b.ID, departmentA.ID))
		departments, err := NewDepartmentStore().List(ctx, b.ID, page.Query{}, department.Filter{})
		require.NoError(t, err)
		require.Len(t, departments.Items, 1)
		members, err := NewDepartmentStore().Members(ctx, b.ID, departmentA.ID)
		require.NoError(t, err)
		require.Zero(t, members)
		bindings, err := NewProfileStore().Bindings(ctx, b.ID, profileOf(a.ID).ID)
		require.NoError(t, err)
		require.Zero(t, bindings)

		profileA := profileOf(a.ID)
		_, err = NewProfileStore().Get(ctx, b.ID, profileA.ID)
		notFound(err)
		notFound(NewProfileStore().Bindable(ctx, b.ID, profileA.ID))
		stolenProfile := profileA
		stolenProfile.Version++
		notFound(NewProfileStore().Update(ctx, b.ID, stolenProfile))
		notFound(NewProfileStore().Delete(ctx, b.ID, profileA.ID))
		profiles, err := NewProfileStore().List(ctx, b.ID, page.Query{}, profile.Filter{})
		require.NoError(t, err)
		require.Len(t, profiles.Items, 1)
		n, err := NewProfileStore().Count(ctx, b.ID)
		require.NoError(t, err)
		require.Equal(t, 1, n)

		rolloutA := openRolloutOf(ownerA)
		_, err = NewRolloutStore().Latest(ctx, b.ID, rolloutA.Route)
		notFound(err)
		stolenRollout := rolloutA
		stolenRollout.Version++
		notFound(NewRolloutStore().Update(ctx, b.ID, stolenRollout))
		notFound(NewRolloutStore().Suspend(ctx, b.ID, rolloutA.Route, epoch))
		notFound(NewRolloutStore().Abort(ctx, b.ID, rolloutA.Route, epoch))
		rollouts, err := NewRolloutStore().List(ctx, b.ID, rolloutA.Route, page.Query{})
		require.NoError(t, err)
		require.Empty(t, rollouts.Items)
		underway, err := NewRolloutStore().Underway(ctx, b.ID, rolloutA.Route)
		require.NoError(t, err)
		require.Zero(t, underway)
		open, err := NewRolloutStore().Open(ctx, b.ID, []id.Route{rolloutA.Route})
		require.NoError(t, err)
		require.Empty(t, open)
		cells, err := NewRolloutStore().Cells(ctx, b.ID, rolloutA.ID)
		require.NoError(t, err)
		require.Empty(t, cells)

		routeA := routeOf(a.ID)
		_, err = NewRouteStore().Get(ctx, b.ID, routeA.ID)
		notFound(err)
		stolenRoute := routeA
		stolenRoute.Version++
		notFound(NewRouteStore().Update(ctx, b.ID, stolenRoute))
		require.NoError(t, NewRouteStore().Touch(ctx, b.ID, []id.Route{routeA.ID}))
		routes, err := NewRouteStore().List(ctx, b.ID, page.Query{}, dynamicroute.Filter{})
		require.NoError(t, err)
		require.Len(t, routes.Items, 1)
		n, err = NewRouteStore().Count(ctx, b.ID)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		_, err = NewRouteVersionStore().Get(ctx, b.ID, routeA.ID, 1)
		notFound(err)
		versions, err := NewRouteVersionStore().List(ctx, b.ID, routeA.ID, page.Query{})
		require.NoError(t, err)
		require.Empty(t, versions.Items)
		notFound(NewRouteVersionStore().Mark(ctx, b.ID, routeA.ID, 1, dynamicroute.Superseded))
		_, err = NewRouteDeploymentStore().Get(ctx, b.ID, routeA.ID, 1)
		notFound(err)
		notFound(NewRouteDeploymentStore().MarkRolledBack(ctx, b.ID, routeA.ID, 1))
		routed, err := NewRouteKeys().Attached(ctx, b.ID, routeA.ID)
		require.NoError(t, err)
		require.Empty(t, routed)
		attachable, err := NewRouteKeys().Attachable(ctx, b.ID, []id.Key{key.ID})
		require.NoError(t, err)
		require.Empty(t, attachable, "another's key cannot be attached")
		attachedKIDs, err := NewRouteKeys().Attach(ctx, b.ID, routeOf(b.ID).ID, []id.Key{key.ID}, 9, epoch)
		require.NoError(t, err)
		require.Empty(t, attachedKIDs)

		guardrailA := guardrailOf(a.ID)
		_, err = NewGuardrailStore().Get(ctx, b.ID, guardrailA.ID)
		notFound(err)
		stolenGuardrail := guardrailA
		stolenGuardrail.Version++
		notFound(NewGuardrailStore().Update(ctx, b.ID, stolenGuardrail))
		notFound(NewGuardrailStore().Delete(ctx, b.ID, guardrailA.ID))
		guardrails, err := NewGuardrailStore().List(ctx, b.ID, page.Query{}, guardrail.Filter{})
		require.NoError(t, err)
		require.Empty(t, guardrails.Items)
		bindsNothing, err := NewGuardrailStore().Bindings(ctx, b.ID, guardrailA.ID)
		require.NoError(t, err)
		require.Zero(t, bindsNothing)
		n, err = NewGuardrailStore().Bound(ctx, b.ID)
		require.NoError(t, err)
		require.Zero(t, n)
		n, err = NewGuardrailStore().Patterns(ctx, b.ID, id.Guardrail{})
		require.NoError(t, err)
		require.Zero(t, n)
		published, err := publishedGuardrails(ctx, b.ID)
		require.NoError(t, err)
		require.Empty(t, published)
		theirs, err := NewGuardrailKeys().Bindable(ctx, b.ID, []id.Key{key.ID})
		require.NoError(t, err)
		require.Empty(t, theirs, "another's key cannot be bound")
		strangers, err := NewGuardrailMembers().Bindable(ctx, b.ID, []id.User{ownerA.User})
		require.NoError(t, err)
		require.Empty(t, strangers)
		theirs, err = NewGuardrailKeys().Bound(ctx, b.ID, guardrailA.ID, []id.Key{key.ID})
		require.NoError(t, err)
		require.Empty(t, theirs)
		require.NoError(t, NewGuardrailKeys().Remove(ctx, b.ID, guardrailA.ID, []id.Key{key.ID}))
		listed, err := NewGuardrailKeys().List(ctx, b.ID, guardrailA.ID, page.Query{})
		require.NoError(t, err)
		require.Empty(t, listed.Items)

		seesNoPreset(ctx, t, b.ID, ownerA)
		_, err = NewWorkspaceStore().Member(ctx, b.ID, ownerA.User)
		notFound(err)
		people, err := NewWorkspaceStore().Members(ctx, b.ID, page.Query{})
		require.NoError(t, err)
		require.Len(t, people.Items, 1)

		events, err := NewAuditStore().List(ctx, b.ID, page.Query{}, audit.Filter{})
		require.NoError(t, err)
		require.Empty(t, events.Items)
		return nil
	})

	in(t, db, a.ID, func(ctx context.Context) error {
		got, err := NewAPIKeyStore().Get(ctx, a.ID, key.ID)
		require.NoError(t, err)
		require.Equal(t, key, got, "nothing done under B reached it")
		gotRoute, err := NewRouteStore().Get(ctx, a.ID, routeOf(a.ID).ID)
		require.NoError(t, err)
		require.Equal(t, routeOf(a.ID), gotRoute)
		gotRollout, err := NewRolloutStore().Latest(ctx, a.ID, routeOf(a.ID).ID)
		require.NoError(t, err)
		require.Equal(t, openRolloutOf(ownerA), gotRollout)
		gotVersion, err := NewRouteVersionStore().Get(ctx, a.ID, routeOf(a.ID).ID, 1)
		require.NoError(t, err)
		require.Equal(t, versionOf(a.ID), gotVersion)
		gotDeployment, err := NewRouteDeploymentStore().Get(ctx, a.ID, routeOf(a.ID).ID, 1)
		require.NoError(t, err)
		require.Equal(t, deploymentOf(a.ID), gotDeployment)
		gotOwn, err := NewBYOKStore().Get(ctx, a.ID, own.ID)
		require.NoError(t, err)
		require.Equal(t, own, gotOwn)
		still, err := NewGuardrailKeys().Bound(ctx, a.ID, guardrailOf(a.ID).ID, []id.Key{key.ID})
		require.NoError(t, err)
		require.Equal(t, []id.Key{key.ID}, still)
		gotMK, err := NewManagementKeyStore().Get(ctx, a.ID, mk.ID)
		require.Equal(t, mk, gotMK)
		return err
	})
}

// Writing a row of A under B is refused by the database, whatever a store does.
func TestWritesForOthersAreRefused(t *testing.T) {
	db := openTest(t)
	a, ownerA := newWorkspace(t, db)
	b, _ := newWorkspace(t, db)
	writes := map[string]func(ctx context.Context) error{
		"api key": func(ctx context.Context) error { return NewAPIKeyStore().Create(ctx, b.ID, filledKey(t, ownerA, 1)) },
		"management key": func(ctx context.Context) error {
			return NewManagementKeyStore().Create(ctx, b.ID, filledManagementKey(t, ownerA, 1))
		},
		"provider key": func(ctx context.Context) error {
			return NewBYOKStore().Create(ctx, b.ID, filledCredential(t, ownerA, 1))
		},
		"department": func(ctx context.Context) error {
			d := departmentOf(a.ID)
			d.ID = id.New[id.DepartmentKind](testIDs)
			return NewDepartmentStore().Create(ctx, b.ID, d)
		},
		"routing profile": func(ctx context.Context) error {
			p := profileOf(a.ID)
			p.ID = id.New[id.ProfileKind](testIDs)
			return NewProfileStore().Create(ctx, b.ID, p)
		},
		"guardrail": func(ctx context.Context) error { return NewGuardrailStore().Create(ctx, b.ID, guardrailOf(a.ID)) },
		"budget":    func(ctx context.Context) error { return NewBudgetStore().Create(ctx, b.ID, budgetOf(ownerA)) },
		"dynamic route": func(ctx context.Context) error {
			r := routeOf(a.ID)
			r.ID = id.New[id.RouteKind](testIDs)
			return NewRouteStore().Create(ctx, b.ID, r)
		},
		"version of a dynamic route":    func(ctx context.Context) error { return NewRouteVersionStore().Add(ctx, b.ID, versionOf(a.ID)) },
		"deployment of a dynamic route": func(ctx context.Context) error { return NewRouteDeploymentStore().Add(ctx, b.ID, deploymentOf(a.ID)) },
		"rollout of a dynamic route":    func(ctx context.Context) error { return NewRolloutStore().Create(ctx, b.ID, openRolloutOf(ownerA)) },
		"preset": func(ctx context.Context) error {
			p, _, _ := presetOf(ownerA)
			return NewPresetStore().Create(ctx, b.ID, p)
		},
		"version of a preset": func(ctx context.Context) error {
			_, v, _ := presetOf(ownerA)
			return NewPresetVersions().Add(ctx, b.ID, v)
		},
		"deployment of a preset": func(ctx context.Context) error {
			p, _, d := presetOf(ownerA)
			row := deploymentRowOf(a.ID, p.ID, d)
			return tenant(ctx, b.ID).Create(&row).Error
		},
		"publisher": func(ctx context.Context) error {
			return NewPresetStore().PutPublisher(ctx, b.ID, preset.Publisher{Workspace: a.ID, Handle: "theirs", Version: 1})
		},
		"binding of a guardrail": func(ctx context.Context) error {
			row := boundRowOf(a.ID, guardrailOf(a.ID).ID, ownerA.User.UUID(), epoch)
			return tenant(ctx, b.ID).Table(guardrailMembers).Create(&row).Error
		},
		"auto routing": func(ctx context.Context) error {
			row := autoRoutingRowOf(a.ID, changedAuto())
			return tenant(ctx, b.ID).Create(&row).Error
		},
		"audit event": func(ctx context.Context) error { return NewAuditStore().Append(ctx, b.ID, auditEvent(a.ID)) },
		"revision": func(ctx context.Context) error {
			return tenant(ctx, b.ID).Create(&revisionRow{WorkspaceID: id.New[id.WorkspaceKind](testIDs).UUID()}).Error
		},
	}
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, db.Runner().InTx(t.Context(), b.ID, write), "row-level security")
		})
	}
}

func auditEvent(ws id.Workspace) audit.Event {
	return audit.Event{
		ID: id.New[id.AuditEventKind](testIDs), Workspace: ws, At: epoch, Actor: audit.Actor{Kind: audit.Operator, Name: "operator"},
		Action: "key.create", TargetType: "key", TargetID: "key_x", Diff: []audit.Change{{Path: "status", After: string(policy.KeyActive)}},
		RequestID: "req", Revision: 1,
	}
}

// seesNoBudget calls every method under ws for budgetOf of the other workspace.
func seesNoBudget(ctx context.Context, t *testing.T, ws id.Workspace, other workspace.Member) {
	t.Helper()
	store, theirs := NewBudgetStore(), budgetOf(other)
	_, err := store.Get(ctx, ws, theirs.ID)
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)
	changed := theirs
	changed.Version++
	require.True(t, fault.Is(store.Update(ctx, ws, changed), fault.NotFound))
	require.True(t, fault.Is(store.Delete(ctx, ws, theirs.ID), fault.NotFound))
	for _, departments := range []bool{false, true} {
		list, err := store.List(ctx, ws, departments, page.Query{}, budget.Filter{})
		require.NoError(t, err)
		require.Empty(t, list.Items)
	}
	n, err := store.Count(ctx, ws)
	require.NoError(t, err)
	require.Zero(t, n)
	released, err := store.ReleaseDepartment(ctx, ws, theirs.Target.Department)
	require.NoError(t, err)
	require.Empty(t, released)
	released, err = store.ReleaseGuardrail(ctx, ws, guardrailOf(other.Workspace).ID)
	require.NoError(t, err)
	require.Empty(t, released)
	require.True(t, fault.Is(BudgetTargets{}.Department(ctx, ws, theirs.Target.Department), fault.NotFound))
	require.True(t, fault.Is(BudgetTargets{}.Guardrail(ctx, ws, guardrailOf(other.Workspace).ID), fault.NotFound))
	compiled, err := (&Compiler{}).limits(ctx, ws)
	require.NoError(t, err)
	require.Nil(t, compiled)
}
