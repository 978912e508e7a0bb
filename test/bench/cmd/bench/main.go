// Command bench measures a gateway against a direct call and a bare reverse
// proxy, all as processes of their own on loopback, and prints a table. It
// runs the binaries in ./bin ("make build").
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options are the command line.
type options struct {
	bin     string
	runs    int
	each    time.Duration // of one measurement
	callers int
	keys    int // published for the publication figures
	quick   bool
	only    string // "", proxy, publication or dev
	before  string // a gateway's binary to measure beside; "" none
	measure string // measurements of proxy, by comma

	out  io.Writer
	role string // re-executed parts: upstream or bare
	to   string // the bare proxy's upstream
}

func parse() (options, error) {
	o := options{out: os.Stdout}
	flag.StringVar(&o.bin, "bin", "bin", "directory of the built binaries")
	flag.IntVar(&o.runs, "runs", 15, "interleaved runs of each measurement")
	flag.DurationVar(&o.each, "each", time.Second, "length of one measurement")
	flag.IntVar(&o.callers, "callers", 16, "callers of the throughput measurements")
	flag.IntVar(&o.keys, "keys", 200, "keys created for the publication figures")
	flag.BoolVar(&o.quick, "quick", false, "a few short runs, under a minute")
	flag.StringVar(&o.only, "only", "", "measure one part: proxy, publication or dev")
	flag.StringVar(&o.before, "before", "", "an older gateway's binary, to measure in turn with the built one")
	flag.StringVar(&o.measure, "measure", strings.Join(order, ","), "measurements of the proxy part: "+strings.Join(order, ", "))
	flag.StringVar(&o.role, "role", "", "internal: run as upstream or bare")
	flag.StringVar(&o.to, "to", "", "internal: the bare proxy's upstream")
	flag.Parse()
	for name := range strings.SplitSeq(o.measure, ",") {
		if !slices.Contains(order, name) {
			return o, fmt.Errorf("-measure: %q is none of %s", name, strings.Join(order, ", "))
		}
	}
	if o.quick {
		o.runs, o.each, o.keys = 3, 400*time.Millisecond, 30
	}
	return o, nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := parse()
	if err == nil {
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	if o.role != "" {
		return serveRole(ctx, o)
	}
	if err := describe(ctx, o.out); err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		run  func(context.Context, options) error
	}{{"proxy", measureProxy}, {"publication", measurePublication}, {"dev", measureDev}} {
		if o.only != "" && o.only != part.name {
			continue
		}
		if err := part.run(ctx, o); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}
