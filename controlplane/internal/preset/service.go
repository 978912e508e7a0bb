package preset

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/routing"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

const maxDescription = 500 // characters

// Deps are what a Service works with.
type Deps struct {
	Runner      txn.Runner
	Store       Store
	Versions    Versions
	Deployments Deployments
	Publishers  Publishers
	Commons     Commons
	Guardrails  Guardrails
	Uses        Uses
	Mutator     *deploy.Mutator
	Offered     routing.Source
	IDs         *id.Source
	Now         func() time.Time
}

// Service creates, changes, publishes and deploys presets. Its failures are
// validation_error, not_found, forbidden, conflict, precondition_failed and
// unavailable.
type Service struct{ d Deps }

// NewService returns a Service over d.
func NewService(d Deps) *Service { return &Service{d: d} }

// New is what a caller gives for a preset.
type New struct {
	Slug        string
	Name        string // "" for the slug
	Description string
	Visibility  Visibility
	Versioning  Versioning
	Config      policy.PresetConfig
	// Release publishes and deploys the first version at once; nil does not.
	Release *Release
}

// Create stores a preset with its draft.
func (s *Service) Create(ctx context.Context, ws id.Workspace, by Caller, n New) (Preset, publication.Publication, error) {
	checker, err := s.checker(ctx)
	if err != nil {
		return Preset{}, publication.Publication{}, err
	}
	var v rule.Violations
	n.Config = checkConfig(&v, checker, n.Config)
	p, err := s.begin(&v, ws, by, n)
	if err != nil {
		return Preset{}, publication.Publication{}, err
	}
	return s.create(ctx, by, p, n.Release)
}

// begin makes the preset of n, or every violation.
func (s *Service) begin(v *rule.Violations, ws id.Workspace, by Caller, n New) (Preset, error) {
	if n.Name == "" {
		n.Name = n.Slug
	}
	checkSlug(v, n.Slug)
	v.Name("name", n.Name)
	v.Text("description", n.Description, maxDescription)
	if err := v.Err(); err != nil {
		return Preset{}, err
	}
	if err := by.maySet(n.Visibility, by.User); err != nil {
		return Preset{}, err
	}
	digest, err := digestOf(n.Config)
	now := s.now()
	return Preset{
		ID: id.New[id.PresetKind](s.d.IDs), Workspace: ws, Slug: n.Slug, Name: n.Name, Description: n.Description,
		Visibility: n.Visibility, Versioning: n.Versioning, Draft: n.Config, DraftDigest: digest, CreatedBy: by.User,
		Version: 1, CreatedAt: now, UpdatedAt: now,
	}, err
}

func (s *Service) create(ctx context.Context, by Caller, p Preset, r *Release) (Preset, publication.Publication, error) {
	ws, c := p.Workspace, changeOf(by, "preset.create")
	c.TargetID, c.Diff = p.ID.String(), diff(Preset{}, p)
	return deploy.Mutate(ctx, s.d.Mutator, ws, c, func(ctx context.Context, revision int64) (Preset, error) {
		made := p
		n, err := s.d.Store.Count(ctx, ws)
		switch {
		case err != nil:
			return Preset{}, err
		case n >= policy.MaxPresets:
			return Preset{}, fault.Newf(fault.Conflict, "The workspace has %d presets, which is the most. Archive one that nobody uses.", n)
		}
		if err := s.fits(ctx, p, p.Draft); err != nil {
			return Preset{}, err
		}
		if err := s.publishable(ctx, p); err != nil {
			return Preset{}, err
		}
		if err := s.d.Store.Create(ctx, ws, p); err != nil || r == nil {
			return made, err
		}
		made.Version++
		if _, err := s.release(ctx, by, revision, &made, *r); err != nil {
			return Preset{}, err
		}
		if err := s.announce(ctx, revision, p, &made); err != nil {
			return Preset{}, err
		}
		c.Diff = diff(Preset{}, made)
		return made, s.d.Store.Update(ctx, ws, made)
	})
}

// Get returns one preset. One that is private to another is not there.
func (s *Service) Get(ctx context.Context, ws id.Workspace, by Caller, r Ref) (Preset, error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (Preset, error) {
		return s.find(ctx, ws, by, r)
	})
}

func (s *Service) find(ctx context.Context, ws id.Workspace, by Caller, r Ref) (Preset, error) {
	p, err := s.d.Store.Find(ctx, ws, r)
	if err == nil && !by.sees(p) {
		err = errNone
	}
	return p, err
}

var errNone = fault.New(fault.NotFound, "There is no such preset in this workspace.")

// List returns a page of presets, newest first, without those that are private
// to others.
func (s *Service) List(ctx context.Context, ws id.Workspace, by Caller, q page.Query, f Filter) (page.Result[Preset], error) {
	if !by.Admin {
		f.SeenBy = by.User
	}
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (page.Result[Preset], error) {
		return s.d.Store.List(ctx, ws, q, f)
	})
}

// edit is a change of one preset, inside its transaction.
type edit func(ctx context.Context, revision int64, p *Preset) error

// target is the preset that a caller wants to change.
type target struct {
	ws      id.Workspace
	ref     Ref
	by      Caller
	ifMatch *int64
	archive bool // not to change it: others may
}

func (t target) may(p Preset) error {
	if t.archive {
		return t.by.mayArchive(p)
	}
	return t.by.mayChange(p)
}

// change runs the shape that every change of an existing preset has.
func (s *Service) change(ctx context.Context, t target, c *deploy.Change, fn edit) (Preset, publication.Publication, error) {
	return deploy.Mutate(ctx, s.d.Mutator, t.ws, c, func(ctx context.Context, revision int64) (Preset, error) {
		before, err := s.find(ctx, t.ws, t.by, t.ref)
		if err != nil {
			return Preset{}, err
		}
		c.TargetID = before.ID.String()
		if err := t.may(before); err != nil {
			return Preset{}, err
		}
		if err := txn.Match(t.ifMatch, before.Version); err != nil {
			return Preset{}, err
		}
		if before.ArchivedAt != nil {
			return Preset{}, fault.New(fault.Conflict, "The preset is archived: it can be read, and forked from, and not be changed.")
		}
		after := before
		if err := fn(ctx, revision, &after); err != nil {
			return Preset{}, err
		}
		if err := s.announce(ctx, revision, before, &after); err != nil {
			return Preset{}, err
		}
		after.Version, after.UpdatedAt = before.Version+1, s.now()
		c.Diff = diff(before, after)
		return after, s.d.Store.Update(ctx, t.ws, after)
	})
}

// announce notes in after that what other workspaces get of it changes.
func (s *Service) announce(ctx context.Context, revision int64, before Preset, after *Preset) error {
	if before.Offered() == after.Offered() {
		return nil
	}
	if after.PublicHandle == "" {
		publisher, err := s.d.Publishers.Publisher(ctx, after.Workspace)
		if err != nil {
			return err
		}
		after.PublicHandle = publisher.Handle
	}
	after.PublicRevision = revision
	return nil
}

// publishable refuses a public preset of a workspace that has no handle.
func (s *Service) publishable(ctx context.Context, p Preset) error {
	if p.Visibility != Public {
		return nil
	}
	publisher, err := s.d.Publishers.Publisher(ctx, p.Workspace)
	if err == nil && publisher.Handle == "" {
		return fault.New(fault.Conflict, "A public preset is used as @handle/slug: choose the workspace's publisher handle first.").
			Because(fault.PublicProfileRequired)
	}
	return err
}

// weigh notes everything about a kept configuration that the catalog and the
// workspace's guardrails of now do not allow.
func (s *Service) weigh(ctx context.Context, v *rule.Violations, k *routing.Checker, p Preset, c policy.PresetConfig) error {
	checkConfig(v, k, c)
	return s.guard(ctx, v, p, c)
}

// fits refuses guardrails that the preset cannot have.
func (s *Service) fits(ctx context.Context, p Preset, c policy.PresetConfig) error {
	var v rule.Violations
	if err := s.guard(ctx, &v, p, c); err != nil {
		return err
	}
	return v.Err()
}

// guard notes guardrails that the workspace does not have, and any where the
// preset is for all workspaces.
func (s *Service) guard(ctx context.Context, v *rule.Violations, p Preset, c policy.PresetConfig) error {
	if len(c.Guardrails) == 0 {
		return nil
	}
	if p.Visibility == Public {
		v.Add("config.guardrail_ids", rule.NotAllowed, "must be empty: the preset is public, and guardrails are the workspace's own")
		return nil
	}
	absent, err := s.d.Guardrails.Absent(ctx, p.Workspace, c.Guardrails)
	if err != nil {
		return err
	}
	for i, g := range c.Guardrails {
		if slices.Contains(absent, g) {
			v.Add(fmt.Sprintf("config.guardrail_ids[%d]", i), rule.NotAllowed, "there is no such guardrail in this workspace")
		}
	}
	return nil
}

func (s *Service) checker(ctx context.Context) (*routing.Checker, error) {
	offered, err := s.d.Offered.View(ctx)
	if err != nil {
		return nil, err
	}
	return routing.NewChecker(offered), nil
}

func (s *Service) now() time.Time { return txn.Moment(s.d.Now()) }

var slugForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._:-]{0,79}$`)

// reserved are words of the management API's paths.
var reserved = []string{"fork", "publisher"}

func checkSlug(v *rule.Violations, slug string) {
	switch {
	case !slugForm.MatchString(slug):
		v.Add("slug", rule.Malformed, "must be 1 to 80 lower-case letters, digits, dots, underscores, colons and hyphens, and begin with a letter or digit")
	case slices.Contains(reserved, slug), RefOf(slug).Slug == "":
		v.Add("slug", rule.NotAllowed, "is taken by the product")
	}
}

func changeOf(by Caller, action string) *deploy.Change {
	return deploy.NewChange(by.By, action, "preset", "")
}
