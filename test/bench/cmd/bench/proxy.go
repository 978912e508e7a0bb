package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/test/bench/load"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/process"
	"github.com/signalbox-dev/signalbox/test/harness/stack"
)

// subject is one server under measurement.
type subject struct {
	name  string
	addr  string
	key   string
	model func(string) string // the name of a model there
	proc  *process.Process
	// lossy subjects may fail now and then: a plain ReverseProxy truncates a
	// few streams in ten thousand (golang/go#40747).
	lossy bool
}

// rig is everything that the proxy figures need.
type rig struct {
	platform *stack.Stack
	subjects []subject
	close    func() error
}

// ofBefore names the gateway that -before says.
const ofBefore = "gateway of before"

const benchCatalog = `providers:
  - {slug: bench, type: openai-compatible, base_url: "http://%s/v1", keyless: true}
models:
  - id: bench/small
    context: 128000
    endpoints: [{provider: bench, upstream_model: small, price: {input: "0.10", output: "0.40"}}]
  - id: bench/small-delay-60ms
    context: 128000
    endpoints: [{provider: bench, upstream_model: small-delay-60ms, price: {input: "0.10", output: "0.40"}}]
`

func buildRig(ctx context.Context, o options) (r *rig, err error) {
	var closers []func() error
	closeAll := func() error {
		var failed error
		for i := len(closers) - 1; i >= 0; i-- {
			failed = errors.Join(failed, closers[i]())
		}
		return failed
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll())
		}
	}()
	upstream, at, err := startRole(ctx, "upstream", "")
	if err != nil {
		return nil, err
	}
	closers = append(closers, upstream.Kill)
	bare, bareAt, err := startRole(ctx, "bare", "http://"+at)
	if err != nil {
		return nil, err
	}
	closers = append(closers, bare.Kill)

	dir, err := os.MkdirTemp("", "signalbox-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a directory: %w", err)
	}
	closers = append(closers, func() error { return os.RemoveAll(dir) })
	platform, err := stack.Start(ctx, stack.Options{
		Bin: o.bin, Dir: dir, Gateways: 1, Catalog: fmt.Sprintf(benchCatalog, at),
	})
	if err != nil {
		return nil, err
	}
	closers = append(closers, platform.Stop)
	w, err := platform.CreateWorkspace(ctx, "bench")
	if err != nil {
		return nil, err
	}
	key, _, err := w.CreateKey(ctx, client.NewKey{Name: "bench"}, publishWithin)
	if err != nil {
		return nil, err
	}
	if err := addBefore(ctx, platform, o.before); err != nil {
		return nil, err
	}
	plain := func(m string) string { return m }
	r = &rig{platform: platform, close: closeAll}
	r.subjects = []subject{
		{name: "direct", addr: at, model: plain, proc: upstream},
		{name: "bare proxy", addr: bareAt, key: bareKey, model: plain, proc: bare, lossy: true},
	}
	for i, name := range []string{"gateway", ofBefore}[:len(platform.Gateways)] {
		r.subjects = append(r.subjects, subject{
			name: name, addr: strings.TrimPrefix(platform.Gateways[i], "http://"), key: key.Secret,
			model: func(m string) string { return "bench/" + m }, proc: platform.GatewayProcs[i],
		})
	}
	return r, nil
}

// addBefore starts a gateway of an older binary; "" is none.
func addBefore(ctx context.Context, p *stack.Stack, binary string) error {
	if binary == "" {
		return nil
	}
	binary, err := filepath.Abs(binary) // it runs in a directory of its own
	if err != nil {
		return fmt.Errorf("find the gateway of before: %w", err)
	}
	return p.AddGateway(ctx, binary)
}

// drained waits until Postgres has every usage record, or storing them would
// be measured with the next subject.
func drained(ctx context.Context, p client.Platform) error {
	const every, within = 100 * time.Millisecond, 2 * time.Minute
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	tick := time.NewTicker(every)
	defer tick.Stop()
	var last client.Answer
	for {
		left := len(p.Gateways)
		for _, gateway := range p.Gateways {
			answer, err := p.Do(ctx, client.Call{Method: http.MethodGet, URL: gateway + "/readyz?verbose"})
			if err == nil {
				last = answer
			}
			if pending := answer.Get("spool_pending"); err == nil && pending.Exists() && pending.Int() == 0 {
				left--
			}
		}
		if left == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("usage records are not stored within %s: %s", within, last.Body)
		}
	}
}

// publishWithin is how long the figures wait for the gateways.
const publishWithin = 10 * time.Second

// measurement is one column of the table.
type measurement struct {
	model   string
	stream  bool
	callers int
	every   time.Duration
}

func measurements(o options) map[string]measurement {
	return map[string]measurement{
		"one":    {model: "small", callers: 1},
		"many":   {model: "small", callers: o.callers},
		"stream": {model: "small", stream: true, callers: o.callers},
		"slow":   {model: "small-delay-60ms", callers: o.callers},
	}
}

// order is the order in which a run measures.
var order = []string{"one", "many", "stream", "slow"}

// sample is one measurement of one subject.
type sample struct {
	load.Result
	cpu time.Duration // of the subject, for one request; 0 unknown
	rss int64         // of the subject afterwards; 0 unknown
}

// samples holds the runs by measurement and subject.
type samples map[string]map[string][]sample

// measureProxy measures the subjects in turn while the control plane is
// stopped, as if it and Postgres were elsewhere; then the gateway again with
// all of it at work on the same processors.
func measureProxy(ctx context.Context, o options) (err error) {
	r, err := buildRig(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.warm(ctx, o); err != nil {
		return err
	}
	if err := r.platform.ControlPlane.Stop(time.Minute); err != nil {
		return err
	}
	all := samples{}
	if err := all.take(ctx, o, r.subjects, nil); err != nil {
		return err
	}
	if !o.quick {
		if err := r.platform.ControlPlane.Restart(); err != nil {
			return err
		}
		whole := r.subjects[2]
		whole.name = "gateway, with everything behind it"
		settle := func() error { return drained(ctx, r.platform.Platform) }
		if err := all.take(ctx, o, []subject{whole}, settle); err != nil {
			return err
		}
		r.subjects = append(r.subjects, whole)
	}
	return reportProxy(o.out, r.subjects, all)
}

// warm makes connections, fills caches and looks the key up.
func (r *rig) warm(ctx context.Context, o options) error {
	for _, s := range r.subjects {
		if _, err := s.measure(ctx, measurements(o)["many"], min(o.each, time.Second)); err != nil {
			return fmt.Errorf("warm %s: %w", s.name, err)
		}
	}
	return drained(ctx, r.platform.Platform)
}

// take measures the subjects in turn; settle, when given, runs before each.
func (all samples) take(ctx context.Context, o options, subjects []subject, settle func() error) error {
	plans := measurements(o)
	for run := range o.runs {
		for _, name := range strings.Split(o.measure, ",") {
			if all[name] == nil {
				all[name] = map[string][]sample{}
			}
			for _, s := range turned(subjects, run) {
				if settle != nil {
					if err := settle(); err != nil {
						return err
					}
				}
				got, err := s.measure(ctx, plans[name], o.each)
				if err != nil {
					return fmt.Errorf("%s of %s: %w", name, s.name, err)
				}
				all[name][s.name] = append(all[name][s.name], got)
			}
		}
	}
	return nil
}

// turned has the two gateways change places with every run: the first one comes
// after the bare proxy, which leaves nothing to be done behind it.
func turned(subjects []subject, run int) []subject {
	if len(subjects) < 4 || run%2 == 0 {
		return subjects
	}
	return []subject{subjects[0], subjects[1], subjects[3], subjects[2]}
}

func (s subject) measure(ctx context.Context, m measurement, d time.Duration) (sample, error) {
	body := client.ChatBody(s.model(m.model), "Say hello to the bench.", m.stream)
	before, known := process.CPU(s.proc.PID())
	got, err := load.Run(ctx, load.Plan{
		Addr: s.addr, Callers: m.callers, For: d, Every: m.every,
		Request: load.Request{Path: "/v1/chat/completions", Key: s.key, Body: string(body)},
	})
	if err != nil {
		return sample{}, err
	}
	if got.Failures > 0 && !s.lossy {
		return sample{}, fmt.Errorf("%d of %d requests failed", got.Failures, got.Requests+got.Failures)
	}
	out := sample{Result: got}
	if after, ok := process.CPU(s.proc.PID()); ok && known {
		out.cpu = (after - before) / time.Duration(got.Requests)
	}
	out.rss, _ = process.RSS(s.proc.PID())
	return out, nil
}
