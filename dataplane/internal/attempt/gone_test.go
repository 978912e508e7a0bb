package attempt_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// A job or file is at the provider's account that made it, which may be that of
// any credential: it is gone only when all of them say so.
func TestAJobIsLookedForWithEveryCredential(t *testing.T) {
	found := plain(`{"id":"up-1","object":"video","status":"completed"}`)
	unopened := fail(upstream.CredentialFault)
	for name, c := range map[string]struct {
		answers []answer
		want    fault.Code // "" for an answer
	}{
		"at the second":               {[]answer{refuse(404, 0), found}, ""},
		"at the last":                 {[]answer{refuse(404, 0), refuse(410, 0), found}, ""},
		"nowhere":                     {[]answer{refuse(404, 0), refuse(404, 0), refuse(410, 0)}, fault.NotFound},
		"behind one that is refused":  {[]answer{refuse(401, 0), found}, ""},
		"perhaps at one refused":      {[]answer{refuse(401, 0), refuse(404, 0), refuse(404, 0)}, fault.UpstreamCredentialRejected},
		"perhaps at one limited":      {[]answer{refuse(429, 0), refuse(404, 0), refuse(404, 0)}, fault.UpstreamRateLimited},
		"perhaps at the last limited": {[]answer{refuse(404, 0), refuse(404, 0), refuse(429, 0)}, fault.UpstreamRateLimited},
		"perhaps at one unopened":     {[]answer{unopened, refuse(404, 0), refuse(404, 0)}, fault.UpstreamCredentialRejected},
		"perhaps at the last":         {[]answer{refuse(404, 0), refuse(404, 0), unopened}, fault.UpstreamCredentialRejected},
		"perhaps where it fails":      {[]answer{refuse(404, 0), refuse(500, 0)}, fault.UpstreamServerError},
	} {
		for _, action := range []call.Action{call.Get, call.Content, call.Cancel, call.Delete} {
			t.Run(name+"/"+string(action), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t)
					w.model("acme/film", 0, "north")
					w.credentials(first, second, managed)
					w.plan.MaxAttempts = 1 // must not hide what is there
					w.on("north", c.answers...)
					reply, _, failure := w.attempt(t.Context(), job(action))
					require.Len(t, w.calls, len(c.answers))
					if c.want == "" {
						require.Nil(t, failure)
						require.NoError(t, reply.Body.Close())
						return
					}
					require.Equal(t, c.want, failure.Code)
					for _, verdict := range w.verdicts() {
						if c.want == fault.NotFound {
							require.Equal(t, health.Neutral, verdict, "it is no fault of the endpoint, nor of a credential")
						}
					}
				})
			})
		}
	}
}

// The file of a batch may be at another account than the first credential's.
func TestABatchIsMadeWhereItsFileIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model("acme/film", 0, "north")
		w.credentials(first, managed)
		w.on("north", refuse(404, 0), refuse(400, 0))
		c := job(call.Generate)
		c.Surface = catalog.Batches
		_, _, failure := w.attempt(t.Context(), c)
		require.Equal(t, []decide.CredentialUse{first, managed}, w.with)
		require.Equal(t, fault.UpstreamRejected, failure.Code, "whoever knows the file has the word")
	})
}

// Nobody says that something is gone when there was no time to ask everybody.
func TestAJobIsNotGoneBecauseTimeRanOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model("acme/film", 0, "north")
		w.credentials(first, managed)
		w.plan.Timeouts.Request = 5 * time.Second
		w.on("north", func(ctx context.Context) (upstream.Response, *upstream.Failure) {
			<-time.After(5 * time.Second)
			return refuse(404, 0)(ctx)
		})
		_, _, failure := w.attempt(t.Context(), job(call.Get))
		require.Len(t, w.calls, 1)
		require.Equal(t, fault.UpstreamTimeout, failure.Code)
	})
}
