package publication

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Record is a publication as it is stored.
type Record struct {
	Publication
	Keys, Policy wire.Position
	SettledAt    *time.Time // its receipts are final
}

// Store reads publications, inside a transaction of ws.
type Store interface {
	Get(ctx context.Context, ws id.Workspace, p id.Publication) (Record, error)
	List(ctx context.Context, ws id.Workspace, q page.Query) (page.Result[Record], error)
}

// Service answers how far publications have come.
type Service struct {
	runner  txn.Runner
	store   Store
	tracker *Tracker
	now     func() time.Time
}

// NewService returns a Service.
func NewService(runner txn.Runner, store Store, tracker *Tracker, now func() time.Time) *Service {
	return &Service{runner: runner, store: store, tracker: tracker, now: now}
}

// Get returns a publication of ws, or not_found.
func (s *Service) Get(ctx context.Context, ws id.Workspace, p id.Publication) (Publication, error) {
	var r Record
	err := s.runner.Read(ctx, ws, func(ctx context.Context) (err error) {
		r, err = s.store.Get(ctx, ws, p)
		return err
	})
	if err != nil {
		return Publication{}, err
	}
	return s.current(r), nil
}

// List returns a page of the publications of ws, newest first.
func (s *Service) List(ctx context.Context, ws id.Workspace, q page.Query) (page.Result[Publication], error) {
	var found page.Result[Record]
	err := s.runner.Read(ctx, ws, func(ctx context.Context) (err error) {
		found, err = s.store.List(ctx, ws, q)
		return err
	})
	result := page.Result[Publication]{Next: found.Next, Items: make([]Publication, 0, len(found.Items))}
	for _, r := range found.Items {
		result.Items = append(result.Items, s.current(r))
	}
	return result, err
}

// current adds the receipts that have come so far to an unsettled record.
func (s *Service) current(r Record) Publication {
	if r.SettledAt != nil {
		return r.Publication
	}
	s.tracker.Open(r.Publication)
	if r.PublishedAt != nil {
		s.tracker.Published(r.Workspace, r.Revision, *r.PublishedAt, r.Keys, r.Policy)
	}
	p, _ := s.tracker.Receipts(r.Publication)
	return p
}

// Look says how far a publication that was just committed has come, as far as
// this process knows.
func (s *Service) Look(p Publication) Publication { return s.tracker.Look(p) }

// How often Wait looks again when nothing wakes it: another control plane may
// have published.
const lookAgain = 100 * time.Millisecond

// Wait returns when every live gateway has applied the publication, or after
// d with what is pending then. Running out of time is no error.
func (s *Service) Wait(ctx context.Context, ws id.Workspace, p id.Publication, d time.Duration) (Publication, error) {
	within, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for {
		changed := s.tracker.Changed()
		now, err := s.Get(ctx, ws, p)
		if err != nil || now.Done() {
			return now, err
		}
		if err := s.moved(within, now, changed); err != nil {
			if seen, ok := s.tracker.Receipts(now); ok {
				now = seen
			}
			return now, ctx.Err()
		}
	}
}

// moved returns nil when it is time to look into the database again: receipts
// alone are looked at in memory.
func (s *Service) moved(ctx context.Context, p Publication, changed <-chan struct{}) error {
	again := time.NewTimer(lookAgain)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-again.C:
			return nil
		case <-changed:
		}
		changed = s.tracker.Changed()
		if seen, ok := s.tracker.Receipts(p); !ok || seen.Done() {
			return nil
		}
	}
}
