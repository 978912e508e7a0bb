package sse_test

import (
	"io"
	"testing"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/sse/ssetest"
)

func TestReader(t *testing.T) {
	ssetest.Run(t, ssetest.Framing{
		New:   func(src io.Reader, limit int) ssetest.Reader { return sse.NewReader(src, limit) },
		Frame: func(name, data string) []byte { return []byte("event: " + name + "\ndata: " + data + "\n\n") },
	})
}
