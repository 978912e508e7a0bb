package call

import (
	"io"
	"net/http"
	"time"

	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Reply is an upstream's answer whose first content has arrived, so that no
// fallback may follow. Body still has everything, held events included;
// closing it ends the upstream call.
type Reply struct {
	Step      decide.Step
	Candidate decide.Candidate
	Status    int
	Header    http.Header // only what may reach the caller
	Stream    bool        // Body is server-sent events in the caller's format
	Opaque    bool        // Body is of a type of its own, and is passed on as it comes
	Body      io.ReadCloser
	Pieces    Pieces // Body in the pieces in which it is to be sent. Use one or the other
	Meter     Meter  // fills while Body is read
	Frames    Frames // the provider's side of a two-way conversation, which then takes the place of Pieces
	FirstByte time.Duration
	Degraded  []string // what the caller asked for and the upstream's format has no place for
	// Attempts are all upstream calls so far, this one last and still open: its
	// duration and failure are filled in when Body ends or is closed.
	Attempts []decide.AttemptRecord
}

// Pieces is a body in the caller's format: a stream event by event, a plain
// body in one. It is for one goroutine.
type Pieces interface {
	// Next returns the next piece, a stream's event with its terminator or
	// several that arrived together; the bytes hold until the next call. io.EOF
	// means that the body is complete. Every other error is a *fault.Error: the
	// stream broke off, fell silent, carried an error, or the caller has gone.
	Next() ([]byte, error)
}

// Meter tells what was seen in a reply's body. It is read after the body's
// last byte, by the goroutine that read the body.
type Meter interface {
	// Seen returns the usage, the upstream's own model name, and whether a
	// finish reason came.
	Seen() Seen
}

// Seen is what a Meter saw.
type Seen struct {
	Usage       meter.Usage // Estimated when the upstream reported none
	ServedModel string
	Finished    bool
	// ZeroOutput: the reply had neither text nor tool calls.
	ZeroOutput bool
	// Kept is the caller's name of the job or file that was made.
	Kept string
	// Malformed counts the stream events that were not JSON and were left out.
	Malformed int
}

// Head is the start of a response.
type Head struct {
	Status int
	Header http.Header
}

// Sink takes the response. The surface supplies it; stages only push into it.
// A Sink is used by one goroutine.
type Sink interface {
	// Start sends status and headers, once.
	Start(Head) error
	// Write sends body bytes and flushes them. An error means that the caller
	// has gone.
	Write(p []byte) error
	// Fail ends the response with an error in the surface's own format: an
	// envelope before Start, a protocol-native error frame after it, without
	// the terminal marker.
	Fail(failure *fault.Error, header http.Header)
	// Started reports whether Start was called.
	Started() bool
	// Status is the HTTP status that was sent, by Start or Fail; 0 before.
	Status() int
}

// Outcome is how a request ended, or one model's turn in it, for record.
type Outcome struct {
	Turn      Turn         // the one that it ended with
	Failure   *fault.Error // nil for success
	Status    int          // what the caller got; 499 when it had left
	Canceled  bool         // the caller left
	Reply     *Reply       // nil when no upstream answered
	Seen      Seen
	Attempts  []decide.AttemptRecord // of all turns so far
	Record    decide.Record          // as decided for the turn; record completes it
	Upstream  time.Duration          // spent waiting for upstreams
	FirstByte time.Duration          // from receipt to the first byte to the caller
	Finished  time.Time
}

// Grant is an admission; it is settled exactly once, by record, after what the
// request used is on record.
type Grant interface {
	// Header returns the rate-limit headers for the response, or nil.
	Header() http.Header
	// Checks are the gates' views, for the record.
	Checks() []decide.LimitCheck
	// Terms says how the request is accounted for.
	Terms() Terms
	// Settle gives back what was not used. own says that the workspace's own
	// credentials paid for it. It does not block on the network.
	Settle(used meter.Usage, cost meter.Cost, own bool)
}

// Terms are how a request that was admitted is accounted for.
type Terms struct {
	wire.Attribution
	Billing policy.Billing
	// FeeRate is what of the cost of the workspace's own credentials is charged, in
	// millionths; 0 while no fee is due.
	FeeRate int64
}
