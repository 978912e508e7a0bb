// Package fleet owns how a control plane asks the gateways what they publish of
// endpoints: over NATS, of whichever gateway NATS chooses, since all of them know
// the same. It knows nothing of workspaces.
package fleet

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Options are what a Fleet needs. Zero durations take the defaults.
type Options struct {
	Conn     *natsconn.Conn
	Instance uuid.UUID // of this process: where answers go
	Log      *slog.Logger
	Now      func() time.Time

	Wait time.Duration // for an answer: 2 s
	Keep time.Duration // how long an answer serves: 1 s, as gateways work it out anew
}

const (
	defaultWait = 2 * time.Second
	defaultKeep = time.Second
)

// Fleet asks gateways. It is safe for concurrent use.
type Fleet struct {
	o Options

	mu      sync.Mutex // held while one asks: who comes then takes that answer
	last    wire.HealthReport
	failure error     // in its place
	taken   time.Time // when; zero: never
}

// New returns a Fleet that has asked nobody yet.
func New(o Options) *Fleet {
	if o.Wait == 0 {
		o.Wait = defaultWait
	}
	if o.Keep == 0 {
		o.Keep = defaultKeep
	}
	return &Fleet{o: o}
}

// Report is what gateways publish of endpoints: nothing where there is no gateway.
// It fails with unavailable when NATS is away, and when none answers in time.
func (f *Fleet) Report(ctx context.Context) (wire.HealthReport, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if age := f.o.Now().Sub(f.taken); !f.taken.IsZero() && age >= 0 && age < f.o.Keep {
		return f.last, f.failure
	}
	// Others take the answer too: that one caller left does not end the question.
	report, err := f.ask(context.WithoutCancel(ctx))
	if errors.Is(err, nats.ErrNoResponders) {
		report, err = wire.HealthReport{Schema: wire.HealthReportSchema, MadeAt: f.o.Now()}, nil
	}
	if err != nil {
		err = fault.Wrap(err, fault.Unavailable, "No gateway tells what it knows of endpoints at the moment. Try again.")
	}
	f.last, f.failure, f.taken = report, err, f.o.Now()
	return report, err
}

// ask sends the question to one gateway. Its answer goes to a subject of its own
// kind: gateways may not write to inboxes.
func (f *Fleet) ask(ctx context.Context) (wire.HealthReport, error) {
	if !f.o.Conn.Connected() {
		return wire.HealthReport{}, natsconn.ErrNotConnected
	}
	nc, to := f.o.Conn.NATS(), wire.SubjectHealthAnswer+"."+f.o.Instance.String()
	sub, err := nc.SubscribeSync(to)
	if err != nil {
		return wire.HealthReport{}, err
	}
	defer func() { _ = sub.Unsubscribe() }() // a connection that has closed has ended it
	if err := nc.PublishRequest(wire.SubjectHealthReport, to, nil); err != nil {
		return wire.HealthReport{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, f.o.Wait)
	defer cancel()
	for {
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			return wire.HealthReport{}, err
		}
		report, err := wire.ParseHealthReport(m.Data)
		if err == nil {
			return report, nil
		}
		f.o.Log.Debug("not a health report", slog.Any("error", err))
	}
}
