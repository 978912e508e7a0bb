package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/process"
	"github.com/signalbox-dev/signalbox/test/harness/stack"
)

const devWithin = 2 * time.Minute

// measureDev times "signalbox dev" from its start until dev.json says that
// everything is ready, first with an empty data directory, then again.
func measureDev(ctx context.Context, o options) (err error) {
	dir, err := os.MkdirTemp("", "signalbox-bench-")
	if err != nil {
		return fmt.Errorf("make a directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := stack.Reachable(dir); err != nil {
		return err
	}
	binary, err := filepath.Abs(filepath.Join(o.bin, "signalbox"))
	if err != nil {
		return fmt.Errorf("find the binary: %w", err)
	}
	first, err := devReady(ctx, binary, dir)
	if err != nil {
		return err
	}
	second, err := devReady(ctx, binary, dir)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.out, "| signalbox dev | ready after |\n|---|---|\n| first start | %.1f s |\n| second start | %.1f s |\n\n",
		first.Seconds(), second.Seconds())
	return err
}

func devReady(ctx context.Context, binary, dir string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, devWithin)
	defer cancel()
	ready := filepath.Join(dir, "data", "dev.json")
	if err := os.Remove(ready); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("remove what the last start wrote: %w", err)
	}
	began := time.Now()
	p, err := process.Start(process.Spec{
		Name: "signalbox dev", Path: binary, Dir: dir,
		Args: []string{"dev", "--data", filepath.Join(dir, "data"), "--gateway-listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0"},
	})
	if err != nil {
		return 0, err
	}
	const every = 5 * time.Millisecond
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if raw, err := os.ReadFile(ready); err == nil {
			took := time.Since(began)
			return took, errors.Join(devAnswers(ctx, raw), p.Stop(time.Minute))
		}
		select {
		case <-tick.C:
		case <-p.Ended():
			return 0, fmt.Errorf("signalbox dev ended: %s", p.Log())
		case <-ctx.Done():
			return 0, errors.Join(fmt.Errorf("signalbox dev was not ready within %s: %s", devWithin, p.Log()), p.Kill())
		}
	}
}

// devAnswers checks that dev.json told the truth: its key gets an answer.
func devAnswers(ctx context.Context, devJSON []byte) error {
	p := client.Platform{HTTP: &http.Client{}, Gateways: []string{gjson.GetBytes(devJSON, "gateway_url").Str}}
	defer p.HTTP.CloseIdleConnections()
	answer, err := p.Chat(ctx, 0, gjson.GetBytes(devJSON, "api_key").Str, "signalbox-sim/small", "hi")
	if err == nil && answer.Status != http.StatusOK {
		err = fmt.Errorf("signalbox dev answered %d when it said that it was ready: %s", answer.Status, answer.Body)
	}
	return err
}
