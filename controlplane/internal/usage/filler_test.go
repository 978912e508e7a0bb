package usage_test

import (
	"context"
	"encoding/json"
	"errors"
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

func (b *bench) filler(source usage.Source) *usage.Filler {
	return usage.NewFiller(b.conn, there{}, source, ids, time.Now, natstest.Discard())
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
		if epoch, ok := strings.CutPrefix(subject, wire.SubjectSpendMark+"."); ok {
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
	key, guard := id.New[id.KeyKind](ids), id.New[id.GuardrailKind](ids)
	send := func(change func(*wire.UsageEvent)) wire.UsageEvent {
		e := b.event()
		e.Key, e.Guardrails, e.Charge = key, []id.Guardrail{guard}, 7
		change(&e)
		b.publish(e)
		return e
	}
	first := send(func(*wire.UsageEvent) {})
	send(func(e *wire.UsageEvent) { e.PrimaryID, e.CredentialSource, e.Charge = first.ID, "byok", 0 }) // another model
	send(func(e *wire.UsageEvent) { e.Outcome = wire.Refused })                                        // counts nowhere
	send(func(e *wire.UsageEvent) { e.Key, e.Guardrails = id.Key{}, nil })                             // nobody's
	send(func(e *wire.UsageEvent) { e.Outcome = wire.Failed })                                         // a request
	b.seq++                                                                                            // this one does not arrive
	send(func(*wire.UsageEvent) {})                                                                    // beyond the gap
	send(func(e *wire.UsageEvent) { e.PrimaryID = first.ID })                                          // and this
	b.drained()

	require.NoError(t, b.filler(b.writer).Fill(t.Context()))
	epochs := b.epochs()
	require.Len(t, epochs, 1)
	at := first.ID.Time()
	keys, all := value(wire.Spend{Requests: 2, Cost: 300, BYOK: 100}), value(wire.Spend{Requests: 3, Cost: 400, BYOK: 100})
	charged := value(wire.Spend{Cost: 21})
	totals := func(epoch string) map[string]string {
		return map[string]string{
			wire.SpendEpoch(epoch):                                      `{"val":"1"}`,
			wire.SpendBegun(epoch):                                      `{"val":"1"}`,
			wire.SpendAt(epoch, b.gw):                                   `{"val":"5"}`,
			wire.SpendOn(epoch, at, b.ws, wire.KeyAccount(key)):         keys,
			wire.SpendOn(epoch, at, b.ws, wire.GuardrailAccount(guard)): keys,
			wire.SpendEver(epoch, b.ws, wire.GuardrailAccount(guard)):   keys,
			wire.SpendOn(epoch, at, b.ws, wire.AccountWorkspace):        all,
			wire.SpendEver(epoch, b.ws, wire.AccountWorkspace):          all,
			wire.SpendOn(epoch, at, b.ws, wire.AccountCharged):          charged,
			wire.SpendEver(epoch, b.ws, wire.AccountCharged):            charged,
			wire.SpendOn(epoch, at, b.ws, wire.AccountBYOK):             value(wire.Spend{Requests: 1}),
		}
	}
	want := totals(epochs[0])
	require.Equal(t, want, b.counters())

	require.NoError(t, b.filler(b.writer).Fill(t.Context()))
	require.Equal(t, want, b.counters(), "filled once")

	b.server.Wipe()
	b.server.Ensure(b.conn)
	require.NoError(t, b.filler(b.writer).Fill(t.Context()))
	again := b.epochs()
	require.Len(t, again, 1)
	require.NotEqual(t, epochs, again)
	require.Equal(t, totals(again[0]), b.counters())
}

// interrupted is a source with something in between.
type interrupted struct {
	usage.Source
	between func() error
}

func (i interrupted) UsageSpends(ctx context.Context, since time.Time, visit func(usage.Spend) error) (map[id.Gateway]uint64, error) {
	marks, err := i.Source.UsageSpends(ctx, since, visit)
	return marks, errors.Join(err, i.between())
}

func TestAFillingThatIsNotTheFirstGoes(t *testing.T) {
	b := newBench(t)
	b.consume(b.writer)
	e := b.event()
	e.Key = id.New[id.KeyKind](ids)
	b.publish(e)
	b.drained()
	late := interrupted{b.writer, func() error { return b.filler(b.writer).Fill(t.Context()) }}
	require.NoError(t, b.filler(late).Fill(t.Context()))
	require.Len(t, b.epochs(), 1)
	require.Len(t, b.counters(), 6, "nothing is left of the second")

	b.server.Wipe()
	b.server.Ensure(b.conn)
	require.ErrorIs(t, b.filler(interrupted{b.writer, func() error { return errAway }}).Fill(t.Context()), errAway)
	require.Empty(t, b.counters(), "nor of one that failed")
}

func TestDaysThatAreOverGo(t *testing.T) {
	b := newBench(t)
	key, today := wire.KeyAccount(id.New[id.KeyKind](ids)), time.Now().UTC().Truncate(24*time.Hour)
	require.NoError(t, b.filler(b.writer).Fill(t.Context()))
	epoch := b.epochs()[0]
	for _, days := range []int{0, wire.SpendDays, wire.SpendDays + 1, wire.SpendDays + 30} {
		b.increment(wire.SpendOn(epoch, today.AddDate(0, 0, -days), b.ws, key))
	}
	require.NoError(t, b.filler(b.writer).Fill(t.Context()))
	left := b.counters()
	delete(left, wire.SpendEpoch(epoch))
	delete(left, wire.SpendBegun(epoch))
	require.Len(t, left, 2)
	require.Contains(t, left, wire.SpendOn(epoch, today, b.ws, key))
	require.Contains(t, left, wire.SpendOn(epoch, today.AddDate(0, 0, -wire.SpendDays), b.ws, key))
}

func (b *bench) increment(subject string) {
	b.t.Helper()
	msg := nats.NewMsg(subject)
	msg.Header.Set("Nats-Incr", "1")
	_, err := b.conn.JetStream().PublishMsg(b.t.Context(), msg)
	require.NoError(b.t, err)
}

// TestEpochsThatDoNotCountGo: those of the version before, which gateways of now
// do not take for theirs, and fillings that broke off.
func TestEpochsThatDoNotCountGo(t *testing.T) {
	b := newBench(t)
	key := id.New[id.KeyKind](ids)
	for _, subject := range []string{
		"spend.epoch.old", wire.SpendAt("old", b.gw), wire.SpendOn("old", time.Now(), b.ws, wire.KeyAccount(key)),
		wire.SpendBegun("broken"), wire.SpendEver("broken", b.ws, wire.AccountWorkspace),
	} {
		b.increment(subject)
	}
	require.NoError(t, b.filler(b.writer).Fill(t.Context()))
	epochs := b.epochs()
	require.Len(t, epochs, 1)
	require.Equal(t, map[string]string{wire.SpendEpoch(epochs[0]): `{"val":"1"}`, wire.SpendBegun(epochs[0]): `{"val":"1"}`}, b.counters())
}

// cellsMark is that of the cells, with the sequence of its message.
func (b *bench) cellsMark() (wire.CellsEpoch, uint64) {
	b.t.Helper()
	stream, err := b.conn.JetStream().Stream(b.t.Context(), wire.StreamCells)
	require.NoError(b.t, err)
	msg, err := stream.GetLastMsgForSubject(b.t.Context(), wire.SubjectCellsEpoch)
	require.NoError(b.t, err)
	require.Equal(b.t, "never", msg.Header.Get(jetstream.MsgTTLHeader))
	var mark wire.CellsEpoch
	require.NoError(b.t, json.Unmarshal(msg.Data, &mark))
	return mark, msg.Sequence
}

// TestCellsAreMarked once, and anew when they were lost: with time for gateways to
// state what they hold, if they can hold anything.
func TestCellsAreMarked(t *testing.T) {
	b := newBench(t)
	before := time.Now()
	require.ErrorIs(t, b.filler(interrupted{b.writer, func() error { return errAway }}).Fill(t.Context()), errAway)
	stream, err := b.conn.JetStream().Stream(t.Context(), wire.StreamCells)
	require.NoError(t, err)
	_, err = stream.GetLastMsgForSubject(t.Context(), wire.SubjectCellsEpoch)
	require.ErrorIs(t, err, jetstream.ErrMsgNotFound, "not before the counters are filled")

	require.NoError(t, b.filler(b.writer).Fill(t.Context()))
	first, at := b.cellsMark()
	require.NotEmpty(t, first.Epoch)
	require.WithinRange(t, first.ReadyAt, before, time.Now())
	require.NoError(t, b.filler(b.writer).Fill(t.Context()))
	again, same := b.cellsMark()
	require.Equal(t, first, again)
	require.Equal(t, at, same, "it is not written again")

	b.consume(b.writer)
	b.publish(b.event())
	b.drained()
	b.server.Wipe()
	b.server.Ensure(b.conn)
	before = time.Now()
	require.NoError(t, b.filler(b.writer).Fill(t.Context()))
	second, _ := b.cellsMark()
	require.NotEqual(t, first.Epoch, second.Epoch)
	require.WithinRange(t, second.ReadyAt, before.Add(35*time.Second), time.Now().Add(35*time.Second))
}

// TestCellsSettleAfterAnOutage in which nothing came in, and what gateways
// admitted lies in their spools.
func TestCellsSettleAfterAnOutage(t *testing.T) {
	b := newBench(t)
	b.consume(b.writer)
	b.publish(b.event())
	b.drained()
	b.server.Wipe()
	b.server.Ensure(b.conn)
	later := time.Now().Add(23 * time.Hour)
	filler := usage.NewFiller(b.conn, there{}, b.writer, ids, func() time.Time { return later }, natstest.Discard())
	before := time.Now()
	require.NoError(t, filler.Fill(t.Context()))
	mark, _ := b.cellsMark()
	require.WithinRange(t, mark.ReadyAt, before.Add(35*time.Second), time.Now().Add(35*time.Second))
}

// TestTheFirstMarkOfTheCellsStays when two control planes come at once.
func TestTheFirstMarkOfTheCellsStays(t *testing.T) {
	b := newBench(t)
	require.NoError(t, b.filler(late{b.writer, func() { require.NoError(t, b.filler(b.writer).Fill(t.Context())) }}).Fill(t.Context()))
	_, at := b.cellsMark()
	require.EqualValues(t, 1, at)
}

// late is a source that has something come between the look for a mark and the
// mark.
type late struct {
	usage.Source
	between func()
}

func (l late) UsageSince(ctx context.Context, at time.Time) (bool, error) {
	l.between()
	return l.Source.UsageSince(ctx, at)
}
