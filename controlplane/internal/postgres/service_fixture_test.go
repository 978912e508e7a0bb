package postgres

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/autorouting"
	"github.com/signalbox-dev/signalbox/controlplane/internal/budget"
	"github.com/signalbox-dev/signalbox/controlplane/internal/byok"
	"github.com/signalbox-dev/signalbox/controlplane/internal/department"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/dynamicroute"
	"github.com/signalbox-dev/signalbox/controlplane/internal/effective"
	"github.com/signalbox-dev/signalbox/controlplane/internal/guardrail"
	"github.com/signalbox-dev/signalbox/controlplane/internal/managementkey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/preset"
	"github.com/signalbox-dev/signalbox/controlplane/internal/profile"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/ratelimit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rollout"
	"github.com/signalbox-dev/signalbox/controlplane/internal/settings"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// askedGateway stands for the one that makes calls with provider keys.
type askedGateway struct {
	answer func(wire.CheckRequest) (wire.CheckReply, error)
}

// Check implements byok.Checker.
func (g *askedGateway) Check(_ context.Context, q wire.CheckRequest) (wire.CheckReply, error) {
	return g.answer(q)
}

// clock is the services' time, moved by hand.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time          { return time.UnixMicro(c.at.Load()).UTC() }
func (c *clock) advance(d time.Duration) { c.at.Add(d.Microseconds()) }

// services are the aggregates over a real database, wired as the app does.
type services struct {
	db          *DB
	clock       *clock
	workspaces  *workspace.Service
	keys        *apikey.Service
	management  *managementkey.Service
	settings    *settings.Service
	byok        *byok.Service
	keyring     *seal.Keyring
	profiles    *profile.Service
	departments *department.Service
	guardrails  *guardrail.Service
	rateLimits  *ratelimit.Service
	budgets     *budget.Service
	ofDepts     *budget.Service
	routes      *dynamicroute.Service
	rollouts    *rollout.Service
	presets     *preset.Service
	standings   *preset.Standings
	effective   *effective.Service
	mutator     *deploy.Mutator
	gateway     *askedGateway
	auto        *autorouting.Service
	audit       *audit.Log
}

// source gives a catalog and, as the real one, nothing inside a transaction.
type source struct{ catalog catalog.Catalog }

// View implements routing.Source and byok.Source.
func (s source) View(ctx context.Context) (*catalog.View, error) {
	if _, inside := txOf(ctx); inside {
		return nil, errScope
	}
	return catalog.Compile(s.catalog)
}

// offered is a catalog of two providers and one model.
func offered() catalog.Catalog {
	endpoint := func(provider string) catalog.Endpoint {
		return catalog.Endpoint{ID: catalog.EndpointID(provider, "acme/small", ""), Provider: provider, UpstreamModel: "small"}
	}
	return catalog.Catalog{
		Schema: catalog.Schema, Revision: 1,
		Providers: []catalog.Provider{
			{Slug: "north", Type: catalog.OpenAICompatible, BaseURL: "http://127.0.0.1:9/v1"},
			{Slug: "south", Type: catalog.OpenAICompatible, BaseURL: "http://127.0.0.1:9/v1"},
		},
		Models: []catalog.Model{{ID: "acme/small", Author: "acme", Endpoints: []catalog.Endpoint{endpoint("north"), endpoint("south")}}},
	}
}

var operator = audit.By{Actor: audit.Actor{Kind: audit.Operator, Name: "operator"}, RequestID: "req_1"}

func openServices(t *testing.T) *services {
	t.Helper()
	db := openTest(t)
	asked := &askedGateway{}
	c := &clock{}
	c.at.Store(epoch.UnixMicro())
	runner, system := db.Runner(), db.System()
	models := source{offered()}
	mutator := deploy.New(runner, NewPublicationStore(), NewAuditStore(), testIDs, c.now)
	keyring, err := seal.New()
	require.NoError(t, err)
	budgets := budget.Deps{
		Runner: runner, Store: NewBudgetStore(), Directory: NewBudgetStore(), Targets: BudgetTargets{}, Spending: NewSpendingStore(),
		Mutator: mutator, IDs: testIDs, Now: c.now,
	}
	standings := preset.NewStandings(runner, NewPresetStore(), NewPresetVersions(), NewPresetCommons(db))
	routes := dynamicroute.NewService(dynamicroute.Deps{
		Runner: runner, Store: NewRouteStore(), Directory: NewRouteStore(), Versions: NewRouteVersionStore(), Deployments: NewRouteDeploymentStore(),
		Keys: NewRouteKeys(), Rollouts: NewRolloutStore(), Mutator: mutator, Offered: models, Presets: standings, IDs: testIDs, Now: c.now,
	})
	return &services{
		db: db, clock: c, budgets: budget.NewService(budgets), ofDepts: budget.NewDepartments(budgets), standings: standings, routes: routes,
		rollouts: rollout.NewService(rollout.Deps{Runner: runner, Store: NewRolloutStore(), Routes: routes, Mutator: mutator, IDs: testIDs, Now: c.now}),
		workspaces: workspace.NewService(workspace.Deps{
			Runner: runner, System: system, Store: NewWorkspaceStore(), Directory: NewWorkspaceDirectory(),
			Settings: settings.NewSeeder(NewSettingsStore()), Revokers: []workspace.Revoker{NewAPIKeyStore(), NewManagementKeyStore(), NewBYOKStore(), NewPresetStore(), NewWebhookStore()},
			Mutator: mutator, IDs: testIDs, Now: c.now,
		}),
		keys: apikey.NewService(apikey.Deps{
			Runner: runner, Store: NewAPIKeyStore(), Mutator: mutator, Profiles: NewProfileStore(), Departments: NewDepartmentStore(),
			Guardrails: NewGuardrailStore(), RateLimits: NewRateAssignmentStore(), Routes: NewRouteStore(), Spending: NewSpendingStore(), IDs: testIDs, Rand: rand.Reader, Now: c.now,
		}),
		management: managementkey.NewService(managementkey.Deps{
			Runner: runner, System: system, Store: NewManagementKeyStore(), Directory: NewManagementKeyDirectory(), Mutator: mutator,
			IDs: testIDs, Rand: rand.Reader, Now: c.now, Log: slog.New(slog.DiscardHandler),
		}),
		byok: byok.NewService(byok.Deps{
			Runner: runner, Store: NewBYOKStore(), Directory: NewBYOKStore(), Mutator: mutator, Sealer: keyring, Offered: source{providers()},
			IDs: testIDs, Now: c.now, Verifications: NewBYOKVerifications(), Checker: asked, Auditor: NewAuditStore(),
		}),
		keyring: keyring, mutator: mutator, gateway: asked,
		settings: settings.NewService(settings.Deps{
			Runner: runner, Store: NewSettingsStore(), Mutator: mutator, Profiles: NewProfileStore(), Offered: models, Presets: standings, Now: c.now,
		}),
		auto: autorouting.NewService(autorouting.Deps{Runner: runner, Store: NewAutoRoutingStore(), Mutator: mutator, Now: c.now}),
		departments: department.NewService(department.Deps{
			Runner: runner, Store: NewDepartmentStore(), Directory: NewDepartmentStore(), Roster: NewDepartmentRoster(), People: NewWorkspaceStore(),
			Profiles: NewProfileStore(), Budgets: NewBudgetStore(), Mutator: mutator, IDs: testIDs, Now: c.now,
		}),
		rateLimits: ratelimit.NewService(ratelimit.Deps{
			Runner: runner, Store: NewRateLimitStore(), Directory: NewRateLimitStore(), Assignments: NewRateAssignmentStore(),
			Targets: NewRateAssignmentStore(), Mutator: mutator, IDs: testIDs, Now: c.now,
		}),
		effective: effective.NewService(effective.Deps{
			Runner: runner, Policies: NewCompiler(db), Keys: NewAPIKeyStore(), Routes: NewRouteStore(), Source: models, Now: c.now,
		}),
		profiles: profile.NewService(profile.Deps{
			Runner: runner, Store: NewProfileStore(), Directory: NewProfileStore(), Mutator: mutator, Offered: models, Presets: standings, IDs: testIDs, Now: c.now,
		}),
		guardrails: guardrail.NewService(guardrail.Deps{
			Runner: runner, Store: NewGuardrailStore(), Directory: NewGuardrailStore(), Keys: NewGuardrailKeys(), Members: NewGuardrailMembers(),
			RateLimits: NewRateAssignmentStore(), Budgets: NewBudgetStore(), Mutator: mutator, Offered: models, IDs: testIDs, Now: c.now,
		}),
		presets: preset.NewService(preset.Deps{
			Runner: runner, Store: NewPresetStore(), Versions: NewPresetVersions(), Deployments: NewPresetDeployments(), Publishers: NewPresetStore(),
			Commons: NewPresetCommons(db), Guardrails: NewGuardrailStore(), Uses: NewPresetStore(), Mutator: mutator, Offered: models, IDs: testIDs, Now: c.now,
		}),
		audit: audit.NewLog(runner, NewAuditStore()),
	}
}

// providers are one of each type, by the type's name.
func providers() catalog.Catalog {
	c := catalog.Catalog{Schema: catalog.Schema, Revision: 1}
	for _, kind := range catalog.ProviderTypes() {
		c.Providers = append(c.Providers, catalog.Provider{Slug: string(kind), Type: kind, BaseURL: "http://127.0.0.1:9/v1"})
	}
	return c
}

func (s *services) create(t *testing.T, slug string) workspace.Created {
	t.Helper()
	created, _, err := s.workspaces.Create(t.Context(), operator, workspace.NewWorkspace{
		Name: "Acme", Slug: slug, Owner: workspace.NewOwner{Email: slug + "@example.com", Name: "Ada"},
	})
	require.NoError(t, err)
	return created
}

// lastEvent is the newest audit event of the workspace.
func (s *services) lastEvent(t *testing.T, ws id.Workspace) audit.Event {
	t.Helper()
	events, err := s.audit.List(t.Context(), ws, page.Query{Limit: 1}, audit.Filter{})
	require.NoError(t, err)
	require.NotEmpty(t, events.Items)
	return events.Items[0]
}

// stored reads a publication back.
func (s *services) stored(t *testing.T, p publication.Publication) publication.Publication {
	t.Helper()
	var r publication.Record
	in(t, s.db, p.Workspace, func(ctx context.Context) (err error) {
		r, err = NewPublicationStore().Get(ctx, p.Workspace, p.ID)
		return err
	})
	return r.Publication
}

func byMember(m workspace.Member) audit.By {
	return audit.By{Actor: audit.Actor{Kind: audit.ManagementKey, ID: "mk_test", User: m.User, Name: "ci"}, RequestID: "req_2"}
}

func ptr[T any](v T) *T { return &v }
