package attempt

import (
	"errors"
	"io"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/eventstream"
	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// events tells the events of a stream apart.
type events interface {
	Next() (sse.Event, error)
	// Ready reports whether Next would not have to wait.
	Ready() bool
	// AtEnd reports that nothing is left, and that the end was read too.
	AtEnd() bool
}

func eventsOf(framing upstream.Framing, body io.Reader) events {
	if framing == upstream.EventStream {
		return eventstream.NewReader(body, sse.MaxEvent)
	}
	return sse.NewReader(body, sse.MaxEvent)
}

// stream holds a stream back until its first content, so that an error before
// that can still be replaced by another provider's answer.
func (r *Runner) stream(f *flight, reply *call.Reply, framing upstream.Framing, response upstream.Response, codec upstream.Codec) *upstream.Failure {
	if failure := r.notStream(f, response, codec); failure != nil {
		return failure
	}
	l := &live{flight: f, body: response.Body, events: eventsOf(framing, response.Body), codec: codec}
	l.hold(r.limits)
	if l.end != nil && !l.content {
		return l.failed()
	}
	f.arrived()
	f.watch.off()
	if !l.content {
		l.due = f.started.Add(f.trial.firstByte)
	}
	reply.Stream = true
	reply.Header["Content-Type"] = isEvents
	reply.Body, reply.Pieces = l, l
	return nil
}

// notStream recognizes a plain JSON answer, which is an error told with a 200,
// or the work of a provider that does not stream. Other types are read as a
// stream whatever they call themselves: what counts is what comes.
func (r *Runner) notStream(f *flight, response upstream.Response, codec upstream.Codec) *upstream.Failure {
	if response.MediaType != jsonType {
		return nil
	}
	body, failure := r.read(f, response)
	if failure != nil {
		return failure
	}
	if _, failure = codec.Whole(body); failure != nil {
		return failure
	}
	return upstream.Fail(upstream.WrongType, errNotStream)
}

// live is a stream whose head went out or is about to.
type live struct {
	flight *flight
	body   io.Closer
	events events
	codec  upstream.Codec

	held      []byte
	together  []byte // events that arrived in one read, gathered
	content   bool
	said      int       // events that carried data; comments only say that somebody is there
	due       time.Time // when the first content must be here; zero: it is
	last      bool      // the terminal marker was handed on
	end       *ending
	ahead     *lookahead // still waiting for the first content; nil otherwise
	overtaken bool       // the head goes out before the lookahead is over
	unread    leftover   // of Read
}

// ending is how a stream ended: failure is nil when it is complete.
type ending struct{ failure *upstream.Failure }

// failed is the failure of a stream that ended without content.
func (l *live) failed() *upstream.Failure {
	if l.end.failure != nil {
		return l.end.failure
	}
	return upstream.Fail(upstream.EmptyReply, nil)
}

// step reads one event and returns what the caller gets of it.
func (l *live) step() (upstream.Piece, *ending) {
	if l.last {
		l.drain()
		return upstream.Piece{}, &ending{}
	}
	event, err := l.events.Next()
	if err != nil {
		return l.finish(err)
	}
	if event.Data != nil {
		l.said++
	}
	piece, failure := l.codec.Event(event)
	if failure != nil {
		failure.Status = l.flight.status
		return upstream.Piece{}, &ending{failure: failure}
	}
	l.last = piece.Last
	return piece, nil
}

// finish judges the end of the bytes. A stream that said all it had to is
// complete even if the connection then broke.
func (l *live) finish(err error) (upstream.Piece, *ending) {
	if errors.Is(err, sse.ErrTooLarge) {
		return upstream.Piece{}, &ending{failure: upstream.Fail(upstream.EventTooLarge, err)}
	}
	missing, failure := l.codec.End()
	if failure == nil {
		l.last = true
		// Formats without a terminal marker tell why they ended at the end alone.
		return upstream.Piece{Bytes: missing, Content: len(missing) > 0}, &ending{}
	}
	if !errors.Is(err, io.EOF) {
		failure = l.flight.watch.failure(err, failure.Class)
	}
	failure.Status = l.flight.status
	return upstream.Piece{}, &ending{failure: failure}
}

const (
	drainFor    = 100 * time.Millisecond
	drainEvents = 8
)

// drain reads what follows the terminal marker, so that the connection can be
// used again. A provider that keeps it open is not waited for.
func (l *live) drain() {
	l.flight.watch.arm(drainFor, upstream.IdleTimeout)
	for range drainEvents {
		if _, err := l.events.Next(); err != nil {
			return
		}
	}
}

// Next implements call.Pieces.
func (l *live) Next() ([]byte, error) {
	if l.overtaken {
		// The head goes out now, with what there is, which may be nothing.
		l.overtaken = false
		held := l.held
		l.held = nil
		return held, nil
	}
	if l.ahead != nil {
		l.catchUp()
	}
	if len(l.held) > 0 {
		l.together, l.held = l.held, nil // its memory serves for what comes next
		return l.together, nil
	}
	for l.end == nil {
		if l.end = l.arm(); l.end != nil {
			break
		}
		var piece upstream.Piece
		piece, l.end = l.step()
		l.flight.watch.off()
		l.noted(piece.Content)
		if len(piece.Bytes) > 0 {
			return l.gather(piece), nil
		}
	}
	l.flight.settle(l.end.failure, l.codec.Seen())
	if l.end.failure != nil {
		return nil, l.end.failure.Fault
	}
	return nil, io.EOF
}

// Ended reports that the stream is complete with what Next returned last, and
// that its end is at hand too: nothing has to be waited for.
func (l *live) Ended() bool {
	switch {
	case l.overtaken || l.ahead != nil || len(l.held) > 0:
		return false
	case l.end != nil:
		return l.end.failure == nil
	}
	return l.last && l.events.AtEnd()
}

// arm starts the limit on the next event, or says that its time is over: what
// was read already comes without waiting, so no timer ends a flood. The limit
// on the first content goes on when the head went out without any, since a
// provider that gives signs of life and nothing else has not answered.
func (l *live) arm() *ending {
	limit, class := l.flight.runner.limits.Idle, upstream.IdleTimeout
	now := l.flight.runner.deps.Now()
	if left := l.due.Sub(now); !l.due.IsZero() && left < limit {
		limit, class = left, upstream.FirstByteTimeout
	}
	return l.flight.allow(now, limit, class)
}

// allow starts a limit on the next read, or says that the time is over.
func (f *flight) allow(now time.Time, limit time.Duration, class upstream.Class) *ending {
	if left := f.trial.deadline.Sub(now); left < limit {
		limit, class = left, upstream.RequestTimeout
	}
	if limit <= 0 {
		return &ending{failure: upstream.Fail(class, nil)}
	}
	f.watch.arm(limit, class)
	return nil
}

// noted ends the wait for the first content.
func (l *live) noted(content bool) {
	if content && !l.due.IsZero() {
		l.due = time.Time{}
		l.flight.arrived()
	}
}

// gatherMost bounds what goes out in one write.
const gatherMost = 16 << 10

// gather joins a piece with the events that arrived together with it: each
// write is a system call, and none of them can be any earlier.
func (l *live) gather(first upstream.Piece) []byte {
	if l.last || len(first.Bytes) >= gatherMost || !l.events.Ready() {
		return first.Bytes
	}
	if cap(l.together) > 2*gatherMost {
		l.together = nil // one large event must not be carried for the whole stream
	}
	var content bool
	l.together, content, l.end = l.join(append(l.together[:0], first.Bytes...), l.end)
	l.noted(content)
	return l.together
}

// join appends to pieces what of the stream is at hand, and reports whether
// there is content in it. The stream has ended with end, or not yet.
func (l *live) join(pieces []byte, end *ending) (joined []byte, content bool, _ *ending) {
	for end == nil && !l.last && len(pieces) < gatherMost && l.events.Ready() {
		var piece upstream.Piece
		piece, end = l.step()
		content = content || piece.Content
		pieces = append(pieces, piece.Bytes...)
	}
	return pieces, content, end
}

// Read implements io.Reader over the pieces.
func (l *live) Read(p []byte) (int, error) { return l.unread.read(p, l) }

// leftover is what a reader of pieces has not taken of the last one.
type leftover []byte

func (u *leftover) read(p []byte, from call.Pieces) (int, error) {
	for len(*u) == 0 {
		piece, err := from.Next()
		if err != nil {
			return 0, err
		}
		*u = piece
	}
	n := copy(p, *u)
	*u = (*u)[n:]
	return n, nil
}

// Close implements io.Closer. A stream that is closed before its end was left
// by the caller.
func (l *live) Close() error {
	l.flight.watch.end()
	if l.ahead != nil {
		<-l.ahead.ready
		l.ahead = nil
	}
	if !l.flight.settled {
		l.flight.settle(upstream.Fail(upstream.CallerGone, nil), l.codec.Seen())
	}
	return l.body.Close()
}
