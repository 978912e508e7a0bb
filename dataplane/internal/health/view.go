package health

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// View is the table at one moment, for one request. It never changes, so
// asking twice gives the same answer.
type View struct {
	frame *frame
	now   time.Time
	seed  uint64
}

// frame is a copy of all that is known. It is never written after it was made.
type frame struct {
	made          time.Time
	states        map[string]state
	open, cooling int // when it was made

	credentials map[id.Credential]decide.CredentialHealth
}

func (f *frame) put(name string, s state) {
	f.states[name] = s
	if !s.openUntil.IsZero() {
		f.open++
	}
	if runs(s.coolUntil, f.made, coolLongest) {
		f.cooling++
	}
}

// state is what a frame keeps of an endpoint.
type state struct {
	known     decide.EndpointHealth
	counted   counts    // in the window, without samples
	typical   typical   // over the window
	openUntil time.Time // zero: closed
	coolUntil time.Time
}

// typical are medians over the window, 0 when not known.
type typical struct {
	firstByte  time.Duration
	throughput float64 // output tokens per second
}

// standing returns until when the breaker is open, zero when it is closed, and
// until when the endpoint cools.
func (e *endpoint) standing() (openUntil, coolUntil time.Time) {
	if !e.breaker.closed() {
		openUntil = e.breaker.openUntil
	}
	return openUntil, e.cool.until
}

// measured works out what routing reads. scratch is room for it.
func (e *endpoint) measured(now time.Time, scratch *spread) state {
	var s state
	s.openUntil, s.coolUntil = e.standing()
	if e.calls == nil {
		return s
	}
	slot := slotOf(now)
	e.advance(slot)
	all := &e.calls.sum
	s.counted = *all
	k := &s.known
	if k.Calls = all.Succeeded + all.Failed; k.Calls > 0 {
		k.Success = float64(all.Succeeded) / float64(k.Calls)
	}
	if all.Measured > 0 {
		k.InputTokens, k.OutputTokens = mean(all.Input, all.Measured), mean(all.Output, all.Measured)
	}
	if all.Input > 0 {
		k.CacheHit = float64(all.CachedRead) / float64(all.Input)
	}
	if all.Calls() == 0 {
		return s
	}
	*scratch = spread{}
	fresh := e.calls.recent(slot, scratch)
	if k.Recent = fresh.Succeeded + fresh.Failed + fresh.Limited; k.Recent > 0 {
		k.Errors = float64(fresh.Failed) / float64(k.Recent)
		k.RateLimited = float64(fresh.Limited) / float64(k.Recent)
	}
	whole := &e.calls.all
	s.typical.firstByte = microseconds(whole[firstByte].quantile(0.5))
	s.typical.throughput = float64(whole[throughput].quantile(0.5)) / 1000
	first, speed := enough(scratch, whole, firstByte), enough(scratch, whole, throughput)
	k.FirstByte, k.FirstByteP95 = microseconds(first.quantile(0.5)), microseconds(first.quantile(0.95))
	k.Throughput = float64(speed.quantile(0.5)) / 1000
	return s
}

// enough chooses between the samples of the last RecentWindow and, when those
// are too few to tell, all of the window.
func enough(fresh, whole *spread, of series) *histogram {
	if fresh[of].n > decide.FewRecent {
		return &fresh[of]
	}
	return &whole[of]
}

func microseconds(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// mean is rounded, and at least 1.
func mean(sum, n int64) int64 { return max((sum+n/2)/n, 1) }

// Endpoint implements decide.Health.
func (v View) Endpoint(endpointID string) decide.EndpointHealth {
	s, ok := v.frame.states[endpointID]
	if !ok {
		return decide.EndpointHealth{}
	}
	h := s.known
	if runs(s.coolUntil, v.now, coolLongest) {
		h.Open, h.CoolingUntil = true, s.coolUntil
	}
	switch {
	case s.openUntil.IsZero():
	case runs(s.openUntil, v.now, openMost):
		h.Open = true
	case !v.probes(endpointID):
		h.Open = true
	}
	return h
}

// Credential implements decide.Health.
func (v View) Credential(credential id.Credential) decide.CredentialHealth {
	return v.frame.credentials[credential]
}

// probes draws whether this request may use a half-open endpoint.
func (v View) probes(endpointID string) bool {
	const prime = 1099511628211 // FNV-1a, 64 bits
	h := uint64(14695981039346656037) ^ v.seed
	for i := range len(endpointID) {
		h = (h ^ uint64(endpointID[i])) * prime
	}
	h ^= h >> 32
	h *= 0x9e3779b97f4a7c15
	return (h>>33)%100 < probePercent
}
