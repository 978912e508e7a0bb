// Package transcript holds what a program writes while a test reads it. It
// knows nothing of what is written.
package transcript

import (
	"bytes"
	"sync"
)

// Buffer is a bytes.Buffer for one writer and one reader at the same time. The
// zero value is ready.
type Buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// String is everything written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
