package exchange

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// keepAsking asks for what the others know after every connect. Once it has
// asked it is among those that answer.
func (x *Exchange) keepAsking(ctx context.Context) {
	var answering []func() // end it
	defer func() {
		for _, end := range answering {
			end()
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-x.connected:
		}
		x.askSeveral(ctx)
		if ctx.Err() != nil {
			return
		}
		if answering == nil {
			answering = x.answerOthers()
		}
	}
}

// answerOthers listens for who asks: gateways that start, and control planes.
func (x *Exchange) answerOthers() (answering []func()) {
	for _, q := range [...]struct {
		subject string
		handle  nats.MsgHandler
	}{{wire.SubjectHealthView, x.tellAll}, {wire.SubjectHealthReport, x.report}} {
		end, err := x.o.Conn.Listen(q.subject, wire.QueueHealth, room, q.handle)
		if err != nil {
			x.o.Log.Warn("health is not told to who asks", slog.String("subject", q.subject), slog.Any("error", err))
			continue
		}
		answering = append(answering, end)
	}
	return answering
}

// report answers a control plane that asks what users may be told.
func (x *Exchange) report(m *nats.Msg) {
	if !strings.HasPrefix(m.Reply, wire.SubjectHealthAnswer+".") {
		return // nothing is sent elsewhere for whoever asks
	}
	body, err := wire.EncodeHealthReport(x.o.Table.Report())
	if err == nil {
		err = x.nc.Publish(m.Reply, body)
	}
	if err != nil {
		x.counts.unsent.Add(1)
	}
}

// askSeveral asks until enough of the others have answered. NATS chooses who
// does; now and then it chooses this gateway itself.
func (x *Exchange) askSeveral(ctx context.Context) {
	answers := 0
	for range asksMost {
		switch x.ask(ctx) {
		case nobody:
			return
		case another:
			if answers++; answers == asks {
				return
			}
		case silence:
		}
	}
}

// answerer is who answered.
type answerer int

const (
	nobody  answerer = iota // is there to answer, or NATS is away
	another                 // gateway
	silence                 // no whole answer in time, or this gateway itself
)

// ask takes one answer. That nobody is there to answer is how the first gateway
// finds it.
func (x *Exchange) ask(ctx context.Context) answerer {
	sub, err := x.nc.SubscribeSync(x.answersTo())
	if err != nil {
		return nobody
	}
	defer func() { _ = sub.Unsubscribe() }() // a connection that has closed has ended it
	if err := x.nc.PublishRequest(wire.SubjectHealthView, x.answersTo(), nil); err != nil {
		return nobody
	}
	for {
		within, cancel := context.WithTimeout(ctx, x.o.AnswerWait)
		m, err := sub.NextMsgWithContext(within)
		cancel()
		switch {
		case errors.Is(err, nats.ErrNoResponders), ctx.Err() != nil:
			return nobody
		case err != nil:
			x.counts.unanswered.Add(1)
			x.o.Log.Info("a gateway did not tell what it knows of endpoints", slog.Any("error", err))
			return silence
		}
		told := x.read(m.Data)
		if told == nil {
			continue
		}
		told.Sequence = 0 // whoever sends it here means it as an answer
		x.o.Table.Apply(x.o.Instance, told)
		switch {
		case !told.Last:
		case told.Instance == x.o.Instance:
			return silence
		default:
			x.counts.answers.Add(1)
			return another
		}
	}
}

// answersTo is the subject of the answers to this gateway.
func (x *Exchange) answersTo() string { return wire.SubjectHealthAnswer + "." + x.o.Instance.String() }

// tellAll answers a gateway that asks.
func (x *Exchange) tellAll(m *nats.Msg) {
	if !strings.HasPrefix(m.Reply, wire.SubjectHealthAnswer+".") {
		return // nothing is sent elsewhere for whoever asks
	}
	answer := x.everything
	if m.Reply == x.answersTo() {
		answer = x.nothing
	}
	for _, body := range answer() {
		if err := x.nc.Publish(m.Reply, body); err != nil {
			x.counts.unsent.Add(1)
			return
		}
	}
}

// nothing is an answer of this gateway to itself.
func (x *Exchange) nothing() [][]byte {
	return [][]byte{wire.AppendHealth(nil, &wire.Health{Instance: x.o.Instance, SentAt: x.o.Now(), Last: true})}
}

// everything is an answer. Handlers call it one after the other.
func (x *Exchange) everything() [][]byte {
	now := x.o.Now()
	x.mu.Lock()
	defer x.mu.Unlock()
	if age := now.Sub(x.answered); x.answer != nil && age >= 0 && age < answerFor {
		return x.answer
	}
	x.answer, x.answered = nil, now
	for _, part := range x.o.Table.Everything(x.o.Instance) {
		part.Instance, part.SentAt = x.o.Instance, now
		x.answer = append(x.answer, wire.AppendHealth(nil, &part))
	}
	return x.answer
}
