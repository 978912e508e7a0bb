package dynamicroute

import (
	"context"
	"strconv"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/routing"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Deploy makes a version the one that gateways evaluate. One that no longer
// fits the catalog is a conflict with every problem. Deploying what is deployed
// changes nothing.
func (s *Service) Deploy(ctx context.Context, ws id.Workspace, route id.Route, number int, by audit.By, ifMatch *int64) (Outcome, error) {
	names, err := s.NamesFor(ctx, ws, route, number)
	if err != nil {
		return Outcome{}, err
	}
	var out Outcome
	c := changeOf(by, "route.deploy", route)
	err = s.change(ctx, ws, c, target{route, ifMatch}, &out, func(ctx context.Context, r *Route, _ int64) error {
		if out.Version, err = s.version(ctx, ws, route, number); err != nil {
			return err
		}
		if r.Deployed == number {
			return errUnchanged
		}
		if err := s.settled(ctx, *r); err != nil {
			return err
		}
		if out.Warnings, err = s.fits(ctx, out.Version, names); err != nil {
			return err
		}
		d := Deployment{Version: number, Beneath: r.Deployment}
		c.Diff, err = s.put(ctx, r, d, by)
		out.Version.Status = Deployed
		return err
	})
	return out, err
}

// Rollback deploys what the present deployment was made upon, and takes that
// deployment back, so that repeating it walks back further and never to what
// was itself rolled back. It is a conflict where nothing lies beneath.
func (s *Service) Rollback(ctx context.Context, ws id.Workspace, route id.Route, by audit.By, ifMatch *int64) (Outcome, error) {
	names, err := s.namesBeneath(ctx, ws, route)
	if err != nil {
		return Outcome{}, err
	}
	var out Outcome
	c := changeOf(by, "route.rollback", route)
	err = s.change(ctx, ws, c, target{route, ifMatch}, &out, func(ctx context.Context, r *Route, _ int64) error {
		if err := s.settled(ctx, *r); err != nil {
			return err
		}
		target, err := s.beneath(ctx, *r)
		if err != nil {
			return err
		}
		if out.Version, err = s.version(ctx, ws, route, target.Version); err != nil {
			return err
		}
		if out.Warnings, err = s.fits(ctx, out.Version, names); err != nil {
			return err
		}
		if err := s.d.Deployments.MarkRolledBack(ctx, ws, route, r.Deployment); err != nil {
			return err
		}
		d := Deployment{Version: target.Version, Rollback: true, Beneath: target.Beneath}
		c.Diff, err = s.put(ctx, r, d, by)
		out.Version.Status = Deployed
		return err
	})
	return out, err
}

// beneath is the deployment that a rollback of the present one restores.
func (s *Service) beneath(ctx context.Context, r Route) (Deployment, error) {
	if r.Deployment == 0 {
		return Deployment{}, fault.New(fault.Conflict, "Nothing is deployed, so there is nothing to roll back.")
	}
	present, err := s.d.Deployments.Get(ctx, r.Workspace, r.ID, r.Deployment)
	if err != nil {
		return Deployment{}, err
	}
	if present.Beneath == 0 {
		return Deployment{}, fault.New(fault.Conflict, "There is no earlier deployment to roll back to. Pause the dynamic route, or deploy another version.")
	}
	return s.d.Deployments.Get(ctx, r.Workspace, r.ID, present.Beneath)
}

// put notes d as the deployment that follows the present one, and returns what
// it changes.
func (s *Service) put(ctx context.Context, r *Route, d Deployment, by audit.By) ([]audit.Change, error) {
	ws, route, former := r.Workspace, r.ID, r.Deployed
	if former != 0 {
		if err := s.d.Versions.Mark(ctx, ws, route, former, Superseded); err != nil {
			return nil, err
		}
	}
	if err := s.d.Versions.Mark(ctx, ws, route, d.Version, Deployed); err != nil {
		return nil, err
	}
	d.Workspace, d.Route, d.Number, d.Replaced = ws, route, r.Deployment+1, r.Deployment
	d.DeployedBy, d.DeployedAt = by.User, s.now()
	if err := s.d.Deployments.Add(ctx, ws, d); err != nil {
		return nil, err
	}
	r.Deployed, r.Deployment = d.Version, d.Number
	var changes audit.Diff
	changes.Text("deployed_version", numbered(former), numbered(d.Version))
	return changes, nil
}

// names are the catalog and the presets of now, which are asked before a
// transaction is begun.
func (s *Service) names(ctx context.Context, ws id.Workspace) (*routing.Names, error) {
	offered, err := s.d.Offered.View(ctx)
	if err != nil {
		return nil, err
	}
	return routing.NewNames(offered, s.now(), routing.NewShelf(ctx, s.d.Presets, ws)), nil
}

// NamesFor are names that know how the presets of others stand which a version
// names. Of a version that is not there they know nothing.
func (s *Service) NamesFor(ctx context.Context, ws id.Workspace, route id.Route, number int) (*routing.Names, error) {
	names, err := s.names(ctx, ws)
	if err != nil {
		return nil, err
	}
	v, err := s.Version(ctx, ws, route, number)
	if fault.Is(err, fault.NotFound) {
		return names, nil
	}
	if err != nil {
		return nil, err
	}
	flow.Check(v.Graph, names) // which looks them up
	return names, names.Err()
}

// namesBeneath are NamesFor the version that a rollback would restore. Why there
// is none is for the rollback to say.
func (s *Service) namesBeneath(ctx context.Context, ws id.Workspace, route id.Route) (*routing.Names, error) {
	var target Deployment
	err := s.d.Runner.Read(ctx, ws, func(ctx context.Context) error {
		r, err := s.live(ctx, ws, route)
		if err == nil {
			target, err = s.beneath(ctx, r)
		}
		return err
	})
	if err != nil && !fault.Is(err, fault.Conflict) {
		return nil, err
	}
	return s.NamesFor(ctx, ws, route, target.Version)
}

// numbered writes a version, "" for none.
func numbered(version int) string {
	if version == 0 {
		return ""
	}
	return strconv.Itoa(version)
}
