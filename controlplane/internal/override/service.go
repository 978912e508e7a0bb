package override

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Deps are what a Service works with.
type Deps struct {
	System  txn.System
	Store   Store
	History History
	Base    catalog.Catalog // what is offered without overrides
	Sealer  Sealer          // nil when there is no keyring
	IDs     *id.Source
	Now     func() time.Time
}

// Service reads and changes the overrides. Its failures are validation_error
// over everything that is wrong with the merged catalog, not_found,
// precondition_failed and unavailable.
type Service struct{ d Deps }

// NewService returns a Service over d.
func NewService(d Deps) *Service { return &Service{d: d} }

// Options are what every change has.
type Options struct {
	By      audit.By
	IfMatch *int64
	DryRun  bool // check and compare, and change nothing
}

// Changed is the outcome of a change. Without a difference the state is the
// one before: nothing made no version.
type Changed struct {
	State
	Diff []audit.Change
}

// Get returns the present overrides with what is wrong with them over the
// catalog that this control plane offers. There can be something although it
// was checked when it was written: a newer embedded catalog or other files lie
// beneath it now.
func (s *Service) Get(ctx context.Context) (State, catalog.Problems, error) {
	var found State
	err := s.d.System.Read(ctx, func(ctx context.Context) (err error) {
		found, err = s.d.Store.Latest(ctx)
		return err
	})
	if err != nil {
		return State{}, nil, err
	}
	found.Document.normal()
	_, problems := found.over(s.d.Base)
	return found, problemsOf(problems), nil
}

// At returns one of the versions that are kept. It fails with not_found.
func (s *Service) At(ctx context.Context, version int64) (State, error) {
	var found State
	err := s.d.System.Read(ctx, func(ctx context.Context) (err error) {
		found, err = s.d.History.At(ctx, version)
		return err
	})
	found.Document.normal()
	return found, err
}

// Covering is the first published revision that has the version; 0 until then.
func (s *Service) Covering(ctx context.Context, version int64) (int64, error) {
	var revision int64
	err := s.d.System.Read(ctx, func(ctx context.Context) (err error) {
		revision, err = s.d.History.Covering(ctx, version)
		return err
	})
	return revision, err
}

// Events returns a page of what operators changed, newest first.
func (s *Service) Events(ctx context.Context, q page.Query) (page.Result[audit.Event], error) {
	var found page.Result[audit.Event]
	err := s.d.System.Read(ctx, func(ctx context.Context) (err error) {
		found, err = s.d.History.Events(ctx, q)
		return err
	})
	return found, err
}

// edit is one change: what it is called, and what it does to the state.
type edit struct {
	action, kind, target string
	// where is the path, in the whole document, of what the caller sent; paths
	// of problems within it are told relative to it.
	where func(*State) string
	apply func(*State) error
}

// change runs the shape that every change has: the whole is locked, edited,
// checked over the offered catalog, compared, and stored as the next version.
func (s *Service) change(ctx context.Context, o Options, e edit) (Changed, error) {
	var out Changed
	err := s.d.System.InTx(ctx, func(ctx context.Context) error {
		if err := s.d.Store.Lock(ctx); err != nil {
			return err
		}
		before, err := s.d.Store.Latest(ctx)
		if err != nil {
			return err
		}
		if err := txn.Match(o.IfMatch, before.Version); err != nil {
			return err
		}
		before.Document.normal()
		after := before
		after.Document.Providers = slices.Clone(before.Document.Providers)
		after.Document.Models = slices.Clone(before.Document.Models)
		after.Keys = merged(before.Keys, nil)
		if err := e.apply(&after); err != nil {
			return err
		}
		after.Document.normal()
		after.dropKeys()
		if _, err := after.over(s.d.Base); err != nil {
			return refused(err, e.where, &after)
		}
		out = Changed{State: before, Diff: diff(&before, &after)}
		if len(out.Diff) == 0 || o.DryRun {
			return nil
		}
		now := txn.Moment(s.d.Now())
		after.Version, after.By, after.CreatedAt = before.Version+1, o.By.Actor, now
		after.Revision, after.PublishedAt = 0, nil
		out.State = after
		err = s.d.Store.Append(ctx, after, audit.Event{
			ID: id.New[id.AuditEventKind](s.d.IDs), At: now, Actor: o.By.Actor, Action: e.action, TargetType: e.kind,
			TargetID: e.target, Diff: out.Diff, RequestID: o.By.RequestID, Revision: after.Version,
		})
		if err != nil {
			return err
		}
		return s.d.Store.Trim(ctx, after.Version, Kept)
	})
	return out, err
}

// dropKeys forgets the keys of providers that have no entry any more.
func (s *State) dropKeys() {
	maps.DeleteFunc(s.Keys, func(slug string, _ secret.Sealed) bool {
		return find(s.Document.Providers, slugName, slug) < 0
	})
}

func noSuch(what string) error {
	return fault.New(fault.NotFound, "The operator's catalog has no such "+what+".")
}
