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

// frame is a copy of all standings. It is never written after it was made.
type frame struct {
	made      time.Time
	standings map[string]standing

	credentials map[id.Credential]decide.CredentialHealth
}

// standing is what a view keeps of an endpoint.
type standing struct {
	known     decide.EndpointHealth
	openUntil time.Time // zero: closed
	coolUntil time.Time
}

func (e *endpoint) standing(now time.Time) standing {
	e.calls.advance(now)
	c := e.calls.sum
	s := standing{openUntil: e.openUntil, coolUntil: e.coolUntil}
	s.known.Calls = c.succeeded + c.failed
	if s.known.Calls > 0 {
		s.known.Success = float64(c.succeeded) / float64(s.known.Calls)
	}
	s.known.FirstByte = time.Duration(e.firstByte.value()) * time.Microsecond
	s.known.Throughput = float64(e.throughput.value()) / 1000
	return s
}

// Endpoint implements decide.Health.
func (v View) Endpoint(endpointID string) decide.EndpointHealth {
	s, ok := v.frame.standings[endpointID]
	if !ok {
		return decide.EndpointHealth{}
	}
	h := s.known
	if s.coolUntil.After(v.now) {
		h.Open, h.CoolingUntil = true, s.coolUntil
	}
	switch {
	case s.openUntil.IsZero():
	case s.openUntil.After(v.now):
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
