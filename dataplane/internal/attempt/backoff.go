package attempt

import (
	"context"
	"time"
)

const (
	backoffFirst = 250 * time.Millisecond
	backoffMost  = 8 * time.Second
)

// backoff is the wait before retry n, from 0: exponential with full jitter,
// and not less than the provider asked for.
func (r *Runner) backoff(n int, retryAfter time.Duration) time.Duration {
	top := backoffFirst
	for range n {
		top = min(2*top, backoffMost)
	}
	jittered := time.Duration(r.deps.Rand() * float64(top))
	return max(jittered, retryAfter)
}

// sleep waits and reports false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
