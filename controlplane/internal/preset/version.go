package preset

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/routing"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

const maxNotes = 1000 // characters

// Release says how a version is published.
type Release struct {
	Label   string // "" as the versioning has it
	Notes   string
	Deploy  bool // and deploy it at once
	IfMatch *int64
}

// Publish makes the draft the next version, which never changes. An unchanged
// draft is a conflict.
func (s *Service) Publish(ctx context.Context, ws id.Workspace, r Ref, by Caller, release Release) (Preset, Version, publication.Publication, error) {
	checker, err := s.checker(ctx)
	if err != nil {
		return Preset{}, Version{}, publication.Publication{}, err
	}
	var made Version
	c := changeOf(by, "preset.publish")
	p, pub, err := s.change(ctx, target{ws: ws, ref: r, by: by, ifMatch: release.IfMatch}, c, func(ctx context.Context, revision int64, after *Preset) (err error) {
		var v rule.Violations
		if err := s.weigh(ctx, &v, checker, *after, after.Draft); err != nil {
			return err
		}
		if err := v.Err(); err != nil {
			return err
		}
		made, err = s.release(ctx, by, revision, after, release)
		return err
	})
	return p, made, pub, err
}

// release adds the next version of after, and deploys it where that is wanted.
func (s *Service) release(ctx context.Context, by Caller, revision int64, after *Preset, r Release) (Version, error) {
	switch {
	case !after.Changed():
		return Version{}, fault.Newf(fault.Conflict, "The draft is as version %d: there is nothing to publish.", after.LatestVersion).
			Because(fault.NothingToPublish)
	case after.LatestVersion >= policy.MaxPresetVersions:
		return Version{}, fault.Newf(fault.Conflict, "The preset has %d versions, which is the most. Fork it to go on.", after.LatestVersion)
	}
	earlier, err := s.d.Versions.Labels(ctx, after.Workspace, after.ID)
	if err != nil {
		return Version{}, err
	}
	now := s.now()
	made := Version{
		Workspace: after.Workspace, Preset: after.ID, Number: after.LatestVersion + 1, Notes: r.Notes, Config: after.Draft,
		Digest: after.DraftDigest, PublishedBy: by.User, PublishedAt: now, Revision: revision, Status: Published,
	}
	var v rule.Violations
	made.Label = label(&v, after.Versioning, made.Number, r.Label, earlier, now)
	notes(&v, r.Notes)
	if err := v.Err(); err != nil {
		return Version{}, err
	}
	if err := s.d.Versions.Add(ctx, after.Workspace, made); err != nil {
		return Version{}, err
	}
	after.LatestVersion, after.LatestDigest = made.Number, made.Digest
	if !r.Deploy {
		return made, nil
	}
	present, err := s.d.Deployments.Present(ctx, after.Workspace, after.ID)
	if err != nil {
		return Version{}, err
	}
	return s.put(ctx, by, after, made, present.Above(made.Number))
}

// Deploy makes a version what the slug means. One that no longer fits the
// catalog or the workspace's guardrails is a conflict with every problem.
// Deploying the deployed one changes nothing.
func (s *Service) Deploy(ctx context.Context, ws id.Workspace, r Ref, number int, by Caller, ifMatch *int64) (Preset, Version, publication.Publication, error) {
	checker, err := s.checker(ctx)
	if err != nil {
		return Preset{}, Version{}, publication.Publication{}, err
	}
	var deployed Version
	c := changeOf(by, "preset.deploy")
	p, pub, err := s.change(ctx, target{ws: ws, ref: r, by: by, ifMatch: ifMatch}, c, func(ctx context.Context, _ int64, after *Preset) (err error) {
		if after.DeployedVersion == number && number != 0 {
			deployed, err = s.d.Versions.Get(ctx, ws, after.ID, number)
			return err
		}
		standing, err := s.stands(ctx, checker, *after, number)
		if err != nil {
			return err
		}
		present, err := s.d.Deployments.Present(ctx, ws, after.ID)
		if err != nil {
			return err
		}
		deployed, err = s.put(ctx, by, after, standing, present.Above(number))
		return err
	})
	return p, deployed, pub, err
}

// Rollback deploys the version that the present deployment replaced. Repeated,
// it walks back; at the start, and where the version no longer fits, it is a
// conflict.
func (s *Service) Rollback(ctx context.Context, ws id.Workspace, r Ref, by Caller, ifMatch *int64) (Preset, Version, publication.Publication, error) {
	checker, err := s.checker(ctx)
	if err != nil {
		return Preset{}, Version{}, publication.Publication{}, err
	}
	var deployed Version
	c := changeOf(by, "preset.rollback")
	p, pub, err := s.change(ctx, target{ws: ws, ref: r, by: by, ifMatch: ifMatch}, c, func(ctx context.Context, _ int64, after *Preset) error {
		present, err := s.d.Deployments.Present(ctx, ws, after.ID)
		if err != nil {
			return err
		}
		if present.Beneath == 0 {
			return fault.New(fault.Conflict, "There is no earlier deployment to go back to.").Because(fault.NothingToRollBack)
		}
		beneath, err := s.d.Deployments.At(ctx, ws, after.ID, present.Beneath)
		if err != nil {
			return err
		}
		standing, err := s.stands(ctx, checker, *after, beneath.Version)
		if err != nil {
			return err
		}
		deployed, err = s.put(ctx, by, after, standing, present.Back(beneath))
		return err
	})
	return p, deployed, pub, err
}

// stands is a version of p, or refuses one that the catalog and the workspace's
// guardrails of now do not allow any more, with every problem.
func (s *Service) stands(ctx context.Context, checker *routing.Checker, p Preset, number int) (Version, error) {
	version, err := s.d.Versions.Get(ctx, p.Workspace, p.ID, number)
	if err != nil {
		return Version{}, err
	}
	var v rule.Violations
	if err := s.weigh(ctx, &v, checker, p, version.Config); err != nil {
		return Version{}, err
	}
	if err := v.Err(); err != nil {
		refused := fault.Newf(fault.Conflict, "Version %d does not fit the catalog and the workspace's guardrails as they are now. Nothing was changed; publish a version without what is wrong, and deploy that.", number)
		refused.Violations = fault.Of(err).Violations
		return Version{}, refused
	}
	return version, nil
}

// put makes the deployment d of after, of the version next, which stands.
func (s *Service) put(ctx context.Context, by Caller, after *Preset, next Version, d Deployment) (Version, error) {
	if after.DeployedVersion != 0 && after.DeployedVersion != next.Number {
		former, err := s.d.Versions.Get(ctx, after.Workspace, after.ID, after.DeployedVersion)
		if err != nil {
			return Version{}, err
		}
		former.Status = Superseded
		if err := s.d.Versions.Mark(ctx, after.Workspace, former); err != nil {
			return Version{}, err
		}
	}
	next.Status = Deployed
	if after.Visibility == Public {
		next = s.opened(next)
	}
	if err := s.d.Versions.Mark(ctx, after.Workspace, next); err != nil {
		return Version{}, err
	}
	d.By, d.At = by.User, s.now()
	after.DeployedVersion = next.Number
	return next, s.d.Deployments.Append(ctx, after.Workspace, after.ID, d)
}

// ListVersions returns a page of versions, newest first.
func (s *Service) ListVersions(ctx context.Context, ws id.Workspace, by Caller, r Ref, q page.Query) (page.Result[Version], error) {
	var found page.Result[Version]
	err := s.d.Runner.Read(ctx, ws, func(ctx context.Context) error {
		p, err := s.find(ctx, ws, by, r)
		if err != nil {
			return err
		}
		found, err = s.d.Versions.List(ctx, ws, p.ID, q)
		return err
	})
	return found, err
}

// GetVersions returns versions of one preset by their numbers, in one view of
// the database.
func (s *Service) GetVersions(ctx context.Context, ws id.Workspace, by Caller, r Ref, numbers ...int) ([]Version, error) {
	var list []Version
	err := s.d.Runner.Read(ctx, ws, func(ctx context.Context) error {
		list = nil
		p, err := s.find(ctx, ws, by, r)
		if err != nil {
			return err
		}
		for _, n := range numbers {
			v, err := s.d.Versions.Get(ctx, ws, p.ID, n)
			if err != nil {
				return err
			}
			list = append(list, v)
		}
		return nil
	})
	return list, err
}
