package cell

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// kind is what a document counts.
type kind uint8

const (
	minutes kind = iota + 1
	slots
	holdings
)

// entry is what one gateway states in a document.
type entry struct {
	gateway  id.Gateway
	instance uint64 // of the process: what another one of the same gateway ran has ended
	want     int64  // until when it wants more and had to be refused; Unix ms, 0: it does not
	lease    int64  // until when slots and held are in use; Unix ms, 0: there are none

	buckets []bucket // minutes: oldest first

	slots int64 // slots

	held   money.Nanos  // holdings
	point  ledger.Point // holdings: at which all that was let go of is counted
	stated int64        // holdings: when; Unix ms
}

// bucket is what was taken in one unit of time.
type bucket struct {
	unit int64 // since 1970
	n    int64
}

// document is what all gateways state about a subject.
type document struct {
	kind    kind
	epoch   uint64  // of the documents, hashed
	entries []entry // sorted by gateway
}

// instant is the present by the clock of NATS, as far as it is known: not
// before lo and not after hi. Unix nanoseconds.
type instant struct{ lo, hi int64 }

const milli = 1_000_000

// wanting is how many others want more, and until when the last one does.
func wanting(others []entry, at instant) (n int64, until int64) {
	for i := range others {
		if w := others[i].want * milli; w > at.lo {
			n++
			until = max(until, w)
		}
	}
	return n, until
}

// share is how much a gateway may hold of a limit while n others want more.
func share(most, n int64) int64 { return (most + n) / (n + 1) }
