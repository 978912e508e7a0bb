package stream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

const (
	// sendTime is how long a side may take to accept one frame.
	sendTime = 30 * time.Second
	// aliveEvery and aliveTime find out whether the sides are still there.
	aliveEvery = 20 * time.Second
	aliveTime  = 20 * time.Second
)

// errNoTalk is a bug: only a surface of two-way conversations asks for one.
var errNoTalk = errors.New("sink cannot be upgraded")

// talk carries frames between the caller and the provider until either has had
// enough. Each side is read by one goroutine; all have ended when it returns.
func talk(ctx context.Context, r *call.Reply, head http.Header, sink call.Sink) error {
	upgrader, ok := sink.(call.Upgrader)
	if !ok {
		return fault.Of(errNoTalk)
	}
	caller, err := upgrader.Upgrade(call.Head{Status: http.StatusSwitchingProtocols, Header: head})
	if err != nil {
		return gone(ctx, err)
	}
	c := &conversation{caller: caller, provider: r.Frames, ended: make(chan struct{})}
	var running sync.WaitGroup
	running.Go(func() { c.end(c.carry(ctx, c.caller, c.provider, true)) })
	running.Go(func() { c.end(c.carry(ctx, c.provider, c.caller, false)) })
	running.Go(func() { c.watch(ctx) })
	running.Go(func() { c.probe(ctx) })
	<-c.ended
	failure := c.failure(ctx)
	if failure != nil && failure.Code != fault.ClientClosed {
		sink.Fail(failure, nil) // in the words of the surface, before the connection goes
	}
	running.Go(func() { c.provider.End(call.Complete) }) // a side that does not listen takes its time
	caller.End(endingOf(ctx, failure))
	running.Wait()
	if failure == nil {
		return nil // not a typed nil
	}
	return failure
}

// endingOf is what the caller's connection says last. Once it is a
// conversation's, its context ends with the gateway or with what is believed of
// the caller.
func endingOf(ctx context.Context, failure *fault.Error) call.Ending {
	switch {
	case failure == nil:
		return call.Complete
	case failure.Code == fault.Unauthorized, failure.Code == fault.Forbidden:
		return call.Refused
	case ctx.Err() != nil:
		return call.Restart
	case failure.Code == fault.PayloadTooLarge:
		return call.TooBig
	}
	return call.Broken
}

// conversation is the state that the goroutines share.
type conversation struct {
	caller, provider call.Frames
	ended            chan struct{}
	once             sync.Once
	why              error
}

// end notes the first reason for which the conversation is over.
func (c *conversation) end(why error) {
	c.once.Do(func() {
		c.why = why
		close(c.ended)
	})
}

// failure is nil when one of the sides simply had enough. The end of the
// gateway ends both sides, so that either may have been noted before the cause.
func (c *conversation) failure(ctx context.Context) *fault.Error {
	if errors.Is(c.why, io.EOF) {
		return nil
	}
	if stop, ok := errors.AsType[*fault.Error](context.Cause(ctx)); ok {
		return stop
	}
	return fault.Of(c.why)
}

// carry hands on what one side says, until it stops or cannot be heard.
func (c *conversation) carry(ctx context.Context, from, to call.Frames, fromCaller bool) error {
	for {
		// Ending a context would end the connection, on which there may be something
		// left to say: both sides are ended by their End.
		frame, err := from.Receive(context.WithoutCancel(ctx))
		if err == nil {
			err = send(ctx, to, frame)
			if err != nil {
				c.hear()
				fromCaller = !fromCaller // it is the other side that failed
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return io.EOF
		case fromCaller:
			return callerFailed(ctx, err)
		default:
			return providerFailed(err)
		}
	}
}

// hearTime is how long it may take to hear why a side takes nothing any more.
const hearTime = time.Second

// hear gives whoever listens to the side that could not be spoken to the time
// to say why: it may have said goodbye in the same moment.
func (c *conversation) hear() {
	timer := time.NewTimer(hearTime)
	defer timer.Stop()
	select {
	case <-c.ended:
	case <-timer.C:
	}
}

func send(ctx context.Context, to call.Frames, frame call.Frame) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendTime)
	defer cancel()
	return to.Send(ctx, frame)
}

func callerFailed(ctx context.Context, err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	return gone(ctx, err)
}

func providerFailed(err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	return fault.Wrap(err, fault.UpstreamServerError, "The provider broke the conversation off.").
		Because(fault.StreamCut).From(fault.Upstream)
}

// watch ends a conversation whose request is over.
func (c *conversation) watch(ctx context.Context) {
	select {
	case <-c.ended:
	case <-ctx.Done():
		c.end(callerFailed(ctx, context.Cause(ctx)))
	}
}

// probe ends a conversation one of whose sides gives no sign of life.
func (c *conversation) probe(ctx context.Context) {
	ticker := time.NewTicker(aliveEvery)
	defer ticker.Stop()
	for {
		select {
		case <-c.ended:
			return
		case <-ticker.C:
			if err := alive(ctx, c.caller); err != nil {
				c.end(callerFailed(ctx, err))
			}
			if err := alive(ctx, c.provider); err != nil {
				c.end(providerFailed(err))
			}
		}
	}
}

func alive(ctx context.Context, side call.Frames) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), aliveTime)
	defer cancel()
	return side.Alive(ctx)
}
