package attempt_test

import (
	"testing"

	"github.com/signalbox-dev/signalbox/dataplane/internal/attempt"
	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/call/calltest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/socket/sockettest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
)

// TestFrames holds the provider's side, as the caller's is told of it, to what
// is true of every side of a conversation.
func TestFrames(t *testing.T) {
	to := decide.Candidate{Endpoint: &catalog.Endpoint{UpstreamModel: "small-v1"}}
	calltest.RunFrames(t, func(t *testing.T) (side, other call.Frames) {
		dialed, accepted := sockettest.Pair(t)
		codec := translate.New(nil).Codec(&call.Call{Surface: catalog.Realtime}, "acme/small", to)
		return attempt.Talk(t.Context(), dialed, codec), accepted
	})
}
