package sse_test

import (
	"io"
	"testing"

	"github.com/signalbox-dev/signalbox/dataplane/internal/attempt/attempttest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
)

func TestReader(t *testing.T) {
	attempttest.RunEvents(t, attempttest.Framing{
		New:   func(src io.Reader, limit int) attempttest.Reader { return sse.NewReader(src, limit) },
		Frame: func(name, data string) []byte { return []byte("event: " + name + "\ndata: " + data + "\n\n") },
	})
}
