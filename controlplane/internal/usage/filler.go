package usage

import (
	"context"
	"encoding/json"
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

// DaySpend is what a key used on a UTC day.
type DaySpend struct {
	Workspace id.Workspace
	Key       id.Key
	Day       time.Time
	wire.Spend
}

// Days is what the counters of keys are filled from.
type Days interface {
	// UsageDays visits what keys used on the UTC days from since on, as of one
	// moment, and returns up to which sequence of each gateway that is: what is
	// stored beyond a gap is not in it. An amount may come in parts, less than
	// zero too.
	UsageDays(ctx context.Context, since time.Time, visit func(DaySpend) error) (map[id.Gateway]uint64, error)
}

// Bounds of a filler.
const (
	fillEvery   = 5 * time.Second
	fillWithin  = 10 * time.Minute
	fillPending = 2000 // increments without an answer
)

// Filler fills the counters of what keys used, from which gateways read their
// limits, when the stream of them is new or has lost its data, and removes the
// days that are over. Any number may run: each fills an epoch of its own, and
// the first that is complete counts.
type Filler struct {
	conn     *natsconn.Conn
	topology Topology
	days     Days
	ids      *id.Source
	now      func() time.Time
	log      *slog.Logger

	cleared time.Time // the day on which old ones were removed
	filled  atomic.Uint64
	failed  atomic.Uint64
}

// NewFiller returns a Filler from days.
func NewFiller(conn *natsconn.Conn, topology Topology, days Days, ids *id.Source, now func() time.Time, log *slog.Logger) *Filler {
	return &Filler{conn: conn, topology: topology, days: days, ids: ids, now: now, log: log}
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
	today := f.now().UTC().Truncate(24 * time.Hour)
	if err != nil || epoch != "" && today.Equal(f.cleared) {
		return err
	}
	stream, err := f.conn.JetStream().Stream(ctx, wire.StreamSpend)
	if err != nil {
		return fmt.Errorf("look up the counters of usage: %w", err)
	}
	if epoch == "" {
		if err := f.fill(ctx, stream); err != nil {
			return err
		}
	}
	return f.clear(ctx, stream, today)
}

// epoch is the one that counts; "" when there is none.
func (f *Filler) epoch(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchWait)
	defer cancel()
	query := []byte(`{"seq":1,"next_by_subj":"` + wire.SubjectSpendEpoch + `.*"}`)
	reply, err := f.conn.NATS().RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET."+wire.StreamSpend, query)
	if err != nil {
		return "", fmt.Errorf("look up the epoch of usage: %w", err)
	}
	var got struct {
		Error   *jetstream.APIError `json:"error"`
		Message struct {
			Subject string `json:"subject"`
		} `json:"message"`
	}
	switch err := json.Unmarshal(reply.Data, &got); {
	case err != nil:
		return "", fmt.Errorf("decode the epoch of usage: %w", err)
	case got.Error != nil && got.Error.Code == 404 && got.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return "", nil
	case got.Error != nil:
		return "", fmt.Errorf("look up the epoch of usage: %w", got.Error)
	}
	return strings.TrimPrefix(got.Message.Subject, wire.SubjectSpendEpoch+"."), nil
}

// fill writes a new epoch and then its mark. What fails half-way, or comes
// second, is removed.
func (f *Filler) fill(ctx context.Context, stream jetstream.Stream) error {
	ctx, cancel := context.WithTimeout(ctx, fillWithin)
	defer cancel()
	epoch := strings.ReplaceAll(f.ids.UUID().String(), "-", "")
	began := f.now()
	days, err := f.write(ctx, epoch)
	if err == nil {
		err = increment(ctx, f.conn.JetStream(), wire.SpendEpoch(epoch), "1")
	}
	counts, lookErr := f.epoch(ctx)
	if err = errors.Join(err, lookErr); lookErr == nil && counts != epoch {
		for _, subject := range []string{wire.SpendEpoch(epoch), wire.SpendOfEpoch(epoch)} {
			err = errors.Join(err, stream.Purge(ctx, jetstream.WithPurgeSubject(subject)))
		}
	}
	if err != nil {
		return fmt.Errorf("fill the counters of usage: %w", err)
	}
	if counts == epoch {
		f.filled.Add(1)
		f.log.Info("the counters of usage are filled", slog.String("epoch", epoch), slog.Int("days_of_keys", days), slog.Duration("took", f.now().Sub(began)))
	}
	return nil
}

// write counts what is in the database, and how far that is for each gateway.
func (f *Filler) write(ctx context.Context, epoch string) (days int, err error) {
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
	marks, err := f.days.UsageDays(ctx, f.now().UTC().AddDate(0, 0, -wire.SpendDays).Truncate(24*time.Hour), func(d DaySpend) error {
		days++
		return send(wire.SpendOn(epoch, d.Day, d.Workspace, d.Key), d.Text())
	})
	if err != nil {
		return days, err
	}
	for gw, mark := range marks {
		if err := send(wire.SpendAt(epoch, gw), strconv.FormatUint(mark, 10)); err != nil {
			return days, err
		}
	}
	select {
	case <-js.PublishAsyncComplete():
	case <-ctx.Done():
	}
	return days, context.Cause(ctx)
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

// clear removes the days that are over, once a day.
func (f *Filler) clear(ctx context.Context, stream jetstream.Stream, today time.Time) error {
	if today.Equal(f.cleared) {
		return nil
	}
	for n := 1; n <= clearedDays; n++ {
		old := today.AddDate(0, 0, -wire.SpendDays-n)
		if err := stream.Purge(ctx, jetstream.WithPurgeSubject(wire.SpendOfDay(old))); err != nil {
			return fmt.Errorf("remove counters of days that are over: %w", err)
		}
	}
	f.cleared = today
	return nil
}
