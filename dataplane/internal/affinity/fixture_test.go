package affinity_test

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/dataplane/internal/affinity"
	"github.com/signalbox-dev/signalbox/dataplane/internal/affinity/affinitytest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	start = time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)
	ws    = id.MustParse[id.WorkspaceKind]("ws_00000000000000000000000001")
	other = id.MustParse[id.WorkspaceKind]("ws_00000000000000000000000002")
	all   = decide.AffinityRules{CacheAware: true, Session: true}
)

// gateway is the part of a gateway that remembers.
type gateway struct {
	*affinity.Pins
	t        *testing.T
	registry *prometheus.Registry
	stop     func()
}

func newGateway(t *testing.T, store affinity.Store, now func() time.Time) *gateway {
	t.Helper()
	g := &gateway{t: t, registry: prometheus.NewRegistry()}
	g.Pins = affinity.New(affinity.Options{Store: store, Secret: []byte("secret"), Now: now, Log: natstest.Discard()}, g.registry)
	return g
}

// run starts it, and returns once it hears of what others write.
func (g *gateway) run(began func() bool) *gateway {
	g.t.Helper()
	ctx, end := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx) }()
	stopped := false
	g.stop = func() {
		if !stopped {
			stopped = true
			end()
			require.NoError(g.t, <-done)
		}
	}
	g.t.Cleanup(g.stop)
	require.Eventually(g.t, began, 20*time.Second, time.Millisecond)
	return g
}

// world is a store in memory and gateways on it.
type world struct {
	t     *testing.T
	store *affinitytest.Memory
}

func newWorld(t *testing.T) *world { return &world{t: t, store: affinitytest.NewMemory(start)} }

func (w *world) gateway() *gateway {
	w.t.Helper()
	before := w.store.Watchers()
	return newGateway(w.t, w.store, w.store.Now).run(func() bool { return w.store.Watchers() > before })
}

func turnOf(session string) *call.Call {
	return &call.Call{Surface: catalog.Chat, Workspace: ws, Request: call.Request{Model: "acme/small", SessionID: session}}
}

func (g *gateway) find(c *call.Call) call.Conversation {
	g.t.Helper()
	c.Conversation = g.Find(g.t.Context(), c, all)
	return c.Conversation
}

// at is where a call's conversation is pinned, "" for nowhere.
func (g *gateway) at(c *call.Call) string {
	g.t.Helper()
	if pins := g.find(c).Pins; len(pins) > 0 {
		return pins[0].Provider
	}
	return ""
}

// answered plays a turn that a provider answers, and the account of it.
func (g *gateway) answered(c *call.Call, by string, change func(*decide.Plan, *call.Outcome)) *decide.AffinityTrace {
	g.t.Helper()
	g.find(c)
	return g.ended(c, by, change)
}

// ended is answered for a call whose conversation was looked up before.
func (g *gateway) ended(c *call.Call, by string, change func(*decide.Plan, *call.Outcome)) *decide.AffinityTrace {
	g.t.Helper()
	found := c.Conversation
	trace := &decide.AffinityTrace{Source: string(found.Source)}
	for _, p := range found.Pins {
		if p.Model == "acme/small" {
			trace.Hit, trace.Endpoint = true, p.Endpoint
		}
	}
	plan := &decide.Plan{Record: decide.Record{Affinity: trace}}
	price := func(usd string) *money.PerMillion {
		p, err := money.ParsePerMillion(usd)
		require.NoError(g.t, err)
		return &p
	}
	out := &call.Outcome{Reply: &call.Reply{
		Step: decide.Step{Model: &catalog.Model{ID: "acme/small"}},
		Candidate: decide.Candidate{
			Endpoint: &catalog.Endpoint{ID: by + ":acme/small", Price: &catalog.Price{Input: price("1"), CachedInput: price("0.1")}},
			Provider: &catalog.Provider{Slug: by, Type: catalog.OpenAI},
		},
	}}
	if change != nil {
		change(plan, out)
	}
	return g.Keep(c, plan, out)
}

// left is a turn for which the decision left the pinned endpoint.
func left(why decide.CacheBreak) func(*decide.Plan, *call.Outcome) {
	return func(p *decide.Plan, _ *call.Outcome) { p.Record.Affinity.Break = why }
}

func cached(_ *decide.Plan, o *call.Outcome) { o.Seen.Usage = meter.Usage{Input: 10, CachedRead: 90} }

// eventually waits for what a writer in the background does, until it is found
// and held: what is heard while it is looked up is not held before the next look.
func (g *gateway) eventually(c *call.Call, provider string) {
	g.t.Helper()
	require.Eventually(g.t, func() bool {
		found := g.at(c)
		held := g.Peek(c, all).Pins
		return found == provider && (provider == "" || len(held) > 0 && held[0].Provider == provider)
	}, 20*time.Second, time.Millisecond)
}

func (g *gateway) count(name string, labels ...string) float64 {
	g.t.Helper()
	families, err := g.registry.Gather()
	require.NoError(g.t, err)
	total := 0.0
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			matches := true
			for i, l := range m.GetLabel() {
				matches = matches && (i >= len(labels) || l.GetValue() == labels[i])
			}
			if matches {
				total += m.GetCounter().GetValue()
			}
		}
	}
	return total
}

func nowOf(at time.Time) func() time.Time { return func() time.Time { return at } }

// noRegistry takes metrics and forgets them.
type noRegistry struct{}

func (noRegistry) Register(prometheus.Collector) error  { return nil }
func (noRegistry) MustRegister(...prometheus.Collector) {}
func (noRegistry) Unregister(prometheus.Collector) bool { return true }
