package guardrail

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
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

// maxDescription is the longest description, in characters.
const maxDescription = 500

// Deps are what a Service works with.
type Deps struct {
	Runner     txn.Runner
	Store      Store
	Directory  Directory
	Keys       Binder[id.KeyKind]
	Members    Binder[id.UserKind]
	RateLimits RateLimits
	Budgets    Budgets
	Mutator    *deploy.Mutator
	Offered    routing.Source
	IDs        *id.Source
	Now        func() time.Time
}

// Service creates, changes, binds and deletes guardrails. Its failures are
// validation_error, not_found, conflict (the name is taken, there are too many,
// or it is bound), precondition_failed and unavailable.
type Service struct{ d Deps }

// NewService returns a Service over d.
func NewService(d Deps) *Service { return &Service{d: d} }

// Create stores a guardrail. No key and no member is bound to it yet.
func (s *Service) Create(ctx context.Context, ws id.Workspace, by audit.By, d Draft) (Guardrail, publication.Publication, error) {
	p, checker, err := s.check(ctx, Patch{Name: &d.Name, Description: &d.Description, Models: &d.Rules.Models, Providers: &d.Rules.Providers})
	if err != nil {
		return Guardrail{}, publication.Publication{}, err
	}
	now := s.now()
	g := p.apply(Guardrail{
		ID: id.New[id.GuardrailKind](s.d.IDs), Workspace: ws, Enabled: d.Enabled, WholeWorkspace: d.WholeWorkspace, Rules: d.Rules,
		Version: 1, CreatedAt: now, UpdatedAt: now,
	})
	if err := reaches(checker, g.Rules); err != nil {
		return Guardrail{}, publication.Publication{}, err
	}
	c := changeOf(by, "guardrail.create", g.ID)
	c.Diff = diff(Guardrail{}, g)
	return deploy.Mutate(ctx, s.d.Mutator, ws, c, func(ctx context.Context, _ int64) (Guardrail, error) {
		n, err := s.d.Directory.Count(ctx, ws)
		switch {
		case err != nil:
			return Guardrail{}, err
		case n >= policy.MaxGuardrails:
			return Guardrail{}, fault.Newf(fault.Conflict, "The workspace has %d guardrails, which is the most. Delete one that binds nothing.", n)
		}
		if err := s.matchable(ctx, ws, Guardrail{}, g); err != nil {
			return Guardrail{}, err
		}
		return g, s.d.Store.Create(ctx, ws, g)
	})
}

// Get returns one guardrail with what it is bound to.
func (s *Service) Get(ctx context.Context, ws id.Workspace, guardrail id.Guardrail) (Guardrail, Bindings, error) {
	var g Guardrail
	var b Bindings
	err := s.d.Runner.Read(ctx, ws, func(ctx context.Context) (err error) {
		if g, err = s.d.Store.Get(ctx, ws, guardrail); err != nil {
			return err
		}
		b, err = s.d.Directory.Bindings(ctx, ws, guardrail)
		return err
	})
	return g, b, err
}

// List returns a page of guardrails, newest first.
func (s *Service) List(ctx context.Context, ws id.Workspace, q page.Query, f Filter) (page.Result[Guardrail], error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (page.Result[Guardrail], error) {
		return s.d.Directory.List(ctx, ws, q, f)
	})
}

// Update applies p, for everything that the guardrail binds. What p does not
// name is not held against the catalog again.
func (s *Service) Update(ctx context.Context, ws id.Workspace, guardrail id.Guardrail, by audit.By, p Patch) (Guardrail, publication.Publication, error) {
	p, checker, err := s.check(ctx, p)
	if err != nil {
		return Guardrail{}, publication.Publication{}, err
	}
	c := changeOf(by, "guardrail.update", guardrail)
	return s.change(ctx, ws, c, guardrail, p.IfMatch, func(ctx context.Context, before Guardrail) (Guardrail, error) {
		after := p.apply(before)
		c.Diff = diff(before, after)
		if !p.rules() {
			return after, nil
		}
		if err := reaches(checker, after.Rules); err != nil {
			return after, err
		}
		return after, s.matchable(ctx, ws, before, after)
	})
}

// change runs the shape that every change of an existing guardrail has.
func (s *Service) change(
	ctx context.Context, ws id.Workspace, c *deploy.Change, guardrail id.Guardrail, ifMatch *int64,
	edit func(ctx context.Context, before Guardrail) (Guardrail, error),
) (Guardrail, publication.Publication, error) {
	return deploy.Mutate(ctx, s.d.Mutator, ws, c, func(ctx context.Context, _ int64) (Guardrail, error) {
		before, err := s.d.Store.Get(ctx, ws, guardrail)
		if err != nil {
			return Guardrail{}, err
		}
		if err := txn.Match(ifMatch, before.Version); err != nil {
			return Guardrail{}, err
		}
		after, err := edit(ctx, before)
		if err != nil {
			return Guardrail{}, err
		}
		after.Version, after.UpdatedAt = before.Version+1, s.now()
		return after, s.d.Store.Update(ctx, ws, after)
	})
}

// Delete removes a guardrail that binds nothing, that no rate-limit policy is
// assigned to and that no version of a preset names, since versions stay, and its budgets. A
// conflict says where it is used.
func (s *Service) Delete(ctx context.Context, ws id.Workspace, guardrail id.Guardrail, by audit.By, ifMatch *int64) (publication.Publication, error) {
	c := changeOf(by, "guardrail.delete", guardrail)
	return s.d.Mutator.Mutate(ctx, ws, c, func(ctx context.Context, _ int64) error {
		before, err := s.d.Store.Get(ctx, ws, guardrail)
		if err != nil {
			return err
		}
		if err := txn.Match(ifMatch, before.Version); err != nil {
			return err
		}
		b, err := s.d.Directory.Bindings(ctx, ws, guardrail)
		if err != nil {
			return err
		}
		presets, more, err := s.d.Store.Presets(ctx, ws, guardrail)
		if err != nil {
			return err
		}
		b.More += more
		policies, more, err := s.d.RateLimits.OfGuardrail(ctx, ws, guardrail)
		if err != nil {
			return err
		}
		b.More += more
		if before.WholeWorkspace || len(b.Members)+len(b.Keys)+len(presets)+len(policies) > 0 {
			return inUse(before.WholeWorkspace, b, presets, policies)
		}
		budgets, err := s.d.Budgets.ReleaseGuardrail(ctx, ws, guardrail)
		if err != nil {
			return err
		}
		d := audit.Diff(diff(before, Guardrail{}))
		d.List("budgets", id.Texts(budgets), nil)
		c.Diff = d
		return s.d.Store.Delete(ctx, ws, guardrail)
	})
}

// check returns p with its lists as they are to be kept, and what they were
// held against; or every violation.
func (s *Service) check(ctx context.Context, p Patch) (Patch, *routing.Checker, error) {
	offered, err := s.d.Offered.View(ctx)
	if err != nil {
		return p, nil, err
	}
	checker := routing.NewChecker(offered)
	var v rule.Violations
	if p.Name != nil {
		v.Name("name", *p.Name)
	}
	if p.Description != nil {
		v.Text("description", *p.Description, maxDescription)
	}
	p.Models, p.Providers = checker.CheckLists(&v, p.Models, p.Providers)
	return p, checker, v.Err()
}

// reaches refuses rules whose allow lists leave nothing of the catalog.
func reaches(checker *routing.Checker, rules policy.GuardrailRules) error {
	var v rule.Violations
	checker.CheckReach(&v, rules)
	return v.Err()
}

// matchable refuses more patterns than a request should be held against. A
// change that adds none is never refused.
func (s *Service) matchable(ctx context.Context, ws id.Workspace, before, after Guardrail) error {
	patterns := func(g Guardrail) int { return policy.Patterns(g.Rules.Models.Allow, g.Rules.Models.Block) }
	own := patterns(after)
	if own <= patterns(before) {
		return nil
	}
	others, err := s.d.Directory.Patterns(ctx, ws, after.ID)
	if err == nil && others+own > policy.MaxGuardrailPatterns {
		return fault.Newf(fault.Conflict, "The other guardrails of the workspace have %d patterns of models with *, and all can have %d. "+
			"Name models by their ids, or use fewer patterns that match more.", others, policy.MaxGuardrailPatterns)
	}
	return err
}

func (s *Service) now() time.Time { return txn.Moment(s.d.Now()) }

func changeOf(by audit.By, action string, guardrail id.Guardrail) *deploy.Change {
	return deploy.NewChange(by, action, "guardrail", guardrail.String())
}
