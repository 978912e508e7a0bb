package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// describe says where the figures come from.
func describe(ctx context.Context, w io.Writer) error {
	commit := "unknown"
	if out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output(); err == nil {
		commit = strings.TrimSpace(string(out))
	}
	_, err := fmt.Fprintf(w, "commit %s, %s, %s/%s, %d processors shared by load, upstream and subject, %s\n\n",
		commit, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), time.Now().UTC().Format(time.DateOnly))
	return err
}

func reportProxy(w io.Writer, subjects []subject, all samples) error {
	var b strings.Builder
	fmt.Fprintln(&b, "| | requests/s | CPU per request | p50, 1 caller | p99, 1 caller | streams/s | p50 at 60 ms | p99 at 60 ms | RSS | failed |")
	fmt.Fprintln(&b, "|---|---|---|---|---|---|---|---|---|---|")
	for _, s := range subjects {
		one, many, stream, slow := all["one"][s.name], all["many"][s.name], all["stream"][s.name], all["slow"][s.name]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %d |\n", s.name,
			figure(many, sample.rate, perSecond), figure(many, sample.cpuOf, micros),
			figure(one, sample.p50, micros), figure(one, sample.p99, micros),
			figure(stream, sample.rate, perSecond),
			figure(slow, sample.p50, millis), figure(slow, sample.p99, millis), figure(stream, sample.rssOf, mebibytes),
			failures(one, many, stream, slow))
	}
	fmt.Fprintln(&b, "\nMedian of the runs, with the quartiles; ratios are taken within each run. Replies of 400 bytes; streams of 20 content events.")
	fmt.Fprintln(&b, "The gateway has authentication, decision and recording on and ships its records to NATS on the same machine; the control")
	fmt.Fprintln(&b, "plane, which stores them in Postgres, is stopped meanwhile. In the last row, when there, all of it shares the processors.")
	reportAdded(&b, subjects, all)
	reportBefore(&b, subjects, all)
	_, err := io.WriteString(w, b.String())
	return err
}

// reportAdded prints the figures that the goals are written in.
func reportAdded(b *strings.Builder, subjects []subject, all samples) {
	if len(subjects) < 3 {
		return
	}
	direct, bare, gateway := subjects[0].name, subjects[1].name, subjects[2].name
	added := func(over string, value func(sample) float64) string {
		if len(all["one"][gateway]) == 0 {
			return figure(nil, value, micros)
		}
		return micros(median(all["one"][gateway], value) - median(all["one"][over], value))
	}
	fmt.Fprintf(b, "\n- added latency over a direct call: p50 %s, p99 %s; over the bare proxy: p50 %s, p99 %s\n",
		added(direct, sample.p50), added(direct, sample.p99), added(bare, sample.p50), added(bare, sample.p99))
	of := func(name string, value func(sample) float64) string { return all.ratio(name, gateway, bare, value) }
	fmt.Fprintf(b, "- of the bare proxy's requests per second: %s; of its streams per second: %s; of its CPU per request: %s\n\n",
		of("many", sample.rate), of("stream", sample.rate), of("many", sample.cpuOf))
}

// reportBefore prints what became of an older gateway's figures.
func reportBefore(b *strings.Builder, subjects []subject, all samples) {
	if len(subjects) < 4 || subjects[3].name != ofBefore {
		return
	}
	of := func(name string, value func(sample) float64) string {
		return all.ratio(name, subjects[2].name, ofBefore, value)
	}
	fmt.Fprintf(b, "- of before: requests per second %s, CPU per request %s, p50 at 1 caller %s, streams per second %s, CPU per stream %s\n\n",
		of("many", sample.rate), of("many", sample.cpuOf), of("one", sample.p50), of("stream", sample.rate), of("stream", sample.cpuOf))
}

// ratio is a figure of one subject in parts of another's.
func (all samples) ratio(measurement, subject, other string, value func(sample) float64) string {
	return figure(ratios(all[measurement][subject], all[measurement][other], value), func(v float64) float64 { return v }, hundredths)
}

// ratios compares two subjects run by run: what else the machine does changes
// from one run to the next, and hardly within one.
func ratios(subject, other []sample, value func(sample) float64) []float64 {
	var list []float64
	for i := range min(len(subject), len(other)) {
		if base := value(other[i]); base > 0 {
			list = append(list, value(subject[i])/base)
		}
	}
	return list
}

func failures(all ...[]sample) int {
	n := 0
	for _, s := range slices.Concat(all...) {
		n += s.Failures
	}
	return n
}

func (s sample) rate() float64  { return s.PerSecond() }
func (s sample) cpuOf() float64 { return float64(s.cpu) }
func (s sample) p50() float64   { return float64(s.P50) }
func (s sample) p99() float64   { return float64(s.P99) }
func (s sample) rssOf() float64 { return float64(s.rss) }

func median[T any](runs []T, value func(T) float64) float64 {
	values := sorted(runs, value)
	if len(values) == 0 {
		return 0
	}
	return values[len(values)/2]
}

func sorted[T any](runs []T, value func(T) float64) []float64 {
	values := make([]float64, 0, len(runs))
	for _, r := range runs {
		values = append(values, value(r))
	}
	slices.SortFunc(values, cmp.Compare[float64])
	return values
}

// figure is a median with its quartiles: of many short runs on a machine that
// does other things too, the extremes tell of those.
func figure[T any](runs []T, value func(T) float64, unit func(float64) string) string {
	values := sorted(runs, value)
	if len(values) == 0 || values[len(values)-1] == 0 {
		return "not known"
	}
	text := unit(values[len(values)/2])
	if len(values) > 1 {
		text += fmt.Sprintf(" (%s–%s)", unit(values[len(values)/4]), unit(values[len(values)-1-len(values)/4]))
	}
	return text
}

func perSecond(v float64) string  { return fmt.Sprintf("%.0f", v) }
func micros(v float64) string     { return fmt.Sprintf("%.0f µs", v/float64(time.Microsecond)) }
func millis(v float64) string     { return fmt.Sprintf("%.1f ms", v/float64(time.Millisecond)) }
func hundredths(v float64) string { return fmt.Sprintf("%.2f", v) }
func mebibytes(v float64) string  { return fmt.Sprintf("%.0f MiB", v/(1<<20)) }
