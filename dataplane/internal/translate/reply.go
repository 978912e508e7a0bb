package translate

import (
	"bytes"
	"errors"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

const (
	doneData  = "[DONE]"
	doneEvent = "data: [DONE]\n\n"
)

var errNoChoices = errors.New("reply has no choices")

// Whole implements upstream.Codec.
func (c *codec) Whole(body []byte) ([]byte, *upstream.Failure) {
	r, err := c.read(body, upstream.ErrorInReply)
	switch {
	case err != nil:
		return nil, upstream.Fail(upstream.MalformedReply, err)
	case r.failure != nil:
		return nil, r.failure
	case len(r.choices) == 0 || r.choices[0] != '[':
		return nil, upstream.Fail(upstream.MalformedReply, errNoChoices)
	}
	return c.renamed(make([]byte, 0, len(body)+len(c.model)), body, body, &r, func(i int) int { return i }), nil
}

// Event implements upstream.Codec.
func (c *codec) Event(e sse.Event) (upstream.Piece, *upstream.Failure) {
	if cap(c.out) > maxOutKept {
		c.out = nil
	}
	data := bytes.TrimSpace(e.Data)
	switch {
	case string(e.Name) == "error":
		return upstream.Piece{}, upstream.InBand(upstream.ErrorInStream, 0, data)
	case len(data) == 0:
		if e.Partial {
			return upstream.Piece{}, nil
		}
		return upstream.Piece{Bytes: e.Raw}, nil
	case string(data) == doneData:
		c.done = true
		return upstream.Piece{Bytes: framed(e, e.Raw), Last: true}, nil
	}
	r, err := c.read(e.Data, upstream.ErrorInStream)
	switch {
	case err != nil:
		// What cannot be read is left out: passed on, it would end the stream in
		// the caller's client. A partial last event was simply cut.
		if !e.Partial {
			c.malformed++
		}
		return upstream.Piece{}, nil
	case r.failure != nil:
		return upstream.Piece{}, r.failure
	case r.hasUsage && !c.wantUsage && isBlank(r.choices):
		return upstream.Piece{}, nil
	}
	raw := e.Raw
	if r.models > 0 {
		c.out = c.renamed(c.out[:0], e.Raw, e.Data, &r, e.RawOffset)
		raw = c.out
	}
	return upstream.Piece{Bytes: framed(e, raw), Content: r.content}, nil
}

// End implements upstream.Codec.
func (c *codec) End() ([]byte, *upstream.Failure) {
	switch {
	case c.done:
		return nil, nil
	case c.complete():
		return []byte(doneEvent), nil
	}
	return nil, upstream.Fail(upstream.StreamCut, nil)
}
