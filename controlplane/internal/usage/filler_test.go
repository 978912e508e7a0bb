package usage_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func (b *bench) filler(days usage.Days) *usage.Filler {
	return usage.NewFiller(b.conn, there{}, days, ids, time.Now, natstest.Discard())
}

// counters are those of spend, by subject.
func (b *bench) counters() map[string]string {
	b.t.Helper()
	stream, err := b.conn.JetStream().Stream(b.t.Context(), wire.StreamSpend)
	require.NoError(b.t, err)
	info, err := stream.Info(b.t.Context(), jetstream.WithSubjectFilter(">"))
	require.NoError(b.t, err)
	list := make(map[string]string)
	for subject := range info.State.Subjects {
		msg, err := stream.GetLastMsgForSubject(b.t.Context(), subject)
		require.NoError(b.t, err)
		list[subject] = string(msg.Data)
	}
	return list
}

func (b *bench) epochs() (list []string) {
	b.t.Helper()
	for subject := range b.counters() {
		if epoch, ok := strings.CutPrefix(subject, wire.SubjectSpendEpoch+"."); ok {
			list = append(list, epoch)
		}
	}
	return list
}

func value(s wire.Spend) string { return `{"val":"` + s.Text() + `"}` }

// TestCountersAreFilledFromTheDatabase, as of each gateway's mark: a record
// beyond a gap is left to its gateway.
func TestCountersAreFilledFromTheDatabase(t *testing.T) {
	b := newBench(t)
	b.consume(b.writer)
	key := id.New[id.KeyKind](ids)
	send := func(change func(*wire.UsageEvent)) wire.UsageEvent {
		e := b.event()
		e.Key = key
		change(&e)
		b.publish(e)
		return e
	}
	first := send(func(*wire.UsageEvent) {})
	send(func(e *wire.UsageEvent) { e.PrimaryID = first.ID })   // another model
	send(func(e *wire.UsageEvent) { e.Outcome = wire.Refused }) // counts nowhere
	send(func(e *wire.UsageEvent) { e.Key = id.Key{} })         // nobody's
	send(func(e *wire.UsageEvent) { e.Outcome = wire.Failed })  // a request
	b.seq++                                                     // this one does not arrive
	send(func(*wire.UsageEvent) {})                             // beyond the gap
	send(func(e *wire.UsageEvent) { e.PrimaryID = first.ID })   // and this
	b.drained()

	require.NoError(t, b.filler(b.writer).Fill(t.Context()))
	epochs := b.epochs()
	require.Len(t, epochs, 1)
	day := wire.SpendOn(epochs[0], first.ID.Time(), b.ws, key)
	want := map[string]string{
		wire.SpendEpoch(epochs[0]):    `{"val":"1"}`,
		wire.SpendAt(epochs[0], b.gw): `{"val":"5"}`,
		day:                           value(wire.Spend{Requests: 2, Cost: 300}),
	}
	require.Equal(t, want, b.counters())

	require.NoError(t, b.filler(b.writer).Fill(t.Context()))
	require.Equal(t, want, b.counters(), "filled once")

	b.server.Wipe()
	b.server.Ensure(b.conn)
	require.NoError(t, b.filler(b.writer).Fill(t.Context()))
	again := b.epochs()
	require.Len(t, again, 1)
	require.NotEqual(t, epochs, again)
	require.Equal(t, value(wire.Spend{Requests: 2, Cost: 300}), b.counters()[wire.SpendOn(again[0], first.ID.Time(), b.ws, key)])
}

// daysOf are days with something in between.
type daysOf struct {
	usage.Days
	between func() error
}

func (d daysOf) UsageDays(ctx context.Context, since time.Time, visit func(usage.DaySpend) error) (map[id.Gateway]uint64, error) {
	marks, err := d.Days.UsageDays(ctx, since, visit)
	return marks, errors.Join(err, d.between())
}

func TestAFillingThatIsNotTheFirstGoes(t *testing.T) {
	b := newBench(t)
	b.consume(b.writer)
	e := b.event()
	e.Key = id.New[id.KeyKind](ids)
	b.publish(e)
	b.drained()
	late := daysOf{b.writer, func() error { return b.filler(b.writer).Fill(t.Context()) }}
	require.NoError(t, b.filler(late).Fill(t.Context()))
	require.Len(t, b.epochs(), 1)
	require.Len(t, b.counters(), 3, "nothing is left of the second")

	b.server.Wipe()
	b.server.Ensure(b.conn)
	require.ErrorIs(t, b.filler(daysOf{b.writer, func() error { return errAway }}).Fill(t.Context()), errAway)
	require.Empty(t, b.counters(), "nor of one that failed")
}

func TestDaysThatAreOverGo(t *testing.T) {
	b := newBench(t)
	key, today := id.New[id.KeyKind](ids), time.Now().UTC().Truncate(24*time.Hour)
	for _, days := range []int{0, wire.SpendDays, wire.SpendDays + 1, wire.SpendDays + 30} {
		msg := nats.NewMsg(wire.SpendOn("e", today.AddDate(0, 0, -days), b.ws, key))
		msg.Header.Set("Nats-Incr", strconv.Itoa(days))
		_, err := b.conn.JetStream().PublishMsg(t.Context(), msg)
		require.NoError(t, err)
	}
	require.NoError(t, b.filler(b.writer).Fill(t.Context()))
	left := b.counters()
	delete(left, wire.SpendEpoch(b.epochs()[0]))
	require.Len(t, left, 2)
	require.Contains(t, left, wire.SpendOn("e", today, b.ws, key))
	require.Contains(t, left, wire.SpendOn("e", today.AddDate(0, 0, -wire.SpendDays), b.ws, key))
}
