package autorouting

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

// Store keeps configurations. Every method is called inside a transaction of
// ws and sees nothing else.
type Store interface {
	// Get is Default where nothing was ever set.
	Get(ctx context.Context, ws id.Workspace) (Config, error)
	// Update replaces everything where the version, that of Default included,
	// is one less; else precondition_failed.
	Update(ctx context.Context, ws id.Workspace, c Config) error
}

// Deps are what a Service works with.
type Deps struct {
	Runner  txn.Runner
	Store   Store
	Mutator *deploy.Mutator
	Now     func() time.Time
}

// Service reads and changes configurations.
type Service struct{ d Deps }

// NewService returns a Service over d.
func NewService(d Deps) *Service { return &Service{d: d} }

// Get is Default where nothing was ever set.
func (s *Service) Get(ctx context.Context, ws id.Workspace) (Config, error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (Config, error) {
		return s.d.Store.Get(ctx, ws)
	})
}

// Update applies p. It fails with validation_error over every violation, with
// not_found for a deleted workspace, or precondition_failed.
func (s *Service) Update(ctx context.Context, ws id.Workspace, by audit.By, p Patch, ifMatch *int64) (Config, publication.Publication, error) {
	c := deploy.NewChange(by, "auto_routing.update", "auto_routing", ws.String())
	return deploy.Mutate(ctx, s.d.Mutator, ws, c, func(ctx context.Context, _ int64) (Config, error) {
		before, err := s.d.Store.Get(ctx, ws)
		if err != nil {
			return Config{}, err
		}
		if err := txn.Match(ifMatch, before.Version); err != nil {
			return Config{}, err
		}
		after := p.apply(before)
		after.Version, after.UpdatedAt = before.Version+1, txn.Moment(s.d.Now())
		if err := validate(after.Auto); err != nil {
			return Config{}, err
		}
		c.Diff = diff(before.Auto, after.Auto)
		return after, s.d.Store.Update(ctx, ws, after)
	})
}

func diff(before, after policy.Auto) []audit.Change {
	var d audit.Diff
	d.Text("objective", string(before.Objective), string(after.Objective))
	d.Text("spend_profile", string(before.Spend), string(after.Spend))
	in, out := prices(before.Prices)
	inAfter, outAfter := prices(after.Prices)
	d.Text("prices.input", in, inAfter)
	d.Text("prices.output", out, outAfter)
	d.List("models", before.Models, after.Models)
	d.Bool("allow_fallbacks", before.AllowFallbacks, after.AllowFallbacks)
	return d
}

// prices are empty where there is no limit.
func prices(l *policy.SpendLimit) (input, output string) {
	if l == nil {
		return "", ""
	}
	return l.Input.String(), l.Output.String()
}
