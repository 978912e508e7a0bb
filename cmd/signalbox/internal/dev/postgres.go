package dev

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"path/filepath"

	// The driver, registered as "pgx".
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/signalbox-dev/signalbox/shared/pgcluster"
)

const databaseName = "signalbox"

// database gives the connection string of a database that exists and a function
// that stops what was started for it. The control plane migrates it.
func database(ctx context.Context, o Options, log *slog.Logger) (url string, stop func() error, err error) {
	url, stop = o.DatabaseURL, func() error { return nil }
	if url == "" {
		cluster, err := pgcluster.Start(ctx, pgcluster.Options{
			DataDir: filepath.Join(o.Data, "postgres"), Durable: true, Log: log,
		})
		if err != nil {
			return "", nil, err
		}
		stop = cluster.Stop
		if err := createDatabase(ctx, cluster.URL("postgres")); err != nil {
			_ = stop()
			return "", nil, err
		}
		url = cluster.URL(databaseName)
	}
	return url, stop, nil
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
