package attempt_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

func job(action call.Action) call.Call {
	c := plainCall()
	c.Surface, c.Action, c.Owned = catalog.Videos, action, call.Owned{ID: "up-1"}
	return c
}

// TestAJobIsNotMadeTwice: after each of these nobody can tell whether the
// provider took the job, so nobody else is asked.
func TestAJobIsNotMadeTwice(t *testing.T) {
	for class, reason := range map[upstream.Class]fault.Reason{
		upstream.Reset: "", upstream.BadHead: "", upstream.TruncatedReply: "", upstream.MalformedReply: "",
		upstream.EmptyReply: "", upstream.WrongType: "", upstream.BadEncoding: "", upstream.ReplyTooLarge: "",
		upstream.FirstByteTimeout: fault.ReplyTimeout, upstream.ReplyTimeout: fault.ReplyTimeout,
		upstream.StatusTimeout: fault.ReplyTimeout, upstream.RequestTimeout: fault.ReplyTimeout,
		upstream.ServerError: "", upstream.ErrorInReply: "", upstream.Redirected: "",
	} {
		t.Run(string(class), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.model("acme/film", 0, "north", "south")
				w.model("acme/other", 0, "east")
				w.retries(3)
				w.on("north", fail(class))
				_, records, failure := w.attempt(t.Context(), job(call.Generate))
				require.Equal(t, []string{"north"}, w.calls)
				require.Equal(t, fault.SubmissionUnknown, failure.Code)
				require.Equal(t, reason, failure.Reason)
				require.False(t, failure.Retryable)
				require.Equal(t, string(class), records[0].Failure, "the record says what happened")
			})
		})
	}
}

// TestWhichStatusesSayThatNothingWasTaken: a 4xx and a 503 do.
func TestWhichStatusesSayThatNothingWasTaken(t *testing.T) {
	for status, moves := range map[int]bool{
		401: true, 404: true, 408: true, 429: true, 503: true,
		302: false, 500: false, 502: false, 504: false, 529: false,
	} {
		for _, s := range []catalog.Surface{catalog.Videos, catalog.Music, catalog.Batches, catalog.Files} {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.model("acme/film", 0, "north", "south")
				w.on("north", refuse(status, 0))
				w.on("south", refuse(400, 0))
				c := job(call.Generate)
				c.Surface, c.Owned = s, call.Owned{}
				_, _, failure := w.attempt(t.Context(), c)
				require.Equal(t, moves, len(w.calls) == 2, "%s after %d", s, status)
				require.Equal(t, !moves, failure.Code == fault.SubmissionUnknown, "%s after %d", s, status)
			})
		}
	}
}

func TestAJobThatWasRefusedIsMadeElsewhere(t *testing.T) {
	for name, refused := range map[string]answer{
		"no connection": fail(upstream.ConnectFailed), "rate limit": refuse(429, 0), "overloaded": refuse(503, 0),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.model("acme/film", 0, "north", "south")
				w.on("north", refused)
				w.on("south", refuse(400, 0))
				_, _, failure := w.attempt(t.Context(), job(call.Generate))
				require.Equal(t, []string{"north", "south"}, w.calls)
				require.Equal(t, fault.UpstreamRejected, failure.Code)
			})
		})
	}
}

func TestAskingForAJobMayBeRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model("acme/film", 0, "north")
		w.retries(1)
		w.on("north", fail(upstream.Reset), refuse(404, 0), refuse(410, 0))
		for range 2 { // not there, and no longer
			_, _, failure := w.attempt(t.Context(), job(call.Get))
			require.Equal(t, fault.NotFound, failure.Code)
		}
		require.Equal(t, []string{"north", "north", "north"}, w.calls)
		require.Equal(t, []health.Verdict{health.Failed, health.Neutral, health.Neutral}, w.verdicts(), "the endpoint is fine")
	})
}
