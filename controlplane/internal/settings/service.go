package settings

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
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

// Mutator runs fn in the transaction that raises the workspace's revision, and
// records and publishes the change.
type Mutator interface {
	Mutate(ctx context.Context, ws id.Workspace, change *deploy.Change, fn func(ctx context.Context, revision int64) error) (publication.Publication, error)
}

// Service reads and changes settings.
type Service struct {
	runner  txn.Runner
	store   Store
	mutator Mutator
	now     func() time.Time
}

// NewService returns a Service over store.
func NewService(runner txn.Runner, store Store, mutator Mutator, now func() time.Time) *Service {
	return &Service{runner: runner, store: store, mutator: mutator, now: now}
}

// Get fails with not_found.
func (s *Service) Get(ctx context.Context, ws id.Workspace) (Settings, error) {
	var found Settings
	err := s.runner.Read(ctx, ws, func(ctx context.Context) (err error) {
		found, err = s.store.Get(ctx, ws)
		return err
	})
	return found, err
}

// Update applies p. It fails with validation_error over every violation,
// not_found or precondition_failed.
func (s *Service) Update(ctx context.Context, ws id.Workspace, by audit.By, p Patch, ifMatch *int64) (Settings, publication.Publication, error) {
	var after Settings
	c := &deploy.Change{
		Actor: by.Actor, RequestID: by.RequestID, Action: "settings.update", TargetType: "settings", TargetID: ws.String(),
	}
	pub, err := s.mutator.Mutate(ctx, ws, c, func(ctx context.Context, _ int64) error {
		before, err := s.store.Get(ctx, ws)
		if err != nil {
			return err
		}
		if err := txn.Match(ifMatch, before.Version); err != nil {
			return err
		}
		after = Settings{
			Settings: p.apply(before.Settings), Version: before.Version + 1, UpdatedAt: s.now().UTC().Truncate(time.Microsecond),
		}
		if err := Validate(after.Settings); err != nil {
			return err
		}
		c.Diff = diff(before.Settings, after.Settings)
		return s.store.Update(ctx, ws, after)
	})
	if err != nil {
		return Settings{}, publication.Publication{}, err
	}
	return after, pub, nil
}

// Seeder gives new workspaces their first settings.
type Seeder struct{ store Store }

// NewSeeder returns a Seeder over store.
func NewSeeder(store Store) *Seeder { return &Seeder{store: store} }

// Seed stores the default settings inside the transaction that creates ws.
func (s *Seeder) Seed(ctx context.Context, ws id.Workspace, at time.Time) error {
	return s.store.Create(ctx, ws, Settings{Settings: policy.DefaultSettings(), Version: 1, UpdatedAt: at})
}

func diff(before, after policy.Settings) []audit.Change {
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
	return d
}
