package app

import (
	"context"
	"fmt"
	"io"
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

// Main reads the configuration and runs a gateway until ctx ends.
func Main(ctx context.Context, p Process) error {
	cfg, err := config.Load(config.Options[Config]{Default: Default(), File: p.ConfigFile})
	if err != nil {
		return err
	}
	log, err := logging.New(p.Log, cfg.Log)
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	gateway, err := New(ctx, cfg, Deps{Log: log, Now: time.Now, Version: p.Version, AccessLog: p.Log})
	if err != nil {
		return err
	}
	return gateway.Run(ctx)
}
