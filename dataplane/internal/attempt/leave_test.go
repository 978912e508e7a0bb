package attempt_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

func TestCallerLeaves(t *testing.T) {
	for name, c := range map[string]struct {
		answer answer
		stream bool
	}{
		"before the head":        {hang, false},
		"before the head, sse":   {hang, true},
		"in a plain body":        {ok("application/json", step{data: okPlain[:10]}, step{hang: true}), false},
		"before the content":     {sse(step{data: role}, step{hang: true}), true},
		"while a retry is due":   {refuse(429, 100*time.Second), false},
		"in an error-body wait ": {refuse(500, 250*time.Second), false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.model("acme/a", 0, "north")
				w.retries(1)
				w.on("north", c.answer)
				ctx, leave := context.WithCancel(t.Context())
				time.AfterFunc(3*time.Second, leave)
				in := plainCall()
				in.Request.Stream = c.stream
				_, _, failure := w.attempt(ctx, in)
				require.Equal(t, fault.ClientClosed, failure.Code)
				require.Equal(t, 3*time.Second, time.Since(in.Received), "at once")
				require.Len(t, w.calls, 1, "nobody else is asked")
				require.Zero(t, w.unfinished())
				require.NotContains(t, w.verdicts()[len(w.verdicts())-1:], health.Succeeded)
				if !strings.Contains(name, "retry") && !strings.Contains(name, "wait") {
					require.Equal(t, []health.Verdict{health.Neutral}, w.verdicts())
				}
			})
		})
	}
}

func TestCallerLeavesAStream(t *testing.T) {
	for name, steps := range map[string][]step{
		"between events":     {{data: hello}, {hang: true}},
		"in an event":        {{data: hello + hello[:10]}, {hang: true}},
		"before any content": {{data: role}, {hang: true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.model("acme/a", 0, "north")
				w.on("north", sse(steps...))
				ctx, leave := context.WithCancel(t.Context())
				reply, _, failure := w.attempt(ctx, streamCall())
				require.Nil(t, failure)
				time.AfterFunc(time.Second, leave)
				began := time.Now()
				_, failure = read(t, reply)
				require.Equal(t, fault.ClientClosed, failure.Code)
				require.Equal(t, time.Second, time.Since(began))
				require.Equal(t, []health.Verdict{health.Neutral}, w.verdicts())
				require.Equal(t, "caller_gone", reply.Attempts[0].Failure)
				require.True(t, reply.Meter.Seen().Usage.Estimated, "billed for what was seen")
				require.Zero(t, w.unfinished())
			})
		})
	}
}

func TestClosingAStreamEndsTheUpstreamCall(t *testing.T) {
	for name, steps := range map[string][]step{
		"after content":  {{data: hello}, {hang: true}},
		"without any":    {{data: role}, {hang: true}},
		"with more left": say(hello, hello, hello),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.model("acme/a", 0, "north")
				w.on("north", sse(steps...))
				reply, _, failure := w.attempt(t.Context(), streamCall())
				require.Nil(t, failure)
				buf := make([]byte, 7)
				_, err := io.ReadFull(reply.Body, buf)
				require.NoError(t, err)
				require.NoError(t, reply.Body.Close())
				require.Zero(t, w.unfinished())
				require.Equal(t, []health.Verdict{health.Neutral}, w.verdicts())
				require.NoError(t, reply.Body.Close(), "closing twice is allowed")
				require.Len(t, w.verdicts(), 1)
			})
		})
	}
}

func TestShutdownCauseIsTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model("acme/a", 0, "north")
		w.on("north", hang)
		ctx, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { stop(fault.New(fault.GatewayError, "shutting down")) })
		_, _, failure := w.attempt(ctx, plainCall())
		require.Equal(t, fault.GatewayError, failure.Code)
		require.Equal(t, []health.Verdict{health.Neutral}, w.verdicts())
	})
}
