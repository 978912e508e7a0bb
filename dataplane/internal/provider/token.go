package provider

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	fetchTimeout = 15 * time.Second
	// A failed fetch is not repeated at once: soon while requests wait for it,
	// later while the old token still holds.
	retryMissing = time.Second
	retryHeld    = 10 * time.Second
)

// grant is an access token with how long it holds from now.
type grant struct {
	token string
	life  time.Duration
}

// tokens keeps one access token. Requests wait only while there is none, all
// of them for the same fetch. After three quarters of its life it is renewed
// in the background, and while it holds nobody hears of a renewal that fails.
type tokens struct {
	fetch func(context.Context) (grant, error)
	now   func() time.Time
	tasks *tasks

	mu     sync.Mutex
	held   held
	flight *flight // nil when no fetch runs
	failed error   // of the last fetch
	again  time.Time
	// suspect: the provider refused the last token. The next one is not dropped
	// for the same reason, else every request would fetch one of its own.
	suspect bool
}

type held struct {
	value []string // of the Authorization header; nil when there is none
	renew time.Time
	until time.Time
	kept  bool // not dropped when it is refused
}

type flight struct {
	done  chan struct{}
	value []string
	err   error
}

// get returns the value of an Authorization header.
func (t *tokens) get(ctx context.Context) ([]string, error) {
	now := t.now()
	t.mu.Lock()
	if t.held.value != nil && now.Before(t.held.until) {
		if !now.Before(t.held.renew) && !now.Before(t.again) {
			_ = t.begin() // while it holds, nobody needs the new one
		}
		value := t.held.value
		t.mu.Unlock()
		return value, nil
	}
	if t.flight == nil && t.failed != nil && now.Before(t.again) {
		defer t.mu.Unlock()
		return nil, t.failed
	}
	f := t.begin()
	t.mu.Unlock()
	select {
	case <-f.done:
		return f.value, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// begin starts a fetch unless one runs. The lock is held.
func (t *tokens) begin() *flight {
	if t.flight != nil {
		return t.flight
	}
	f := &flight{done: make(chan struct{})}
	t.flight = f
	if !t.tasks.start(func(life context.Context) { t.fly(life, f) }) {
		t.flight, f.err = nil, errClosed
		close(f.done)
	}
	return f
}

// fly lives as long as the client, not as the request that caused it: others
// wait for the same token.
func (t *tokens) fly(life context.Context, f *flight) {
	ctx, cancel := context.WithTimeout(life, fetchTimeout)
	defer cancel()
	g, err := t.fetch(ctx)
	if err == nil && (g.token == "" || g.life <= 0) {
		err = errors.New("an access token came empty or outlived")
	}
	now := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if f.err = err; err != nil {
		wait := retryMissing
		if t.held.value != nil && now.Before(t.held.until) {
			wait = retryHeld
		}
		t.failed, t.again = err, now.Add(wait)
	} else {
		f.value = []string{"Bearer " + g.token}
		t.held = held{
			value: f.value, kept: t.suspect,
			renew: now.Add(g.life * 3 / 4), until: now.Add(g.life - min(g.life/10, 10*time.Second)),
		}
		t.failed, t.again, t.suspect = nil, time.Time{}, false
	}
	t.flight = nil
	close(f.done)
}

// refused drops the token that a provider answered with 401, once: a second
// token that is refused as well stays until it ends by itself.
func (t *tokens) refused(value []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(value) == 0 || len(t.held.value) == 0 || t.held.kept || t.held.value[0] != value[0] {
		return
	}
	t.held, t.suspect = held{}, true
}

var errClosed = errors.New("the client is closed")

// tasks runs what outlives a call and ends with its owner.
type tasks struct {
	life context.Context
	end  context.CancelFunc

	mu     sync.Mutex // of closed, and of adding to running after the wait for it
	closed bool
	wg     sync.WaitGroup
}

func newTasks() *tasks {
	life, end := context.WithCancel(context.Background())
	return &tasks{life: life, end: end}
}

// start is false once the owner closed.
func (t *tasks) start(f func(context.Context)) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.wg.Go(func() { f(t.life) })
	return true
}

func (t *tasks) close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.end()
	t.wg.Wait()
}
