package keyring

import (
	"sync"
	"time"
)

// budget is a token bucket for look-ups that may find nothing: an attacker's
// random kids must not reach NATS at line rate.
type budget struct {
	rate, burst float64

	mu   sync.Mutex
	left float64
	at   time.Time
}

func newBudget(rate, burst float64, now time.Time) *budget {
	return &budget{rate: rate, burst: burst, left: burst, at: now}
}

func (b *budget) take(now time.Time) bool {
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

// refund gives back the token of a look-up that was no guess.
func (b *budget) refund() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left = min(b.burst, b.left+1)
}
