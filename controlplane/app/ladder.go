package app

import (
	"crypto/rand"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api"
	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/autorouting"
	"github.com/signalbox-dev/signalbox/controlplane/internal/budget"
	"github.com/signalbox-dev/signalbox/controlplane/internal/department"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/dynamicroute"
	"github.com/signalbox-dev/signalbox/controlplane/internal/effective"
	"github.com/signalbox-dev/signalbox/controlplane/internal/endpointhealth"
	"github.com/signalbox-dev/signalbox/controlplane/internal/endpointhealth/fleet"
	"github.com/signalbox-dev/signalbox/controlplane/internal/guardrail"
	"github.com/signalbox-dev/signalbox/controlplane/internal/lifecycle"
	"github.com/signalbox-dev/signalbox/controlplane/internal/postgres"
	"github.com/signalbox-dev/signalbox/controlplane/internal/preset"
	"github.com/signalbox-dev/signalbox/controlplane/internal/profile"
	"github.com/signalbox-dev/signalbox/controlplane/internal/ratelimit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/replay"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rollout"
	"github.com/signalbox-dev/signalbox/controlplane/internal/routing"
	"github.com/signalbox-dev/signalbox/controlplane/internal/settings"
	"github.com/signalbox-dev/signalbox/controlplane/internal/spending"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// ladder are the services over what sets the rungs of the policy ladder, and
// over the guardrails, presets and limits beside it.
type ladder struct {
	keys        *apikey.Service
	settings    *settings.Service
	profiles    *profile.Service
	departments *department.Service
	guardrails  *guardrail.Service
	rateLimits  *ratelimit.Service
	routes      *dynamicroute.Service
	replays     *replay.Service
	rollouts    *rollout.Service
	presets     *preset.Service
	effective   *effective.Service
	auto        *autorouting.Service
	lifecycle   *lifecycle.Service
	health      *endpointhealth.Service
	budgets     *budget.Service
	spending    *spending.Service

	departmentBudgets *budget.Service
}

// ladder builds them; source gives the catalog that they may name things of.
func (a *App) ladder(mutator *deploy.Mutator, ids *id.Source, source routing.Source) ladder {
	runner, now := a.db.Runner(), a.deps.Now
	keys, profiles, departments := postgres.NewAPIKeyStore(), postgres.NewProfileStore(), postgres.NewDepartmentStore()
	guardrails, routes, presets := postgres.NewGuardrailStore(), postgres.NewRouteStore(), postgres.NewPresetStore()
	versions, commons := postgres.NewPresetVersions(), postgres.NewPresetCommons(a.db)
	standings := preset.NewStandings(runner, presets, versions, commons)
	rollouts, policies, assignments, spent := postgres.NewRolloutStore(), postgres.NewRateLimitStore(), postgres.NewRateAssignmentStore(), postgres.NewSpendingStore()
	dynamic := dynamicroute.NewService(dynamicroute.Deps{
		Runner: runner, Store: routes, Directory: routes, Versions: postgres.NewRouteVersionStore(),
		Deployments: postgres.NewRouteDeploymentStore(), Keys: postgres.NewRouteKeys(), Rollouts: rollouts, Mutator: mutator,
		Offered: source, Presets: standings, IDs: ids, Now: now,
	})
	budgets := a.budgets(mutator, ids)
	return ladder{
		routes: dynamic, budgets: budget.NewService(budgets), departmentBudgets: budget.NewDepartments(budgets),
		rollouts: rollout.NewService(rollout.Deps{
			Runner: runner, Store: rollouts, Routes: dynamic, Mutator: mutator, IDs: ids, Now: now,
		}),
		keys: apikey.NewService(apikey.Deps{
			Runner: runner, Store: keys, Mutator: mutator, Profiles: profiles, Departments: departments,
			Guardrails: guardrails, RateLimits: assignments, Routes: routes, Spending: spent, IDs: ids, Rand: rand.Reader, Now: now,
		}),
		settings: settings.NewService(settings.Deps{
			Runner: runner, Store: postgres.NewSettingsStore(), Mutator: mutator, Profiles: profiles, Offered: source, Presets: standings, Now: now,
		}),
		profiles: profile.NewService(profile.Deps{
			Runner: runner, Store: profiles, Directory: profiles, Mutator: mutator, Offered: source, Presets: standings, IDs: ids, Now: now,
		}),
		departments: department.NewService(department.Deps{
			Runner: runner, Store: departments, Directory: departments, Roster: postgres.NewDepartmentRoster(), People: postgres.NewWorkspaceStore(),
			Profiles: profiles, Budgets: postgres.NewBudgetStore(), Mutator: mutator, IDs: ids, Now: now,
		}),
		rateLimits: ratelimit.NewService(ratelimit.Deps{
			Runner: runner, Store: policies, Directory: policies, Assignments: assignments, Targets: assignments, Mutator: mutator, IDs: ids, Now: now,
		}),
		guardrails: guardrail.NewService(guardrail.Deps{
			Runner: runner, Store: guardrails, Directory: guardrails, Keys: postgres.NewGuardrailKeys(), Members: postgres.NewGuardrailMembers(),
			RateLimits: assignments, Budgets: postgres.NewBudgetStore(), Mutator: mutator, Offered: source, IDs: ids, Now: now,
		}),
		spending: spending.NewService(runner, spent, now),
		replays: replay.NewService(replay.Deps{
			Runner: runner, Routes: routes, Versions: postgres.NewRouteVersionStore(), Keys: postgres.NewRouteKeys(),
			Policies: postgres.NewCompiler(a.db), Log: postgres.NewReplayLog(), Source: source, Now: now,
		}),
		presets: preset.NewService(preset.Deps{
			Runner: runner, Store: presets, Versions: versions, Deployments: postgres.NewPresetDeployments(),
			Publishers: presets, Commons: commons, Guardrails: guardrails, Uses: presets,
			Mutator: mutator, Offered: source, IDs: ids, Now: now,
		}),
		effective: effective.NewService(effective.Deps{
			Runner: runner, Policies: postgres.NewCompiler(a.db), Keys: keys, Routes: routes, Source: source, Now: now,
		}),
		lifecycle: lifecycle.NewService(lifecycle.Deps{
			Runner: runner, Policies: postgres.NewCompiler(a.db), Keys: keys, Uses: postgres.NewModelUseStore(), Source: source, Now: now,
		}),
		health: endpointhealth.NewService(endpointhealth.Deps{
			Runner: runner, Policies: postgres.NewCompiler(a.db), Source: source, Now: now,
			Reports: fleet.New(fleet.Options{Conn: a.nats, IDs: ids, Now: now}),
		}),
		auto: autorouting.NewService(autorouting.Deps{Runner: runner, Store: postgres.NewAutoRoutingStore(), Mutator: mutator, Now: now}),
	}
}

// budgets are what both services over budgets work with.
func (a *App) budgets(mutator *deploy.Mutator, ids *id.Source) budget.Deps {
	return budget.Deps{
		Runner: a.db.Runner(), Store: postgres.NewBudgetStore(), Directory: postgres.NewBudgetStore(), Targets: postgres.BudgetTargets{},
		Spending: postgres.NewSpendingStore(), Mutator: mutator, IDs: ids, Now: a.deps.Now,
	}
}

// serve puts the services among those of the API.
func (l *ladder) serve(s *api.Services) {
	s.Keys, s.Settings, s.Profiles, s.Departments = l.keys, l.settings, l.profiles, l.departments
	s.Guardrails, s.RateLimits, s.DynamicRoutes, s.Presets = l.guardrails, l.rateLimits, l.routes, l.presets
	s.Budgets, s.DepartmentBudgets, s.Spending = l.budgets, l.departmentBudgets, l.spending
	s.Replays, s.Rollouts = l.replays, l.rollouts
	s.Effective, s.AutoRouting, s.Lifecycle, s.EndpointHealth = l.effective, l.auto, l.lifecycle, l.health
}
