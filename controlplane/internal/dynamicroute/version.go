package dynamicroute

import (
	"context"
	"errors"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Save keeps a graph as the next version, a draft. One that is the newest
// version's makes none: the outcome is unchanged and holds that version.
func (s *Service) Save(ctx context.Context, ws id.Workspace, route id.Route, by audit.By, n NewVersion) (Outcome, error) {
	g, warnings, err := s.check(ctx, ws, Patch{Config: n.Config, Note: n.Note})
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Warnings: warnings}
	c := changeOf(by, "route.save_version", route)
	err = s.change(ctx, ws, c, target{route, n.IfMatch}, &out, func(ctx context.Context, r *Route, _ int64) error {
		out.Version, err = s.save(ctx, r, g, saving{note: n.Note, parent: n.Parent, by: by})
		return err
	})
	return out, err
}

// saving is what a new version has beside its graph.
type saving struct {
	note   string
	parent *int
	by     audit.By
}

// save adds g to r as its newest version. With errUnchanged it returns the
// newest version, whose graph g is. Its slots are derived from those of the
// version that serves, unless a parent is named: subjects move by what changes
// for them, whatever was drafted in between. It reads one version or two,
// however many there are.
func (s *Service) save(ctx context.Context, r *Route, g flow.Graph, n saving) (Version, error) {
	if r.Latest == 0 {
		if n.parent != nil {
			return Version{}, noParent()
		}
		r.Latest = 1
		v := first(*r, g, n.note, n.by)
		v.CreatedAt = s.now()
		return v, s.d.Versions.Add(ctx, r.Workspace, v)
	}
	newest, err := s.d.Versions.Get(ctx, r.Workspace, r.ID, r.Latest)
	if err != nil {
		return Version{}, err
	}
	digest := flow.Digest(g)
	if digest == newest.Digest {
		return newest, errUnchanged
	}
	parent, of := newest, newest.Number
	switch {
	case n.parent != nil:
		of = *n.parent
	case r.Deployed != 0:
		of = r.Deployed
	}
	if of != newest.Number {
		if parent, err = s.d.Versions.Get(ctx, r.Workspace, r.ID, of); fault.Is(err, fault.NotFound) {
			return Version{}, noParent()
		} else if err != nil {
			return Version{}, err
		}
	}
	r.Latest++
	v := Version{
		Workspace: r.Workspace, Route: r.ID, Number: r.Latest, Graph: g, Slots: flow.Derive(g, parent.Slots), Digest: digest,
		Parent: parent.Number, Note: n.note, CreatedBy: n.by.User, CreatedAt: s.now(), Status: Draft,
	}
	return v, s.d.Versions.Add(ctx, r.Workspace, v)
}

func noParent() error {
	return fault.Invalid(fault.Violation{Path: "parent", Code: rule.NotAllowed, Message: "is no version of this dynamic route"})
}

// first is version 1 of a route.
func first(r Route, g flow.Graph, note string, by audit.By) Version {
	return Version{
		Workspace: r.Workspace, Route: r.ID, Number: 1, Graph: g, Slots: flow.Derive(g, nil), Digest: flow.Digest(g),
		Note: note, CreatedBy: by.User, CreatedAt: r.CreatedAt, Status: Draft,
	}
}

// Version returns one version, of a deleted route too.
func (s *Service) Version(ctx context.Context, ws id.Workspace, route id.Route, number int) (Version, error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (Version, error) {
		return s.version(ctx, ws, route, number)
	})
}

func (s *Service) version(ctx context.Context, ws id.Workspace, route id.Route, number int) (Version, error) {
	if _, err := s.d.Store.Get(ctx, ws, route); err != nil {
		return Version{}, err
	}
	v, err := s.d.Versions.Get(ctx, ws, route, number)
	if fault.Is(err, fault.NotFound) {
		return v, fault.Wrap(err, fault.NotFound, "The dynamic route has no such version.")
	}
	return v, err
}

// History returns a page of versions without their graphs, newest first, of a
// deleted route too.
func (s *Service) History(ctx context.Context, ws id.Workspace, route id.Route, q page.Query) (page.Result[Version], error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (page.Result[Version], error) {
		if _, err := s.d.Store.Get(ctx, ws, route); err != nil {
			return page.Result[Version]{}, err
		}
		return s.d.Versions.List(ctx, ws, route, q)
	})
}

// Diff says what version b changes of version a.
func (s *Service) Diff(ctx context.Context, ws id.Workspace, route id.Route, a, b int) (flow.Difference, error) {
	var from, to Version
	err := s.d.Runner.Read(ctx, ws, func(ctx context.Context) (err error) {
		if from, err = s.version(ctx, ws, route, a); err != nil {
			return err
		}
		to, err = s.version(ctx, ws, route, b)
		return err
	})
	if err != nil {
		return flow.Difference{}, err
	}
	return flow.Diff(from.Graph, to.Graph), nil
}

// Trial is what a version does with sample facts.
type Trial struct {
	Action  flow.Action
	Visited []string // ids of nodes, in their order
}

// Test evaluates a version for a sample as a gateway does for a request.
func (s *Service) Test(ctx context.Context, ws id.Workspace, route id.Route, number int, sample Sample) (Trial, error) {
	facts, err := sample.Facts()
	if err != nil {
		return Trial{}, err
	}
	v, err := s.Version(ctx, ws, route, number)
	if err != nil {
		return Trial{}, err
	}
	program, err := flow.Compile(route, v.Graph, v.Slots)
	if errors.Is(err, flow.ErrInvalid) {
		return Trial{}, fault.Wrap(err, fault.Conflict, "This version of Signalbox cannot evaluate the graph any more. Save it again to see what is wrong.")
	}
	if err != nil {
		return Trial{}, err
	}
	var t Trial
	t.Action, t.Visited = program.Evaluate(&facts, nil)
	return t, nil
}
