package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// attempts bounds how often a transaction is run again after a serialization
// failure or a deadlock.
const attempts = 5

// errScope is a mistake of the program: a store was called outside a
// transaction, or inside one of another workspace or role.
var errScope = errors.New("no transaction of this scope")

// tx is the transaction that travels in a context.
type tx struct {
	db       *gorm.DB
	ws       id.Workspace // zero in a system transaction
	system   bool
	readOnly bool
}

type txKey struct{}

func txOf(ctx context.Context) (tx, bool) {
	t, ok := ctx.Value(txKey{}).(tx)
	return t, ok
}

// Runner runs transactions as signalbox_app, which sees one workspace.
type Runner struct{ pool *pool }

// InTx implements txn.Runner.
func (r *Runner) InTx(ctx context.Context, ws id.Workspace, fn func(ctx context.Context) error) error {
	if joined, err := joins(ctx, tx{ws: ws}); joined || err != nil {
		return run(ctx, err, fn)
	}
	return retried(ctx, func() error {
		return r.pool.begin(ctx, tx{ws: ws}, &sql.TxOptions{}, func(ctx context.Context) error {
			if err := fn(ctx); err != nil {
				return err
			}
			return markExecuted(ctx, tenant(ctx, ws))
		})
	})
}

// Read implements txn.Runner.
func (r *Runner) Read(ctx context.Context, ws id.Workspace, fn func(ctx context.Context) error) error {
	want := tx{ws: ws, readOnly: true}
	if joined, err := joins(ctx, want); joined || err != nil {
		return run(ctx, err, fn)
	}
	return retried(ctx, func() error { return r.pool.begin(ctx, want, snapshot(), fn) })
}

// System runs transactions as signalbox_system, which sees whole tables, but
// only those granted to it.
type System struct{ pool *pool }

// InTx implements txn.System.
func (s *System) InTx(ctx context.Context, fn func(ctx context.Context) error) error {
	want := tx{system: true}
	if joined, err := joins(ctx, want); joined || err != nil {
		return run(ctx, err, fn)
	}
	return retried(ctx, func() error { return s.pool.begin(ctx, want, &sql.TxOptions{}, fn) })
}

// Read implements txn.System.
func (s *System) Read(ctx context.Context, fn func(ctx context.Context) error) error {
	want := tx{system: true, readOnly: true}
	if joined, err := joins(ctx, want); joined || err != nil {
		return run(ctx, err, fn)
	}
	return retried(ctx, func() error { return s.pool.begin(ctx, want, snapshot(), fn) })
}

func snapshot() *sql.TxOptions {
	return &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
}

func run(ctx context.Context, err error, fn func(ctx context.Context) error) error {
	if err != nil {
		return err
	}
	return fn(ctx)
}

// joins reports whether want can run inside the transaction of ctx. A
// transaction of another scope is refused rather than nested: its locks and
// snapshot would not be those that the caller thinks it has.
func joins(ctx context.Context, want tx) (bool, error) {
	have, ok := txOf(ctx)
	switch {
	case !ok:
		return false, nil
	case have.ws != want.ws, have.system != want.system, have.readOnly && !want.readOnly:
		return false, fmt.Errorf("begin a transaction inside another: %w", errScope)
	default:
		return true, nil
	}
}

// begin runs fn in a transaction and commits when it returns nil.
func (p *pool) begin(ctx context.Context, t tx, o *sql.TxOptions, fn func(ctx context.Context) error) (err error) {
	if !t.system && t.ws.IsZero() {
		return fmt.Errorf("begin a transaction without a workspace: %w", errScope)
	}
	t.db = p.gorm.WithContext(ctx).Begin(o)
	if t.db.Error != nil {
		return translate(t.db.Error, "begin a transaction")
	}
	open := true
	defer func() {
		if open { // also after a panic in fn
			_ = t.db.Rollback()
		}
	}()
	if !t.system {
		// Local to the transaction, so that a pooled connection carries nothing over.
		if err := t.db.Exec("SELECT set_config('app.workspace', ?, true)", t.ws.UUID().String()).Error; err != nil {
			return translate(err, "choose the workspace")
		}
	}
	if err := fn(context.WithValue(ctx, txKey{}, t)); err != nil {
		return err
	}
	open = false
	if err := t.db.Commit().Error; err != nil {
		return uncertain(err)
	}
	return nil
}

// retried runs work again after failures that another transaction caused.
func retried(ctx context.Context, work func() error) error {
	for n := 1; ; n++ {
		err := work()
		if err == nil || !collided(err) || n == attempts {
			return err
		}
		wait := time.Duration(n*n) * 5 * time.Millisecond
		t := time.NewTimer(wait + rand.N(wait))
		select {
		case <-ctx.Done():
			t.Stop()
			return err
		case <-t.C:
		}
	}
}

var (
	_ txn.Runner = (*Runner)(nil)
	_ txn.System = (*System)(nil)
)
