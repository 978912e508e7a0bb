// Package fleet owns how a control plane asks the gateways what they publish of
// endpoints: over NATS, of whichever gateway NATS chooses, since all of them know
// the same. It knows nothing of workspaces.
package fleet

import (
	"context"
	"errors"
	"time"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Options are what a Fleet needs. Zero durations take the defaults.
type Options struct {
	Conn *natsconn.Conn
	IDs  *id.Source // of the subjects that answers go to
	Now  func() time.Time

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

	turn    chan struct{} // full while one asks, who alone uses what is below: who comes then takes that answer
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
	return &Fleet{o: o, turn: make(chan struct{}, 1)}
}

// Report is what gateways publish of endpoints: nothing where there is no gateway.
// It fails with unavailable when NATS is away, when none answers in time or what
// cannot be read, and when ctx ends.
func (f *Fleet) Report(ctx context.Context) (wire.HealthReport, error) {
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-ctx.Done():
		return wire.HealthReport{}, unknown(ctx.Err())
	}
	if age := f.o.Now().Sub(f.taken); !f.taken.IsZero() && age >= 0 && age < f.o.Keep {
		return f.last, f.failure
	}
	report, err := f.ask(ctx)
	if err != nil && ctx.Err() != nil {
		return report, unknown(err) // whoever waits asks for itself: this caller left, and nobody failed
	}
	if errors.Is(err, natsconn.ErrNobody) {
		report, err = wire.HealthReport{Schema: wire.HealthReportSchema, MadeAt: f.o.Now()}, nil
	}
	if err != nil {
		err = unknown(err)
	}
	f.last, f.failure, f.taken = report, err, f.o.Now()
	return report, err
}

func unknown(err error) error {
	return fault.Wrap(err, fault.Unavailable, "No gateway tells what it knows of endpoints at the moment. Try again.")
}

// ask sends the question to one gateway.
func (f *Fleet) ask(ctx context.Context) (wire.HealthReport, error) {
	ctx, cancel := context.WithTimeout(ctx, f.o.Wait)
	defer cancel()
	answer, err := f.o.Conn.Ask(ctx, wire.SubjectHealthReport, wire.SubjectHealthAnswer+"."+f.o.IDs.UUID().String(), nil)
	if err != nil {
		return wire.HealthReport{}, err
	}
	return wire.ParseHealthReport(answer)
}
