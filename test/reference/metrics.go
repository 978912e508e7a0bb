package reference

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Metric is one metric of a process, as its /metrics page has it.
type Metric struct {
	Name   string
	Type   string
	Help   string
	Labels []string // sorted; those of buckets are left out
}

var (
	sample = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? \S+$`)
	label  = regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_]*)="(?:[^"\\]|\\.)*"`)
)

// Metrics reads the text format of a /metrics page
// (https://prometheus.io/docs/instrumenting/exposition_formats/). What the
// libraries add of the runtime and the process is left out.
func Metrics(page string) []Metric {
	found := make(map[string]*Metric)
	get := func(name string) *Metric {
		if found[name] == nil {
			found[name] = &Metric{Name: name}
		}
		return found[name]
	}
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "# HELP "); ok {
			name, help, _ := strings.Cut(rest, " ")
			get(name).Help = help
			continue
		}
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			get(name).Type = kind
			continue
		}
		m := sample.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		of := m[1]
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if base := strings.TrimSuffix(of, suffix); found[base] != nil && found[base].Type == "histogram" {
				of = base
			}
		}
		for _, l := range label.FindAllStringSubmatch(m[2], -1) {
			if known := get(of).Labels; l[1] != "le" && !slices.Contains(known, l[1]) {
				get(of).Labels = append(known, l[1])
			}
		}
	}
	var list []Metric
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if m := found[name]; strings.HasPrefix(name, "signalbox_") {
			slices.Sort(m.Labels)
			list = append(list, *m)
		}
	}
	return list
}

const metricsIntro = `# Metrics

Generated from the running processes; do not edit. Each serves ` + "`GET /metrics`" + ` in the Prometheus format, on ` + "`ops_listen`" + `
where that is set. Beside these there are the usual ` + "`go_…`, `process_…` and `promhttp_…`" + `. No label holds anything that a caller
wrote; a series comes to be with its first event.
`

// MetricsPage describes the metrics of both processes.
func MetricsPage(control, gateway []Metric) string {
	var b strings.Builder
	b.WriteString(metricsIntro)
	for _, p := range []struct {
		name string
		list []Metric
	}{{"Control plane", control}, {"Gateway", gateway}} {
		fmt.Fprintf(&b, "\n## %s\n\n| metric | type | labels | |\n|---|---|---|---|\n", p.name)
		for _, m := range p.list {
			labels := "–"
			if len(m.Labels) > 0 {
				labels = "`" + strings.Join(m.Labels, "`, `") + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Name, m.Type, labels, m.Help)
		}
	}
	return b.String()
}
