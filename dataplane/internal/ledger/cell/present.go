package cell

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A measured clock is gone by for a while. The gateway's own wall clock has no
// part in it but to notice that the machine slept.
const (
	clockLife  = 10 * time.Second
	clockDrift = time.Millisecond // in that time, of the gateway against NATS
)

// present is the clock of NATS, as a gateway knows it: by what it was told last,
// and the time that has passed since.
type present struct {
	now func() time.Time

	mu    sync.Mutex
	taken time.Time // by now, when it was measured; zero: never
	there time.Time // then, in the middle of the call
	off   time.Duration
}

// measure asks for the time once more.
func (p *present) measure(ctx context.Context, ask func(context.Context) (time.Time, error)) error {
	before := p.now()
	there, err := ask(ctx)
	if err != nil {
		return err
	}
	took := p.now().Sub(before)
	if took < 0 || took > clockLife {
		return fmt.Errorf("the clock moved by %s during a call", took)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken, p.there, p.off = before.Add(took/2), there, took/2+clockDrift
	return nil
}

// at is the present; false when it was not measured lately.
func (p *present) at() (instant, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.taken.IsZero() {
		n := now.UnixNano()
		return instant{n, n}, false
	}
	// Both clocks of the machine: one of them stands still while it sleeps, and the
	// other one may be set.
	passed, wall := now.Sub(p.taken), now.Round(0).Sub(p.taken.Round(0))
	known := passed <= clockLife && wall <= clockLife && wall >= -clockLife
	n := p.there.Add(max(passed, 0)).UnixNano()
	return instant{n - int64(p.off), n + int64(p.off)}, known
}
