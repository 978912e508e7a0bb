package bounded

import (
	"sync"
	"time"
)

// Budget is a token bucket for look-ups that may find nothing: who guesses names
// must not reach NATS at line rate.
type Budget struct {
	rate, burst float64

	mu   sync.Mutex
	left float64
	at   time.Time
}

// NewBudget returns a full one that grows by rate tokens a second, to burst at
// most.
func NewBudget(rate, burst float64, now time.Time) *Budget {
	return &Budget{rate: rate, burst: burst, left: burst, at: now}
}

// Take takes one token, if there is one.
func (b *Budget) Take(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if passed := now.Sub(b.at).Seconds(); passed > 0 {
		b.left = min(b.burst, b.left+passed*b.rate)
		b.at = now
	}
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// Refund gives back the token of a look-up that was no guess.
func (b *Budget) Refund() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left = min(b.burst, b.left+1)
}
