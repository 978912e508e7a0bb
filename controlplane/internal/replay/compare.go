package replay

import (
	"encoding/json"
	"time"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

// comparison puts requests before both sides and counts what differs.
type comparison struct {
	catalog   *catalog.View
	now       time.Time
	keys      map[id.Key]decide.KeyFacts
	hider     condition.Hider // that hid the recorded texts
	durations map[string]time.Duration

	before, after *side
	report        Report
	nodes         map[string]*Node // of after
	moves         map[[2]string]int
	unknown       map[Unknown]int
	// Sums over Report.Latency.Requests.
	waitedBefore, waitedAfter time.Duration
}

func newComparison(before, after *side) *comparison {
	c := &comparison{before: before, after: after, moves: make(map[[2]string]int), unknown: make(map[Unknown]int)}
	c.report.Version, c.report.Baseline = after.version, before.version
	c.report.Nodes = make([]Node, len(after.graph))
	c.nodes = make(map[string]*Node, len(after.graph))
	for i := range after.graph {
		n := &after.graph[i]
		c.report.Nodes[i] = Node{ID: n.ID, Type: n.Type}
		c.nodes[n.ID] = &c.report.Nodes[i]
	}
	return c
}

// logged is the part of a decision record that a replay reads.
type logged struct {
	Model  string               `json:"requested_model"`
	Seed   uint64               `json:"seed,string"`
	Replay *decide.Recollection `json:"replay"`
	Auto   *decide.AutoTrace    `json:"auto"` // of one that signalbox/auto decided
}

// input makes of a record what was asked, as far as it is known.
func (c *comparison) input(r *Request) (in decide.Input, ok bool) {
	var of logged
	key, attached := c.keys[r.Key]
	if len(r.Decision) == 0 || json.Unmarshal(r.Decision, &of) != nil || of.Replay == nil || of.Replay.Request == nil || !attached {
		return in, false
	}
	in = decide.Input{Catalog: c.catalog, Health: unmeasured{}, Seed: of.Seed}
	in.Facts = decide.Facts{Now: c.now, Request: r.ID, Surface: r.Surface, Key: key, Model: of.Model, Stream: r.Stream}
	in.Classification = of.Auto.Classification()
	in.Replay(of.Replay, c.hider)
	return in, true
}

// add compares one request.
func (c *comparison) add(r *Request) {
	c.report.Requests++
	c.report.Oldest = r.Started
	in, ok := c.input(r)
	if !ok {
		c.unknown[Unknown{Reason: NotRecorded}]++
		return
	}
	after := c.after.decide(in)
	for _, node := range after.nodes {
		c.nodes[node].Requests++
	}
	if after.reason != "" {
		if after.node != "" {
			c.nodes[after.node].Unknown++
		}
		c.unknown[Unknown{Version: c.after.version, Node: after.node, Reason: after.reason}]++
		return
	}
	before := c.before.decide(in)
	if before.reason != "" {
		c.unknown[Unknown{Version: c.before.version, Node: before.node, Reason: before.reason}]++
		return
	}
	c.report.Comparable++
	c.compare(r, &before, &after)
}

// compare counts what differs of a request whose two ways are known.
func (c *comparison) compare(r *Request, before, after *way) {
	was, is := before.first(), after.first()
	switch {
	case was == nil && is == nil:
		return
	case is == nil:
		c.report.Refused++
		c.caused(before, after, func(n *Node) { n.Refused++ })
		return
	case was == nil:
		c.report.Served++
		c.caused(before, after, func(n *Node) { n.Served++ })
		return
	}
	c.price(r.Usage, was, is)
	if was.Endpoint.ID == is.Endpoint.ID {
		return
	}
	c.report.Moved++
	c.caused(before, after, func(n *Node) { n.Moved++ })
	if from, to := before.Chain[0].Model.ID, after.Chain[0].Model.ID; from != to {
		c.report.Remodeled++
		c.moves[[2]string{from, to}]++
	}
	waited, measured := c.durations[was.Endpoint.ID]
	waits, measuredToo := c.durations[is.Endpoint.ID]
	if measured && measuredToo {
		c.report.Latency.Requests++
		c.waitedBefore += waited
		c.waitedAfter += waits
	}
}

func (c *comparison) caused(before, after *way, count func(*Node)) {
	if n := c.nodes[c.after.cause(c.before, before.nodes, after.nodes)]; n != nil {
		count(n)
	}
}

// price adds what the recorded usage costs on either side.
func (c *comparison) price(u meter.Usage, was, is *decide.Candidate) {
	if u.IsZero() {
		return
	}
	before, after := meter.Bill(was.Endpoint.Price, u), meter.Bill(is.Endpoint.Price, u)
	if before.Unpriced || after.Unpriced {
		return
	}
	c.report.Cost.Requests++
	c.report.Cost.Before += before.Total
	c.report.Cost.After += after.Total
}

// result is the report once every request was added.
func (c *comparison) result() Report {
	r := c.report
	if n := time.Duration(r.Latency.Requests); n > 0 {
		r.Latency.Before, r.Latency.After = c.waitedBefore/n, c.waitedAfter/n
	}
	r.Models = sorted(c.moves, func(m [2]string, n int) Move { return Move{From: m[0], To: m[1], Requests: n} }, compareMoves)
	r.Models = r.Models[:min(len(r.Models), maxMoves)]
	r.Unknown = sorted(c.unknown, func(u Unknown, n int) Unknown { u.Requests = n; return u }, compareUnknown)
	return r
}
