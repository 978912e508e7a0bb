package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/test/bench/load"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/stack"
)

const publicationGateways = 3

// measurePublication times the way of a change from the management API to
// every gateway.
func measurePublication(ctx context.Context, o options) (err error) {
	upstream, at, err := startRole(ctx, "upstream", "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, upstream.Kill()) }()
	dir, err := os.MkdirTemp("", "signalbox-bench-")
	if err != nil {
		return fmt.Errorf("make a directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	platform, err := stack.Start(ctx, stack.Options{
		Bin: o.bin, Dir: dir, Gateways: publicationGateways, Catalog: fmt.Sprintf(benchCatalog, at),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, platform.Stop()) }()
	w, err := platform.CreateWorkspace(ctx, "bench")
	if err != nil {
		return err
	}
	p := publisher{w: w}
	if err := p.hold(ctx); err != nil {
		return err
	}
	for range o.keys {
		if err := p.once(ctx); err != nil {
			return err
		}
	}
	if err := p.deploys(ctx, o.keys); err != nil {
		return err
	}
	return p.report(o.out)
}

// publisher collects the times.
type publisher struct {
	w        client.Workspace
	held     client.Key      // by every gateway
	waited   []time.Duration // create with ?wait=, as the caller sees it
	revoked  []time.Duration // from the revocation to the last gateway's refusal
	deployed []time.Duration // a route's version with ?wait=, as the caller sees it
	received []time.Duration // from its commit to the last gateway's receipt
}

// hold makes every gateway hold the workspace, or no publication waits for it.
func (p *publisher) hold(ctx context.Context) error {
	var err error
	if p.held, _, err = p.w.CreateKey(ctx, client.NewKey{Name: "held"}, publishWithin); err != nil {
		return err
	}
	for i := range p.w.Gateways {
		if err := p.expect(ctx, i, p.held.Secret, http.StatusOK); err != nil {
			return err
		}
	}
	return nil
}

// once publishes a key and its end.
func (p *publisher) once(ctx context.Context) error {
	began := time.Now()
	key, publication, err := p.w.CreateKey(ctx, client.NewKey{Name: "published"}, publishWithin)
	if err != nil {
		return err
	}
	if publication.Pending > 0 {
		return fmt.Errorf("%d gateways did not apply revision %d within %s", publication.Pending, publication.Revision, publishWithin)
	}
	p.waited = append(p.waited, time.Since(began))
	for i := range p.w.Gateways {
		if err := p.expect(ctx, i, key.Secret, http.StatusOK); err != nil {
			return err
		}
	}
	began = time.Now()
	if _, err := p.w.RevokeKey(ctx, key.ID, 0); err != nil {
		return err
	}
	for i := range p.w.Gateways {
		if err := p.expect(ctx, i, key.Secret, http.StatusUnauthorized); err != nil {
			return err
		}
	}
	p.revoked = append(p.revoked, time.Since(began))
	return nil
}

// expect asks a gateway until it answers with status.
func (p *publisher) expect(ctx context.Context, gateway int, key string, status int) error {
	ctx, cancel := context.WithTimeout(ctx, publishWithin)
	defer cancel()
	for {
		answer, err := p.w.Chat(ctx, gateway, key, "bench/small", "hi")
		if err != nil {
			return fmt.Errorf("gateway %d did not answer %d: %w", gateway, status, err)
		}
		if answer.Status == status {
			return nil
		}
	}
}

func (p *publisher) report(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "| publication to %d gateways, %d changes | p50 | p99 |\n|---|---|---|\n", publicationGateways, len(p.waited))
	for _, row := range []struct {
		name  string
		times []time.Duration
	}{
		{"key created with ?wait=, until the call returned", p.waited},
		{"key revoked, until the last gateway refused it", p.revoked},
		{"dynamic route deployed with ?wait=, until the call returned", p.deployed},
		{"the same, from the commit to the last receipt", p.received},
	} {
		slices.Sort(row.times)
		fmt.Fprintf(&b, "| %s | %s | %s |\n", row.name,
			millis(float64(load.Percentile(row.times, 50))), millis(float64(load.Percentile(row.times, 99))))
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}
