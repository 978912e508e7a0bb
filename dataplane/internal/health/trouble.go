package health

import "sync/atomic"

// Trouble is a reason why something that another gateway told was not taken.
type Trouble int

// The kinds of trouble.
const (
	TroubleMalformed Trouble = iota // not a message of ours
	TroubleVersion                  // of a version that this gateway does not speak
	TroubleClock                    // of a clock that is over a minute away
	TroubleCounts                   // counts that cannot be
	TroubleLate                     // of a time of which only the sum is left
	TroubleEndpoints                // more endpoints than are kept
	TroublePeers                    // more gateways than are kept
	TroubleLost                     // messages that never came
	troubleKinds
)

var troubleNames = [troubleKinds]string{
	"malformed", "version", "clock", "counts", "late", "endpoints", "peers", "lost",
}

// String is the kind as metrics have it.
func (t Trouble) String() string { return troubleNames[t] }

// Troubles lists every kind.
func Troubles() []Trouble {
	list := make([]Trouble, troubleKinds)
	for i := range list {
		list[i] = Trouble(i)
	}
	return list
}

// troubles counts them.
type troubles struct{ n [troubleKinds]atomic.Int64 }

func (t *troubles) add(kind Trouble, n int64) { t.n[kind].Add(n) }
