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
	"github.com/signalbox-dev/signalbox/controlplane/internal/settings"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
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

// A store called in another workspace's transaction, or in none, does nothing.
func TestStoresRefuseOtherScopes(t *testing.T) {
	db := openTest(t)
	a, ownerA := newWorkspace(t, db)
	b, _ := newWorkspace(t, db)
	key, mk, own := filledKey(t, ownerA, 1), filledManagementKey(t, ownerA, 1), filledCredential(t, ownerA, 1)
	calls := map[string]func(ctx context.Context) error{
		"apikey.Create": func(ctx context.Context) error { return NewAPIKeyStore().Create(ctx, a.ID, key) },
		"apikey.Get":    func(ctx context.Context) error { _, err := NewAPIKeyStore().Get(ctx, a.ID, key.ID); return err },
		"apikey.List": func(ctx context.Context) error {
			_, err := NewAPIKeyStore().List(ctx, a.ID, page.Query{}, apikey.Filter{}, epoch)
			return err
		},
		"apikey.Update": func(ctx context.Context) error { return NewAPIKeyStore().Update(ctx, a.ID, key) },
		"apikey.ByKIDs": func(ctx context.Context) error {
			_, err := NewAPIKeyStore().ByKIDs(ctx, a.ID, []string{key.KID})
			return err
		},
		"apikey.RevokeAll": func(ctx context.Context) error { _, err := NewAPIKeyStore().RevokeAll(ctx, a.ID, 1, epoch); return err },
		"mk.Create":        func(ctx context.Context) error { return NewManagementKeyStore().Create(ctx, a.ID, mk) },
		"mk.Get":           func(ctx context.Context) error { _, err := NewManagementKeyStore().Get(ctx, a.ID, mk.ID); return err },
		"mk.List": func(ctx context.Context) error {
			_, err := NewManagementKeyStore().List(ctx, a.ID, page.Query{})
			return err
		},
		"mk.Update": func(ctx context.Context) error { return NewManagementKeyStore().Update(ctx, a.ID, mk) },
		"mk.RevokeAll": func(ctx context.Context) error {
			_, err := NewManagementKeyStore().RevokeAll(ctx, a.ID, 1, epoch)
			return err
		},
		"mk.ByKID": func(ctx context.Context) error {
			_, _, err := NewManagementKeyDirectory().ByKID(ctx, mk.KID)
			return err
		},
		"mk.Touch":  func(ctx context.Context) error { return NewManagementKeyDirectory().Touch(ctx, mk.ID, epoch) },
		"ws.Create": func(ctx context.Context) error { return NewWorkspaceStore().Create(ctx, a, ownerA, true) },
		"ws.Get":    func(ctx context.Context) error { _, err := NewWorkspaceStore().Get(ctx, a.ID); return err },
		"ws.Update": func(ctx context.Context) error { return NewWorkspaceStore().Update(ctx, a) },
		"ws.Members": func(ctx context.Context) error {
			_, err := NewWorkspaceStore().Members(ctx, a.ID, page.Query{})
			return err
		},
		"ws.Member": func(ctx context.Context) error {
			_, err := NewWorkspaceStore().Member(ctx, a.ID, ownerA.User)
			return err
		},
		"ws.List": func(ctx context.Context) error { _, err := NewWorkspaceDirectory().List(ctx, page.Query{}); return err },
		"ws.UserByEmail": func(ctx context.Context) error {
			_, err := NewWorkspaceDirectory().UserByEmail(ctx, ownerA.Email)
			return err
		},
		"settings.Create": func(ctx context.Context) error { return NewSettingsStore().Create(ctx, a.ID, settings.Settings{}) },
		"settings.Get":    func(ctx context.Context) error { _, err := NewSettingsStore().Get(ctx, a.ID); return err },
		"settings.Update": func(ctx context.Context) error { return NewSettingsStore().Update(ctx, a.ID, settings.Settings{}) },
		"auto.Get":        func(ctx context.Context) error { _, err := NewAutoRoutingStore().Get(ctx, a.ID); return err },
		"auto.Update":     func(ctx context.Context) error { return NewAutoRoutingStore().Update(ctx, a.ID, changedAuto()) },
		"byok.Create":     func(ctx context.Context) error { return NewBYOKStore().Create(ctx, a.ID, own) },
		"byok.Get":        func(ctx context.Context) error { _, err := NewBYOKStore().Get(ctx, a.ID, own.ID); return err },
		"byok.Update":     func(ctx context.Context) error { return NewBYOKStore().Update(ctx, a.ID, own) },
		"byok.Delete":     func(ctx context.Context) error { return NewBYOKStore().Delete(ctx, a.ID, own) },
		"byok.All":        func(ctx context.Context) error { _, err := NewBYOKStore().All(ctx, a.ID); return err },
		"byok.List": func(ctx context.Context) error {
			_, err := NewBYOKStore().List(ctx, a.ID, page.Query{}, byok.Filter{})
			return err
		},
		"byok.Missing": func(ctx context.Context) error {
			_, err := NewBYOKStore().Missing(ctx, a.ID, []id.Key{key.ID})
			return err
		},
		"byok.RevokeAll":    func(ctx context.Context) error { _, err := NewBYOKStore().RevokeAll(ctx, a.ID, 1, epoch); return err },
		"department.Create": func(ctx context.Context) error { return NewDepartmentStore().Create(ctx, a.ID, departmentOf(a.ID)) },
		"department.Get": func(ctx context.Context) error {
			_, err := NewDepartmentStore().Get(ctx, a.ID, departmentOf(a.ID).ID)
			return err
		},
		"department.List": func(ctx context.Context) error {
			_, err := NewDepartmentStore().List(ctx, a.ID, page.Query{}, department.Filter{})
			return err
		},
		"department.Count":  func(ctx context.Context) error { _, err := NewDepartmentStore().Count(ctx, a.ID); return err },
		"department.Update": func(ctx context.Context) error { return NewDepartmentStore().Update(ctx, a.ID, departmentOf(a.ID)) },
		"department.Delete": func(ctx context.Context) error { return NewDepartmentStore().Delete(ctx, a.ID, departmentOf(a.ID).ID) },
		"department.Members": func(ctx context.Context) error {
			_, err := NewDepartmentStore().Members(ctx, a.ID, departmentOf(a.ID).ID)
			return err
		},
		"department.Bindable": func(ctx context.Context) error {
			return NewDepartmentStore().Bindable(ctx, a.ID, departmentOf(a.ID).ID)
		},
		"profile.Create": func(ctx context.Context) error { return NewProfileStore().Create(ctx, a.ID, profileOf(a.ID)) },
		"profile.Get": func(ctx context.Context) error {
			_, err := NewProfileStore().Get(ctx, a.ID, profileOf(a.ID).ID)
			return err
		},
		"profile.List": func(ctx context.Context) error {
			_, err := NewProfileStore().List(ctx, a.ID, page.Query{}, profile.Filter{})
			return err
		},
		"profile.Count":  func(ctx context.Context) error { _, err := NewProfileStore().Count(ctx, a.ID); return err },
		"profile.Update": func(ctx context.Context) error { return NewProfileStore().Update(ctx, a.ID, profileOf(a.ID)) },
		"profile.Delete": func(ctx context.Context) error { return NewProfileStore().Delete(ctx, a.ID, profileOf(a.ID).ID) },
		"profile.Bindings": func(ctx context.Context) error {
			_, err := NewProfileStore().Bindings(ctx, a.ID, profileOf(a.ID).ID)
			return err
		},
		"profile.Bindable": func(ctx context.Context) error { return NewProfileStore().Bindable(ctx, a.ID, profileOf(a.ID).ID) },
		"route.Create":     func(ctx context.Context) error { return NewRouteStore().Create(ctx, a.ID, routeOf(a.ID)) },
		"route.Get": func(ctx context.Context) error {
			_, err := NewRouteStore().Get(ctx, a.ID, routeOf(a.ID).ID)
			return err
		},
		"route.Update": func(ctx context.Context) error { return NewRouteStore().Update(ctx, a.ID, routeOf(a.ID)) },
		"route.Touch":  func(ctx context.Context) error { return NewRouteStore().Touch(ctx, a.ID, []id.Route{routeOf(a.ID).ID}) },
		"route.List": func(ctx context.Context) error {
			_, err := NewRouteStore().List(ctx, a.ID, page.Query{}, dynamicroute.Filter{})
			return err
		},
		"route.Count":     func(ctx context.Context) error { _, err := NewRouteStore().Count(ctx, a.ID); return err },
		"route.SlugTaken": func(ctx context.Context) error { _, err := NewRouteStore().SlugTaken(ctx, a.ID, "a"); return err },
		"route version.Add": func(ctx context.Context) error {
			return NewRouteVersionStore().Add(ctx, a.ID, versionOf(a.ID))
		},
		"route version.Get": func(ctx context.Context) error {
			_, err := NewRouteVersionStore().Get(ctx, a.ID, routeOf(a.ID).ID, 1)
			return err
		},
		"route version.List": func(ctx context.Context) error {
			_, err := NewRouteVersionStore().List(ctx, a.ID, routeOf(a.ID).ID, page.Query{})
			return err
		},
		"route version.Mark": func(ctx context.Context) error {
			return NewRouteVersionStore().Mark(ctx, a.ID, routeOf(a.ID).ID, 1, dynamicroute.Deployed)
		},
		"route deployment.Add": func(ctx context.Context) error {
			return NewRouteDeploymentStore().Add(ctx, a.ID, deploymentOf(a.ID))
		},
		"route deployment.Get": func(ctx context.Context) error {
			_, err := NewRouteDeploymentStore().Get(ctx, a.ID, routeOf(a.ID).ID, 1)
			return err
		},
		"route deployment.MarkRolledBack": func(ctx context.Context) error {
			return NewRouteDeploymentStore().MarkRolledBack(ctx, a.ID, routeOf(a.ID).ID, 1)
		},
		"route keys.Attached": func(ctx context.Context) error {
			_, err := NewRouteKeys().Attached(ctx, a.ID, routeOf(a.ID).ID)
			return err
		},
		"route keys.Attachable": func(ctx context.Context) error {
			_, err := NewRouteKeys().Attachable(ctx, a.ID, []id.Key{key.ID})
			return err
		},
		"route keys.Attach": func(ctx context.Context) error {
			_, err := NewRouteKeys().Attach(ctx, a.ID, routeOf(a.ID).ID, []id.Key{key.ID}, 1, epoch)
			return err
		},
		"budget.Create": func(ctx context.Context) error { return NewBudgetStore().Create(ctx, a.ID, budgetOf(ownerA)) },
		"budget.Get": func(ctx context.Context) error {
			_, err := NewBudgetStore().Get(ctx, a.ID, budgetOf(ownerA).ID)
			return err
		},
		"budget.Update": func(ctx context.Context) error { return NewBudgetStore().Update(ctx, a.ID, budgetOf(ownerA)) },
		"budget.Delete": func(ctx context.Context) error { return NewBudgetStore().Delete(ctx, a.ID, budgetOf(ownerA).ID) },
		"budget.Count":  func(ctx context.Context) error { _, err := NewBudgetStore().Count(ctx, a.ID); return err },
		"budget.List": func(ctx context.Context) error {
			_, err := NewBudgetStore().List(ctx, a.ID, true, page.Query{}, budget.Filter{})
			return err
		},
		"budget.ReleaseDepartment": func(ctx context.Context) error {
			_, err := NewBudgetStore().ReleaseDepartment(ctx, a.ID, departmentOf(a.ID).ID)
			return err
		},
		"budget.ReleaseGuardrail": func(ctx context.Context) error {
			_, err := NewBudgetStore().ReleaseGuardrail(ctx, a.ID, guardrailOf(a.ID).ID)
			return err
		},
		"budget targets.Department": func(ctx context.Context) error {
			return BudgetTargets{}.Department(ctx, a.ID, departmentOf(a.ID).ID)
		},
		"budget targets.Guardrail": func(ctx context.Context) error {
			return BudgetTargets{}.Guardrail(ctx, a.ID, guardrailOf(a.ID).ID)
		},
		"spending.Spent": func(ctx context.Context) error {
			_, err := NewSpendingStore().Spent(ctx, a.ID, []wire.Account{wire.AccountWorkspace}, epoch)
			return err
		},
		"guardrail.Create": func(ctx context.Context) error { return NewGuardrailStore().Create(ctx, a.ID, guardrailOf(a.ID)) },
		"guardrail.Get": func(ctx context.Context) error {
			_, err := NewGuardrailStore().Get(ctx, a.ID, guardrailOf(a.ID).ID)
			return err
		},
		"guardrail.Update": func(ctx context.Context) error { return NewGuardrailStore().Update(ctx, a.ID, guardrailOf(a.ID)) },
		"guardrail.Delete": func(ctx context.Context) error { return NewGuardrailStore().Delete(ctx, a.ID, guardrailOf(a.ID).ID) },
		"guardrail.List": func(ctx context.Context) error {
			_, err := NewGuardrailStore().List(ctx, a.ID, page.Query{}, guardrail.Filter{})
			return err
		},
		"guardrail.Count": func(ctx context.Context) error { _, err := NewGuardrailStore().Count(ctx, a.ID); return err },
		"guardrail.Patterns": func(ctx context.Context) error {
			_, err := NewGuardrailStore().Patterns(ctx, a.ID, id.Guardrail{})
			return err
		},
		"guardrail.Bound": func(ctx context.Context) error { _, err := NewGuardrailStore().Bound(ctx, a.ID); return err },
		"guardrail.Bindings": func(ctx context.Context) error {
			_, err := NewGuardrailStore().Bindings(ctx, a.ID, guardrailOf(a.ID).ID)
			return err
		},
		"preset.Create": func(ctx context.Context) error {
			p, _, _ := presetOf(ownerA)
			return NewPresetStore().Create(ctx, a.ID, p)
		},
		"preset.Find": func(ctx context.Context) error {
			_, err := NewPresetStore().Find(ctx, a.ID, preset.Ref{Slug: "x"})
			return err
		},
		"preset.Update": func(ctx context.Context) error {
			p, _, _ := presetOf(ownerA)
			return NewPresetStore().Update(ctx, a.ID, p)
		},
		"preset.List": func(ctx context.Context) error {
			_, err := NewPresetStore().List(ctx, a.ID, page.Query{}, preset.Filter{})
			return err
		},
		"preset.Count":        func(ctx context.Context) error { _, err := NewPresetStore().Count(ctx, a.ID); return err },
		"preset.RevokeAll":    func(ctx context.Context) error { _, err := NewPresetStore().RevokeAll(ctx, a.ID, 1, epoch); return err },
		"preset.Publisher":    func(ctx context.Context) error { _, err := NewPresetStore().Publisher(ctx, a.ID); return err },
		"preset.PutPublisher": func(ctx context.Context) error { return NewPresetStore().PutPublisher(ctx, a.ID, preset.Publisher{}) },
		"preset.Used":         func(ctx context.Context) error { _, err := NewPresetStore().Used(ctx, a.ID); return err },
		"preset versions.Add": func(ctx context.Context) error {
			_, v, _ := presetOf(ownerA)
			return NewPresetVersions().Add(ctx, a.ID, v)
		},
		"preset versions.Get": func(ctx context.Context) error {
			_, err := NewPresetVersions().Get(ctx, a.ID, id.Preset{}, 1)
			return err
		},
		"preset versions.Mark": func(ctx context.Context) error {
			_, v, _ := presetOf(ownerA)
			return NewPresetVersions().Mark(ctx, a.ID, v)
		},
		"preset versions.List": func(ctx context.Context) error {
			_, err := NewPresetVersions().List(ctx, a.ID, id.Preset{}, page.Query{})
			return err
		},
		"preset versions.Labels": func(ctx context.Context) error {
			_, err := NewPresetVersions().Labels(ctx, a.ID, id.Preset{})
			return err
		},
		"preset deployments.Append": func(ctx context.Context) error {
			return NewPresetDeployments().Append(ctx, a.ID, id.Preset{}, preset.Deployment{})
		},
		"preset deployments.Present": func(ctx context.Context) error {
			_, err := NewPresetDeployments().Present(ctx, a.ID, id.Preset{})
			return err
		},
		"preset deployments.At": func(ctx context.Context) error {
			_, err := NewPresetDeployments().At(ctx, a.ID, id.Preset{}, 1)
			return err
		},
		"guardrail.Absent": func(ctx context.Context) error {
			_, err := NewGuardrailStore().Absent(ctx, a.ID, []id.Guardrail{guardrailOf(a.ID).ID})
			return err
		},
		"guardrail keys.Bindable": func(ctx context.Context) error {
			_, err := NewGuardrailKeys().Bindable(ctx, a.ID, []id.Key{key.ID})
			return err
		},
		"guardrail keys.Bound": func(ctx context.Context) error {
			_, err := NewGuardrailKeys().Bound(ctx, a.ID, guardrailOf(a.ID).ID, []id.Key{key.ID})
			return err
		},
		"guardrail keys.Add": func(ctx context.Context) error {
			return NewGuardrailKeys().Add(ctx, a.ID, guardrailOf(a.ID).ID, []id.Key{key.ID}, epoch)
		},
		"guardrail keys.Remove": func(ctx context.Context) error {
			return NewGuardrailKeys().Remove(ctx, a.ID, guardrailOf(a.ID).ID, []id.Key{key.ID})
		},
		"guardrail keys.List": func(ctx context.Context) error {
			_, err := NewGuardrailKeys().List(ctx, a.ID, guardrailOf(a.ID).ID, page.Query{})
			return err
		},
		"audit.Append": func(ctx context.Context) error { return NewAuditStore().Append(ctx, a.ID, auditEvent(a.ID)) },
		"audit.List": func(ctx context.Context) error {
			_, err := NewAuditStore().List(ctx, a.ID, page.Query{}, audit.Filter{})
			return err
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			require.ErrorIs(t, call(t.Context()), errScope, "without a transaction")
			require.ErrorIs(t, db.Runner().InTx(t.Context(), b.ID, call), errScope, "in another workspace's")
		})
	}
}

// Raw SQL as the application role, without a workspace chosen, sees no row of
// any table, and so does a pooled connection after a transaction.
func TestNothingIsSeenWithoutAWorkspace(t *testing.T) {
	db := openTest(t)
	w, owner := newWorkspace(t, db)
	in(t, db, w.ID, func(ctx context.Context) error {
		require.NoError(t, NewAPIKeyStore().Create(ctx, w.ID, filledKey(t, owner, 1)))
		require.NoError(t, NewManagementKeyStore().Create(ctx, w.ID, filledManagementKey(t, owner, 1)))
		brought := filledCredential(t, owner, 1)
		require.NoError(t, NewBYOKStore().Create(ctx, w.ID, brought))
		require.NoError(t, NewAutoRoutingStore().Update(ctx, w.ID, changedAuto()))
		g, bound := guardrailOf(w.ID), filledKey(t, owner, 2)
		require.NoError(t, NewAPIKeyStore().Create(ctx, w.ID, bound))
		require.NoError(t, NewGuardrailStore().Create(ctx, w.ID, g))
		require.NoError(t, NewGuardrailKeys().Add(ctx, w.ID, g.ID, []id.Key{bound.ID}, epoch))
		require.NoError(t, NewGuardrailMembers().Add(ctx, w.ID, g.ID, []id.User{owner.User}, epoch))
		storePreset(ctx, t, owner)
		require.NoError(t, NewBudgetStore().Create(ctx, w.ID, budgetOf(owner)))
		if _, _, err := NewBYOKVerifications().Claim(ctx, w.ID, brought.ID, byok.VerifyPace); err != nil {
			return err
		}
		return NewAuditStore().Append(ctx, w.ID, auditEvent(w.ID))
	})
	tables := []string{"workspaces", "users", "members", "workspace_revisions", "api_keys", "management_keys", "byok_credentials", "byok_verify_turns", "settings", "auto_routing", "routing_profiles", "departments", "guardrails", "guardrail_keys", "guardrail_members", "budgets", "presets", "preset_versions", "preset_deployments", "publishers", "audit_events"}
	for _, table := range tables {
		var n int
		require.NoError(t, db.app.sql.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
		require.Zero(t, n, table)
		in(t, db, w.ID, func(ctx context.Context) error {
			return tenant(ctx, w.ID).Raw("SELECT count(*) FROM " + table).Scan(&n).Error
		})
		require.Positive(t, n, table)
	}
	_, err := db.app.sql.ExecContext(t.Context(), "SET row_security = off; SELECT * FROM api_keys")
	require.Error(t, err)
	_, err = db.app.sql.ExecContext(t.Context(), "ALTER TABLE api_keys DISABLE ROW LEVEL SECURITY")
	require.ErrorContains(t, err, "must be owner")
}

// The system role reads what it was granted and nothing else, and writes less.
func TestTheSystemRoleIsConfined(t *testing.T) {
	db := openTest(t)
	for _, statement := range []string{
		"SELECT * FROM audit_events", "DELETE FROM workspaces", "UPDATE workspaces SET name = 'x'",
		"SELECT name FROM byok_credentials", "UPDATE byok_credentials SET sealed = ''", "DELETE FROM byok_credentials",
		"UPDATE presets SET draft = '{}'", "UPDATE preset_versions SET status = 'deployed'", "SELECT * FROM preset_deployments", "SELECT * FROM publishers", "SELECT * FROM budgets",
		"UPDATE api_keys SET status = 'active'", "UPDATE management_keys SET secret_hash = ''",
		"INSERT INTO members (workspace_id, user_id, role, created_at) VALUES (gen_random_uuid(), gen_random_uuid(), 'owner', now())",
	} {
		_, err := db.system.sql.ExecContext(t.Context(), statement)
		require.ErrorContains(t, err, "permission denied", statement)
	}
}

// storePreset stores a preset of the member with all that belongs to it.
func storePreset(ctx context.Context, t *testing.T, m workspace.Member) {
	t.Helper()
	p, v, d := presetOf(m)
	require.NoError(t, NewPresetStore().Create(ctx, m.Workspace, p))
	require.NoError(t, NewPresetVersions().Add(ctx, m.Workspace, v))
	require.NoError(t, NewPresetDeployments().Append(ctx, m.Workspace, p.ID, d))
	require.NoError(t, NewPresetStore().PutPublisher(ctx, m.Workspace, preset.Publisher{
		Workspace: m.Workspace, Handle: m.Workspace.String()[15:], Version: 1, CreatedAt: epoch, UpdatedAt: epoch,
	}))
}

// seesNoPreset calls every method under ws for what storePreset stored.
func seesNoPreset(ctx context.Context, t *testing.T, ws id.Workspace, m workspace.Member) {
	t.Helper()
	p, v, d := presetOf(m)
	store, versions, deployments := NewPresetStore(), NewPresetVersions(), NewPresetDeployments()
	for _, r := range []preset.Ref{{ID: p.ID}, {Slug: p.Slug}} {
		_, err := store.Find(ctx, ws, r)
		require.True(t, fault.Is(err, fault.NotFound), "%v", err)
	}
	p.Version++
	require.True(t, fault.Is(store.Update(ctx, ws, p), fault.NotFound))
	list, err := store.List(ctx, ws, page.Query{}, preset.Filter{Archived: true})
	require.NoError(t, err)
	require.Empty(t, list.Items)
	n, err := store.Count(ctx, ws)
	require.NoError(t, err)
	require.Zero(t, n)
	_, err = store.RevokeAll(ctx, ws, 9, epoch)
	require.NoError(t, err)
	publisher, err := store.Publisher(ctx, ws)
	require.NoError(t, err)
	require.Zero(t, publisher)
	used, err := store.Used(ctx, ws)
	require.NoError(t, err)
	require.False(t, used)
	_, err = versions.Get(ctx, ws, p.ID, v.Number)
	require.True(t, fault.Is(err, fault.NotFound))
	require.True(t, fault.Is(versions.Mark(ctx, ws, v), fault.NotFound))
	published, err := versions.List(ctx, ws, p.ID, page.Query{})
	require.NoError(t, err)
	require.Empty(t, published.Items)
	labels, err := versions.Labels(ctx, ws, p.ID)
	require.NoError(t, err)
	require.Empty(t, labels)
	present, err := deployments.Present(ctx, ws, p.ID)
	require.NoError(t, err)
	require.Zero(t, present)
	_, err = deployments.At(ctx, ws, p.ID, d.Seq)
	require.True(t, fault.Is(err, fault.NotFound))
	documents, public, err := changedPresets(ctx, ws)
	require.NoError(t, err)
	require.Empty(t, documents)
	require.Empty(t, public)
	compiled, err := publishedPresets(ctx, ws)
	require.NoError(t, err)
	require.Empty(t, compiled)
	absent, err := NewGuardrailStore().Absent(ctx, ws, []id.Guardrail{guardrailOf(m.Workspace).ID})
	require.NoError(t, err)
	require.Len(t, absent, 1)
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
