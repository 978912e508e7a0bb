package flow

import (
	"errors"
	"time"

	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// ErrInvalid is the failure of compiling a graph that has problems, or slots
// that do not belong to it.
var ErrInvalid = errors.New("the graph is not valid")

// Program is a graph ready to be evaluated. It is frozen and safe for
// concurrent use.
type Program struct {
	steps []step
	start int
	base  Action // what the graph sets outside its nodes
	reads []Input
	usage [3]bool // by window
}

// step is a node ready to be evaluated.
type step struct {
	id       string
	kind     kind
	yes, no  int // where it leads: next, true or within; false or exceeded
	when     *condition.Program
	draw     draw
	limit    limit
	sets     *Action
	rejected *Rejection
}

type kind uint8

const (
	passes kind = iota // start
	tests
	draws
	limits
	sets
	ends // end and reject
)

// limit is a bound of one window; of cost when requests is negative.
type limit struct {
	window   int
	requests int64
	cost     money.Nanos
}

// draw is a percentage's table.
type draw struct {
	seed      uint64 // hash of route and node
	stretches []stretch
}

// stretch is slots that lead to the same step, up to and without end.
type stretch struct{ end, next int }

// Compile makes a version of a route ready. It fails with ErrInvalid where
// Check finds a problem that needs no names, and where the slots are not those
// of the graph's percentages.
func Compile(route id.Route, g Graph, slots Slots) (*Program, error) {
	if k := (checker{g: &g}); !k.check().OK() {
		return nil, ErrInvalid
	}
	c := compiler{route: route.String(), slots: slots, at: make(map[string]int, len(g.Nodes))}
	for i := range g.Nodes {
		c.at[g.Nodes[i].ID] = i
	}
	p := &Program{steps: make([]step, len(g.Nodes)), start: c.at[g.Entry], reads: g.Reads()}
	p.base.affinity(g.Affinity)
	for i := range g.Nodes {
		var err error
		if p.steps[i], err = c.step(&g.Nodes[i]); err != nil {
			return nil, err
		}
		if s := &p.steps[i]; s.kind == limits {
			p.usage[s.limit.window] = true
		}
	}
	return p, nil
}

type compiler struct {
	route string
	slots Slots
	at    map[string]int // index of the node with an id
}

// step compiles a node of a valid graph.
func (c *compiler) step(n *Node) (step, error) {
	s := step{id: n.ID}
	var err error
	switch n.Type {
	case When:
		s.kind, s.yes, s.no = tests, c.at[n.True], c.at[n.False]
		s.when, err = condition.Compile(*n.When, condition.Sources()...)
	case Percentage:
		s.kind = draws
		s.draw, err = c.draw(n)
	case RateLimit:
		s.kind, s.yes, s.no = limits, c.at[n.Within], c.at[n.Exceeded]
		s.limit = limit{window: indexOf(n.Window), requests: *n.MaxRequests}
	case BudgetLimit:
		s.kind, s.yes, s.no = limits, c.at[n.Within], c.at[n.Exceeded]
		s.limit = limit{window: indexOf(n.Window), requests: -1}
		s.limit.cost, err = money.Parse(n.MaxCostUSD)
	case Model:
		s.kind, s.yes = sets, c.at[n.Next]
		s.sets, err = actionOf(n)
	case Reject:
		s.kind = ends
		s.rejected = &Rejection{Node: n.ID, Status: n.Status, Code: n.Code, Message: n.Message}
	case End:
		s.kind = ends
	default: // a start
		s.kind, s.yes = passes, c.at[n.Next]
	}
	return s, err
}

func (c *compiler) draw(n *Node) (draw, error) {
	table := c.slots[n.ID]
	if !table.fits(n.Branches) {
		return draw{}, ErrInvalid
	}
	next := make(map[string]int, len(n.Branches))
	for i := range n.Branches {
		next[n.Branches[i].ID] = c.at[n.Branches[i].Next]
	}
	d := draw{seed: seedOf(c.route, n.ID), stretches: make([]stretch, len(table))}
	end := 0
	for i, run := range table {
		end += run.Slots
		d.stretches[i] = stretch{end: end, next: next[run.Branch]}
	}
	return d, nil
}

func indexOf(w Window) int {
	switch w {
	case Weekly:
		return 1
	case Monthly:
		return 2
	default:
		return 0
	}
}

// actionOf is what a model node sets.
func actionOf(n *Node) (*Action, error) {
	a := &Action{
		Model: n.Model, FallbackModels: n.FallbackModels, Mode: n.RoutingMode, AllowFallbacks: n.AllowFallbacks,
	}
	a.affinity(n.Affinity)
	p := n.Provider
	if p == nil {
		return a, nil
	}
	a.Order, a.Only, a.Ignore, a.Sort = p.Order, p.Only, p.Ignore, p.Sort
	a.RequireParameters, a.RequireZDR, a.DenyTraining, a.Region = p.RequireParameters, p.RequireZDR, p.DenyTraining, p.Region
	if p.PreferredMaxLatency != nil {
		a.PreferredMaxLatency = time.Duration(*p.PreferredMaxLatency * float64(time.Second))
	}
	if p.PreferredMinThroughput != nil {
		a.PreferredMinThroughput = *p.PreferredMinThroughput
	}
	if p.MaxPrice == nil {
		return a, nil
	}
	var err error
	if a.MaxInputPrice, err = priceOf(p.MaxPrice.Input); err != nil {
		return nil, err
	}
	a.MaxOutputPrice, err = priceOf(p.MaxPrice.Output)
	return a, err
}

// priceOf reads a price; "" is none.
func priceOf(text string) (*money.PerMillion, error) {
	if text == "" {
		return nil, nil
	}
	price, err := money.ParsePerMillion(text)
	return &price, err
}

func (a *Action) affinity(set *Affinity) {
	if set != nil {
		pick(&a.Cache, set.Cache)
		pick(&a.Session, set.Session)
	}
}
