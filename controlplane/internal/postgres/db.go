// Package postgres owns the control plane's database: connections, tenant
// scoping, transactions, the rows and the stores. It is the only package that
// knows gorm, pgx or SQL. Domain types come in and go out; failures leave it
// as faults.
package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	gormpostgres "gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/signalbox-dev/signalbox/shared/secret"
)

// The roles that migrations make.
const (
	appRole    = "signalbox_app"
	systemRole = "signalbox_system"
)

// Config says how to reach the database. URL alone is enough: both pools then
// connect with it and work as their role by the start-up parameter "role".
type Config struct {
	URL secret.String
	// AppURL and SystemURL are for transaction poolers, which refuse start-up
	// parameters: each logs in as a member of its role. DirectURL goes past
	// the pooler, for advisory locks, LISTEN and migrations.
	AppURL    secret.String
	SystemURL secret.String
	DirectURL secret.String

	MaxConns       int           // of each pool; 0 means 16
	ConnectTimeout time.Duration // 0 means 5 s
}

// DB is the database as both roles.
type DB struct {
	app    *pool
	system *pool
	direct *pgx.ConnConfig
}

// stalledFor is how long the server keeps a transaction whose process is
// silent. Transactions do nothing but talk to the database, so one that is
// silent belongs to a process that is frozen or cut off, and holds the lock of
// its workspace. Behind a pooler the server's own setting does the same.
const stalledFor = 10 * time.Second

type pool struct {
	gorm *gorm.DB
	sql  *sql.DB
}

// Open checks the configuration. A server that answers and refuses (wrong
// password, missing database or role) is an error; one that cannot be reached
// is not: calls fail with unavailable until it is there.
func Open(ctx context.Context, c Config) (*DB, error) {
	app, err := openPool(c, c.AppURL, appRole)
	if err != nil {
		return nil, err
	}
	system, err := openPool(c, c.SystemURL, systemRole)
	if err != nil {
		return nil, errors.Join(err, app.sql.Close())
	}
	db := &DB{app: app, system: system}
	if db.direct, err = connConfig(c, firstOf(c.DirectURL, c.URL)); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if refused, ok := errors.AsType[*pgconn.PgError](db.Ping(ctx)); ok && refusal(refused.Code) {
		return nil, errors.Join(fmt.Errorf("connect to the database: %w", refused), db.Close())
	}
	return db, nil
}

// Ping checks both pools.
func (db *DB) Ping(ctx context.Context) error {
	for _, p := range []*pool{db.app, db.system} {
		if err := p.sql.PingContext(ctx); err != nil {
			return translate(err, "ping the database")
		}
	}
	return nil
}

// Direct opens a connection that no pooler stands before, as the user of the
// URL. The caller closes it.
func (db *DB) Direct(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, db.direct.Copy())
	if err != nil {
		return nil, translate(err, "connect to the database")
	}
	return conn, nil
}

// DirectSQL is Direct for database/sql, as migrations need it.
func (db *DB) DirectSQL() *sql.DB { return stdlib.OpenDB(*db.direct.Copy()) }

// Runner runs work on behalf of workspaces.
func (db *DB) Runner() *Runner { return &Runner{pool: db.app} }

// System runs work that belongs to no workspace.
func (db *DB) System() *System { return &System{pool: db.system} }

// Close closes both pools.
func (db *DB) Close() error { return errors.Join(db.app.sql.Close(), db.system.sql.Close()) }

func openPool(c Config, own secret.String, role string) (*pool, error) {
	conf, err := connConfig(c, firstOf(own, c.URL))
	if err != nil {
		return nil, err
	}
	if own.IsZero() {
		conf.RuntimeParams["role"] = role
		conf.RuntimeParams["idle_in_transaction_session_timeout"] = strconv.FormatInt(stalledFor.Milliseconds(), 10)
	}
	conf.RuntimeParams["application_name"] = role
	db := stdlib.OpenDB(*conf)
	conns := c.MaxConns
	if conns == 0 {
		conns = 16
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	db.SetConnMaxIdleTime(5 * time.Minute)
	db.SetConnMaxLifetime(time.Hour)
	g, err := gorm.Open(gormpostgres.New(gormpostgres.Config{Conn: db}), &gorm.Config{
		SkipDefaultTransaction:   true, // every statement runs in a transaction of ours
		DisableAutomaticPing:     true,
		DisableNestedTransaction: true,
		Logger:                   logger.Discard, // errors are returned, and logged where they are handled
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the database: %w", err), db.Close())
	}
	return &pool{gorm: g, sql: db}, nil
}

// connConfig never repeats the URL: it may hold a password.
func connConfig(c Config, url secret.String) (*pgx.ConnConfig, error) {
	if url.IsZero() {
		return nil, errors.New("database url: not set")
	}
	conf, err := pgx.ParseConfig(url.Reveal())
	if err != nil {
		return nil, errors.New("database url: want postgres://USER:PASSWORD@HOST:PORT/DATABASE")
	}
	conf.ConnectTimeout = c.ConnectTimeout
	if conf.ConnectTimeout == 0 {
		conf.ConnectTimeout = 5 * time.Second
	}
	conf.RuntimeParams["timezone"] = "UTC"
	return conf, nil
}

func firstOf(urls ...secret.String) secret.String {
	for _, u := range urls {
		if !u.IsZero() {
			return u
		}
	}
	return secret.String{}
}
