package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"sync"

	gormpostgres "gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// scoped is where every tenant query starts: the transaction of ctx, limited
// to the rows of ws in a table with workspace_id. Row-level security beneath
// it would hide other rows anyway; the condition states the intent and lets
// the planner use the index. Outside a transaction of ws the result carries an
// error.
func scoped(ctx context.Context, ws id.Workspace) *gorm.DB {
	db := tenant(ctx, ws)
	if db.Error != nil {
		return db
	}
	return db.Where(clause.Eq{
		Column: clause.Column{Table: clause.CurrentTable, Name: "workspace_id"}, Value: ws.UUID(),
	})
}

// tenant is scoped without the condition: for inserts, and for tables whose
// tenant column has another name.
func tenant(ctx context.Context, ws id.Workspace) *gorm.DB {
	t, ok := txOf(ctx)
	if !ok || t.system || t.ws != ws || ws.IsZero() {
		return broken(fmt.Errorf("use a tenant store: %w", errScope))
	}
	return t.db.WithContext(ctx)
}

// system is the transaction of ctx when it is one of the system role.
func system(ctx context.Context) *gorm.DB {
	t, ok := txOf(ctx)
	if !ok || !t.system {
		return broken(fmt.Errorf("use a system store: %w", errScope))
	}
	return t.db.WithContext(ctx)
}

// broken is a gorm.DB on which every call fails with err before it reaches a
// connection.
func broken(err error) *gorm.DB {
	db := unconnected().Session(&gorm.Session{NewDB: true})
	_ = db.AddError(err)
	return db
}

// unconnected is gorm over no database.
var unconnected = sync.OnceValue(func() *gorm.DB {
	db, err := gorm.Open(gormpostgres.New(gormpostgres.Config{Conn: noConn{}}), &gorm.Config{
		DisableAutomaticPing: true, SkipDefaultTransaction: true, Logger: logger.Discard,
	})
	if err != nil {
		panic("postgres: gorm refuses to open nothing: " + err.Error())
	}
	return db
})

// noConn implements gorm.ConnPool by refusing.
type noConn struct{}

func (noConn) PrepareContext(context.Context, string) (*sql.Stmt, error) { return nil, errScope }

func (noConn) ExecContext(context.Context, string, ...any) (sql.Result, error) {
	return nil, errScope
}

func (noConn) QueryContext(context.Context, string, ...any) (*sql.Rows, error) {
	return nil, errScope
}

func (noConn) QueryRowContext(context.Context, string, ...any) *sql.Row { return nil }
