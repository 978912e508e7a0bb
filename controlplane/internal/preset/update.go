package preset

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/patch"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Patch changes a preset; nil fields stay. What it says of the configuration
// changes the draft alone.
type Patch struct {
	Name        *string
	Description *string
	Visibility  *Visibility
	Versioning  *Versioning
	Config      *policy.PresetConfig // in place of the draft
	// Merge makes the new draft of the present one; nil leaves that to Config.
	Merge   func(draft policy.PresetConfig) policy.PresetConfig
	IfMatch *int64
}

// Update applies p. A change of the visibility takes effect at once, one of the
// draft with its publication and deployment.
func (s *Service) Update(ctx context.Context, ws id.Workspace, r Ref, by Caller, p Patch) (Preset, publication.Publication, error) {
	checker, err := s.checker(ctx)
	if err != nil {
		return Preset{}, publication.Publication{}, err
	}
	c := changeOf(by, "preset.update")
	return s.change(ctx, target{ws: ws, ref: r, by: by, ifMatch: p.IfMatch}, c, func(ctx context.Context, _ int64, after *Preset) error {
		var v rule.Violations
		if p.Name != nil {
			v.Name("name", *p.Name)
		}
		if p.Description != nil {
			v.Text("description", *p.Description, maxDescription)
		}
		drafted := p.Config != nil || p.Merge != nil
		patch.Set(&after.Draft, p.Config)
		if p.Merge != nil {
			after.Draft = p.Merge(after.Draft)
		}
		if drafted {
			after.Draft = checkConfig(&v, checker, after.Draft)
		}
		if err := v.Err(); err != nil {
			return err
		}
		patch.Set(&after.Name, p.Name)
		patch.Set(&after.Description, p.Description)
		patch.Set(&after.Versioning, p.Versioning)
		// Before the draft is held against the guardrails: it may have them unless
		// the preset is public from now on.
		if err := s.show(ctx, by, after, p.Visibility); err != nil || !drafted {
			return err
		}
		if after.DraftDigest, err = digestOf(after.Draft); err != nil {
			return err
		}
		return s.fits(ctx, *after, after.Draft)
	})
}

// show changes who may use a preset.
func (s *Service) show(ctx context.Context, by Caller, after *Preset, to *Visibility) error {
	if to == nil || *to == after.Visibility {
		return nil
	}
	if err := by.maySet(*to, after.CreatedBy); err != nil {
		return err
	}
	after.Visibility = *to
	switch *to {
	case Private:
		return s.confinable(ctx, *after)
	case Team:
		return nil
	case Public:
	}
	if err := s.publishable(ctx, *after); err != nil {
		return err
	}
	if err := s.fits(ctx, *after, after.Draft); err != nil || after.DeployedVersion == 0 {
		return err
	}
	deployed, err := s.d.Versions.Get(ctx, after.Workspace, after.ID, after.DeployedVersion)
	if err != nil {
		return err
	}
	if len(deployed.Config.Guardrails) > 0 {
		return fault.New(fault.Conflict, "The deployed version has guardrails, which are the workspace's own. Deploy one without before it is made public.")
	}
	return s.d.Versions.Mark(ctx, after.Workspace, s.opened(deployed))
}

// confinable refuses to keep a preset to its creator's keys that the settings or
// a routing profile names: they could not name it any more either. Dynamic routes
// may, with a warning.
func (s *Service) confinable(ctx context.Context, p Preset) error {
	used, err := s.d.Uses.Uses(ctx, p.Workspace, p)
	if err != nil {
		return err
	}
	used.Routes = nil
	return used.refuse()
}

// opened is v as one that other workspaces may have from now on.
func (s *Service) opened(v Version) Version {
	if v.PublicAt == nil {
		now := s.now()
		v.PublicAt = &now
	}
	return v
}

// Archive ends a preset: its slug is answered no more, and stays its own. What
// was published can be read, and forked from within the workspace. One that the
// settings, a routing profile, or a dynamic route in its deployed version or the
// one that is rolled out names is a conflict.
func (s *Service) Archive(ctx context.Context, ws id.Workspace, r Ref, by Caller, confirmName string, ifMatch *int64) (Preset, publication.Publication, error) {
	c := changeOf(by, "preset.archive")
	return s.change(ctx, target{ws: ws, ref: r, by: by, ifMatch: ifMatch, archive: true}, c, func(ctx context.Context, _ int64, after *Preset) error {
		if confirmName != after.Name {
			return fault.Invalid(fault.Violation{Path: "confirm_name", Code: rule.NotAllowed, Message: "must be the preset's name, exactly"})
		}
		used, err := s.d.Uses.Uses(ctx, ws, *after)
		if err == nil {
			err = used.refuse()
		}
		if err != nil {
			return err
		}
		now := s.now()
		after.ArchivedAt = &now
		return nil
	})
}

// refuse is a conflict with every use; nil where there is none.
func (u Used) refuse() error {
	var uses rule.Uses
	if u.Settings {
		uses.Add("settings", "the workspace's settings")
	}
	for _, p := range u.Profiles {
		uses.Add("routing_profiles", "the routing profile "+p.String())
	}
	for _, r := range u.Routes {
		uses.Add("dynamic_routes", "the dynamic route "+r.String())
	}
	if !u.Settings && len(u.Profiles)+len(u.Routes) == 0 {
		return nil
	}
	return uses.Refuse("The preset", "is named by", "Name something else there first.", 0)
}
