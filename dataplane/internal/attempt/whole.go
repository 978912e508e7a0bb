package attempt

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

const (
	eventStream = "text/event-stream"
	jsonType    = "application/json"

	// sizeHint is how far a provider's own word on a body's length is believed
	// before the body is there.
	sizeHint = 1 << 20
)

// Content types as header values, shared and never written to.
var (
	isJSON   = []string{jsonType}
	isEvents = []string{eventStream}
)

// whole reads a plain reply to its end before it counts as one, so that a
// reply which breaks off can still be replaced by another provider's. blank says
// that it may be empty; the codec then knows what to say.
func (r *Runner) whole(f *flight, reply *call.Reply, blank bool, response upstream.Response, codec upstream.Codec) *upstream.Failure {
	f.arrived()
	f.watch.arm(f.trial.reply-f.firstByte, upstream.ReplyTimeout)
	if response.MediaType == eventStream {
		return upstream.Fail(upstream.WrongType, nil)
	}
	body, failure := r.read(f, response)
	switch {
	case failure != nil && failure.Class == upstream.EmptyReply && blank:
		reply.Status = http.StatusOK // a 204 has no body, and the caller gets one
	case failure != nil:
		return failure
	}
	out, failure := codec.Whole(body)
	if failure != nil {
		return failure
	}
	_ = response.Body.Close() // read to its end
	reply.Header["Content-Type"] = isJSON
	plain := &plain{rest: out}
	plain.Reset(out)
	reply.Body, reply.Pieces = plain, plain
	f.settle(nil, codec.Seen())
	return nil
}

// read reads a body to its end, within the limit on replies.
func (r *Runner) read(f *flight, response upstream.Response) ([]byte, *upstream.Failure) {
	room := bytes.MinRead
	if response.Length > 0 {
		room = int(min(response.Length, sizeHint)) + 1 // the last read tells the end
	}
	body := make([]byte, 0, room)
	for {
		n, err := response.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case int64(len(body)) > r.limits.ReplyBytes:
			return nil, upstream.Fail(upstream.ReplyTooLarge, nil)
		case err == io.EOF && len(bytes.TrimSpace(body)) == 0:
			return nil, upstream.Fail(upstream.EmptyReply, nil)
		case err == io.EOF:
			return body, nil
		case err != nil:
			return nil, f.watch.failure(err, upstream.TruncatedReply)
		case len(body) == cap(body):
			body = slices.Grow(body, len(body))
		}
	}
}

// plain is a reply that is there in full.
type plain struct {
	bytes.Reader
	rest []byte
}

// Next implements call.Pieces.
func (p *plain) Next() ([]byte, error) {
	if len(p.rest) == 0 {
		return nil, io.EOF
	}
	piece := p.rest
	p.rest = nil
	return piece, nil
}

// Close implements io.Closer. The upstream call ended before.
func (p *plain) Close() error { return nil }

var errNotStream = errors.New("asked for a stream, got a plain reply")
