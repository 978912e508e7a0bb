package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// A health message is numbers, almost all of them small, many times a second
// and for every gateway: as JSON it would be three times as long.
//
//	message    = version instance sequence sentAt last settled origins endpoints credentials
//	origins    = n {16 bytes}
//	endpoints  = n {length id standing n {cell}}
//	standing   = 0 | 1 openUntil opened closedThrough coolUntil coolStep
//	cell       = origin slot succeeded failed limited geo measured input cachedRead output n {class count}
//	credentials = n {16 bytes coolUntil coolStep refused at}
//
// instance is 16 bytes, version one, everything else an unsigned varint
// (encoding/binary). Times are Unix milliseconds, 0 for none; origin is 0 or one
// more than a place in origins; a class is told as its distance from the one
// before.
const healthVersion = 1

// ErrHealthVersion says that a message is of a version that this gateway does
// not speak.
var ErrHealthVersion = errors.New("a health message of another version")

var errHealth = errors.New("not a health message")

// AppendHealth appends the message to body.
func AppendHealth(body []byte, h *Health) []byte {
	w := healthWriter{append(body, healthVersion)}
	w.id(h.Instance)
	w.uint(h.Sequence)
	w.time(h.SentAt)
	w.bool(h.Last)
	w.int(h.Settled)
	var origins []uuid.UUID
	for i := range h.Endpoints {
		for j := range h.Endpoints[i].Cells {
			if o := h.Endpoints[i].Cells[j].Origin; o != uuid.Nil && !slices.Contains(origins, o) {
				origins = append(origins, o)
			}
		}
	}
	w.int(int64(len(origins)))
	for _, o := range origins {
		w.id(o)
	}
	w.int(int64(len(h.Endpoints)))
	for i := range h.Endpoints {
		w.endpoint(&h.Endpoints[i], origins)
	}
	w.int(int64(len(h.Credentials)))
	for i := range h.Credentials {
		c := &h.Credentials[i]
		w.id(c.ID.UUID())
		w.time(c.CoolUntil)
		w.duration(c.CoolStep)
		w.int(int64(c.Refused))
		w.time(c.At)
	}
	return w.body
}

// HealthSize is what an endpoint takes in a message, at most.
func (e *EndpointHealth) HealthSize() int {
	const perNumber, perSample, numbers, standing = 10, 8, 11, 50
	n := len(e.ID) + perNumber + standing
	for i := range e.Cells {
		n += numbers*perNumber + 16 + perSample*len(e.Cells[i].Samples)
	}
	return n
}

// CredentialStandingSize is what a credential takes in a message, at most.
const CredentialStandingSize = 16 + 4*10

type healthWriter struct{ body []byte }

func (w *healthWriter) uint(v uint64)            { w.body = binary.AppendUvarint(w.body, v) }
func (w *healthWriter) int(v int64)              { w.uint(uint64(max(v, 0))) }
func (w *healthWriter) id(v uuid.UUID)           { w.body = append(w.body, v[:]...) }
func (w *healthWriter) duration(v time.Duration) { w.int(v.Milliseconds()) }

func (w *healthWriter) bool(v bool) {
	if v {
		w.uint(1)
		return
	}
	w.uint(0)
}

func (w *healthWriter) time(v time.Time) {
	if v.IsZero() {
		w.uint(0)
		return
	}
	w.int(v.UnixMilli())
}

func (w *healthWriter) endpoint(e *EndpointHealth, origins []uuid.UUID) {
	w.int(int64(len(e.ID)))
	w.body = append(w.body, e.ID...)
	s := &e.Standing
	w.bool(*s != EndpointStanding{})
	if (*s != EndpointStanding{}) {
		w.time(s.OpenUntil)
		w.int(int64(s.Opened))
		w.time(s.ClosedThrough)
		w.time(s.CoolUntil)
		w.duration(s.CoolStep)
	}
	w.int(int64(len(e.Cells)))
	for i := range e.Cells {
		c := &e.Cells[i]
		w.int(int64(slices.Index(origins, c.Origin) + 1))
		w.int(c.Slot)
		for _, n := range c.numbers() {
			w.int(*n)
		}
		w.int(int64(len(c.Samples)))
		last := uint16(0)
		for _, s := range c.Samples {
			w.uint(uint64(s.Class - last))
			w.uint(uint64(s.Count))
			last = s.Class
		}
	}
}

// numbers are the counts in the order of the wire.
func (c *HealthCounts) numbers() [8]*int64 {
	return [8]*int64{&c.Succeeded, &c.Failed, &c.Limited, &c.Geo, &c.Measured, &c.Input, &c.CachedRead, &c.Output}
}

// ParseHealth reads a message. It fails on anything that is not one, as a
// whole, with ErrHealthVersion when that may be why.
func ParseHealth(body []byte) (Health, error) {
	if len(body) > MaxHealth {
		return Health{}, fmt.Errorf("%w: %d bytes", errHealth, len(body))
	}
	if len(body) == 0 {
		return Health{}, errHealth
	}
	if body[0] != healthVersion {
		return Health{}, ErrHealthVersion
	}
	r := healthReader{rest: body[1:]}
	h := r.message()
	switch {
	case r.bad:
		return Health{}, fmt.Errorf("%w: broken off or out of range", errHealth)
	case len(r.rest) > 0:
		return Health{}, fmt.Errorf("%w: %d bytes too many", errHealth, len(r.rest))
	}
	if err := h.Validate(); err != nil {
		return Health{}, fmt.Errorf("%w: %w", errHealth, err)
	}
	return h, nil
}

// healthReader reads numbers until one is bad; from then on all are 0.
type healthReader struct {
	rest []byte
	bad  bool
}

func (r *healthReader) message() Health {
	h := Health{Instance: r.id(), Sequence: r.uint(1<<64 - 1), SentAt: r.time(), Last: r.uint(1) == 1, Settled: r.int(maxHealthSlot)}
	origins := make([]uuid.UUID, 1, 1+r.count(16, maxHealthOrigins))
	for range cap(origins) - 1 {
		origins = append(origins, r.id())
	}
	if n := r.count(3, maxHealthEndpoints); n > 0 {
		h.Endpoints = make([]EndpointHealth, n)
	}
	cells := 0
	for i := range h.Endpoints {
		r.endpoint(&h.Endpoints[i], origins)
		if cells += len(h.Endpoints[i].Cells); cells > maxHealthCells {
			r.bad = true
		}
		if r.bad {
			return h
		}
	}
	if n := r.count(20, maxHealthCredentials); n > 0 {
		h.Credentials = make([]CredentialStanding, n)
	}
	for i := range h.Credentials {
		h.Credentials[i] = CredentialStanding{
			ID: id.FromUUID[id.CredentialKind](r.id()), CoolUntil: r.time(), CoolStep: r.duration(), Refused: int(r.int(maxInARow)), At: r.time(),
		}
	}
	return h
}

const (
	maxHealthOrigins = 1024
	maxHealthMilli   = 1 << 45 // the year 3084
	maxHealthSlot    = maxHealthMilli / int64(HealthSlot/time.Millisecond)
)

func (r *healthReader) endpoint(e *EndpointHealth, origins []uuid.UUID) {
	e.ID = string(r.take(r.count(1, maxEndpointID)))
	if r.uint(1) == 1 {
		e.Standing = EndpointStanding{
			OpenUntil: r.time(), Opened: int(r.int(maxInARow)), ClosedThrough: r.time(), CoolUntil: r.time(), CoolStep: r.duration(),
		}
	}
	if n := r.count(11, maxHealthCells); n > 0 {
		e.Cells = make([]HealthCell, n)
	}
	for i := range e.Cells {
		c := &e.Cells[i]
		if o := int(r.int(int64(len(origins) - 1))); !r.bad {
			c.Origin = origins[o]
		}
		c.Slot = r.int(maxHealthSlot)
		for _, n := range c.numbers() {
			*n = r.int(maxHealthTokens)
		}
		c.Samples = r.samples()
		if r.bad {
			return
		}
	}
}

func (r *healthReader) samples() []HealthSample {
	n := r.count(2, HealthClasses)
	if n == 0 {
		return nil
	}
	samples := make([]HealthSample, n)
	class := uint64(0)
	for i := range samples {
		class += r.uint(HealthClasses)
		if class >= HealthClasses {
			r.bad = true
			return nil
		}
		samples[i] = HealthSample{Class: uint16(class), Count: uint32(r.uint(maxHealthCalls))}
	}
	return samples
}

func (r *healthReader) uint(most uint64) uint64 {
	v, n := binary.Uvarint(r.rest)
	if r.bad || n <= 0 || v > most {
		r.bad = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *healthReader) int(most int64) int64 { return int64(r.uint(uint64(most))) }

// count reads how many things of at least size bytes follow. More than there
// is room for is refused before anything is made for them.
func (r *healthReader) count(size, most int) int {
	n := int(r.int(int64(most)))
	if n*size > len(r.rest) {
		r.bad = true
		return 0
	}
	return n
}

func (r *healthReader) take(n int) []byte {
	if r.bad || n > len(r.rest) {
		r.bad = true
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *healthReader) id() (v uuid.UUID) {
	copy(v[:], r.take(len(v)))
	return v
}

func (r *healthReader) time() time.Time {
	if v := r.int(maxHealthMilli); v > 0 {
		return time.UnixMilli(v).UTC()
	}
	return time.Time{}
}

func (r *healthReader) duration() time.Duration {
	return time.Duration(r.int(maxHealthStep.Milliseconds())) * time.Millisecond
}
