package rate

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func metricOf(t *testing.T, c prometheus.Counter) float64 {
	t.Helper()
	var m dto.Metric
	require.NoError(t, c.Write(&m))
	return m.GetCounter().GetValue()
}

const slot = int64(900_000_015) // in the middle of a minute

func newName() string { return "n" }

// counts is the minute of slot with some numbers from it on.
func counts(list ...int64) *wire.RateMinute {
	var m wire.RateMinute
	copy(m[slot-minuteOf(slot)*int64(wire.RateSlots):], list)
	return &m
}

// TestALateAnswerLowersNothing: a server that is behind, and a clock that is.
func TestALateAnswerLowersNothing(t *testing.T) {
	v := &view{head: slot}
	minute := minuteOf(slot)
	v.take(slot, minute, counts(9, 1, 100))
	v.take(slot, minute, counts(4))
	m := v.minute(slot, wire.RateSlot, 0)
	require.EqualValues(t, 10, m.Used, "a moment ahead counts, more than that is seen later")
	v.add(slot-3, 5)
	m = v.minute(slot-3, wire.RateSlot, 0)
	require.EqualValues(t, 15, m.Used, "a clock that is set back a little forgets nothing")
	require.Equal(t, Window+wire.RateSlot, m.Clears)
	m = v.minute(slot-slots, wire.RateSlot, 0)
	require.Zero(t, m.Used, "far back it begins anew")
}

// TestAFlightIsAnsweredOnce, also when what it brought no longer counts.
func TestAFlightIsAnsweredOnce(t *testing.T) {
	v := &view{head: slot}
	v.add(slot, 3)
	v.takeOff(slot, newName)
	require.Len(t, v.flying, 1)
	f := v.flying[0]
	v.add(slot, 4)
	v.takeOff(slot, newName)
	require.Len(t, v.flying, 1, "one after the other")
	v.landed(f)
	v.landed(f)
	m := v.minute(slot, 0, 0)
	require.EqualValues(t, 7, m.Used)
	require.True(t, v.unsent())
	v.takeOff(slot, newName)
	require.EqualValues(t, 4, v.flying[0].by[slot-f.minute*int64(wire.RateSlots)])
	f = v.flying[0]
	v.reach(slot + 2*slots)
	v.landed(f)
	require.Empty(t, v.flying)
	require.False(t, v.unsent())
	require.Zero(t, v.base)
}

// TestAcrossAMinute is one flight for each.
func TestAcrossAMinute(t *testing.T) {
	v := &view{head: slot}
	v.add(slot, 3)
	v.add(slot+int64(wire.RateSlots)-1, 4)
	v.takeOff(slot+int64(wire.RateSlots)-1, newName)
	require.Len(t, v.flying, 2)
	first, second := v.flying[0], v.flying[1]
	require.Equal(t, first.minute+1, second.minute)
	v.landed(second)
	require.Equal(t, []*flight{first}, v.flying)
	v.landed(first)
	require.False(t, v.unsent())
}

// TestAnotherEpoch sends all of it again, and forgets nothing of the others.
func TestAnotherEpoch(t *testing.T) {
	v := &view{head: slot}
	v.add(slot, 3)
	v.takeOff(slot, newName)
	minute := minuteOf(slot)
	v.landed(v.flying[0])
	v.take(slot, minute, counts(8))
	v.renew()
	m := v.minute(slot, 0, 0)
	require.EqualValues(t, 8, m.Used)
	v.add(slot, 1)
	m = v.minute(slot, 0, 0)
	require.EqualValues(t, 9, m.Used)
	v.takeOff(slot, newName)
	require.Equal(t, *counts(4), v.flying[0].by)
	v.landed(v.flying[0])
	v.take(slot, minute, counts(12))
	m = v.minute(slot, 0, 0)
	require.EqualValues(t, 12, m.Used)
}

// TestTheStoresClock moves what was added before it was known.
func TestTheStoresClock(t *testing.T) {
	for _, by := range []int64{1, -1, 40, -1_000_003} {
		v := &view{head: slot}
		v.add(slot-1, 3)
		v.add(slot, 4)
		v.shift(by)
		m := v.minute(slot+by, wire.RateSlot, 5)
		require.EqualValues(t, 7, m.Used)
		require.Equal(t, Window-wire.RateSlot, m.Wait)
	}
}

func TestSlots(t *testing.T) {
	at := time.Unix(-3, 0)
	require.EqualValues(t, -2, slotOf(at))
	require.EqualValues(t, -1, minuteOf(slotOf(at)))
	require.Equal(t, time.Second, leftOf(at))
	require.Equal(t, wire.RateSlot, leftOf(time.Unix(120, 0)))
	require.EqualValues(t, 2, minuteOf(slotOf(time.Unix(120, 0))))
}

// TestWhatMayCountIsNotSentForEver: the store forgets names after a while, and a
// retry would count twice then. What was never sent goes on being tried.
func TestWhatMayCountIsNotSentForEver(t *testing.T) {
	v := &view{head: slot}
	v.add(slot, 3)
	v.takeOff(slot, newName)
	now := time.Unix(1000, 0)
	v.giveUp(now.Add(time.Hour))
	require.Len(t, v.flying, 1, "it was never sent")
	v.flying[0].since = now
	v.giveUp(now.Add(resends))
	require.Len(t, v.flying, 1)
	v.giveUp(now.Add(resends + 1))
	require.False(t, v.unsent())
	require.Empty(t, v.flying)
	m := v.minute(slot, 0, 0)
	require.EqualValues(t, 3, m.Used, "here it counts")
	require.Less(t, resends, natsconn.RateDuplicates)
}
