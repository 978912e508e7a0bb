// Package answer owns how control planes have a gateway check a credential:
// they ask over NATS, and one of the gateways answers. What a check is, is
// check's.
package answer

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"

	"github.com/signalbox-dev/signalbox/shared/id"
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

// most is how many checks run at a time, and mostOfOne how many of one
// workspace. What comes beyond is told to come again: a check is a call for a
// person, and never urgent.
const (
	most      = 8
	mostOfOne = 2
)

// room bounds what waits to be read.
var room = natsconn.Room{Messages: 64, Bytes: 4 << 20}

// Answerer answers while Run runs.
type Answerer struct {
	o Options

	mu      sync.Mutex
	running map[id.Workspace]int
	total   int
}

// New returns an Answerer that does nothing yet.
func New(o Options) *Answerer { return &Answerer{o: o, running: make(map[id.Workspace]int)} }

// Run answers until ctx ends. What has come then and is not done is told to come
// again, to another gateway.
func (a *Answerer) Run(ctx context.Context) error {
	var checks sync.WaitGroup
	defer checks.Wait()
	stop, err := a.o.Conn.Answer(wire.SubjectCheck, wire.QueueCheck, wire.SubjectChecked, room, func(asked natsconn.Question) {
		q, ok := read(asked.Body)
		switch {
		case !ok:
			a.answer(asked, wire.CheckReply{Trouble: wire.CheckNotReadable})
		case ctx.Err() != nil || !a.enter(q.Workspace):
			a.answer(asked, wire.CheckReply{Trouble: wire.CheckNotReady})
		default:
			checks.Go(func() {
				defer a.leave(q.Workspace)
				a.answer(asked, a.check(ctx, q))
			})
		}
	})
	if err != nil {
		return err
	}
	<-ctx.Done()
	stop()
	return nil
}

func read(body []byte) (q wire.CheckRequest, ok bool) {
	err := json.Unmarshal(body, &q)
	return q, err == nil && !q.Workspace.IsZero() && q.Provider != "" && !q.Sealed.IsZero()
}

// enter reports whether there is room for one more check of a workspace, which
// ends with leave.
func (a *Answerer) enter(ws id.Workspace) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.total == most || a.running[ws] == mostOfOne {
		return false
	}
	a.total++
	a.running[ws]++
	return true
}

func (a *Answerer) leave(ws id.Workspace) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.total--
	if a.running[ws]--; a.running[ws] == 0 {
		delete(a.running, ws)
	}
}

func (a *Answerer) check(ctx context.Context, q wire.CheckRequest) wire.CheckReply {
	within, cancel := context.WithTimeout(ctx, wire.CheckWithin)
	defer cancel()
	reply := a.o.Checker.Check(within, q)
	if ctx.Err() != nil && reply.Status == wire.CheckUnreachable {
		return wire.CheckReply{Trouble: wire.CheckNotReady} // the gateway left, not the provider
	}
	return reply
}

func (a *Answerer) answer(asked natsconn.Question, reply wire.CheckReply) {
	body, err := json.Marshal(reply)
	if err == nil {
		err = asked.Answer(body)
	}
	if err != nil { // who asked hears nothing, and says so
		a.o.Log.Warn("the outcome of a credential check was not sent", slog.Any("error", err))
	}
}
