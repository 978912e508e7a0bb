package eventstream_test

import (
	"io"
	"testing"

	"github.com/signalbox-dev/signalbox/dataplane/internal/eventstream"
	"github.com/signalbox-dev/signalbox/dataplane/internal/sse/ssetest"
)

func TestReader(t *testing.T) {
	ssetest.Run(t, ssetest.Framing{
		New:   func(src io.Reader, limit int) ssetest.Reader { return eventstream.NewReader(src, limit) },
		Frame: func(name, data string) []byte { return event(t, name, data) },
	})
}
