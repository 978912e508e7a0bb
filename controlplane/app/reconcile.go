package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/books"
	"github.com/signalbox-dev/signalbox/controlplane/internal/postgres"
	"github.com/signalbox-dev/signalbox/shared/config"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Books is what Reconcile compares.
type Books struct {
	Workspace   string    // its id; "" for all
	First, Last time.Time // UTC days of the log, both included
	// Database is where they are, unless the configuration says it.
	Database secret.String
}

// Difference is a figure that two accounts of the same do not agree about.
type Difference struct {
	Workspace string
	Check     string // what was compared with what
	Place     string // what of the workspace
	Figure    string // such as cost_nanos
	Have      int64  // as the side that is named first says
	Want      int64  // as the other says
}

// ErrDatabaseAway says that there was nothing to compare in.
var ErrDatabaseAway = errors.New("the database cannot be reached; check SIGNALBOX_DATABASE_URL")

// Reconcile compares what was counted with the database alone, whether control
// planes run or not, and shows each difference as it is found.
func Reconcile(ctx context.Context, configFile string, b Books, show func(Difference) error) (err error) {
	r := books.Range{First: b.First, Last: b.Last}
	if b.Workspace != "" {
		if r.Workspace, err = id.Parse[id.WorkspaceKind](b.Workspace); err != nil {
			return errors.New("a workspace's id begins with ws_")
		}
	}
	defaults := Default()
	defaults.Database.URL = b.Database
	cfg, err := config.Load(config.Options[Config]{Default: defaults, File: configFile})
	if err != nil {
		return err
	}
	db, err := postgres.Open(ctx, cfg.Database.settings())
	if err == nil {
		defer func() { err = errors.Join(err, db.Close()) }()
		err = postgres.NewBooks(db).Compare(ctx, r, func(d books.Difference) error {
			return show(Difference{
				Workspace: d.Workspace.String(), Check: string(d.Check), Place: d.Place, Figure: d.Figure, Have: d.Have, Want: d.Want,
			})
		})
	}
	if fault.Is(err, fault.Unavailable) {
		err = fmt.Errorf("%w: %w", ErrDatabaseAway, err)
	}
	return err
}
