// Package migrations owns the schema of the control plane's database: the SQL
// files, in order, and the functions that apply them. It knows nothing of the
// rows.
package migrations

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed sql/*.sql
var files embed.FS

// Migration is one file and whether the database has it.
type Migration struct {
	Version   int64
	Name      string
	Applied   bool
	AppliedAt time.Time // zero when not applied
}

// Up applies what is missing. Several processes may call it at once: a session
// advisory lock lets one work, so db must not go through a transaction pooler.
func Up(ctx context.Context, db *sql.DB) error {
	p, err := provider(db)
	if err != nil {
		return err
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// Down reverts everything newer than version. It destroys data.
func Down(ctx context.Context, db *sql.DB, version int64) error {
	p, err := provider(db)
	if err != nil {
		return err
	}
	if _, err := p.DownTo(ctx, version); err != nil {
		return fmt.Errorf("migrate down: %w", err)
	}
	return nil
}

// Version is the newest version that the database has; 0 before the first.
func Version(ctx context.Context, db *sql.DB) (int64, error) {
	p, err := provider(db)
	if err != nil {
		return 0, err
	}
	v, err := p.GetDBVersion(ctx)
	if err != nil {
		return 0, fmt.Errorf("read schema version: %w", err)
	}
	return v, nil
}

// Status lists every migration of this build in order.
func Status(ctx context.Context, db *sql.DB) ([]Migration, error) {
	p, err := provider(db)
	if err != nil {
		return nil, err
	}
	states, err := p.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("read migration status: %w", err)
	}
	list := make([]Migration, 0, len(states))
	for _, s := range states {
		list = append(list, Migration{
			Version: s.Source.Version, Name: s.Source.Path,
			Applied: s.State == goose.StateApplied, AppliedAt: s.AppliedAt,
		})
	}
	return list, nil
}

// Latest is the newest version of this build.
func Latest() (int64, error) {
	sources, err := fs.Glob(files, "sql/*.sql")
	if err != nil || len(sources) == 0 {
		return 0, fmt.Errorf("list migrations: %w", err)
	}
	return goose.NumericComponent(sources[len(sources)-1])
}

func provider(db *sql.DB) (*goose.Provider, error) {
	dir, err := fs.Sub(files, "sql")
	if err != nil {
		return nil, fmt.Errorf("open migrations: %w", err)
	}
	// Probed every second for up to five minutes: another process is migrating.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
	if err != nil {
		return nil, fmt.Errorf("open migrations: %w", err)
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, dir,
		goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, fmt.Errorf("open migrations: %w", err)
	}
	return p, nil
}

// Fingerprint changes whenever a migration does. Test databases are kept by it.
func Fingerprint() (string, error) {
	sources, err := fs.Glob(files, "sql/*.sql")
	if err != nil {
		return "", fmt.Errorf("list migrations: %w", err)
	}
	sum := sha256.New()
	for _, name := range sources {
		body, err := files.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("read migrations: %w", err)
		}
		_, _ = fmt.Fprintf(sum, "%s %d\n", name, len(body))
		_, _ = sum.Write(body)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
