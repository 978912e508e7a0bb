package audit

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Store keeps events. Append is for the transaction of the change; both must
// be called inside a transaction of ws.
type Store interface {
	Append(ctx context.Context, ws id.Workspace, e Event) error
	List(ctx context.Context, ws id.Workspace, q page.Query, f Filter) (page.Result[Event], error)
}

// Log reads events.
type Log struct {
	runner txn.Runner
	store  Store
}

// NewLog returns a Log over store.
func NewLog(runner txn.Runner, store Store) *Log { return &Log{runner: runner, store: store} }

// List returns a page of the workspace's events, newest first. It fails with
// validation_error for a bad cursor, and unavailable.
func (l *Log) List(ctx context.Context, ws id.Workspace, q page.Query, f Filter) (page.Result[Event], error) {
	var found page.Result[Event]
	err := l.runner.Read(ctx, ws, func(ctx context.Context) (err error) {
		found, err = l.store.List(ctx, ws, q, f)
		return err
	})
	return found, err
}
