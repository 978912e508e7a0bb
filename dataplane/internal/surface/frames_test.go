package surface_test

import (
	"testing"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/call/calltest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/socket/sockettest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface"
)

func TestFrames(t *testing.T) {
	calltest.RunFrames(t, func(t *testing.T) (side, other call.Frames) {
		dialed, accepted := sockettest.Pair(t)
		return surface.Told(accepted), dialed
	})
}
