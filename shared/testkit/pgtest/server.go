package pgtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the database/sql driver that migrations need

	"github.com/signalbox-dev/signalbox/migrations"
	"github.com/signalbox-dev/signalbox/shared/pgcluster"
)

func private(ctx context.Context) (*server, error) {
	cluster, err := pgcluster.Start(ctx, pgcluster.Options{})
	if err != nil {
		return nil, err
	}
	s := &server{admin: cluster.URL("postgres"), template: "sb_template", cluster: cluster}
	if err := s.exec(ctx, "CREATE DATABASE "+s.template+" TEMPLATE template0"); err != nil {
		return nil, fmt.Errorf("create the template: %w", err)
	}
	return s, migrate(ctx, s.url(s.template))
}

// external shares one template among all test binaries that use the server;
// its name carries the schema, so that another checkout has its own.
func external(ctx context.Context, admin string) (*server, error) {
	schema, err := migrations.Fingerprint()
	if err != nil {
		return nil, err
	}
	s := &server{admin: admin, template: "sbtemplate_" + schema[:12]}
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", EnvURL, err)
	}
	defer conn.Close(ctx) //nolint:errcheck // the lock goes with the connection
	// Session locks belong to a database: all binaries use the admin database.
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtext('signalbox pgtest'))"); err != nil {
		return nil, err
	}
	if err := sweep(ctx, conn, time.Now()); err != nil {
		return nil, err
	}
	var exists bool
	err = conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", s.template).Scan(&exists)
	if err != nil || exists {
		return s, err
	}
	// Migrated under another name first: an interrupted run must not leave a
	// template that looks complete.
	fresh := s.template + "_new"
	for _, statement := range []string{"DROP DATABASE IF EXISTS " + fresh + " WITH (FORCE)", "CREATE DATABASE " + fresh + " TEMPLATE template0"} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return nil, err
		}
	}
	if err := migrate(ctx, s.url(fresh)); err != nil {
		return nil, err
	}
	_, err = conn.Exec(ctx, "ALTER DATABASE "+fresh+" RENAME TO "+s.template)
	return s, err
}

// sweep drops clones that killed test binaries left behind hours ago.
func sweep(ctx context.Context, conn *pgx.Conn, now time.Time) error {
	rows, err := conn.Query(ctx, `SELECT datname FROM pg_database WHERE datname LIKE 'sbtest\_%'`)
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, name := range names {
		parts := strings.Split(name, "_")
		born, err := strconv.ParseInt(parts[1], 16, 64)
		if err != nil || now.Sub(time.Unix(born, 0)) < 6*time.Hour {
			continue
		}
		if _, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)"); err != nil {
			return err
		}
	}
	return nil
}

func migrate(ctx context.Context, url string) (err error) {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return migrations.Up(ctx, db)
}
