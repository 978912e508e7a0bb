package flow

import (
	"math/bits"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// slotCount is how many slots a percentage node has: each is 0.01 %.
const slotCount = int(Whole)

// Slot is the slot, 0 to 9999, that a subject falls into at a percentage node
// of a route. docs/dynamic-routes.md describes the hash; it never changes.
func Slot(route id.Route, node, subject string) int {
	return slotOf(seedOf(route.String(), node), subject)
}

// InRollout reports whether a rollout sends a subject through its candidate.
// Raising the share keeps everyone who is in it.
func InRollout(rollout id.Rollout, subject string, share Percent) bool {
	return slotOf(seedOf(rollout.String()), subject) < int(share)
}

// seedOf is the FNV-1a state after names that are each ended by a zero byte.
func seedOf(names ...string) uint64 {
	const offset = 14695981039346656037
	h := uint64(offset)
	for _, name := range names {
		h = fnv1a(h, name) * fnvPrime // a zero byte changes nothing before it multiplies
	}
	return h
}

const fnvPrime = 1099511628211

func fnv1a(h uint64, text string) uint64 {
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * fnvPrime
	}
	return h
}

// slotOf ends the hash with the finalizer of splitmix64, since FNV-1a alone
// leaves its high bits poor, and scales it to the slots.
func slotOf(seed uint64, subject string) int {
	x := fnv1a(seed, subject)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	slot, _ := bits.Mul64(x^x>>31, uint64(slotCount))
	return int(slot)
}
