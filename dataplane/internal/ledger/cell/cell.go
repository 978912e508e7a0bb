// Package cell owns the limits that hold over all gateways together, one by
// one: what is taken in a rolling minute, what runs at the same time, and what
// is reserved of a budget. It knows nothing of what is limited, nor of requests.
//
// Each subject has one document, in which every gateway states what it holds,
// as a whole and not as a change: an answer that was lost, a pause or a second
// try does no harm. One goroutine of a gateway writes for all who ask at the
// same time, on the condition that nobody else wrote since it read.
package cell

import (
	"errors"
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Subject is who a limit is counted for. The kinds of limit are apart: one name
// may have a minute, slots and reservations.
type Subject struct {
	Workspace id.Workspace
	Name      string // one token of a NATS subject
}

// Limit is how much of something there may be.
type Limit struct {
	Most        int64
	Unavailable policy.Unavailable // what becomes of who asks while nobody answers; "" as allow
}

// Took is the answer to who asks for a part of a limit.
type Took struct {
	OK   bool
	Used int64 // of the limit, before
	// Wait is how long it takes until it would fit if nobody else took anything; 0
	// where that is not known.
	Wait  time.Duration
	Alone bool // it was decided without the other gateways
}

// Reserved is the answer to who reserves.
type Reserved struct {
	OK    bool
	Index int         // of the first bound that it does not fit; -1 when OK
	Spent money.Nanos // of that bound, or of the first one
	Held  money.Nanos // what is reserved by everybody, before
}

// ErrUnavailable says that nobody answered for all gateways in time.
var ErrUnavailable = errors.New("the limits of all gateways cannot be asked")

// Times that nobody sets.
const (
	// Minute is the window of Take.
	Minute   = 60 * time.Second
	lease    = 30 * time.Second // for which a statement of what runs or is reserved counts
	renew    = 10 * time.Second // after which it is made again
	slotLife = 15 * time.Minute // after which a slot counts as lost
	// heldLife is for how long what a gateway had reserved that does not come back
	// counts as spent.
	heldLife = 24 * time.Hour
	wantFor  = 300 * time.Millisecond // for which who was refused is given room
	wantEach = 200 * time.Millisecond // between two such marks
)
