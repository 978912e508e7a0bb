package attempt

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// ranOut is the cause with which a limit ends an upstream call.
type ranOut struct{ class upstream.Class }

// Error implements error.
func (e *ranOut) Error() string { return "limit ran out: " + string(e.class) }

// watch ends one upstream call when the limit that is running, or the
// request's budget, is out. At most one limit runs at a time. Limits come and go
// with every event of a stream, so the timer is left to run and looks, when it
// wakes, at what is due by then.
type watch struct {
	ctx      context.Context // the call's own, ended here
	cancel   context.CancelCauseFunc
	deadline time.Time // of the request

	mu    sync.Mutex
	timer *time.Timer
	wakes time.Time // when the timer does; zero: it does not run
	at    time.Time // zero: no limit runs
	class upstream.Class
}

func newWatch(ctx context.Context, deadline time.Time) *watch {
	w := &watch{deadline: deadline}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	return w
}

// arm starts a limit in place of the one that ran.
func (w *watch) arm(d time.Duration, class upstream.Class) {
	now := time.Now()
	at := now.Add(d)
	if !at.Before(w.deadline) {
		at, class = w.deadline, upstream.RequestTimeout
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at, w.class = at, class
	if w.wakes.IsZero() || at.Before(w.wakes) {
		w.wake(at, at.Sub(now))
	}
}

// wake has the timer run out at the time at, in d. w.mu is held.
func (w *watch) wake(at time.Time, d time.Duration) {
	w.wakes = at
	if w.timer == nil {
		w.timer = time.AfterFunc(d, w.fire)
		return
	}
	w.timer.Reset(d)
}

// off stops the limit that runs.
func (w *watch) off() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = time.Time{}
}

// fire ends the call when the limit that runs is out, and else waits for that.
func (w *watch) fire() {
	w.mu.Lock()
	now := time.Now()
	w.wakes = time.Time{}
	running := !w.at.IsZero()
	if running && now.Before(w.at) {
		w.wake(w.at, w.at.Sub(now))
		running = false
	}
	class := w.class
	w.mu.Unlock()
	if running {
		w.cancel(&ranOut{class: class})
	}
}

// end releases everything. The call's context is over after it.
func (w *watch) end() {
	w.mu.Lock()
	w.at = time.Time{}
	if w.timer != nil {
		w.timer.Stop()
	}
	w.mu.Unlock()
	w.cancel(context.Canceled)
}

// failure says why reading or calling failed with err: a limit of ours, the
// gateway that waits for its own request no longer, the caller who left, or what
// err itself says; otherwise is the class of all else.
func (w *watch) failure(err error, otherwise upstream.Class) *upstream.Failure {
	if w.ctx.Err() != nil {
		if limit, ok := errors.AsType[*ranOut](context.Cause(w.ctx)); ok {
			return upstream.Fail(limit.class, err)
		}
		if stop, ok := errors.AsType[*fault.Error](context.Cause(w.ctx)); ok && stop.Code == fault.UpstreamTimeout {
			return upstream.Fail(upstream.CutShort, err)
		}
		return upstream.Fail(upstream.CallerGone, err)
	}
	if f, ok := errors.AsType[*upstream.Failure](err); ok {
		return f
	}
	return upstream.Fail(otherwise, err)
}
