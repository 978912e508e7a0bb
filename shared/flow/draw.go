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
	return slotOf(seedOf(route.String(), node), HashSubject(subject))
}

// InRollout reports whether a rollout sends a subject through its candidate.
// Raising the share keeps everyone who is in it.
func InRollout(rollout id.Rollout, subject string, share Percent) bool {
	return slotOf(seedOf(rollout.String()), HashSubject(subject)) < int(share)
}

// HashSubject is all that draws need of a subject.
func HashSubject(subject string) uint64 { return mix(fnv1a(fnvOffset, subject)) }

// seedOf hashes names that are each ended by a zero byte.
func seedOf(names ...string) uint64 {
	h := uint64(fnvOffset)
	for _, name := range names {
		h = fnv1a(h, name) * fnvPrime // which is what a zero byte does
	}
	return h
}

func slotOf(seed, subject uint64) int {
	slot, _ := bits.Mul64(mix(seed^subject), uint64(slotCount))
	return int(slot)
}

// The constants of FNV-1a in 64 bits (RFC 9923).
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

func fnv1a(h uint64, text string) uint64 {
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * fnvPrime
	}
	return h
}

// mix is the finalizer of splitmix64 (Steele, Lea, Flood 2014): FNV-1a alone
// leaves the high bits poor.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
