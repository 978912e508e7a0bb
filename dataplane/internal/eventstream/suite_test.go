package eventstream_test

import (
	"io"
	"testing"

	"github.com/signalbox-dev/signalbox/dataplane/internal/attempt/attempttest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/eventstream"
)

func TestReader(t *testing.T) {
	attempttest.RunEvents(t, attempttest.Framing{
		New:   func(src io.Reader, limit int) attempttest.Reader { return eventstream.NewReader(src, limit) },
		Frame: func(name, data string) []byte { return event(t, name, data) },
	})
}
