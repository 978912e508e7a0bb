package usage_test

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// sendBatch sends records as one message, as gateways do. Only records that
// follow each other are sent so, but the consumer does not depend on it.
func (b *bench) sendBatch(first uint64, records ...[]byte) {
	b.t.Helper()
	var body []byte
	for _, record := range records {
		body = wire.AppendUsageRecord(body, record)
	}
	packed, encoding := wire.CompressUsage(nil, body)
	b.sendRaw(first, len(records), packed, encoding)
}

func (b *bench) sendRaw(first uint64, n int, body []byte, encoding string) {
	b.t.Helper()
	msg := nats.NewMsg(wire.SubjectUsage + "." + b.gw.String())
	msg.Header.Set(wire.HeaderUsageSequence, strconv.FormatUint(first, 10))
	msg.Header.Set(wire.HeaderUsageBatch, strconv.Itoa(n))
	if encoding != "" {
		msg.Header.Set(wire.HeaderUsageEncoding, encoding)
	}
	msg.Data = body
	_, err := b.conn.JetStream().PublishMsg(context.Background(), msg)
	require.NoError(b.t, err)
}

// records makes n events, encoded.
func (b *bench) records(n int) [][]byte {
	b.t.Helper()
	list := make([][]byte, n)
	for i := range list {
		var err error
		list[i], err = json.Marshal(b.event())
		require.NoError(b.t, err)
	}
	return list
}

func (b *bench) committed() uint64 {
	b.t.Helper()
	reply, err := b.mark()
	require.NoError(b.t, err)
	return reply.Committed
}

// A gateway that does not hear of a batch's arrival sends its records again,
// together with others than the first time, or alone.
func TestABatchSentAgainWithOtherBoundariesIsStoredOnce(t *testing.T) {
	b := newBench(t)
	b.consume(&flaky{UsageStore: b.writer, after: failing(2)})
	all := b.records(100)
	b.sendBatch(1, all[:40]...)
	b.sendBatch(31, all[30:70]...)
	b.sendBatch(1, all[:10]...)
	b.send(50, all[49])
	b.sendBatch(41, all[40:]...)
	b.sendBatch(1, all...)
	b.drained()
	require.EqualValues(t, 100, b.totals().Requests)
	require.EqualValues(t, 100*100, b.totals().Cost)
	require.EqualValues(t, 100, b.committed())
}

func TestAConsumerKilledInsideABatchChangesNothing(t *testing.T) {
	b := newBench(t)
	b.consume(&flaky{UsageStore: b.writer, before: failing(2), after: failing(3)})
	for range 4 {
		first := b.seq + 1
		b.sendBatch(first, b.records(30)...)
	}
	b.drained()
	require.EqualValues(t, 120, b.totals().Requests)
	require.EqualValues(t, 120, b.committed())
}

func TestOnePoisonRecordDoesNotTakeItsBatchAlong(t *testing.T) {
	b := newBench(t)
	b.consume(b.writer)
	all := b.records(6)
	all[2] = []byte("not json")
	b.sendBatch(1, all...)
	b.sendBatch(2, all[1:5]...) // the same poison, among others
	b.drained()
	require.EqualValues(t, 5, b.totals().Requests)
	require.EqualValues(t, 6, b.committed(), "poison must not hold up the mark")
	require.Equal(t, []string{"body is not a usage event"}, b.deadLetters(), "and is kept once")
}

func TestARecordThatTheDatabaseRejectsDoesNotTakeItsBatchAlong(t *testing.T) {
	b := newBench(t)
	all := b.records(33)
	var bad wire.UsageEvent
	require.NoError(t, json.Unmarshal(all[20], &bad))
	b.sendBatch(1, all...)
	b.consume(&rejecting{UsageStore: b.writer, bad: bad.ID})
	b.drained()
	require.EqualValues(t, 32, b.totals().Requests)
	require.EqualValues(t, 33, b.committed())
	require.Equal(t, []string{"rejected by the database"}, b.deadLetters())
}

func TestTheUnreadableEndOfABatchIsAccountedFor(t *testing.T) {
	b := newBench(t)
	b.consume(b.writer)
	all := b.records(5)
	var body []byte
	for _, record := range all[:3] {
		body = wire.AppendUsageRecord(body, record)
	}
	b.sendRaw(1, 5, append(body, 0xff, 0xff, 0xff, 0xff, 'x'), "")
	b.sendRaw(6, 1<<40, []byte("a size that nobody believes"), "")
	b.seq = 6
	body = body[:0]
	for _, record := range b.records(3) {
		body = wire.AppendUsageRecord(body, record)
	}
	packed, encoding := wire.CompressUsage(nil, body[:len(body)-1])
	require.Equal(t, wire.UsageEncodingS2, encoding)
	b.sendRaw(7, 3, packed, encoding)
	b.drained()
	require.EqualValues(t, 5, b.totals().Requests)
	require.EqualValues(t, 9, b.committed())
	require.ElementsMatch(t, []string{"the end of a batch is not readable", "body is not a usage event", "the end of a batch is not readable"}, b.deadLetters())
}

// Of a batch that cannot be decompressed nothing is stored, and nothing behind
// it waits for it.
func TestABatchThatCannotBeDecompressedIsAccountedFor(t *testing.T) {
	b := newBench(t)
	b.consume(b.writer)
	b.sendRaw(1, 3, []byte("no block"), wire.UsageEncodingS2)
	b.sendRaw(4, 2, []byte("of a later version"), "zstd")
	b.seq = 5
	b.sendBatch(6, b.records(4)...)
	b.drained()
	require.EqualValues(t, 4, b.totals().Requests)
	require.EqualValues(t, 9, b.committed())
	letters := b.deadLetters()
	require.Len(t, letters, 2)
	require.Contains(t, letters[0], "usage batch is not readable")
	require.Contains(t, letters[1], `encoding "zstd" is not known`)
}

// Gateways of before compression send batches as they are.
func TestABatchThatIsNotCompressedIsStored(t *testing.T) {
	b := newBench(t)
	b.consume(b.writer)
	var body []byte
	for _, record := range b.records(3) {
		body = wire.AppendUsageRecord(body, record)
	}
	b.sendRaw(1, 3, body, "")
	b.drained()
	require.EqualValues(t, 3, b.totals().Requests)
	require.EqualValues(t, 3, b.committed())
}

// More than a transaction's worth in few messages is stored in several.
func TestManyLargeBatchesAreStoredInParts(t *testing.T) {
	b := newBench(t)
	w := &flaky{UsageStore: b.writer}
	for range 20 {
		first := b.seq + 1
		b.sendBatch(first, b.records(100)...)
	}
	b.consume(w)
	b.drained()
	require.EqualValues(t, 2000, b.totals().Requests)
	require.GreaterOrEqual(t, w.calls.Load(), int64(4))
	require.EqualValues(t, 2000, b.committed())
}
