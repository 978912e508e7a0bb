package attempt

import (
	"slices"
	"sync"
	"time"
)

// lookahead reads a stream in a goroutine of its own until the first content,
// so that the caller's head can go out after a while although a read still
// waits. Only one goroutine ever reads: whoever needs the stream while the
// lookahead runs waits for it to be ready.
type lookahead struct {
	ready chan struct{} // closed when the goroutine has ended

	mu       sync.Mutex
	released bool // the head goes out: stop after the event that is being read
	held     []byte
	content  bool
	end      *ending
}

// hold reads ahead. It returns at the first content, at the end of the stream,
// when the bounds are reached, or when Hold has passed since the head; in the
// last case the lookahead goes on until an event comes.
func (l *live) hold(limits Limits) {
	a := &lookahead{ready: make(chan struct{})}
	go func() {
		defer close(a.ready)
		for !a.take(l, limits) {
		}
	}()
	timer := time.NewTimer(limits.Hold)
	defer timer.Stop()
	select {
	case <-a.ready:
		l.held, l.content, l.end = a.held, a.content, a.end
	case <-timer.C:
		a.mu.Lock()
		defer a.mu.Unlock()
		a.released = true
		l.held, l.content, l.end = a.held, a.content, a.end
		a.held = nil
		l.ahead, l.overtaken = a, true
	}
}

// readUsual is what one read of a stream brings, in bytes.
const readUsual = 4 << 10

// take keeps the next event and reports whether the lookahead is over. What
// arrived together with the first content leaves together with it.
func (a *lookahead) take(l *live, limits Limits) bool {
	piece, end := l.step()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.held = append(a.held, piece.Bytes...)
	a.content = a.content || piece.Content
	a.end = end
	if a.content && l.events.Ready() {
		a.held, _, a.end = l.join(slices.Grow(a.held, readUsual), end)
	}
	return a.released || a.content || a.end != nil || l.said >= limits.HoldEvents || len(a.held) >= limits.HoldBytes
}

// catchUp waits for the lookahead that the head overtook.
func (l *live) catchUp() {
	over := l.arm()
	if over != nil {
		l.flight.watch.end()
	}
	<-l.ahead.ready
	l.flight.watch.off()
	l.held, l.end = l.ahead.held, l.ahead.end
	l.noted(l.ahead.content)
	l.ahead = nil
	if over != nil {
		l.end = over
	}
}
