package postgres

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/budget"
	"github.com/signalbox-dev/signalbox/controlplane/internal/byok"
	"github.com/signalbox-dev/signalbox/controlplane/internal/department"
	"github.com/signalbox-dev/signalbox/controlplane/internal/dynamicroute"
	"github.com/signalbox-dev/signalbox/controlplane/internal/guardrail"
	"github.com/signalbox-dev/signalbox/controlplane/internal/managementkey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/preset"
	"github.com/signalbox-dev/signalbox/controlplane/internal/profile"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rollout"
	"github.com/signalbox-dev/signalbox/controlplane/internal/settings"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
	"github.com/signalbox-dev/signalbox/shared/testkit/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	testIDs = id.SystemSource()
	// epoch is a moment that Postgres keeps exactly.
	epoch = time.Date(2030, 1, 2, 3, 4, 5, 678000, time.UTC)
)

func openTest(t *testing.T) *DB {
	t.Helper()
	return openAt(t, pgtest.New(t).URL)
}

func openAt(t *testing.T, url string) *DB {
	t.Helper()
	db, err := Open(t.Context(), Config{URL: secret.NewString(url), MaxConns: 8})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// in runs fn in a transaction of ws and expects it to succeed.
func in(t *testing.T, db *DB, ws id.Workspace, fn func(ctx context.Context) error) {
	t.Helper()
	require.NoError(t, db.Runner().InTx(t.Context(), ws, fn))
}

// profileOf is the routing profile that newWorkspace gives each workspace.
func profileOf(ws id.Workspace) profile.Profile {
	p := fill.Value[profile.Profile](1)
	p.ID, p.Workspace, p.Version = id.FromUUID[id.ProfileKind](ws.UUID()), ws, 1
	return p
}

// departmentOf is the department that newWorkspace gives each workspace.
func departmentOf(ws id.Workspace) department.Department {
	d := fill.Value[department.Department](1)
	d.ID, d.Workspace, d.Version, d.Profile = id.FromUUID[id.DepartmentKind](ws.UUID()), ws, 1, profileOf(ws).ID
	return d
}

// guardrailOf is a guardrail that a workspace may have.
func guardrailOf(ws id.Workspace) guardrail.Guardrail {
	g := fill.Value[guardrail.Guardrail](1)
	g.ID, g.Workspace, g.Version = id.FromUUID[id.GuardrailKind](ws.UUID()), ws, 1
	return g
}

// budgetOf is a budget that the department of newWorkspace may have.
func budgetOf(owner workspace.Member) budget.Budget {
	b := fill.Value[budget.Budget](2)
	b.ID, b.Workspace, b.CreatedBy, b.Version = id.FromUUID[id.BudgetKind](owner.Workspace.UUID()), owner.Workspace, owner.User, 1
	b.Target, b.Interval = budget.Target{Department: departmentOf(owner.Workspace).ID}, policy.Weekly
	return b
}

// routeOf is the dynamic route that newWorkspace gives each workspace.
func routeOf(ws id.Workspace) dynamicroute.Route {
	r := fill.Value[dynamicroute.Route](1)
	r.ID, r.Workspace, r.Version, r.DeletedAt = id.FromUUID[id.RouteKind](ws.UUID()), ws, 1, nil
	r.Slug, r.Status, r.Turn, r.Latest, r.Deployed, r.Deployment = "a-route", dynamicroute.Active, r.ID, 0, 0, 0
	return r
}

// versionOf is a version that the route of routeOf may have.
func versionOf(ws id.Workspace) dynamicroute.Version {
	return dynamicroute.Version{
		Workspace: ws, Route: routeOf(ws).ID, Number: 1, Digest: "digest", CreatedAt: epoch, Status: dynamicroute.Draft,
		Graph: flow.Graph{SchemaVersion: flow.SchemaVersion, Entry: "start", Nodes: []flow.Node{{ID: "start", Type: flow.Start}}},
		Slots: flow.Slots{"split": {{Branch: "a", Slots: 10_000}}}, Note: "note",
	}
}

// deploymentOf is a deployment of that version.
func deploymentOf(ws id.Workspace) dynamicroute.Deployment {
	return dynamicroute.Deployment{Workspace: ws, Route: routeOf(ws).ID, Number: 1, Version: 1, DeployedAt: epoch}
}

// rolloutOf is a rollout of that version with every field set.
func rolloutOf(owner workspace.Member) rollout.Rollout {
	r := fill.Value[rollout.Rollout](1)
	r.ID, r.Workspace, r.Route = id.FromUUID[id.RolloutKind](owner.Workspace.UUID()), owner.Workspace, routeOf(owner.Workspace).ID
	r.Candidate, r.Stable, r.Step, r.State, r.CreatedBy, r.Version = 1, 2, 1, rollout.RolledBack, owner.User, 1
	r.Steps = []rollout.Step{{Percent: 1, Hold: time.Second}, {Percent: 10_000, Hold: time.Hour}}
	return r
}

// storeRollout stores it as it is before its end, with its second version.
func storeRollout(ctx context.Context, t *testing.T, owner workspace.Member) {
	t.Helper()
	second := versionOf(owner.Workspace)
	second.Number = 2
	require.NoError(t, NewRouteVersionStore().Add(ctx, owner.Workspace, second))
	require.NoError(t, NewRolloutStore().Create(ctx, owner.Workspace, openRolloutOf(owner)))
}

func openRolloutOf(owner workspace.Member) rollout.Rollout {
	r := rolloutOf(owner)
	r.State, r.EndedAt, r.Evidence = rollout.Running, nil, nil
	return r
}

// presetOf is a preset that a member may have, with a version and its
// deployment.
func presetOf(m workspace.Member) (preset.Preset, preset.Version, preset.Deployment) {
	p := fill.Value[preset.Preset](1)
	p.ID, p.Workspace, p.CreatedBy, p.Version = id.FromUUID[id.PresetKind](m.Workspace.UUID()), m.Workspace, m.User, 1
	p.Slug, p.Visibility, p.Versioning, p.Upstream = "preset", preset.Public, preset.SemVer, preset.Origin{}
	p.Draft.Params = nil
	p.LatestVersion, p.DeployedVersion = 1, 1
	v := fill.Value[preset.Version](1)
	v.Workspace, v.Preset, v.Number, v.PublishedBy, v.Status, v.Config = p.Workspace, p.ID, 1, m.User, preset.Deployed, p.Draft
	return p, v, preset.Deployment{Seq: 1, Version: 1, By: m.User, At: epoch}
}

// newWorkspace stores a workspace with its owner, settings, a profile, a
// department and a dynamic route.
func newWorkspace(t *testing.T, db *DB) (workspace.Workspace, workspace.Member) {
	t.Helper()
	ws := id.New[id.WorkspaceKind](testIDs)
	w := workspace.Workspace{
		ID: ws, Name: "Acme", Slug: "acme-" + ws.String()[20:], Status: policy.WorkspaceActive, Tags: []string{"a", "b,{\"}"},
		Version: 1, CreatedAt: epoch, UpdatedAt: epoch.Add(time.Second),
	}
	owner := workspace.Member{
		Workspace: ws, User: id.New[id.UserKind](testIDs), Email: ws.String() + "@example.com", Name: "Ada",
		Role: workspace.Owner, CreatedAt: epoch,
	}
	in(t, db, ws, func(ctx context.Context) error {
		if err := NewWorkspaceStore().Create(ctx, w, owner, true); err != nil {
			return err
		}
		if err := NewProfileStore().Create(ctx, ws, profileOf(ws)); err != nil {
			return err
		}
		if err := NewDepartmentStore().Create(ctx, ws, departmentOf(ws)); err != nil {
			return err
		}
		if err := NewRouteStore().Create(ctx, ws, routeOf(ws)); err != nil {
			return err
		}
		return NewSettingsStore().Create(ctx, ws, settings.Settings{Settings: policy.DefaultSettings(), Version: 1, UpdatedAt: epoch})
	})
	return w, owner
}

func newToken(t *testing.T, kind secret.TokenKind) secret.Token {
	t.Helper()
	token, err := secret.NewToken(rand.Reader, kind)
	require.NoError(t, err)
	return token
}

// filledKey is a key with every field set to what the constraints allow.
func filledKey(t *testing.T, owner workspace.Member, seed int) apikey.Key {
	k := fill.Value[apikey.Key](seed)
	token := newToken(t, secret.Inference)
	k.ID, k.Workspace, k.CreatedBy = id.New[id.KeyKind](testIDs), owner.Workspace, owner.User
	k.Profile, k.Department, k.Route = profileOf(owner.Workspace).ID, departmentOf(owner.Workspace).ID, routeOf(owner.Workspace).ID
	k.KID, k.Suffix, k.Status = token.KID, token.Suffix(), policy.KeyPaused
	k.Version, k.MinRevision, k.Revision = 1, int64(seed), int64(seed+1)
	require.Empty(t, fill.Zero(k))
	return k
}

func filledManagementKey(t *testing.T, owner workspace.Member, seed int) managementkey.Key {
	k := fill.Value[managementkey.Key](seed)
	token := newToken(t, secret.Management)
	k.ID, k.Workspace, k.CreatedBy = id.New[id.ManagementKeyKind](testIDs), owner.Workspace, owner.User
	k.KID, k.Suffix, k.Status, k.Template, k.Version = token.KID, token.Suffix(), policy.KeyActive, managementkey.ReadOnly, 1
	require.Empty(t, fill.Zero(k))
	return k
}

// filledCredential is a provider key with every field set to what the
// constraints allow.
func filledCredential(t *testing.T, owner workspace.Member, seed int) byok.Credential {
	c := fill.Value[byok.Credential](seed)
	c.ID, c.Workspace, c.CreatedBy = id.New[id.CredentialKind](testIDs), owner.Workspace, owner.User
	c.Prefix, c.Suffix, c.Sealed, c.Use, c.Version = "sk-pro", "cdef", make([]byte, 40), policy.UseFallback, 1
	require.Empty(t, fill.Zero(c))
	return c
}
