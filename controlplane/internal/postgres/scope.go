package postgres

import (
	"context"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

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

// broken is a gorm.DB on which every call fails with err.
func broken(err error) *gorm.DB {
	db := &gorm.DB{Config: &gorm.Config{}, Error: err}
	db.Statement = &gorm.Statement{DB: db, Clauses: map[string]clause.Clause{}}
	return db
}
