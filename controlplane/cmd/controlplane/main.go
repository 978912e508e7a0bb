// Command controlplane runs a control plane: the management API, the
// publisher and the usage consumer.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/signalbox-dev/signalbox/controlplane/app"
	"github.com/signalbox-dev/signalbox/controlplane/dashboard"
)

// version is set by the build.
var version = "dev"

func main() {
	config := flag.String("config", "", "YAML file with the configuration; the environment goes over it")
	show := flag.Bool("version", false, "show the version and exit")
	flag.Parse()
	if flag.NArg() > 0 {
		_, _ = fmt.Fprintln(os.Stderr, "controlplane: takes no arguments")
		os.Exit(2)
	}
	if *show {
		_, _ = fmt.Fprintln(os.Stdout, "controlplane", version)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := app.Main(ctx, app.Process{ConfigFile: *config, Version: version, Log: os.Stderr, Web: dashboard.Files()})
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
}
