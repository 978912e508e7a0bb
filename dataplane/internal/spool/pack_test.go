package spool

import (
	"strconv"
	"strings"
	"testing"

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
		events, _, ok, err := sh.pack()
		require.NoError(t, err)
		if !ok {
			return list
		}
		var seqs []uint64
		for _, e := range events {
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
	events, _, _, err := sh.pack()
	require.NoError(t, err)
	batch := s.message(events)
	require.Equal(t, "1", batch.Header.Get(wire.HeaderUsageSequence))
	require.Equal(t, strconv.Itoa(3), batch.Header.Get(wire.HeaderUsageBatch))
	same := s.message(events)
	require.Equal(t, batch.Header.Get(jetstream.MsgIDHeader), same.Header.Get(jetstream.MsgIDHeader), "a repeat is known again")
	fewer := s.message(events[:2])
	require.NotEqual(t, batch.Header.Get(jetstream.MsgIDHeader), fewer.Header.Get(jetstream.MsgIDHeader))
	others := append([]event(nil), events...)
	others[1].id = newRequest() // the same sequences, given to another record
	require.NotEqual(t, batch.Header.Get(jetstream.MsgIDHeader), s.message(others).Header.Get(jetstream.MsgIDHeader))

	one := s.message(events[:1])
	require.Equal(t, events[0].id.String(), one.Header.Get(jetstream.MsgIDHeader))
	require.Empty(t, one.Header.Get(wire.HeaderUsageBatch))
	require.Equal(t, events[0].body, one.Data)
	events[0].unknown = true
	require.True(t, strings.HasSuffix(s.message(events[:1]).Header.Get(jetstream.MsgIDHeader), ".unknown"),
		"it must not hide the completion")
}

// What was in flight when a publish failed is packed anew, with what came
// since: other messages, the same records.
func TestAfterAFailureNothingIsLeftOut(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	complete(t, s, 3)
	sh := packer(s, 2, 1<<20)
	events, after, _, err := sh.pack()
	require.NoError(t, err)
	require.Len(t, events, 2)
	sh.stored = after
	events, _, _, err = sh.pack()
	require.NoError(t, err)
	require.Len(t, events, 1)
	complete(t, s, 2)
	s.flush()
	sh.back(sh.stored)
	require.Equal(t, [][]uint64{{3, 4}, {5}}, runs(t, sh))
	sh = packer(s, 2, 1<<20)
	_, _, _, err = sh.pack() // has read one too many
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
