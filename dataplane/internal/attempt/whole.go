package attempt

import (
	"bytes"
	"errors"
	"io"

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

// whole reads a plain reply to its end before it counts as one, so that a
// reply which breaks off can still be replaced by another provider's.
func (r *Runner) whole(f *flight, reply *call.Reply, response upstream.Response, codec upstream.Codec) *upstream.Failure {
	f.arrived()
	f.watch.arm(r.limits.Reply-f.firstByte, upstream.ReplyTimeout)
	if response.MediaType == eventStream {
		return upstream.Fail(upstream.WrongType, nil)
	}
	body, failure := r.read(f, response)
	if failure != nil {
		return failure
	}
	out, failure := codec.Whole(body)
	if failure != nil {
		return failure
	}
	_ = response.Body.Close() // read to its end
	reply.Header["Content-Type"] = []string{jsonType}
	plain := &plain{Reader: bytes.NewReader(out), rest: out}
	reply.Body, reply.Pieces = plain, plain
	f.settle(nil, codec.Seen())
	return nil
}

// read reads a body to its end, within the limit on replies.
func (r *Runner) read(f *flight, response upstream.Response) ([]byte, *upstream.Failure) {
	var buf bytes.Buffer
	buf.Grow(int(min(max(response.Length, 0), sizeHint)) + bytes.MinRead)
	n, err := buf.ReadFrom(io.LimitReader(response.Body, r.limits.ReplyBytes+1))
	switch {
	case err != nil:
		return nil, f.watch.failure(err, upstream.TruncatedReply)
	case n > r.limits.ReplyBytes:
		return nil, upstream.Fail(upstream.ReplyTooLarge, nil)
	case len(bytes.TrimSpace(buf.Bytes())) == 0:
		return nil, upstream.Fail(upstream.EmptyReply, nil)
	}
	return buf.Bytes(), nil
}

// plain is a reply that is there in full.
type plain struct {
	*bytes.Reader
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
