package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Books is what reconcile compares.
type Books struct {
	Workspace   string    // its id; "" for all
	First, Last time.Time // UTC days of the log, both included
	// Database is that of signalbox dev, for where no other is configured.
	Database secret.String
}

// Difference is a figure that two accounts of the same do not agree about.
type Difference struct {
	Workspace string `json:"workspace_id"`
	Check     string `json:"check"`  // what was compared with what
	Place     string `json:"place"`  // what of the workspace
	Figure    string `json:"figure"` // such as cost_nanos
	Have      int64  `json:"have"`   // as the side that the check names first says
	Want      int64  `json:"want"`   // as the other says
}

// Away says of a failure that what a command works with cannot be reached.
func Away(err error) error { return notThere{err} }

type notThere struct{ cause error }

func (e notThere) Error() string { return e.cause.Error() }
func (e notThere) Unwrap() error { return e.cause }

// errDiffer says that the books do not agree.
type errDiffer struct{ figures int }

func (e errDiffer) Error() string { return fmt.Sprintf("the books differ in %d figures", e.figures) }

func (a *app) reconcile() *cobra.Command {
	c := &cobra.Command{
		Use: "reconcile", Short: "Prove that the request log, the totals and the wallets agree", Args: cobra.NoArgs,
		Long: `Prove that the request log, the hourly totals, the totals of accounts, the entries of wallets and what wallets hold
agree, and show every figure that does not. It reads the control plane's database as one moment and changes nothing, so
that it can run beside live traffic; the control plane need not run. The database is the one that --config or
SIGNALBOX_DATABASE_URL names, else that of the "signalbox dev" that runs here. The log is compared on the days that are asked for,
as far as it is kept, and all else as a whole. With -o json each difference is a line of its own.

It exits with 1 when anything differs, and with 6 when the database cannot be reached.`,
		Example: "  signalbox reconcile\n  signalbox reconcile --since 2026-05-01 --until 2026-05-31 --workspace ws_01kb7n0z1v8q5r2m3t4w5x6y7z",
	}
	config := configFlag(c)
	since := c.Flags().String("since", "", "the first UTC day, such as 2026-05-01; a week ago when absent")
	until := c.Flags().String("until", "", "the last UTC day; today when absent")
	workspace := c.Flags().String("workspace", "", "only this workspace")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := oneOf("--output", a.output, "table", "json"); err != nil {
			return err
		}
		today := time.Now().UTC().Truncate(24 * time.Hour)
		b := Books{Workspace: *workspace}
		var err error
		if b.First, err = dayFlag("since", *since, today.AddDate(0, 0, -7)); err != nil {
			return err
		}
		if b.Last, err = dayFlag("until", *until, today); err != nil {
			return err
		}
		if b.Last.Before(b.First) {
			return misuse("--until must not be before --since")
		}
		dev, err := a.findDev()
		if err != nil {
			return err
		}
		b.Database = dev.DatabaseURL
		return a.compareBooks(c.Context(), *config, b)
	}
	return c
}

// compareBooks shows differences as they come, as there may be many.
func (a *app) compareBooks(ctx context.Context, config string, b Books) error {
	lines, found := json.NewEncoder(a.Stdout), 0
	err := a.Run.Reconcile(ctx, config, b, func(d Difference) error {
		found++
		if a.output == "json" {
			return lines.Encode(d)
		}
		_, err := fmt.Fprintf(a.Stdout, "%s  %s  %s  %s: %s, and %s\n", clean(d.Workspace), clean(d.Check), clean(d.Place), clean(d.Figure),
			figure(d.Figure, d.Have), figure(d.Figure, d.Want))
		return err
	})
	switch {
	case err != nil:
		return err
	case found > 0:
		return errDiffer{found}
	case a.output != "json":
		_, err = fmt.Fprintln(a.Stdout, "the books agree")
	}
	return err
}

// figure writes an amount of money as USD too.
func figure(name string, n int64) string {
	text := strconv.FormatInt(n, 10)
	if strings.HasSuffix(name, "_nanos") {
		text += " (USD " + money.Nanos(n).String() + ")"
	}
	return text
}

func dayFlag(name, text string, absent time.Time) (time.Time, error) {
	if text == "" {
		return absent, nil
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return day, misuse("--%s must be a day such as 2026-05-01", name)
	}
	return day, nil
}
