package attempt

import (
	"errors"
	"io"
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// passedAtOnce is how much of an opaque reply is held, in bytes.
const passedAtOnce = 32 << 10

// unsaid is the type of bytes of which nothing is known (RFC 9110, section
// 8.3). Without one net/http would guess.
var unsaid = []string{"application/octet-stream"}

// open reads an answer that may be of any type: events and JSON as ever,
// everything else as it comes.
func (r *Runner) open(f *flight, reply *call.Reply, framing upstream.Framing, response upstream.Response, codec upstream.Codec) *upstream.Failure {
	switch media := response.MediaType; {
	case media == eventStream:
		return r.stream(f, reply, framing, response, codec)
	case media == jsonType, strings.HasSuffix(media, "+json"):
		return r.whole(f, reply, false, response, codec)
	}
	return r.opaque(f, reply, false, response, codec)
}

// opaque hands an answer on piece by piece. Its first bytes are here before it
// counts as one, so that an empty or broken reply can still be replaced by
// another provider's. blank says that it may be empty.
func (r *Runner) opaque(f *flight, reply *call.Reply, blank bool, response upstream.Response, codec upstream.Codec) *upstream.Failure {
	p := &passing{flight: f, body: response.Body, codec: codec, buf: make([]byte, passedAtOnce)}
	for p.n == 0 && p.err == nil {
		p.n, p.err = p.body.Read(p.buf)
	}
	switch {
	case p.err != nil && !errors.Is(p.err, io.EOF):
		return f.watch.failure(p.err, upstream.TruncatedReply)
	case p.n == 0 && !blank:
		return upstream.Fail(upstream.EmptyReply, nil)
	}
	f.arrived()
	f.watch.off()
	if reply.Header.Get("Content-Type") == "" {
		reply.Header["Content-Type"] = unsaid
	}
	reply.Opaque = true
	reply.Body, reply.Pieces = p, p
	return nil
}

// passing is an opaque reply whose head went out or is about to.
type passing struct {
	flight *flight
	body   io.ReadCloser
	codec  upstream.Codec

	buf    []byte
	n      int   // bytes of buf that were read and not handed on
	err    error // what the body's last read ended in
	end    *ending
	unread leftover // of Read
}

// Next implements call.Pieces. Between two reads nothing runs out: a slow
// caller slows the provider.
func (p *passing) Next() ([]byte, error) {
	for p.n == 0 && p.end == nil {
		if p.err != nil {
			p.end = p.finish()
			break
		}
		if p.end = p.flight.allow(p.flight.runner.deps.Now(), p.flight.runner.limits.Idle, upstream.IdleTimeout); p.end != nil {
			break
		}
		p.n, p.err = p.body.Read(p.buf)
		p.flight.watch.off()
	}
	if p.n > 0 {
		piece := p.buf[:p.n]
		p.n = 0
		return piece, nil
	}
	p.flight.settle(p.end.failure, p.codec.Seen())
	if p.end.failure != nil {
		return nil, p.end.failure.Fault
	}
	return nil, io.EOF
}

// finish judges the end of the bytes.
func (p *passing) finish() *ending {
	if errors.Is(p.err, io.EOF) {
		return &ending{}
	}
	failure := p.flight.watch.failure(p.err, upstream.TruncatedReply)
	failure.Status = p.flight.status
	return &ending{failure: failure}
}

// Read implements io.Reader over the pieces.
func (p *passing) Read(b []byte) (int, error) { return p.unread.read(b, p) }

// Close implements io.Closer. A reply that is closed before its end was left by
// the caller.
func (p *passing) Close() error {
	p.flight.watch.end()
	p.flight.settle(upstream.Fail(upstream.CallerGone, nil), p.codec.Seen())
	return p.body.Close()
}
