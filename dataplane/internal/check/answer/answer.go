// Package answer owns how control planes have a gateway check a credential:
// they ask over NATS, and one of the gateways answers. What a check is, is
// check's.
package answer

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Checker makes checks.
type Checker interface {
	Check(ctx context.Context, q wire.CheckRequest) wire.CheckReply
}

// Options are what an Answerer needs.
type Options struct {
	Conn    *natsconn.Conn
	Checker Checker
	Log     *slog.Logger
}

// most is how many checks run at a time. What comes beyond is told to come
// again: a check is a call for a person, and never urgent.
const most = 8

// pending bounds what waits to be read.
const pending = 64

// Answerer answers while Run runs.
type Answerer struct{ o Options }

// New returns an Answerer that does nothing yet.
func New(o Options) *Answerer { return &Answerer{o: o} }

// Run answers until ctx ends.
func (a *Answerer) Run(ctx context.Context) error {
	questions := make(chan *nats.Msg, pending)
	sub, err := a.o.Conn.NATS().ChanQueueSubscribe(wire.SubjectCheck, wire.QueueCheck, questions)
	if err != nil {
		return fmt.Errorf("subscribe to %s: %w", wire.SubjectCheck, err)
	}
	var running sync.WaitGroup
	defer running.Wait()
	defer func() { _ = sub.Unsubscribe() }() // the connection may have ended it already
	room := make(chan struct{}, most)
	for {
		select {
		case <-ctx.Done():
			return nil
		case m := <-questions:
			if !strings.HasPrefix(m.Reply, wire.SubjectChecked+".") {
				continue // it may not be answered anywhere else
			}
			select {
			case room <- struct{}{}:
				running.Go(func() {
					a.answer(m, a.check(ctx, m))
					<-room
				})
			default:
				a.answer(m, wire.CheckReply{Trouble: wire.CheckNotReady})
			}
		}
	}
}

func (a *Answerer) check(ctx context.Context, m *nats.Msg) wire.CheckReply {
	ctx, cancel := context.WithTimeout(ctx, wire.CheckWithin)
	defer cancel()
	var q wire.CheckRequest
	if err := json.Unmarshal(m.Data, &q); err != nil || q.Workspace.IsZero() || q.Provider == "" || q.Sealed.IsZero() {
		return wire.CheckReply{Trouble: wire.CheckNotReadable}
	}
	return a.o.Checker.Check(ctx, q)
}

func (a *Answerer) answer(m *nats.Msg, reply wire.CheckReply) {
	body, err := json.Marshal(reply)
	if err == nil {
		err = m.Respond(body)
	}
	if err != nil { // who asked hears nothing, and says so
		a.o.Log.Warn("the outcome of a credential check was not sent", slog.Any("error", err))
	}
}
