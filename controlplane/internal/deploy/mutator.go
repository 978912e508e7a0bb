// Package deploy owns the one way in which policy changes: a transaction that
// raises the workspace's revision, makes the change, audits it and leaves word
// for the publisher. It knows nothing of SQL, of what is changed, or of NATS.
package deploy

import (
	"context"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Store keeps revisions and publications. Its methods are called inside a
// transaction of ws.
type Store interface {
	// Bump locks the workspace's revision until the transaction ends, raises it
	// and returns it. It fails with not_found where there is no such workspace.
	Bump(ctx context.Context, ws id.Workspace) (int64, error)
	// Record adds p, its outbox row and the signal that wakes the publisher.
	Record(ctx context.Context, p publication.Publication) error
}

// Auditor keeps audit events.
type Auditor interface {
	Append(ctx context.Context, ws id.Workspace, e audit.Event) error
}

// Mutator makes changes.
type Mutator struct {
	runner  txn.Runner
	store   Store
	auditor Auditor
	ids     *id.Source
	now     func() time.Time
}

// New returns a Mutator.
func New(runner txn.Runner, store Store, auditor Auditor, ids *id.Source, now func() time.Time) *Mutator {
	return &Mutator{runner: runner, store: store, auditor: auditor, ids: ids, now: now}
}

// Mutate runs fn as the change c of ws, all or nothing, and returns its
// publication. fn gets the revision that the change makes; it may complete c.
// Changes of one workspace happen one after the other, in the order of their
// revisions. The revision row comes first, so changes never wait for each
// other in a circle.
func (m *Mutator) Mutate(
	ctx context.Context, ws id.Workspace, c *Change, fn func(ctx context.Context, revision int64) error,
) (publication.Publication, error) {
	var p publication.Publication
	err := m.runner.InTx(ctx, ws, func(ctx context.Context) error {
		revision, err := m.store.Bump(ctx, ws)
		if err != nil {
			return err
		}
		if err := fn(ctx, revision); err != nil {
			return err
		}
		if err := m.auditor.Append(ctx, ws, m.event(ws, c, revision)); err != nil {
			return err
		}
		p = m.publication(ws, c, revision)
		return m.store.Record(ctx, p)
	})
	if err != nil {
		return publication.Publication{}, err
	}
	return p, nil
}

// Mutate is m.Mutate for a change that comes to something: it returns what fn
// made, and nothing where the change fails.
func Mutate[T any](
	ctx context.Context, m *Mutator, ws id.Workspace, c *Change, fn func(ctx context.Context, revision int64) (T, error),
) (T, publication.Publication, error) {
	var made T
	p, err := m.Mutate(ctx, ws, c, func(ctx context.Context, revision int64) (err error) {
		made, err = fn(ctx, revision)
		return err
	})
	if err != nil {
		var none T
		return none, publication.Publication{}, err
	}
	return made, p, nil
}

func (m *Mutator) event(ws id.Workspace, c *Change, revision int64) audit.Event {
	return audit.Event{
		ID: id.New[id.AuditEventKind](m.ids), Workspace: ws, At: m.now().UTC(), Actor: c.Actor, Action: c.Action,
		TargetType: c.TargetType, TargetID: c.TargetID, Diff: c.Diff, RequestID: c.RequestID, Revision: revision,
	}
}

func (m *Mutator) publication(ws id.Workspace, c *Change, revision int64) publication.Publication {
	kids := slices.Compact(slices.Sorted(slices.Values(c.KIDs)))
	return publication.Publication{
		ID: id.New[id.PublicationKind](m.ids), Workspace: ws, Revision: revision,
		Changes: []string{c.Action}, KIDs: kids, CreatedAt: m.now().UTC(),
	}
}
