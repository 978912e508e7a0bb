package app

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/postgres"
	"github.com/signalbox-dev/signalbox/shared/config"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/logging"
)

// Process is what a program gives to the control plane that it runs.
type Process struct {
	ConfigFile string // YAML; "" for environment and defaults alone
	Version    string
	Log        io.Writer
	Web        fs.FS // the dashboard; nil when there is none
}

// Main reads the configuration and runs a control plane until ctx ends. SIGHUP
// has it look at the keyring file at once.
func Main(ctx context.Context, p Process) error {
	cfg, err := load(p.ConfigFile)
	if err != nil {
		return err
	}
	log, err := logging.New(p.Log, cfg.Log)
	if err != nil {
		return err
	}
	logging.TakeStandard(log)
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	defer signal.Stop(reload)
	a, err := New(ctx, cfg, Deps{Log: log, Now: time.Now, Version: p.Version, Web: p.Web, Reload: reload})
	if err != nil {
		return err
	}
	return a.Run(ctx)
}

// The actions of Migrate.
const (
	MigrateUp     = "up"
	MigrateStatus = "status"
)

// Migrate brings the database's schema up to date, or only shows it, and
// writes what there is now.
func Migrate(ctx context.Context, configFile, action string, out io.Writer) error {
	cfg, err := load(configFile)
	if err != nil {
		return err
	}
	database := cfg.Database.settings()
	if action == MigrateUp {
		if err := postgres.Migrate(ctx, database); err != nil {
			return reachable(err)
		}
	}
	list, err := postgres.MigrationStatus(ctx, database)
	if err != nil {
		return reachable(err)
	}
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "VERSION\tNAME\tAPPLIED")
	for _, m := range list {
		applied := "no"
		if m.Applied {
			applied = m.AppliedAt.UTC().Format(time.RFC3339)
		}
		_, _ = fmt.Fprintf(table, "%d\t%s\t%s\n", m.Version, m.Name, applied)
	}
	return table.Flush()
}

// reachable says of a database that is away where to look.
func reachable(err error) error {
	if fault.Is(err, fault.Unavailable) {
		return fmt.Errorf("the database cannot be reached; check SIGNALBOX_DATABASE_URL: %w", err)
	}
	return err
}

func load(file string) (Config, error) {
	return config.Load(config.Options[Config]{Default: Default(), File: file})
}
