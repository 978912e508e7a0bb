package socket_test

import (
	"testing"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/call/calltest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/socket/sockettest"
)

func TestFrames(t *testing.T) {
	t.Run("dialed", func(t *testing.T) { calltest.RunFrames(t, sockettest.Pair) })
	t.Run("accepted", func(t *testing.T) {
		calltest.RunFrames(t, func(t *testing.T) (side, other call.Frames) {
			other, side = sockettest.Pair(t)
			return side, other
		})
	})
}
