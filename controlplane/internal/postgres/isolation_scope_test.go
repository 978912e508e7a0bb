package postgres

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/budget"
	"github.com/signalbox-dev/signalbox/controlplane/internal/byok"
	"github.com/signalbox-dev/signalbox/controlplane/internal/department"
	"github.com/signalbox-dev/signalbox/controlplane/internal/dynamicroute"
	"github.com/signalbox-dev/signalbox/controlplane/internal/guardrail"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/preset"
	"github.com/signalbox-dev/signalbox/controlplane/internal/profile"
	"github.com/signalbox-dev/signalbox/controlplane/internal/replay"
	"github.com/signalbox-dev/signalbox/controlplane/internal/settings"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

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
		"rollout.Create": func(ctx context.Context) error { return NewRolloutStore().Create(ctx, a.ID, openRolloutOf(ownerA)) },
		"rollout.Latest": func(ctx context.Context) error {
			_, err := NewRolloutStore().Latest(ctx, a.ID, routeOf(a.ID).ID)
			return err
		},
		"rollout.Update": func(ctx context.Context) error { return NewRolloutStore().Update(ctx, a.ID, openRolloutOf(ownerA)) },
		"rollout.List": func(ctx context.Context) error {
			_, err := NewRolloutStore().List(ctx, a.ID, routeOf(a.ID).ID, page.Query{})
			return err
		},
		"rollout.Cells": func(ctx context.Context) error {
			_, err := NewRolloutStore().Cells(ctx, a.ID, rolloutOf(ownerA).ID)
			return err
		},
		"rollout.Underway": func(ctx context.Context) error {
			_, err := NewRolloutStore().Underway(ctx, a.ID, routeOf(a.ID).ID)
			return err
		},
		"rollout.Open": func(ctx context.Context) error {
			_, err := NewRolloutStore().Open(ctx, a.ID, []id.Route{routeOf(a.ID).ID})
			return err
		},
		"rollout.Suspend": func(ctx context.Context) error { return NewRolloutStore().Suspend(ctx, a.ID, routeOf(a.ID).ID, epoch) },
		"rollout.Abort":   func(ctx context.Context) error { return NewRolloutStore().Abort(ctx, a.ID, routeOf(a.ID).ID, epoch) },
		"replay.Requests": func(ctx context.Context) error {
			return NewReplayLog().Requests(ctx, a.ID, []id.Key{key.ID}, epoch, 1, func(*replay.Request) error { return nil })
		},
		"replay.Durations": func(ctx context.Context) error { _, err := NewReplayLog().Durations(ctx, a.ID, epoch); return err },
		"replay.Documents": func(ctx context.Context) error {
			_, err := NewRouteKeys().Documents(ctx, a.ID, routeOf(a.ID).ID)
			return err
		},
		"preset.Uses": func(ctx context.Context) error {
			p, _, _ := presetOf(ownerA)
			_, err := NewPresetStore().Uses(ctx, a.ID, p)
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
