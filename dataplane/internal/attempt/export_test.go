package attempt

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// Talk is the provider's side of a conversation over frames, which nothing but
// ctx limits.
func Talk(ctx context.Context, frames call.Frames, codec upstream.Codec) call.Frames {
	t := &talk{flight: &flight{watch: newWatch(ctx, time.Now().Add(time.Hour))}, frames: frames, codec: codec}
	t.speaker, _ = codec.(upstream.Speaker)
	return t
}

// VerdictOf is what a class of failure means for health; own says that the
// credential was the workspace's.
func VerdictOf(class upstream.Class, own bool) health.Verdict { return rules[class].verdictOf(own) }
