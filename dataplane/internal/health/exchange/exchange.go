// Package exchange owns how gateways tell each other what they know of
// endpoints: each says what is new about every second, and changes of standing
// at once; one that starts, or was away, asks another for all of it. What a
// message means is health's; this is the way there and back.
//
// NATS loses what nobody listens for, and what a slow listener has no room for.
// So each gateway says again, twice a minute, what it said in the last; as
// messages state totals, that changes nothing for those who know.
//
// Nothing here may hold up or change a request. While NATS is away each gateway
// goes by what it sees itself.
package exchange

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"

	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Options are what an exchange needs. Zero durations take the defaults.
type Options struct {
	Conn     *natsconn.Conn
	Table    *health.Table
	Instance uuid.UUID // of this process, as in its heartbeats
	Log      *slog.Logger
	Now      func() time.Time

	Every      time.Duration // between what is new: 1 s
	AnswerWait time.Duration // for each message of an answer: 2 s
	Repeat     time.Duration // between what was said lately already: 30 s
}

const (
	defaultEvery  = time.Second
	defaultAnswer = 2 * time.Second
	defaultRepeat = 30 * time.Second

	// asks is how many of the others are asked for all they know: one may have
	// started a moment ago itself.
	asks     = 2
	asksMost = 6

	// standingEvery is the least between two messages about standings alone.
	standingEvery = 10 * time.Millisecond

	// answerFor is how long an answer that was made serves for everyone who asks:
	// after an outage that may be many at once.
	answerFor = time.Second

	// allOpen is as long as anything can be said again.
	allOpen = time.Hour
)

// What does not fit is lost until it is said again.
var room = natsconn.Room{Messages: 4096, Bytes: 32 << 20}

// Exchange tells and listens while Run runs.
type Exchange struct {
	o  Options
	nc *nats.Conn

	mu       sync.Mutex
	sequence uint64
	answer   [][]byte
	answered time.Time

	connected chan struct{} // the others may have missed something, and we too
	counts    counts
}

// New returns an exchange that does nothing yet.
func New(o Options) *Exchange {
	if o.Every == 0 {
		o.Every = defaultEvery
	}
	if o.AnswerWait == 0 {
		o.AnswerWait = defaultAnswer
	}
	if o.Repeat == 0 {
		o.Repeat = defaultRepeat
	}
	return &Exchange{o: o, nc: o.Conn.NATS(), connected: make(chan struct{}, 1)}
}

// Run tells and listens until ctx ends.
func (x *Exchange) Run(ctx context.Context) error {
	stop, err := x.o.Conn.Listen(wire.SubjectHealth, "", room, x.hear)
	if err != nil {
		return err
	}
	defer stop()
	defer x.o.Conn.OnConnect(x.reconnected)()
	if x.o.Conn.Connected() {
		x.reconnected()
	}
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() { x.keepAsking(ctx) })
	x.keepTelling(ctx)
	return nil
}

func (x *Exchange) reconnected() {
	x.o.Table.Repeat(allOpen)
	select {
	case x.connected <- struct{}{}:
	default:
	}
}

// hear takes what another gateway told.
func (x *Exchange) hear(m *nats.Msg) {
	x.counts.heard.Add(1)
	if told := x.read(m.Data); told != nil {
		x.o.Table.Apply(x.o.Instance, told)
	}
}

// read is nil for what is no message of ours.
func (x *Exchange) read(body []byte) *wire.Health {
	told, err := wire.ParseHealth(body)
	switch {
	case errors.Is(err, wire.ErrHealthVersion):
		x.o.Table.Count(health.TroubleVersion)
		return nil
	case err != nil:
		x.o.Table.Count(health.TroubleMalformed)
		x.o.Log.Debug("not a health message", slog.Any("error", err))
		return nil
	}
	return &told
}
