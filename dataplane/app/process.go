package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/signalbox-dev/signalbox/shared/config"
	"github.com/signalbox-dev/signalbox/shared/logging"
)

// Process is what a program gives to the gateway that it runs.
type Process struct {
	ConfigFile string // YAML; "" for environment and defaults alone
	Version    string
	Log        io.Writer // for log and access lines
}

// Main reads the configuration and runs a gateway until ctx ends. SIGHUP has it
// look at the keyring file at once.
func Main(ctx context.Context, p Process) error {
	cfg, err := config.Load(config.Options[Config]{Default: Default(), File: p.ConfigFile})
	if err != nil {
		return err
	}
	log, err := logging.New(p.Log, cfg.Log)
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	logging.TakeStandard(log)
	spare := heapHeadroom()
	defer runtime.KeepAlive(spare)
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	defer signal.Stop(reload)
	gateway, err := New(ctx, cfg, Deps{Log: log, Now: time.Now, Version: p.Version, AccessLog: p.Log, Reload: reload})
	if err != nil {
		return err
	}
	return gateway.Run(ctx)
}

// headroom is how much more garbage than the heap's live part may gather
// between two collections. A gateway keeps little and allocates much, 30 KiB
// for a request: at 10 000 requests a second the collector by itself runs more
// than twenty times a second and takes 9 % of the CPU; with this, a quarter as
// often and 4 %.
const headroom = 32 << 20

// heapHeadroom returns memory that is never touched, so never resident, and
// that the collector counts as live. Unlike a larger GOGC, it adds the same to
// a heap of ten thousand streams as to an idle one. Whoever tunes the collector
// by its own variables gets none.
func heapHeadroom() []byte {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	return make([]byte, headroom)
}
