package upstream

import (
	"bytes"
	"io"
	"sync"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
)

// Body is what is sent to a provider: pieces of memory, one after the other,
// so that a large body of which little changes is not copied. The zero value
// is empty. It can be opened any number of times.
type Body struct {
	pieces [][]byte
	store  call.Storage // holds some of the pieces; nil when memory holds all
}

// Bytes is a body in one piece.
func Bytes(b []byte) Body { return Body{pieces: [][]byte{b}} }

// Pieces is a body in several, some of them in store, which may be nil.
func Pieces(store call.Storage, pieces ...[]byte) Body { return Body{pieces: pieces, store: store} }

// Len is the length in bytes.
func (b Body) Len() int64 {
	var n int64
	for _, p := range b.pieces {
		n += int64(len(p))
	}
	return n
}

// Join returns the body in one piece, copied unless it is in one already.
func (b Body) Join() []byte {
	if len(b.pieces) == 1 {
		return b.pieces[0]
	}
	out := make([]byte, 0, b.Len())
	for _, p := range b.pieces {
		out = append(out, p...)
	}
	return out
}

// smallBody is the size up to which pieces are joined to be sent.
const smallBody = 64 << 10

// Open returns a reader from the start. It must be closed: until then the
// storage is kept, also after the request is over, because net/http may still
// read a body whose answer came early.
func (b Body) Open() io.ReadCloser {
	if b.store != nil {
		b.store.Retain()
	} else if len(b.pieces) == 1 || b.Len() <= smallBody {
		// Of a reader that it knows to be in memory net/http sends the start together
		// with the head. Before any other it flushes the head: a system call, and a
		// packet, for each request.
		return io.NopCloser(bytes.NewReader(b.Join()))
	}
	return &bodyReader{pieces: b.pieces, store: b.store}
}

// bodyReader may be closed while it is read, as HTTP/2 does it: its memory must
// not be let go of under a copy.
type bodyReader struct {
	mu     sync.Mutex
	pieces [][]byte
	at     int // in the first piece
	store  call.Storage
	closed bool
}

// Read implements io.Reader.
func (r *bodyReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return 0, io.ErrClosedPipe
	}
	for len(r.pieces) > 0 {
		n := copy(p, r.pieces[0][r.at:])
		r.at += n
		if r.at == len(r.pieces[0]) {
			r.pieces, r.at = r.pieces[1:], 0
		}
		if n > 0 || len(p) == 0 {
			return n, nil
		}
	}
	return 0, io.EOF
}

// Close implements io.Closer.
func (r *bodyReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed && r.store != nil {
		r.store.Release()
	}
	r.closed = true
	return nil
}
