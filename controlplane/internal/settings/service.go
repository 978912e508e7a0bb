package settings

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/patch"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/routing"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Store keeps settings. Every method is called inside a transaction of ws and
// sees nothing else.
type Store interface {
	Create(ctx context.Context, ws id.Workspace, s Settings) error
	// Get fails with not_found.
	Get(ctx context.Context, ws id.Workspace) (Settings, error)
	// Update replaces everything where the stored version is one less; else
	// precondition_failed, or not_found.
	Update(ctx context.Context, ws id.Workspace, s Settings) error
}

// Profiles says which routing profiles there are.
type Profiles interface {
	// Bindable fails with not_found where ws has no such profile. It is called
	// inside a transaction of ws.
	Bindable(ctx context.Context, ws id.Workspace, profile id.Profile) error
}

// Deps are what a Service works with.
type Deps struct {
	Runner   txn.Runner
	Store    Store
	Mutator  *deploy.Mutator
	Profiles Profiles
	Offered  routing.Source
	Presets  routing.Presets
	Now      func() time.Time
}

// Service reads and changes settings.
type Service struct{ d Deps }

// NewService returns a Service over d.
func NewService(d Deps) *Service { return &Service{d: d} }

// Get fails with not_found.
func (s *Service) Get(ctx context.Context, ws id.Workspace) (Settings, error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (Settings, error) {
		return s.d.Store.Get(ctx, ws)
	})
}

// Update applies p. It fails with validation_error over every violation,
// not_found (the routing profile too) or precondition_failed.
func (s *Service) Update(ctx context.Context, ws id.Workspace, by audit.By, p Patch, ifMatch *int64) (Settings, publication.Publication, error) {
	c := deploy.NewChange(by, "settings.update", "settings", ws.String())
	names, err := s.names(ctx, ws, p)
	if err != nil {
		return Settings{}, publication.Publication{}, err
	}
	return deploy.Mutate(ctx, s.d.Mutator, ws, c, func(ctx context.Context, _ int64) (Settings, error) {
		before, err := s.d.Store.Get(ctx, ws)
		if err != nil {
			return Settings{}, err
		}
		if err := txn.Match(ifMatch, before.Version); err != nil {
			return Settings{}, err
		}
		after := p.apply(before)
		after.Version, after.UpdatedAt = before.Version+1, txn.Moment(s.d.Now())
		if err := names.check(after.Settings); err != nil {
			return Settings{}, err
		}
		if err := s.bindable(ctx, ws, p.Profile); err != nil {
			return Settings{}, err
		}
		c.Diff = diff(before, after)
		return after, s.d.Store.Update(ctx, ws, after)
	})
}

// names are the models that a patch names, with the catalog and the presets to
// find them in; without a catalog it names none. What was stored before is not
// held against a later catalog: a change of something else must stay possible.
type names struct {
	offered   *catalog.View
	shelf     *routing.Shelf // has them looked up
	model     string
	fallbacks []string
}

func (s *Service) names(ctx context.Context, ws id.Workspace, p Patch) (n names, err error) {
	patch.Set(&n.model, p.DefaultModel)
	patch.Set(&n.fallbacks, p.FallbackModels)
	if n.model == "" && len(n.fallbacks) == 0 {
		return n, nil
	}
	if n.offered, err = s.d.Offered.View(ctx); err != nil {
		return n, err
	}
	n.shelf = routing.NewShelf(ctx, s.d.Presets, ws)
	return n, n.shelf.Load(n.model, n.fallbacks)
}

// check holds what is to be stored against the rules, and what is named against
// what there is.
func (n names) check(after policy.Settings) error {
	var v rule.Violations
	validate(&v, after)
	if v.Err() == nil && n.offered != nil {
		routing.NewChecker(n.offered).Naming(n.shelf).CheckModels(&v, "", n.model, n.fallbacks)
	}
	return v.Err()
}

func (s *Service) bindable(ctx context.Context, ws id.Workspace, p *id.Profile) error {
	if p == nil || p.IsZero() {
		return nil
	}
	return s.d.Profiles.Bindable(ctx, ws, *p)
}

// Seeder gives new workspaces their first settings.
type Seeder struct{ store Store }

// NewSeeder returns a Seeder over store.
func NewSeeder(store Store) *Seeder { return &Seeder{store: store} }

// Seed stores the default settings inside the transaction that creates ws.
func (s *Seeder) Seed(ctx context.Context, ws id.Workspace, at time.Time) error {
	return s.store.Create(ctx, ws, Settings{Settings: policy.DefaultSettings(), Version: 1, UpdatedAt: at})
}

func diff(before, after Settings) []audit.Change {
	var d audit.Diff
	d.Text("routing_mode", string(before.RoutingMode), string(after.RoutingMode))
	d.Text("default_model", before.DefaultModel, after.DefaultModel)
	d.List("fallback_models", before.FallbackModels, after.FallbackModels)
	d.Bool("beta_channel", before.BetaChannel, after.BetaChannel)
	d.Bool("alpha_channel", before.AlphaChannel, after.AlphaChannel)
	d.Bool("byok_fallback_enabled", before.BYOKFallback, after.BYOKFallback)
	d.Bool("retired_model_routing", before.RetiredRouting, after.RetiredRouting)
	d.Text("models_without_model", before.ModelsWithoutModel, after.ModelsWithoutModel)
	d.Int("max_attempts", before.MaxAttempts, after.MaxAttempts)
	d.Int("max_models", before.MaxModels, after.MaxModels)
	d.Bool("cache_aware_routing", before.CacheAwareRouting, after.CacheAwareRouting)
	d.Bool("replay_values", before.ReplayValues, after.ReplayValues)
	d.Int("log_retention_days", before.LogRetentionDays, after.LogRetentionDays)
	d.Bool("require_zero_data_retention", before.RequireZDR, after.RequireZDR)
	d.Bool("deny_training", before.DenyTraining, after.DenyTraining)
	d.Text("routing_profile_id", before.Profile.String(), after.Profile.String())
	return d
}
