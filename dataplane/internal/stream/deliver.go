// Package stream owns the way of a reply to the caller: each piece as it
// comes, one write and flush for each, nothing gathered. It knows neither
// formats nor limits: the reply's body ends itself when an upstream does not
// keep to them.
package stream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// Deliverer sends replies to callers. It has no state.
type Deliverer struct{}

// New returns a Deliverer.
func New() *Deliverer { return &Deliverer{} }

// Deliver pushes the reply's body into sink and closes it. head is the
// gateway's part of the response header, which Deliver may write to. Seen is what was seen until the end,
// whichever way it came. The error is a *fault.Error: client_closed when the
// caller has gone, else the upstream's failure after the head went out, which
// the caller of Deliver tells through sink.Fail; nothing that reads as the
// end of a complete stream was sent then. A slow caller slows the upstream,
// since nothing is read ahead of what was written.
func (d *Deliverer) Deliver(ctx context.Context, r *call.Reply, head http.Header, sink call.Sink) (call.Seen, error) {
	err := deliver(ctx, r, head, sink)
	_ = r.Body.Close() // ends the upstream call; what mattered of the body was read
	return r.Meter.Seen(), err
}

func deliver(ctx context.Context, r *call.Reply, head http.Header, sink call.Sink) error {
	switch {
	case r.Frames != nil:
		return talk(ctx, r, head, sink)
	case !r.Stream && !r.Opaque:
		return sendPlain(ctx, r, head, sink)
	}
	if err := sink.Start(call.Head{Status: r.Status, Header: merged(r, head, -1)}); err != nil {
		return gone(ctx, err)
	}
	for {
		piece, err := r.Pieces.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case ctx.Err() != nil:
			return gone(ctx, ctx.Err())
		case err != nil:
			return err
		}
		send := sink.Write
		if last, ok := sink.(ending); ok && isOver(r.Pieces) {
			send = last.WriteLast
		}
		if err := send(piece); err != nil {
			return gone(ctx, err)
		}
	}
}

// ending is a Sink whose last bytes may leave together with the end of the
// response: a packet less, and for the caller one wait less.
type ending interface {
	// WriteLast sends body bytes of which nothing follows. It does not flush.
	WriteLast(p []byte) error
}

// ended are Pieces that know their end.
type ended interface {
	// Ended reports that what Next returned last was all, and that Next will say
	// so without waiting.
	Ended() bool
}

func isOver(p call.Pieces) bool {
	e, ok := p.(ended)
	return ok && e.Ended()
}

// sendPlain sends a body that is there in full, with its length.
func sendPlain(ctx context.Context, r *call.Reply, head http.Header, sink call.Sink) error {
	piece, err := r.Pieces.Next()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := sink.Start(call.Head{Status: r.Status, Header: merged(r, head, len(piece))}); err != nil {
		return gone(ctx, err)
	}
	if err := sink.Write(piece); err != nil {
		return gone(ctx, err)
	}
	return nil
}

// leastCounted is the size over which a body's length has to be said: up to it
// net/http counts by itself. A ninth header costs more than it looks, since a
// map has room for eight.
const leastCounted = 2 << 10

// merged puts what the upstream's header may show under the gateway's. It fills
// head, which was made for this reply: a third map would be a copy for nothing.
func merged(r *call.Reply, head http.Header, length int) http.Header {
	if head == nil {
		head = make(http.Header, len(r.Header)+1)
	}
	for name, values := range r.Header {
		if _, own := head[name]; !own {
			head[name] = values
		}
	}
	if _, own := head["Content-Length"]; !own && length > leastCounted {
		head["Content-Length"] = []string{strconv.Itoa(length)}
	}
	return head
}

func gone(ctx context.Context, err error) *fault.Error {
	if cause := context.Cause(ctx); cause != nil {
		err = errors.Join(err, cause)
	}
	return fault.Wrap(err, fault.ClientClosed, "The caller closed the connection.")
}
