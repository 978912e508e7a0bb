// Package txn owns the words for transactions, for optimistic concurrency and
// for the moments that are stored. Services use it without knowing the store; the
// transaction itself travels in the context under a key that only the store can
// read.
package txn

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Runner runs work on behalf of one workspace.
type Runner interface {
	// InTx runs fn in a transaction that sees only ws, and commits when fn
	// returns nil. fn runs again after a serialization failure, so it must do
	// nothing outside the database that cannot be repeated, and must assign
	// rather than append to what it captures. Inside a transaction of the same
	// workspace fn joins it.
	InTx(ctx context.Context, ws id.Workspace, fn func(ctx context.Context) error) error
	// Read runs fn in a read-only transaction over one snapshot of the
	// database (REPEATABLE READ). Inside a transaction of the same workspace
	// fn joins it.
	Read(ctx context.Context, ws id.Workspace, fn func(ctx context.Context) error) error
}

// Read runs fn as r does, and returns what it found.
func Read[T any](ctx context.Context, r Runner, ws id.Workspace, fn func(ctx context.Context) (T, error)) (T, error) {
	var found T
	err := r.Read(ctx, ws, func(ctx context.Context) (err error) {
		found, err = fn(ctx)
		return err
	})
	return found, err
}

// Afterwards is for what is still written when the caller may have gone: ctx
// without its end, for five seconds at the most.
func Afterwards(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
}

// System runs work that belongs to no workspace, on the tables that the
// system role was granted.
type System interface {
	InTx(ctx context.Context, fn func(ctx context.Context) error) error
	Read(ctx context.Context, fn func(ctx context.Context) error) error
}

// Match compares the version that a caller saw with the present one. A nil
// wanted means that the caller does not care.
func Match(wanted *int64, present int64) error {
	if wanted == nil || *wanted == present {
		return nil
	}
	return Stale(present)
}

// Stale is the failure of a change that was made against an old version; the
// field "version" holds the present one.
func Stale(present int64) *fault.Error {
	return fault.New(fault.PreconditionFailed, "It was changed since you read it. Read it again, and repeat the change if it still applies.").
		With("version", present)
}

// Moment has the precision of the database, so that what is returned is what is
// stored.
func Moment(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
