// Command signalbox is the command line of Signalbox, each of its processes,
// and `signalbox dev`, which runs all of them.
package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/cli"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/dev"
	controlplane "github.com/signalbox-dev/signalbox/controlplane/app"
	"github.com/signalbox-dev/signalbox/controlplane/dashboard"
	dataplane "github.com/signalbox-dev/signalbox/dataplane/app"
)

// version is set by the build.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Execute(ctx, deps(), os.Args[1:], devCommand())
	stop()
	os.Exit(code)
}

func deps() cli.Deps {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	return cli.Deps{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Dir: dir, Version: version,
		HTTP: &http.Client{Timeout: 60 * time.Second},
		Run: cli.Processes{
			ControlPlane: func(ctx context.Context, configFile string) error {
				return controlplane.Main(ctx, controlplane.Process{
					ConfigFile: configFile, Version: version, Log: os.Stderr, Web: dashboard.Files(),
				})
			},
			Gateway: func(ctx context.Context, configFile string) error {
				return dataplane.Main(ctx, dataplane.Process{ConfigFile: configFile, Version: version, Log: os.Stderr})
			},
			Migrate: func(ctx context.Context, configFile, action string, out io.Writer) error {
				return controlplane.Migrate(ctx, configFile, action, out)
			},
			Reconcile: func(ctx context.Context, configFile string, b cli.Books, show func(cli.Difference) error) error {
				err := controlplane.Reconcile(ctx, configFile, controlplane.Books(b), func(d controlplane.Difference) error { return show(cli.Difference(d)) })
				if errors.Is(err, controlplane.ErrDatabaseAway) {
					return cli.Away(err)
				}
				return err
			},
		},
	}
}

func devCommand() *cobra.Command {
	o := dev.Default()
	c := &cobra.Command{
		Use:   "dev",
		Short: "Run the whole platform on this machine, with nothing to configure",
		Long: `Run Postgres, NATS, the control plane, gateways and a simulated provider in one
process, and set up a workspace with an API key.

Postgres is a private cluster of the machine's binaries (SIGNALBOX_PG_BIN names
their folder where it is not found), or the database that DATABASE_URL names, as
its owner with CREATEROLE. Provider keys in the environment, such as OPENAI_API_KEY,
are used for that provider's models. Everything that is kept lies in the data
folder; a second start finds it again. dev.json in that folder names the URLs
and credentials, and is there exactly while everything is ready.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.DatabaseURL, o.Version = os.Getenv("DATABASE_URL"), version
			o.Out, o.Log, o.Program = c.OutOrStdout(), c.ErrOrStderr(), os.Args[0]
			return dev.Run(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.Data, "data", o.Data, "folder of everything that is kept")
	f.StringVar(&o.GatewayListen, "gateway-listen", o.GatewayListen, "address of the first gateway; others take the ports after it")
	f.StringVar(&o.ControlListen, "control-listen", o.ControlListen, "address of the management API and the dashboard")
	f.StringVar(&o.NATSListen, "nats-listen", "", "address for NATS clients of other processes (off by default)")
	f.StringVar(&o.Catalog, "catalog", "", "catalog.yaml to lay over the embedded catalog")
	f.IntVar(&o.Gateways, "gateways", o.Gateways, "how many gateways to run")
	f.BoolVar(&o.NoSimulator, "no-simulator", false, "leave the simulated provider out")
	f.StringVar(&o.LogLevel, "log-level", o.LogLevel, "debug, info, warn or error")
	return c
}
