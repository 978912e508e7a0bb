package call

import (
	"context"
	"net/http"
	"time"

	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Trial is a request's way along the models of its plan. One budget of time
// and one cap on upstream calls span it. It is for one goroutine.
type Trial interface {
	// Next is the step of the plan's chain to try now: first the first one, and
	// after a failure that another model may mend, the next. There is none when
	// the failure is final, when the chain, the budget or the cap has run out,
	// and when the caller has gone. A step may be left untried.
	Next(ctx context.Context) (step int, ok bool)
	// Try calls the upstreams of a step until one answers. ctx bounds the whole
	// exchange, the reading of the reply's body included, so it must live until
	// that is closed. Without a reply the error is a *fault.Error: what the
	// caller would get if no other model followed.
	Try(ctx context.Context, step int) (*Reply, error)
	// Failure is what the caller gets when nothing answered, a *fault.Error:
	// what happened last, except that a rate limit is told only when every
	// upstream call ended in one.
	Failure(ctx context.Context) error
	// Attempts are all upstream calls so far. The last one is open while its
	// reply is read.
	Attempts() []decide.AttemptRecord
}

// Turn is one model's turn in a request. Each has an id, a row and a bill of
// its own; the first has the request's id, by which the others are linked.
type Turn struct {
	ID      id.Request
	Step    int // of the plan's chain
	Started time.Time
	First   int          // number of upstream calls that the request had made before
	Terms   Terms        // of its admission; zero when it was not admitted
	Begun   bool         // noted as under way: it must be completed
	Failure *fault.Error // nil while it is under way, and for success
	Status  int          // what the caller got, or would have got if no other model had followed
}

// Declined is a gate's refusal.
type Declined struct {
	Fault *fault.Error
	// Model: it speaks of one model alone. Another of the chain may pass, so that
	// the request goes on.
	Model  bool
	Header http.Header         // of the limit that refused; nil: none
	Checks []decide.LimitCheck // the gates' views as far as they were asked
}

// Error implements error.
func (d *Declined) Error() string { return d.Fault.Error() }

// Unwrap returns the fault.
func (d *Declined) Unwrap() error { return d.Fault }
