package workspace

import (
	"context"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Deps are what a Service works with.
type Deps struct {
	Runner    txn.Runner
	System    txn.System
	Store     Store
	Directory Directory
	Settings  Settings
	Revokers  []Revoker
	Mutator   *deploy.Mutator
	IDs       *id.Source
	Now       func() time.Time
}

// Service creates, changes and deletes workspaces.
type Service struct{ d Deps }

// NewService returns a Service over d.
func NewService(d Deps) *Service { return &Service{d: d} }

// Create adds a workspace with its owner, settings and first revision, and
// what the steps add in the same transaction; a step may run more than once.
// It is for operators. It fails with validation_error, conflict (path "slug")
// or unavailable, or as a step does.
func (s *Service) Create(ctx context.Context, by audit.By, n NewWorkspace, steps ...Step) (Created, publication.Publication, error) {
	n = n.normalised()
	if err := n.Validate(); err != nil {
		return Created{}, publication.Publication{}, err
	}
	for attempt := 0; ; attempt++ {
		created, pub, err := s.create(ctx, by, n, steps)
		// Another call created the user in between: now it can be found.
		if attempt == 0 && conflictsAt(err, "owner.email") {
			continue
		}
		return created, pub, err
	}
}

func (s *Service) create(ctx context.Context, by audit.By, n NewWorkspace, steps []Step) (Created, publication.Publication, error) {
	user, newUser, err := s.findUser(ctx, n.Owner.Email)
	if err != nil {
		return Created{}, publication.Publication{}, err
	}
	now := s.now()
	w := Workspace{
		ID: id.New[id.WorkspaceKind](s.d.IDs), Name: n.Name, Slug: n.Slug, Status: policy.WorkspaceActive,
		Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	created := Created{Workspace: w, Owner: Member{
		Workspace: w.ID, User: user, Email: n.Owner.Email, Name: n.Owner.Name, Role: Owner, CreatedAt: now,
	}}
	change := deploy.NewChange(by, "workspace.create", "workspace", w.ID.String())
	change.Diff = diff(Workspace{}, w)
	var pub publication.Publication
	err = s.d.Runner.InTx(ctx, w.ID, func(ctx context.Context) error {
		if err := s.d.Store.Create(ctx, w, created.Owner, newUser); err != nil {
			return err
		}
		if err := s.d.Settings.Seed(ctx, w.ID, now); err != nil {
			return err
		}
		if created.Owner, err = s.d.Store.Member(ctx, w.ID, user); err != nil {
			return err
		}
		// Joins this transaction; raises the revision row that Create added.
		if pub, err = s.d.Mutator.Mutate(ctx, w.ID, change, func(context.Context, int64) error { return nil }); err != nil {
			return err
		}
		for _, step := range steps {
			if err := step(ctx, created); err != nil {
				return err
			}
		}
		return nil
	})
	return created, pub, err
}

func (s *Service) findUser(ctx context.Context, email string) (user id.User, isNew bool, err error) {
	err = s.d.System.Read(ctx, func(ctx context.Context) (err error) {
		user, err = s.d.Directory.UserByEmail(ctx, email)
		return err
	})
	if fault.Is(err, fault.NotFound) {
		return id.New[id.UserKind](s.d.IDs), true, nil
	}
	return user, false, err
}

// Get fails with not_found, also for a deleted workspace.
func (s *Service) Get(ctx context.Context, ws id.Workspace) (Workspace, error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (Workspace, error) {
		return s.d.Store.Get(ctx, ws)
	})
}

// Update applies p. It fails with validation_error, not_found or
// precondition_failed.
func (s *Service) Update(ctx context.Context, ws id.Workspace, by audit.By, p Patch, ifMatch *int64) (Workspace, publication.Publication, error) {
	if err := p.Validate(); err != nil {
		return Workspace{}, publication.Publication{}, err
	}
	return s.change(ctx, ws, by, "workspace.update", func(_ context.Context, w Workspace, _ int64, _ *deploy.Change) (Workspace, error) {
		return p.apply(w), txn.Match(ifMatch, w.Version)
	})
}

// Delete marks the workspace deleted and revokes every credential in it. It
// fails with validation_error (path "confirm_name"), not_found or
// precondition_failed.
func (s *Service) Delete(ctx context.Context, ws id.Workspace, by audit.By, d Deletion) (Workspace, publication.Publication, error) {
	return s.change(ctx, ws, by, "workspace.delete", func(ctx context.Context, w Workspace, revision int64, c *deploy.Change) (Workspace, error) {
		if err := txn.Match(d.IfMatch, w.Version); err != nil {
			return w, err
		}
		if d.ConfirmName != w.Name {
			return w, fault.Invalid(fault.Violation{Path: "confirm_name", Code: rule.NotAllowed, Message: "must be the workspace's name"})
		}
		var kids []string
		for _, r := range s.d.Revokers {
			revoked, err := r.RevokeAll(ctx, ws, revision, s.now())
			if err != nil {
				return w, err
			}
			kids = append(kids, revoked...)
		}
		slices.Sort(kids)
		c.KIDs = kids
		w.Status = policy.WorkspaceDeleted
		return w, nil
	})
}

// change runs the shape that every mutation of a workspace has.
func (s *Service) change(ctx context.Context, ws id.Workspace, by audit.By, action string,
	edit func(ctx context.Context, w Workspace, revision int64, c *deploy.Change) (Workspace, error),
) (Workspace, publication.Publication, error) {
	c := deploy.NewChange(by, action, "workspace", ws.String())
	return deploy.Mutate(ctx, s.d.Mutator, ws, c, func(ctx context.Context, revision int64) (Workspace, error) {
		before, err := s.d.Store.Get(ctx, ws)
		if err != nil {
			return Workspace{}, err
		}
		after, err := edit(ctx, before, revision, c)
		if err != nil {
			return Workspace{}, err
		}
		after.Version, after.UpdatedAt = before.Version+1, s.now()
		c.Diff = diff(before, after)
		return after, s.d.Store.Update(ctx, after)
	})
}

// Members returns a page of the workspace's members, newest first.
func (s *Service) Members(ctx context.Context, ws id.Workspace, q page.Query) (page.Result[Member], error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (page.Result[Member], error) {
		return s.d.Store.Members(ctx, ws, q)
	})
}

// Member fails with not_found.
func (s *Service) Member(ctx context.Context, ws id.Workspace, user id.User) (Member, error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (Member, error) {
		return s.d.Store.Member(ctx, ws, user)
	})
}

// ListAll returns a page of all workspaces, newest first, deleted ones
// included. It is for operators.
func (s *Service) ListAll(ctx context.Context, q page.Query) (page.Result[Workspace], error) {
	var found page.Result[Workspace]
	err := s.d.System.Read(ctx, func(ctx context.Context) (err error) {
		found, err = s.d.Directory.List(ctx, q)
		return err
	})
	return found, err
}

func (s *Service) now() time.Time { return txn.Moment(s.d.Now()) }

func diff(before, after Workspace) []audit.Change {
	var d audit.Diff
	d.Text("name", before.Name, after.Name)
	d.Text("slug", before.Slug, after.Slug)
	d.Text("status", string(before.Status), string(after.Status))
	d.List("tags", before.Tags, after.Tags)
	return d
}

func conflictsAt(err error, path string) bool {
	return fault.Is(err, fault.Conflict) && slices.ContainsFunc(fault.Of(err).Violations,
		func(v fault.Violation) bool { return v.Path == path })
}
