package health

import (
	"cmp"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// PublishedAfter is how many requests of the last half hour an endpoint must
// have served before users are told of its health: fewer say too little.
const PublishedAfter = 100

// Published is what users are told of an endpoint: of the last 30 minutes, over
// all gateways and workspaces.
type Published struct {
	Requests    int64   // that it answered, refused, limited or failed
	Uptime      float64 // share of good answers among those that succeeded or failed, 0 to 1
	Errors      float64 // shares of all requests
	RateLimited float64
	GeoBlocked  float64
	FirstByte   time.Duration // median; 0: not known
	Throughput  float64       // median output tokens per second; 0: not known
	State       State
	Until       time.Time // the deadline of Open and Cooling; else zero
}

// State is how far an endpoint's breaker lets requests through.
type State string

// The states.
const (
	Closed   State = "closed"
	Open     State = "open"
	HalfOpen State = "half_open" // a small part of the requests tries it
	Cooling  State = "cooling"   // after a 429
)

// Published is what users are told of an endpoint, once there is enough of it.
func (t *Table) Published(endpointID string) (Published, bool) { return t.view().published(endpointID) }

func (v View) published(endpointID string) (Published, bool) {
	s := v.frame.states[endpointID]
	n := s.counted.Calls()
	if n < PublishedAfter {
		return Published{}, false
	}
	share := func(part int64) float64 { return float64(part) / float64(n) }
	p := Published{
		Requests: n, Uptime: 1, Errors: share(s.counted.Failed), RateLimited: share(s.counted.Limited), GeoBlocked: share(s.counted.Geo),
		FirstByte: s.typical.firstByte, Throughput: s.typical.throughput, State: Closed,
	}
	if s.known.Calls > 0 {
		p.Uptime = s.known.Success
	}
	switch {
	case runs(s.openUntil, v.now, openMost):
		p.State, p.Until = Open, s.openUntil
	case runs(s.coolUntil, v.now, coolLongest):
		p.State, p.Until = Cooling, s.coolUntil
	case !s.openUntil.IsZero():
		p.State = HalfOpen
	}
	return p, true
}

// Report is what users may be told of every endpoint, those with most requests
// first where there are more than a report holds.
func (t *Table) Report() wire.HealthReport {
	v := t.view()
	r := wire.HealthReport{Schema: wire.HealthReportSchema, MadeAt: v.now.UTC(), Endpoints: []wire.ReportedHealth{}}
	for name := range v.frame.states {
		if p, ok := v.published(name); ok {
			r.Endpoints = append(r.Endpoints, reported(name, p))
		}
	}
	slices.SortFunc(r.Endpoints, func(a, b wire.ReportedHealth) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.ID, b.ID))
	})
	if r.More = max(0, len(r.Endpoints)-wire.MaxReported); r.More > 0 {
		r.Endpoints = r.Endpoints[:wire.MaxReported]
	}
	return r
}

func reported(name string, p Published) wire.ReportedHealth {
	return wire.ReportedHealth{
		ID: name, Requests: p.Requests, Uptime: p.Uptime, Errors: p.Errors, RateLimited: p.RateLimited, GeoBlocked: p.GeoBlocked,
		FirstByte: p.FirstByte, Throughput: p.Throughput, State: wire.HealthState(p.State), Until: p.Until,
	}
}
