// Command gateway runs one data-plane gateway. Its settings come from a YAML
// file and from SIGNALBOX_ variables; see docs/.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/signalbox-dev/signalbox/dataplane/app"
)

// version is set by the linker.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "gateway:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, out, log io.Writer) error {
	flags := flag.NewFlagSet("gateway", flag.ContinueOnError)
	flags.SetOutput(out)
	file := flags.String("config", "", "YAML file with settings")
	show := flags.Bool("version", false, "print the version and end")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return errors.New("takes no arguments")
	}
	if *show {
		_, err := fmt.Fprintln(out, version)
		return err
	}
	return app.Main(ctx, app.Process{ConfigFile: *file, Version: version, Log: log})
}
