package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/signalbox-dev/signalbox/migrations"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// Migrate applies what the database lacks, over the direct connection. It
// fails with unavailable when the server cannot be reached.
func Migrate(ctx context.Context, c Config) error {
	return direct(c, func(db *sql.DB) error { return translateMigration(ctx, db, migrations.Up(ctx, db)) })
}

// MigrationStatus lists every migration of this build.
func MigrationStatus(ctx context.Context, c Config) (list []migrations.Migration, err error) {
	err = direct(c, func(db *sql.DB) (err error) {
		list, err = migrations.Status(ctx, db)
		return translateMigration(ctx, db, err)
	})
	return list, err
}

// SchemaVersion returns the schema's version and the newest of this build.
func (db *DB) SchemaVersion(ctx context.Context) (have, newest int64, err error) {
	if newest, err = migrations.Latest(); err != nil {
		return 0, 0, err
	}
	conn := db.DirectSQL()
	defer func() { _ = conn.Close() }()
	have, err = migrations.Version(ctx, conn)
	return have, newest, translateMigration(ctx, conn, err)
}

func direct(c Config, fn func(db *sql.DB) error) error {
	conf, err := connConfig(c, firstOf(c.DirectURL, c.URL))
	if err != nil {
		return err
	}
	db := stdlib.OpenDB(*conf)
	defer func() { _ = db.Close() }()
	return fn(db)
}

// insufficientPrivilege is what Postgres calls a statement that the user may
// not run.
const insufficientPrivilege = "42501"

// permissionHint says what the user of the URL is missing.
const permissionHint = `The user that migrates must own the database, and either may create roles (ALTER ROLE the_user CREATEROLE) or has been given both by an administrator:
  CREATE ROLE signalbox_app NOLOGIN; CREATE ROLE signalbox_system NOLOGIN; GRANT signalbox_app, signalbox_system TO the_user;`

// translateMigration tells a server that is away from a migration that failed.
// The error itself is asked first: the server may be there again by now. Where
// it does not say, as when the lock could not be had, the server is asked.
func translateMigration(ctx context.Context, db *sql.DB, err error) error {
	if err == nil {
		return nil
	}
	if own := translate(err, "migrate"); fault.Is(own, fault.Unavailable) {
		return own
	}
	if away := translate(db.PingContext(ctx), "reach the database"); away != nil {
		return away
	}
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == insufficientPrivilege {
		return fmt.Errorf("%w\n%s", err, permissionHint)
	}
	return err
}
