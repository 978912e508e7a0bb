package spool

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
)

// looker is a watcher that looks when the test says so.
func looker(t *testing.T, sh *shipping) *watcher {
	t.Helper()
	js, err := jetstream.New(sh.conn.NATS())
	require.NoError(t, err)
	return &watcher{s: sh.spool, js: js, moved: time.Now()}
}

func (s *Spool) republished() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts.republishes
}

// Under load a new stream has messages of this gateway at once, and nothing
// that can be seen of it says that there was another one before.
func TestAWipeThatNobodySawIsNoticedByTheNumbers(t *testing.T) {
	server := natstest.New(t)
	conn := server.Ready()
	db := newDatabase(t, conn)
	sh := startLooking(t, server, t.TempDir(), time.Hour)
	w := looker(t, sh)
	sh.complete(60)
	sh.flush()
	server.Wipe()
	server.Ensure(conn)
	sh.complete(100)
	sh.flush()
	w.follow(t.Context())
	require.EqualValues(t, 1, sh.spool.republished())
	db.takes(160)
	w.follow(t.Context())
	require.EqualValues(t, 160, db.mark())
	require.EqualValues(t, 1, sh.spool.republished(), "once is enough")
	require.Zero(t, sh.spool.Status().Pending)
}

func TestSeveralWipesInARowLoseNothing(t *testing.T) {
	server := natstest.New(t)
	conn := server.Ready()
	db := newDatabase(t, conn)
	sh := startShipping(t, server, t.TempDir())
	total := 0
	for range 4 {
		sh.complete(150)
		sh.flush()
		db.take(40)
		server.Wipe()
		sh.complete(30)
		server.Ensure(conn)
		total += 180
	}
	db.takes(total)
	sh.settles()
	require.EqualValues(t, total, db.mark())
}

func TestWhatWasAcknowledgedDuringALookCounts(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	s.storedAt(10, answers{n: 10, low: 1, last: 10})
	require.False(t, s.regressed(10, true), "all that the old stream took is committed")
	require.True(t, s.regressed(9, true))
	s.republish(9)
	require.False(t, s.regressed(9, false))
}

func TestRepeatsSayNothingOfTheStream(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	s.storedAt(10, answers{n: 10, low: 1, last: 10})
	var repeats answers
	repeats.add(&jetstream.PubAck{Sequence: 4, Duplicate: true}, flight{n: 1, last: 12})
	s.storedAt(12, repeats)
	require.False(t, s.regressed(0, false))
	var fallen answers
	fallen.add(&jetstream.PubAck{Sequence: 2}, flight{n: 1, last: 13})
	fallen.add(&jetstream.PubAck{Sequence: 400}, flight{n: 1, last: 14})
	s.storedAt(14, fallen)
	require.True(t, s.regressed(0, false), "the numbers have caught up, and still fell")
}
