package dev

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	// The driver, registered as "pgx".
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/signalbox-dev/signalbox/shared/pgcluster"
)

const databaseName = "signalbox"

// database gives the connection string of a database that exists and a function
// that stops what was started for it. The control plane migrates it.
func database(ctx context.Context, o Options, log *slog.Logger) (url string, stop func() error, err error) {
	if o.DatabaseURL != "" {
		return o.DatabaseURL, func() error { return nil }, reach(ctx, o.DatabaseURL)
	}
	cluster, err := pgcluster.Start(ctx, pgcluster.Options{
		DataDir: filepath.Join(o.Data, "postgres"), Durable: true, Log: log,
	})
	if err != nil {
		return "", nil, err
	}
	if err := createDatabase(ctx, cluster.URL("postgres")); err != nil {
		return "", nil, errors.Join(err, cluster.Stop())
	}
	return cluster.URL(databaseName), cluster.Stop, nil
}

// reach connects once, so that a wrong DATABASE_URL is told at once. The
// connection string has a password and is never repeated.
func reach(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return errors.New("DATABASE_URL: want postgres://USER:PASSWORD@HOST:PORT/DATABASE")
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err == nil {
		return conn.Close(ctx)
	}
	if refusal, ok := errors.AsType[*pgconn.PgError](err); ok {
		return fmt.Errorf("DATABASE_URL: the database refuses: %s", refusal.Message)
	}
	return fmt.Errorf("DATABASE_URL: no database answers at %s:%d", config.Host, config.Port)
}

func createDatabase(ctx context.Context, url string) error {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return fmt.Errorf("connect to the private Postgres: %w", err)
	}
	defer func() { _ = db.Close() }()
	var exists bool
	err = db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)`, databaseName).Scan(&exists)
	if err != nil {
		return fmt.Errorf("look for database %s: %w", databaseName, err)
	}
	if exists {
		return nil
	}
	if _, err := db.ExecContext(ctx, `CREATE DATABASE `+databaseName); err != nil {
		return fmt.Errorf("create database %s: %w", databaseName, err)
	}
	return nil
}
