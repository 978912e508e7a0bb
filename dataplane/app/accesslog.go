package app

import (
	"bufio"
	"context"
	"io"
	"sync"
	"time"
)

// Access lines are gathered, because a system call for each request would show
// in the request path. At most this much or this long is lost with the process.
const (
	accessBuffer = 64 << 10
	accessEvery  = 200 * time.Millisecond
)

// accessLog is a buffered writer of access lines.
type accessLog struct {
	mu  sync.Mutex
	buf *bufio.Writer
}

func newAccessLog(w io.Writer) *accessLog {
	return &accessLog{buf: bufio.NewWriterSize(w, accessBuffer)}
}

// writer is where lines go; nil when access lines are off.
func (l *accessLog) writer(on bool) io.Writer {
	if !on {
		return nil
	}
	return l
}

// Write implements io.Writer.
func (l *accessLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *accessLog) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.buf.Flush() // a log that cannot be written has nowhere to say so
}

// run flushes until ctx ends, and a last time then.
func (l *accessLog) run(ctx context.Context) {
	tick := time.NewTicker(accessEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			l.flush()
			return
		case <-tick.C:
			l.flush()
		}
	}
}
