package rate

import (
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// view is what is known of a subject: for each slot that may count, what the
// store has of all gateways, and what this one adds. Its shard's lock guards it.
type view struct {
	shard *shard
	ws    id.Workspace
	token string // the name in the store

	asked time.Time // when a request last asked for it
	added time.Time // when something was last added
	read  time.Time // when the store was last heard of; zero: never
	wants bool      // a request waits for it
	told  bool      // the answer to an increment has told the present minute
	looks uint8     // at it

	head   int64 // the newest slot that is held
	base   [slots]int64
	own    [slots]uint32 // what this gateway added
	sent   [slots]uint32 // the part of own that is in base
	floor  *[slots]int64 // what was known of an epoch that was lost: no less was used
	flying []*flight     // sent, with an answer still to come

	sums sums
}

// sums are what the slots come to, for as long as nothing but use of the present
// one changes them.
type sums struct {
	ok     bool
	slot   int64 // the present one
	used   int64
	newest int64 // the last that has something
}

// resends is for how long an increment is sent again under its name, within the
// time for which the store knows the name.
const resends = natsconn.RateDuplicates - 5*time.Second

// flight is an increment that is on its way, or whose answer did not come: it is
// sent again under the same name until it is answered, so that it counts once.
type flight struct {
	id     string
	since  time.Time // when it was first sent; zero: not yet
	minute int64
	by     wire.RateMinute
}

// index is where a slot is held. Slots that are not held share their places.
func index(slot int64) int { return int(slot & (slots - 1)) }

// holds says whether a slot is held.
func (v *view) holds(slot int64) bool { return slot <= v.head && slot > v.head-slots }

// reach makes room for a slot, and lets go of those that no longer count. Who is
// a while behind changes nothing; a view from far ahead is one of a clock that
// was set back, and begins anew.
func (v *view) reach(slot int64) {
	switch {
	case v.head-slot > slots/2:
		v.clear(slot)
		v.read = time.Time{}
	case slot-v.head >= slots:
		v.clear(slot)
	default:
		for v.head < slot {
			v.head++
			i := index(v.head)
			v.base[i], v.own[i], v.sent[i] = 0, 0, 0
			if v.floor != nil {
				v.floor[i] = 0
			}
		}
	}
	for len(v.flying) > 0 && v.flying[0].minute < minuteOf(v.head-slots+1) {
		v.flying = v.flying[1:] // the oldest come first
	}
}

// clear forgets every count.
func (v *view) clear(slot int64) {
	v.sums.ok = false
	v.base, v.own, v.sent = [slots]int64{}, [slots]uint32{}, [slots]uint32{}
	v.floor, v.flying, v.head = nil, nil, slot
}

// add counts n in a slot.
func (v *view) add(slot, n int64) {
	v.reach(slot)
	i := index(slot)
	n = min(n, wire.MaxRateCount-int64(v.own[i]))
	v.own[i] += uint32(n)
	if v.floor != nil {
		v.floor[i] += n
	}
	if v.sums.ok = v.sums.ok && v.sums.slot == slot; v.sums.ok {
		v.sums.used += n
		v.sums.newest = max(v.sums.newest, slot)
	}
}

// minute is what was used up to now, which is in a slot that ends after left.
func (v *view) minute(slot int64, left time.Duration, limit int64) Minute {
	v.reach(slot)
	if !v.sums.ok || v.sums.slot != slot {
		v.sum(slot)
	}
	m := Minute{Used: v.sums.used}
	if m.Used > 0 {
		m.Clears = left + time.Duration(place(v.sums.newest, slot))*wire.RateSlot
	}
	if m.Used >= limit && limit > 0 {
		c := v.counted(slot)
		m.Wait = c.until(limit, m.Used, left)
	}
	return m
}

// sum works out the sums.
func (v *view) sum(slot int64) {
	v.sums = sums{ok: true, slot: slot}
	for at := v.oldest(slot); at <= v.head; at++ {
		if n := v.at(index(at)); n > 0 {
			v.sums.used += n
			v.sums.newest = at
		}
	}
}

// counted is what each slot has.
func (v *view) counted(slot int64) (c counted) {
	for at := v.oldest(slot); at <= v.head; at++ {
		c[place(at, slot)] += v.at(index(at))
	}
	return c
}

// oldest is the first slot that counts.
func (v *view) oldest(slot int64) int64 { return max(slot-back, v.head-slots+1) }

// place is where a slot is among those that count. What is ahead of its time goes
// with the last.
func place(at, slot int64) int64 { return min(at-slot+back, slots-1) }

func (v *view) at(i int) int64 {
	n := v.base[i] + int64(v.own[i]-v.sent[i])
	if v.floor != nil {
		n = max(n, v.floor[i])
	}
	return n
}

// take notes what the store has of a minute. A counter only rises: an answer of
// a server that is behind does not take back what is known.
func (v *view) take(now, minute int64, counts *wire.RateMinute) {
	v.reach(now)
	v.sums.ok = false
	first := minute * int64(wire.RateSlots)
	for k, n := range counts {
		slot := first + int64(k)
		if n == 0 || slot > now+1 {
			continue
		}
		if slot > v.head {
			v.reach(slot)
		}
		if v.holds(slot) {
			i := index(slot)
			v.base[i] = max(v.base[i], n)
		}
	}
}

// landed notes that the store has what f brought, which was not in base, unless
// that was forgotten.
func (v *view) landed(f *flight) {
	at := slices.Index(v.flying, f)
	if at < 0 {
		return
	}
	v.flying = slices.Delete(v.flying, at, at+1)
	v.sums.ok = false
	first := f.minute * int64(wire.RateSlots)
	for k, n := range f.by {
		if slot := first + int64(k); n > 0 && v.holds(slot) {
			i := index(slot)
			v.sent[i] += uint32(n)
			v.base[i] += n
		}
	}
}

// giveUp no longer sends what was sent long ago and may count: it must not count
// twice.
func (v *view) giveUp(now time.Time) {
	for len(v.flying) > 0 && !v.flying[0].since.IsZero() && now.Sub(v.flying[0].since) > resends {
		v.landed(v.flying[0])
	}
}

// takeOff prepares what is not in the store yet to be sent, a minute at a time.
// Nothing new is sent before what is on its way was answered.
func (v *view) takeOff(now int64, name func() string) {
	v.reach(now)
	if len(v.flying) > 0 {
		return
	}
	for slot := max(now-back, v.head-slots+1); slot <= v.head; slot++ {
		i := index(slot)
		if v.own[i] == v.sent[i] {
			continue
		}
		minute := minuteOf(slot)
		n := len(v.flying)
		if n == 0 || v.flying[n-1].minute != minute {
			v.flying = append(v.flying, &flight{id: name(), minute: minute})
			n++
		}
		v.flying[n-1].by[slot-minute*int64(wire.RateSlots)] = int64(v.own[i] - v.sent[i])
	}
}

// unsent says whether the store lacks something.
func (v *view) unsent() bool { return v.own != v.sent }

// renew is for another epoch, which has nothing: all that this gateway added is
// sent again. What was known of the others before is not forgotten.
func (v *view) renew() {
	floor := new([slots]int64)
	for i := range floor {
		floor[i] = v.at(i)
	}
	v.base, v.sent = [slots]int64{}, [slots]uint32{}
	v.floor, v.flying, v.sums.ok = floor, nil, false
}

// shift moves what was added by some slots, when the store's clock is first
// learnt.
func (v *view) shift(by int64) {
	own := v.own
	v.own = [slots]uint32{}
	for i := range own {
		v.own[index(int64(i)+by)] = own[i]
	}
	v.head += by
	v.sums.ok = false
}
