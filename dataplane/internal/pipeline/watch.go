package pipeline

import (
	"context"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// believedFor is how long a two-way conversation goes on after its key was
// revoked or its workspace deleted, at the most. One may last an hour, on
// what was believed when it began.
const believedFor = 10 * time.Second

// watched is a context that ends when the caller is believed no more; its cause
// is the refusal. Not to know is no refusal. release must be called.
func (p *Pipeline) watched(ctx context.Context, c *call.Call) (_ context.Context, release func()) {
	ctx, end := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		ticker := time.NewTicker(believedFor)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if _, _, err := p.Identify(ctx, c); err != nil && ctx.Err() == nil {
				if refusal := fault.Of(err); refusal.Code == fault.Unauthorized || refusal.Code == fault.Forbidden {
					end(refusal)
				}
			}
		}
	})
	return ctx, func() {
		end(nil)
		watching.Wait()
	}
}
