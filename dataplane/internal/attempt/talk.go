package attempt

import (
	"context"
	"errors"
	"io"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// talk makes a reply of a connection that was upgraded. From here on nobody
// else can take over: the caller hears that the conversation stands.
func (f *flight) talk(reply *call.Reply, response upstream.Response, codec upstream.Codec) {
	f.arrived()
	f.watch.arm(f.runner.limits.Session, upstream.RequestTimeout)
	t := &talk{flight: f, frames: response.Frames, codec: codec}
	t.speaker, _ = codec.(upstream.Speaker)
	reply.Stream, reply.Frames, reply.Body = true, t, t
}

// talk is the provider's side of a conversation, in the caller's words. It
// implements call.Frames, and io.ReadCloser for its end.
type talk struct {
	flight  *flight
	frames  call.Frames
	codec   upstream.Codec
	speaker upstream.Speaker
	end     *ending // how it ended, once Receive has said so
}

// Receive implements call.Frames. Every error but io.EOF is a *fault.Error.
func (t *talk) Receive(context.Context) (call.Frame, error) {
	for {
		frame, err := t.frames.Receive(t.flight.watch.ctx)
		switch {
		case errors.Is(err, io.EOF):
			t.end = &ending{}
			return call.Frame{}, io.EOF
		case err != nil:
			failure := t.flight.watch.failure(err, upstream.StreamCut)
			t.end = &ending{failure: failure}
			return call.Frame{}, failure.Fault
		case !frame.Text:
			return frame, nil
		}
		piece, failure := t.codec.Event(sse.Event{Raw: frame.Data, Data: frame.Data})
		if failure != nil {
			t.end = &ending{failure: failure}
			return call.Frame{}, failure.Fault
		}
		if len(piece.Bytes) > 0 {
			return call.Frame{Text: true, Data: piece.Bytes}, nil
		}
	}
}

// Send implements call.Frames.
func (t *talk) Send(ctx context.Context, f call.Frame) error {
	if f.Text && t.speaker != nil {
		f.Data = t.speaker.Said(f.Data)
	}
	return t.frames.Send(ctx, f)
}

// Alive implements call.Frames.
func (t *talk) Alive(ctx context.Context) error { return t.frames.Alive(ctx) }

// End implements call.Frames.
func (t *talk) End(why call.Ending) { t.frames.End(why) }

// Read implements io.Reader: a conversation has no body.
func (t *talk) Read([]byte) (int, error) { return 0, io.EOF }

// Close implements io.Closer, after the last use of the conversation. One that
// the provider did not end was ended by the caller.
func (t *talk) Close() error {
	t.frames.End(call.Complete)
	var failure *upstream.Failure
	if t.end != nil {
		failure = t.end.failure
	}
	t.flight.settle(failure, t.codec.Seen())
	return nil
}
