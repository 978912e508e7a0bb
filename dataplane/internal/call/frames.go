package call

import "context"

// Frame is one message of a two-way conversation.
type Frame struct {
	Text bool // else binary
	Data []byte
}

// Frames is one side of a two-way conversation. One goroutine may receive
// while others send.
type Frames interface {
	// Receive waits for the next frame. io.EOF means that the other side ended
	// the conversation; the frame's data hold until the next call.
	Receive(ctx context.Context) (Frame, error)
	Send(ctx context.Context, f Frame) error
	// Alive asks the other side for a sign of life and waits for it. Somebody
	// must be receiving meanwhile.
	Alive(ctx context.Context) error
	// End says why the conversation ends, without waiting for long, and ends it.
	End(why Ending)
}

// Ending is why a two-way conversation ends.
type Ending int

// The endings.
const (
	Complete Ending = iota // one of the two sides had enough
	Restart                // this gateway stops: come again
	TooBig                 // a frame over the limit
	Refused                // the caller is believed no more
	Broken                 // the other side is gone
)

// Upgrader is a Sink that can turn into a two-way conversation.
type Upgrader interface {
	// Upgrade answers with head, whose status does not count, and takes the
	// connection over. After an error the caller has its answer or has gone.
	Upgrade(head Head) (Frames, error)
}
