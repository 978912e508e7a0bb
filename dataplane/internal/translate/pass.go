package translate

import (
	"bytes"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

// pass hands an answer on in the format in which it came, with the model's
// name replaced where the observer says that it stands. It implements
// upstream.Codec.
type pass struct {
	observer  dialect.Observer
	model     []byte // the canonical id, as JSON
	input     int64  // estimate of the input, in tokens
	out       []byte // the edited event
	done      bool   // the terminal event came
	malformed int
}

func newPass(observer dialect.Observer, c *call.Call, model string) *pass {
	return &pass{observer: observer, model: rawjson.Quote(model), input: inputOf(c)}
}

// Whole implements upstream.Codec.
func (p *pass) Whole(body []byte) ([]byte, *upstream.Failure) {
	sight, err := p.observer.Whole(body)
	switch {
	case err != nil:
		return nil, upstream.Fail(upstream.MalformedReply, err)
	case sight.Failure != nil:
		return nil, sight.Failure
	}
	dst := make([]byte, 0, len(body)+len(sight.Models)*len(p.model))
	return p.edited(dst, body, sight.Models, dialect.Span{}, func(i int) int { return i }), nil
}

// Event implements upstream.Codec.
func (p *pass) Event(e sse.Event) (upstream.Piece, *upstream.Failure) {
	if cap(p.out) > maxOutKept {
		p.out = nil
	}
	if len(bytes.TrimSpace(e.Data)) == 0 && string(e.Name) != "error" {
		if e.Partial {
			return upstream.Piece{}, nil
		}
		return upstream.Piece{Bytes: e.Raw}, nil
	}
	sight, err := p.observer.Event(e.Name, e.Data)
	switch {
	case err != nil:
		// What cannot be read is left out: passed on, it would end the stream in
		// the caller's client. A partial last event was simply cut.
		if !e.Partial {
			p.malformed++
		}
		return upstream.Piece{}, nil
	case sight.Failure != nil:
		return upstream.Piece{}, sight.Failure
	case sight.Drop:
		return upstream.Piece{}, nil
	}
	p.done = p.done || sight.Last
	raw := e.Raw
	if len(sight.Models) > 0 || sight.Cut.End > 0 {
		p.out = p.edited(p.out[:0], e.Raw, sight.Models, sight.Cut, e.RawOffset)
		raw = p.out
	}
	return upstream.Piece{Bytes: framed(e, raw), Content: sight.Content, Last: sight.Last}, nil
}

// End implements upstream.Codec.
func (p *pass) End() ([]byte, *upstream.Failure) {
	if p.done {
		return nil, nil
	}
	missing, complete := p.observer.Terminal()
	if !complete {
		return nil, upstream.Fail(upstream.StreamCut, nil)
	}
	return missing, nil
}

// Seen implements call.Meter.
func (p *pass) Seen() call.Seen {
	o := p.observer.Seen()
	seen := call.Seen{
		Usage: o.Usage.Usage, ServedModel: dialect.Served(o.ServedModel), Finished: o.Finished,
		ZeroOutput: !o.Output, Malformed: p.malformed,
	}
	if !o.Usage.Known {
		seen.Usage = meter.Usage{
			Input: p.input, Output: o.Tokens, Estimated: true,
		}
	}
	return seen
}

// edited appends raw to dst with the canonical id in place of the model's
// name, and without what is cut. at tells where the bytes of the JSON stand in
// raw.
func (p *pass) edited(dst, raw []byte, models []dialect.Span, cut dialect.Span, at func(int) int) []byte {
	done := 0
	for _, m := range models {
		if cut.End > 0 && cut.End <= m.Start {
			dst = append(dst, raw[done:at(cut.Start)]...)
			done, cut = at(cut.End), dialect.Span{}
		}
		dst = append(append(dst, raw[done:at(m.Start)]...), p.model...)
		done = at(m.End)
	}
	if cut.End > 0 {
		dst = append(dst, raw[done:at(cut.Start)]...)
		done = at(cut.End)
	}
	return append(dst, raw[done:]...)
}

// maxOutKept is the size up to which the buffer for edited events is kept.
const maxOutKept = 32 << 10

// isProblem reports an "error" member that says something.
func isProblem(v []byte) bool { return len(v) > 2 && (v[0] == '{' || v[0] == '"' || v[0] == '[') }

// isBlank reports null, "", [] and {}.
func isBlank(v []byte) bool { return rawjson.IsNull(v) || len(v) == 2 && (v[0] < '0' || v[0] > '9') }
