package id

import (
	"crypto/rand"
	"io"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Source makes UUIDv7 values (RFC 9562 §5.7) from an injected clock and
// randomness. Values of one Source are strictly increasing: within one
// millisecond the 12 bits of rand_a count up, and when they are spent the
// millisecond runs ahead. It is safe for concurrent use.
type Source struct {
	now func() time.Time
	rnd io.Reader

	mu     sync.Mutex
	lastMs int64
	seq    uint16
	pool   [512]byte
	left   int
}

// NewSource returns a Source that reads now and rnd.
func NewSource(now func() time.Time, rnd io.Reader) *Source {
	return &Source{now: now, rnd: rnd}
}

// SystemSource returns a Source over the system's clock and randomness.
func SystemSource() *Source { return NewSource(time.Now, rand.Reader) }

// New returns a fresh identifier of kind K.
func New[K Kind](s *Source) ID[K] { return ID[K]{u: s.UUID()} }

// UUID returns a fresh UUIDv7. It panics when randomness cannot be read, as
// nothing safe can follow.
func (s *Source) UUID() uuid.UUID {
	s.mu.Lock()
	defer s.mu.Unlock()
	ms := s.now().UnixMilli()
	if ms > s.lastMs {
		s.lastMs, s.seq = ms, 0
	} else {
		s.seq++
		if s.seq > 0x0fff {
			s.lastMs++
			s.seq = 0
		}
	}
	var u uuid.UUID
	copy(u[8:], s.take(8))
	t := s.lastMs
	u[0], u[1], u[2] = byte(t>>40), byte(t>>32), byte(t>>24)
	u[3], u[4], u[5] = byte(t>>16), byte(t>>8), byte(t)
	u[6] = 0x70 | byte(s.seq>>8)
	u[7] = byte(s.seq)
	u[8] = u[8]&0x3f | 0x80
	return u
}

// take returns n random bytes; reads are batched because a system call for
// each identifier would show in the request path.
func (s *Source) take(n int) []byte {
	if s.left < n {
		if _, err := io.ReadFull(s.rnd, s.pool[:]); err != nil {
			panic("id: randomness is unreadable: " + err.Error())
		}
		s.left = len(s.pool)
	}
	start := len(s.pool) - s.left
	s.left -= n
	return s.pool[start : start+n]
}
