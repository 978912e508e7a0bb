package httpserver

import (
	"io"
	"net/http"
	"time"
)

// LimitBody caps the request body at limit bytes and gives it within to arrive.
// Reading more fails with *http.MaxBytesError, reading longer with a timeout.
// The time limit is lifted when the body has been read, so that it does not
// end the request itself.
func LimitBody(w http.ResponseWriter, r *http.Request, limit int64, within time.Duration) {
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	control := http.NewResponseController(w)
	if within > 0 {
		// A writer without deadlines (a test recorder) has no slow client either.
		_ = control.SetReadDeadline(time.Now().Add(within))
	}
	r.Body = &timedBody{ReadCloser: http.MaxBytesReader(w, r.Body, limit), control: control}
}

type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
	lifted  bool
}

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF && !b.lifted {
		b.lifted = true
		_ = b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}
