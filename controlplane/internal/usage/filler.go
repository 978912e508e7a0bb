package usage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Source is what the counters of accounts are filled from.
type Source interface {
	// UsageSpends visits the totals of accounts, of the UTC days from since on and
	// of all time, as of one moment, and returns up to which sequence of each gateway
	// that is: what is stored beyond a gap is not in it.
	UsageSpends(ctx context.Context, since time.Time, visit func(Spend) error) (map[id.Gateway]uint64, error)
	// UsageSince reports whether any usage came in since t.
	UsageSince(ctx context.Context, t time.Time) (bool, error)
}

// Bounds of a filler.
const (
	fillEvery   = 5 * time.Second
	fillWithin  = 10 * time.Minute
	fillPending = 2000 // increments without an answer
)

// Filler fills the counters of what accounts used, from which gateways read their
// limits, when the stream of them is new or has lost its data, and removes the
// days that are over. It also marks the cells, which begin with nothing, once
// gateways may go by them. Any number may run: each fills an epoch of its own, and
// the first that is complete counts.
type Filler struct {
	conn     *natsconn.Conn
	topology Topology
	source   Source
	ids      *id.Source
	now      func() time.Time
	log      *slog.Logger

	cleared time.Time // the day on which old ones were removed
	filled  atomic.Uint64
	failed  atomic.Uint64
}

// NewFiller returns a Filler from source.
func NewFiller(conn *natsconn.Conn, topology Topology, source Source, ids *id.Source, now func() time.Time, log *slog.Logger) *Filler {
	return &Filler{conn: conn, topology: topology, source: source, ids: ids, now: now, log: log}
}

// Run keeps the counters filled until ctx ends.
func (f *Filler) Run(ctx context.Context) error {
	again := make(chan struct{}, 1)
	defer f.conn.OnConnect(func() {
		select {
		case again <- struct{}{}:
		default:
		}
	})()
	for {
		if err := f.Fill(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, natsconn.ErrNotConnected) {
			f.failed.Add(1)
			f.log.Warn("the counters of usage are not filled", slog.Any("error", err), slog.Duration("retry_in", fillEvery))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-again:
		case <-time.After(fillEvery):
		}
	}
}

// Fill does what is due now.
func (f *Filler) Fill(ctx context.Context) error {
	if err := f.conn.Ready(); err != nil {
		return err
	}
	if err := f.topology.Await(ctx); err != nil {
		return err
	}
	epoch, err := f.epoch(ctx)
	if err != nil {
		return err
	}
	today := f.now().UTC().Truncate(24 * time.Hour)
	if epoch == "" || !today.Equal(f.cleared) {
		stream, err := f.conn.JetStream().Stream(ctx, wire.StreamSpend)
		if err != nil {
			return fmt.Errorf("look up the counters of usage: %w", err)
		}
		if epoch == "" {
			if epoch, err = f.fill(ctx, stream); err != nil {
				return err
			}
		}
		if err := f.clear(ctx, stream, epoch, today); err != nil {
			return err
		}
	}
	return f.markCells(ctx)
}

// epoch is the one that counts; "" when there is none.
func (f *Filler) epoch(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchWait)
	defer cancel()
	mark, err := f.conn.First(ctx, wire.StreamSpend, wire.SubjectSpendMark+".*")
	switch {
	case err != nil:
		return "", fmt.Errorf("look up the epoch of usage: %w", err)
	case mark == nil:
		return "", nil
	}
	return strings.TrimPrefix(mark.Subject, wire.SubjectSpendMark+"."), nil
}

// fill writes a new epoch and then its mark, and returns the one that counts
// then. What fails half-way, or comes second, is removed.
func (f *Filler) fill(ctx context.Context, stream jetstream.Stream) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, fillWithin)
	defer cancel()
	epoch := strings.ReplaceAll(f.ids.UUID().String(), "-", "")
	began := f.now()
	totals, err := f.write(ctx, epoch)
	if err == nil {
		err = increment(ctx, f.conn.JetStream(), wire.SpendEpoch(epoch), "1")
	}
	counts, lookErr := f.epoch(ctx)
	if err = errors.Join(err, lookErr); lookErr == nil && counts != epoch {
		err = errors.Join(err, remove(ctx, stream, epoch))
	}
	if err != nil {
		return "", fmt.Errorf("fill the counters of usage: %w", err)
	}
	if counts == epoch {
		f.filled.Add(1)
		f.log.Info("the counters of usage are filled", slog.String("epoch", epoch), slog.Int("totals", totals), slog.Duration("took", f.now().Sub(began)))
	}
	return counts, nil
}

// remove takes out an epoch, its marks last.
func remove(ctx context.Context, stream jetstream.Stream, epoch string) (err error) {
	for _, subject := range []string{wire.SpendOfEpoch(epoch), wire.SpendEpoch(epoch), wire.SpendBegun(epoch)} {
		err = errors.Join(err, stream.Purge(ctx, jetstream.WithPurgeSubject(subject)))
	}
	return err
}

// write counts what is in the database, and how far that is for each gateway.
func (f *Filler) write(ctx context.Context, epoch string) (totals int, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	js, err := jetstream.New(f.conn.NATS(), jetstream.WithPublishAsyncMaxPending(fillPending),
		jetstream.WithPublishAsyncTimeout(ackWait),
		jetstream.WithPublishAsyncErrHandler(func(_ jetstream.JetStream, _ *nats.Msg, err error) { cancel(err) }))
	if err != nil {
		return 0, err
	}
	defer js.CleanupPublisher()
	send := func(subject, by string) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		_, err := js.PublishMsgAsync(incrementOf(subject, by))
		return err
	}
	if err := send(wire.SpendBegun(epoch), "1"); err != nil {
		return 0, err
	}
	since := f.now().UTC().AddDate(0, 0, -wire.SpendDays).Truncate(24 * time.Hour)
	marks, err := f.source.UsageSpends(ctx, since, func(s Spend) error {
		totals++
		if s.Day.IsZero() {
			return send(wire.SpendEver(epoch, s.Workspace, s.Account), s.Text())
		}
		return send(wire.SpendOn(epoch, s.Day, s.Workspace, s.Account), s.Text())
	})
	if err != nil {
		return totals, err
	}
	for gw, mark := range marks {
		if err := send(wire.SpendAt(epoch, gw), strconv.FormatUint(mark, 10)); err != nil {
			return totals, err
		}
	}
	select {
	case <-js.PublishAsyncComplete():
	case <-ctx.Done():
	}
	return totals, context.Cause(ctx)
}

func incrementOf(subject, by string) *nats.Msg {
	msg := nats.NewMsg(subject)
	msg.Header.Set("Nats-Incr", by)
	return msg
}

func increment(ctx context.Context, js jetstream.JetStream, subject, by string) error {
	_, err := js.PublishMsg(ctx, incrementOf(subject, by))
	return err
}

// clearedDays is how many days before those that are kept are looked at: more
// than any control plane is away.
const clearedDays = 60

// clear removes the days that are over, and what is left of epochs that do not
// count: fillings that broke off, and those of versions before. It does so once a
// day.
func (f *Filler) clear(ctx context.Context, stream jetstream.Stream, epoch string, today time.Time) error {
	if today.Equal(f.cleared) {
		return nil
	}
	for n := 1; n <= clearedDays; n++ {
		old := today.AddDate(0, 0, -wire.SpendDays-n)
		if err := stream.Purge(ctx, jetstream.WithPurgeSubject(wire.SpendOfDay(old))); err != nil {
			return fmt.Errorf("remove counters of days that are over: %w", err)
		}
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(wire.SpendEpochs))
	if err != nil {
		return fmt.Errorf("look up the epochs of usage: %w", err)
	}
	for subject := range info.State.Subjects {
		other := subject[strings.LastIndexByte(subject, '.')+1:]
		if other == epoch {
			continue
		}
		err := errors.Join(remove(ctx, stream, other), stream.Purge(ctx, jetstream.WithPurgeSubject(subject)))
		if err != nil {
			return fmt.Errorf("remove an epoch of usage: %w", err)
		}
	}
	f.cleared = today
	return nil
}
