package spool

import (
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// packer reads what s holds, with bounds for a message.
func packer(s *Spool, records, bytes int) *shipper {
	s.flush()
	s.opts.MessageRecords = records
	return &shipper{s: s, cursor: cursor{s: s}, most: bytes}
}

// runs packs everything and returns the sequences of each message.
func runs(t *testing.T, sh *shipper) [][]uint64 {
	t.Helper()
	defer sh.cursor.close()
	var list [][]uint64
	for {
		_, ok, err := sh.pack()
		require.NoError(t, err)
		if !ok {
			return list
		}
		var seqs []uint64
		for _, e := range sh.events {
			seqs = append(seqs, e.seq)
		}
		list = append(list, seqs)
	}
}

func complete(t *testing.T, s *Spool, n int) {
	t.Helper()
	for range n {
		require.NoError(t, s.Complete(eventOf(newRequest())))
	}
}

func TestMessagesAreBounded(t *testing.T) {
	s := open(t, t.TempDir(), Options{SegmentBytes: 2 << 10})
	complete(t, s, 7)
	require.Equal(t, [][]uint64{{1, 2, 3}, {4, 5, 6}, {7}}, runs(t, packer(s, 3, 1<<20)))
	require.Equal(t, [][]uint64{{1}, {2}, {3}, {4}, {5}, {6}, {7}}, runs(t, packer(s, 1, 1<<20)))
	one := len(storedBody(t, s)) + 4
	require.Equal(t, [][]uint64{{1, 2}, {3, 4}, {5, 6}, {7}}, runs(t, packer(s, 10, 3*one-20)))
	require.Equal(t, [][]uint64{{1}, {2}, {3}, {4}, {5}, {6}, {7}}, runs(t, packer(s, 10, -5)), "what is too large travels alone")
	s.commit(4)
	require.Equal(t, [][]uint64{{5, 6, 7}}, runs(t, packer(s, 3, 1<<20)), "what is committed is not sent again")
}

func storedBody(t *testing.T, s *Spool) []byte {
	t.Helper()
	c := cursor{s: s}
	defer c.close()
	e, ok, err := c.next()
	require.NoError(t, err)
	require.True(t, ok)
	return e.body
}

func TestOnlyOrdinaryNeighboursShareAMessage(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	complete(t, s, 2)
	unknown := eventOf(newRequest())
	unknown.Outcome = wire.Unknown
	require.NoError(t, s.Complete(unknown))
	complete(t, s, 2)
	s.next += 3 // as if what is between were in a segment that is gone
	complete(t, s, 2)
	require.NoError(t, s.write(appendLost(nil, span{6, 8}, []byte(lostReason))))
	complete(t, s, 1)
	require.Equal(t, [][]uint64{{1, 2}, {3}, {4, 5}, {9, 10}, {6}, {11}}, runs(t, packer(s, 10, 1<<20)))
}

func TestMessageIDsTellWhatIsInside(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	complete(t, s, 4)
	sh := packer(s, 3, 1<<20)
	defer sh.cursor.close()
	_, _, err := sh.pack()
	require.NoError(t, err)
	events := sh.events
	message := func(events []event) *nats.Msg {
		p := packing{events: events, body: sh.body}
		return p.message(s.gateway)
	}
	batch := message(events)
	require.Equal(t, "1", batch.Header.Get(wire.HeaderUsageSequence))
	require.Equal(t, strconv.Itoa(3), batch.Header.Get(wire.HeaderUsageBatch))
	same := message(events)
	require.Equal(t, batch.Header.Get(jetstream.MsgIDHeader), same.Header.Get(jetstream.MsgIDHeader), "a repeat is known again")
	fewer := message(events[:2])
	require.NotEqual(t, batch.Header.Get(jetstream.MsgIDHeader), fewer.Header.Get(jetstream.MsgIDHeader))
	others := append([]event(nil), events...)
	others[1].id = newRequest() // the same sequences, given to another record
	require.NotEqual(t, batch.Header.Get(jetstream.MsgIDHeader), message(others).Header.Get(jetstream.MsgIDHeader))

	one := message(events[:1])
	require.Equal(t, events[0].id.String(), one.Header.Get(jetstream.MsgIDHeader))
	require.Empty(t, one.Header.Get(wire.HeaderUsageBatch))
	require.Empty(t, one.Header.Get(wire.HeaderUsageEncoding), "one record travels as it is")
	require.Equal(t, storedBody(t, s), one.Data)
	events[0].unknown = true
	require.True(t, strings.HasSuffix(message(events[:1]).Header.Get(jetstream.MsgIDHeader), ".unknown"),
		"it must not hide the completion")
}

// recordsOf are the records of a message.
func recordsOf(t *testing.T, msg *nats.Msg) [][]byte {
	t.Helper()
	n := msg.Header.Get(wire.HeaderUsageBatch)
	if n == "" {
		return [][]byte{msg.Data}
	}
	require.Equal(t, wire.UsageEncodingS2, msg.Header.Get(wire.HeaderUsageEncoding))
	body, err := wire.DecompressUsage(msg.Data, wire.UsageEncodingS2)
	require.NoError(t, err)
	require.Less(t, len(msg.Data), len(body))
	records, rest := wire.UsageRecords(body, wire.MaxUsageBatch)
	require.Empty(t, rest)
	require.Equal(t, n, strconv.Itoa(len(records)))
	return records
}

// What is in flight may be sent again long after its records were packed, and
// what the shipper reads and packs into is used again: for messages of one
// record and of many, and for the record that waits for the next message while
// more is read from the disk.
func TestAMessageKeepsItsBytes(t *testing.T) {
	random := rand.NewChaCha8([32]byte{3})
	for _, together := range []int{1, 3, 100} {
		s := open(t, t.TempDir(), Options{})
		sh := packer(s, together, 1<<20)
		defer sh.cursor.close()
		var want []string
		for range 3 * readChunk / 2048 {
			text := make([]byte, 1024)
			_, _ = random.Read(text)
			ev := eventOf(newRequest())
			ev.Decision = json.RawMessage(`"` + hex.EncodeToString(text) + `"`)
			want = append(want, ev.ID.String()+string(ev.Decision))
			require.NoError(t, s.Complete(ev))
		}
		s.flush()
		var sent []*nats.Msg
		for {
			_, ok, err := sh.pack()
			require.NoError(t, err)
			if !ok {
				break
			}
			sent = append(sent, sh.message(s.gateway))
		}
		require.Len(t, sent, (len(want)+together-1)/together)
		var got []string
		for _, msg := range sent {
			for _, record := range recordsOf(t, msg) {
				var ev wire.UsageEvent
				require.NoError(t, json.Unmarshal(record, &ev))
				got = append(got, ev.ID.String()+string(ev.Decision))
			}
		}
		require.Equal(t, want, got)
	}
}

// What was in flight when a publish failed is packed anew, with what came
// since: other messages, the same records.
func TestAfterAFailureNothingIsLeftOut(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	complete(t, s, 3)
	sh := packer(s, 2, 1<<20)
	after, _, err := sh.pack()
	require.NoError(t, err)
	require.Len(t, sh.events, 2)
	sh.stored = after
	_, _, err = sh.pack()
	require.NoError(t, err)
	require.Len(t, sh.events, 1)
	complete(t, s, 2)
	s.flush()
	sh.back(sh.stored)
	require.Equal(t, [][]uint64{{3, 4}, {5}}, runs(t, sh))
	sh = packer(s, 2, 1<<20)
	_, _, err = sh.pack() // has read one too many
	require.NoError(t, err)
	sh.back(position{})
	require.Equal(t, [][]uint64{{1, 2}, {3, 4}, {5}}, runs(t, sh))
}

func TestWhatTheStreamTookIsBounded(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	complete(t, s, 3)
	s.committed = 1
	var ends []uint64
	for i := range uint64(maxTaken + 2) {
		ends = append(ends, i+1)
	}
	s.noteTaken(ends)
	require.Len(t, s.taken, maxTaken/2+1)
	require.EqualValues(t, 2, s.taken[0], "what is committed is not counted")
	require.EqualValues(t, 1, above(s.taken, maxTaken))
	s.committed = maxTaken
	s.forgetTaken()
	require.Len(t, s.taken, 1)
}
