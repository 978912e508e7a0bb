package preset

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/routing"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Standings tells who saves a preset's name how that preset stands. It
// implements routing.Presets.
type Standings struct {
	runner   txn.Runner
	store    Store
	versions Versions
	commons  Commons
}

// NewStandings returns Standings over what is stored.
func NewStandings(runner txn.Runner, store Store, versions Versions, commons Commons) *Standings {
	return &Standings{runner, store, versions, commons}
}

// Own implements routing.Presets.
func (s *Standings) Own(ctx context.Context, ws id.Workspace, slug string, version int) (standing flow.Standing, err error) {
	err = s.runner.Read(ctx, ws, func(ctx context.Context) error {
		p, err := s.store.Find(ctx, ws, Ref{Slug: slug})
		if err == nil && version != 0 {
			_, err = s.versions.Get(ctx, ws, p.ID, version)
		}
		standing = p.standing()
		return err
	})
	return orMissing(standing, err)
}

// Public implements routing.Presets.
func (s *Standings) Public(ctx context.Context, handle, slug string, version int) (flow.Standing, error) {
	_, err := s.commons.Named(ctx, handle, slug, version)
	return orMissing(flow.Known, err)
}

func (p Preset) standing() flow.Standing {
	switch {
	case p.ArchivedAt != nil || p.DeployedVersion == 0:
		return flow.Undeployed
	case p.Visibility == Private:
		return flow.Confined
	default:
		return flow.Known
	}
}

func orMissing(standing flow.Standing, err error) (flow.Standing, error) {
	if fault.Is(err, fault.NotFound) {
		return flow.Missing, nil
	}
	return standing, err
}

var _ routing.Presets = (*Standings)(nil)
