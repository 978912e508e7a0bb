package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/test/bench/target"
	"github.com/signalbox-dev/signalbox/test/harness/process"
)

// bareKey is the key that the bare proxy checks.
const bareKey = "the-one-key-that-the-bare-proxy-knows"

// listening begins the line that a role prints once it serves.
const listening = "bench: listening on "

// serveRole is the re-executed program: one of the servers to compare with.
func serveRole(ctx context.Context, o options) error {
	handler := target.Upstream()
	if o.role == "bare" {
		upstream, err := url.Parse(o.to)
		if err != nil {
			return fmt.Errorf("upstream: %w", err)
		}
		handler = target.Bare(upstream, bareKey)
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	hs := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	go func() {
		<-ctx.Done()
		_ = hs.Close()
	}()
	if _, err := fmt.Fprintln(o.out, listening+ln.Addr().String()); err != nil {
		return fmt.Errorf("say where it listens: %w", err)
	}
	if err := hs.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// startRole runs this program again as one of the servers; it returns where
// it listens.
func startRole(ctx context.Context, role, to string) (*process.Process, string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", fmt.Errorf("find this program: %w", err)
	}
	p, err := process.Start(process.Spec{Name: role, Path: self, Args: []string{"-role", role, "-to", to}})
	if err != nil {
		return nil, "", err
	}
	const every, within = 5 * time.Millisecond, 10 * time.Second
	tick := time.NewTicker(every)
	defer tick.Stop()
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		if _, rest, ok := strings.Cut(p.Log(), listening); ok {
			if addr, _, ok := strings.Cut(rest, "\n"); ok {
				return p, addr, nil
			}
		}
		select {
		case <-tick.C:
		case <-p.Ended():
			return nil, "", fmt.Errorf("%s ended: %s", role, p.Log())
		case <-ctx.Done():
			return nil, "", errors.Join(fmt.Errorf("%s does not listen: %s", role, p.Log()), p.Kill())
		}
	}
}
