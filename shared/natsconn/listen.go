package natsconn

import (
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Room bounds what waits to be handled of one subscription. What does not fit is
// lost. A negative number is no bound.
type Room struct {
	Messages int
	Bytes    int
}

// Listen calls handle for each message of a subject, one after the other, as
// one of a queue group where queue is not empty. The subscription survives
// reconnects, and while the server is away it waits for the connect. Once stop
// has returned handle does not run any more, nor ever again; handle must not
// call stop.
func (c *Conn) Listen(subject, queue string, room Room, handle nats.MsgHandler) (stop func(), err error) {
	l, err := c.listen(subject, queue, room, handle)
	if err != nil {
		return nil, err
	}
	return l.stop, nil
}

// listening is a subscription whose handler is known to have ended.
type listening struct {
	sub   *nats.Subscription
	calls gate
	ended chan struct{} // the client calls the handler no more
}

func (c *Conn) listen(subject, queue string, room Room, handle nats.MsgHandler) (*listening, error) {
	l := &listening{ended: make(chan struct{})}
	sub, err := c.nc.QueueSubscribe(subject, queue, func(m *nats.Msg) { l.calls.pass(func() { handle(m) }) })
	if err != nil {
		return nil, fmt.Errorf("subscribe to %s: %w", subject, err)
	}
	l.sub = sub
	sub.SetClosedHandler(func(string) { close(l.ended) })
	if err := sub.SetPendingLimits(room.Messages, room.Bytes); err != nil {
		l.stop()
		return nil, fmt.Errorf("bound %s: %w", subject, err)
	}
	return l, nil
}

func (l *listening) stop() {
	_ = l.sub.Unsubscribe() // fails only on a connection that is closed already
	l.calls.shut()
}

// drain waits until what has come is handled, for a bounded time, where a server
// can be told that nothing more shall come.
func (l *listening) drain(connected bool) {
	if !connected || l.sub.Drain() != nil {
		return
	}
	timer := time.NewTimer(drainTimeout)
	defer timer.Stop()
	select {
	case <-l.ended:
	case <-timer.C:
	}
}

// gate lets calls pass one by one until it is shut. The client's own word that a
// subscription has ended does not do: a connection that closes may give it
// before anybody could ask for it.
type gate struct {
	mu     sync.Mutex
	closed bool
}

func (g *gate) pass(call func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		call()
	}
}

// shut waits for the call that is under way.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}
