package natsconn

import (
	"fmt"
	"sync"

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
	var calls gate
	sub, err := c.nc.QueueSubscribe(subject, queue, func(m *nats.Msg) { calls.pass(func() { handle(m) }) })
	if err != nil {
		return nil, fmt.Errorf("subscribe to %s: %w", subject, err)
	}
	stop = func() {
		_ = sub.Unsubscribe() // fails only on a connection that is closed already
		calls.shut()
	}
	if err := sub.SetPendingLimits(room.Messages, room.Bytes); err != nil {
		stop()
		return nil, fmt.Errorf("bound %s: %w", subject, err)
	}
	return stop, nil
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
