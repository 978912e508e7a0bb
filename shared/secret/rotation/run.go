package rotation

import (
	"context"
	"time"
)

// wantEvery bounds how often what cannot be opened has the file looked at.
const wantEvery = time.Second

// Run follows the file until ctx ends.
func (k *Keyring) Run(ctx context.Context) {
	tick := time.NewTicker(Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-k.again:
		case <-k.wanting:
			k.look()
			if !pause(ctx, wantEvery, k.again) {
				return
			}
		}
		k.look()
	}
}

// pause is over early when somebody asks for it, and false when ctx ended.
func pause[T any](ctx context.Context, d time.Duration, again <-chan T) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	case <-again:
	}
	return true
}
