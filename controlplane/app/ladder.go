package app

import (
	"crypto/rand"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/autorouting"
	"github.com/signalbox-dev/signalbox/controlplane/internal/department"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/effective"
	"github.com/signalbox-dev/signalbox/controlplane/internal/guardrail"
	"github.com/signalbox-dev/signalbox/controlplane/internal/postgres"
	"github.com/signalbox-dev/signalbox/controlplane/internal/profile"
	"github.com/signalbox-dev/signalbox/controlplane/internal/routing"
	"github.com/signalbox-dev/signalbox/controlplane/internal/settings"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// ladder are the services over what sets the rungs of the policy ladder, and
// over the guardrails beside it.
type ladder struct {
	keys        *apikey.Service
	settings    *settings.Service
	profiles    *profile.Service
	departments *department.Service
	guardrails  *guardrail.Service
	effective   *effective.Service
	auto        *autorouting.Service
}

// ladder builds them; source gives the catalog that they may name things of.
func (a *App) ladder(mutator *deploy.Mutator, ids *id.Source, source routing.Source) ladder {
	runner, now := a.db.Runner(), a.deps.Now
	keys, profiles, departments := postgres.NewAPIKeyStore(), postgres.NewProfileStore(), postgres.NewDepartmentStore()
	guardrails, checker := postgres.NewGuardrailStore(), routing.NewChecker(source)
	return ladder{
		keys: apikey.NewService(apikey.Deps{
			Runner: runner, Store: keys, Mutator: mutator, Profiles: profiles, Departments: departments,
			IDs: ids, Rand: rand.Reader, Now: now,
		}),
		settings: settings.NewService(settings.Deps{
			Runner: runner, Store: postgres.NewSettingsStore(), Mutator: mutator, Profiles: profiles, Checker: checker, Now: now,
		}),
		profiles: profile.NewService(profile.Deps{
			Runner: runner, Store: profiles, Mutator: mutator, Checker: checker, IDs: ids, Now: now,
		}),
		departments: department.NewService(department.Deps{
			Runner: runner, Store: departments, Profiles: profiles, Mutator: mutator, IDs: ids, Now: now,
		}),
		guardrails: guardrail.NewService(guardrail.Deps{
			Runner: runner, Store: guardrails, Directory: guardrails, Keys: postgres.NewGuardrailKeys(), Members: postgres.NewGuardrailMembers(),
			Mutator: mutator, Checker: checker, IDs: ids, Now: now,
		}),
		effective: effective.NewService(effective.Deps{
			Runner: runner, Policies: postgres.NewCompiler(a.db), Keys: keys, Source: source,
		}),
		auto: autorouting.NewService(autorouting.Deps{
			Runner: runner, Store: postgres.NewAutoRoutingStore(), Mutator: mutator, Now: now,
		}),
	}
}
