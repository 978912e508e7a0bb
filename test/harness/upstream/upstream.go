// Package upstream runs the simulated providers that a platform under test
// sends to, and writes the catalog that lists them. It knows nothing of how
// the platform is started.
package upstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
)

// The slugs of the two providers. North is the cheaper one.
const (
	North = "north"
	South = "south"
)

// Pair is two simulated providers, so that one can fail and the other serve.
type Pair struct {
	North, South *Upstream
}

// Upstream is a simulated provider that listens on loopback.
type Upstream struct {
	*simulator.Server
	URL string // ends in /v1
	hs  *http.Server
}

// Start runs both; Close ends them.
func Start(o simulator.Options) (Pair, error) {
	north, err := Listen("127.0.0.1:0", o)
	if err != nil {
		return Pair{}, err
	}
	south, err := Listen("127.0.0.1:0", o)
	if err != nil {
		return Pair{}, errors.Join(err, north.Close())
	}
	return Pair{North: north, South: south}, nil
}

// Close ends both and their connections.
func (p Pair) Close() error { return errors.Join(p.North.Close(), p.South.Close()) }

// Listen runs one simulated provider.
func Listen(addr string, o simulator.Options) (*Upstream, error) {
	ln, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for a simulated provider: %w", err)
	}
	u := &Upstream{
		Server: simulator.New(o), URL: "http://" + ln.Addr().String() + "/v1",
		hs: &http.Server{ReadHeaderTimeout: time.Minute},
	}
	u.Attach(u.hs)
	go func() { _ = u.hs.Serve(ln) }() // ends with Close
	return u, nil
}

// Close ends the provider and its connections.
func (u *Upstream) Close() error { return u.hs.Close() }

// Model returns the id of the model whose only endpoint, at North, has the
// fault; see the simulator for the terms. The catalog lists those of Terms.
func Model(terms string) string { return author + "/" + terms }

// Small is a model without a fault, at North only.
const Small = author + "/small"

// Fallback returns the id of the model that North spoils with the fault and
// South serves.
func Fallback(terms string) string { return author + "/fallback-" + terms }

const author = "sim"

// Terms are the faults that the catalog has models for.
func Terms() []string {
	return []string{
		"status-400", "status-401", "status-403", "status-404", "status-413", "status-422", "status-500",
		"status-503", "status-529", "status-429-retry-7", "status-429-retry-600", "status-500-times-1", "status-500-times-2",
		"reset", "hang", "hang-3", "cut", "cut-3", "garbage", "malformed-2", "error-first", "error-mid",
		"no-usage", "no-done", "html", "gzip", "redirect", "short", "stale", "crlf", "nospace", "comments",
		"trickle", "long-200", "long-3000", "latency-300ms", "tps-50", "crlf-nospace-comments",
	}
}

// Catalog is the catalog.yaml of both providers. Extra are further models by
// name; each is sim/NAME with the upstream model NAME at North.
func (p Pair) Catalog(extra ...string) string {
	var b strings.Builder
	b.WriteString("providers:\n")
	for slug, u := range map[string]*Upstream{North: p.North, South: p.South} {
		fmt.Fprintf(&b, "  - {slug: %s, type: openai-compatible, base_url: %q, keyless: true}\n", slug, u.URL)
	}
	b.WriteString("models:\n")
	model := func(id string, endpoints ...string) {
		fmt.Fprintf(&b, "  - id: %s\n    context: 4000000\n    max_output: 16384\n    capabilities: [tools, structured_output, vision]\n", id)
		b.WriteString("    input_modalities: [text, image]\n    endpoints:\n")
		for _, e := range endpoints {
			b.WriteString("      - " + e + "\n")
		}
	}
	model(Small, at(North, "small"))
	model(author+"/both", at(North, "small"), at(South, "small"))
	for _, name := range extra {
		model(author+"/"+name, at(North, name))
	}
	for _, terms := range Terms() {
		model(Model(terms), at(North, "fault-"+terms))
		model(Fallback(terms), at(North, "fault-"+terms), at(South, "small"))
	}
	return b.String()
}

func at(slug, upstream string) string {
	rest := `price: {input: "0.10", output: "0.40"}`
	if slug == South {
		// Dearer, and whatever routing draws after North.
		rest = `price: {input: "1.00", output: "4.00"}, derank: 1`
	}
	return fmt.Sprintf("{provider: %s, upstream_model: %q, %s}", slug, upstream, rest)
}
