package attempt_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// What one caller has no time for says nothing of an endpoint that serves
// others: not the caller's limit, not a profile's, not the rest of a budget.
func TestAShortLimitSaysNothingOfTheEndpoint(t *testing.T) {
	for name, c := range map[string]struct {
		caller, profile, request time.Duration
		class                    upstream.Class
		want                     health.Verdict
	}{
		"the gateway's own":          {0, 0, 0, upstream.FirstByteTimeout, health.Failed},
		"the caller's":               {5 * time.Second, 0, 0, upstream.FirstByteTimeout, health.Neutral},
		"the caller's, longer":       {90 * time.Second, 0, 0, upstream.FirstByteTimeout, health.Failed},
		"a profile's":                {0, 59 * time.Second, 0, upstream.FirstByteTimeout, health.Neutral},
		"a profile's, as the own":    {0, 60 * time.Second, 0, upstream.FirstByteTimeout, health.Failed},
		"a short request":            {0, 0, 30 * time.Second, upstream.RequestTimeout, health.Neutral},
		"a request of hardly longer": {0, 0, 61 * time.Second, upstream.FirstByteTimeout, health.Failed},
		"a long wait, then the end":  {200 * time.Second, 0, 100 * time.Second, upstream.RequestTimeout, health.Failed},
	} {
		for _, streams := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t)
					w.model("acme/a", 0, "north")
					w.on("north", hang)
					w.plan.Timeouts.FirstByte, w.plan.Timeouts.Request = c.profile, c.request
					in := plainCall()
					in.Request.Stream, in.Request.FirstByte = streams, c.caller
					_, records, failure := w.attempt(t.Context(), in)
					require.Equal(t, fault.UpstreamTimeout, failure.Code)
					require.Equal(t, string(c.class), records[0].Failure)
					require.Equal(t, []health.Verdict{c.want}, w.verdicts())
				})
			})
		}
	}
}

// The rest of a budget that others have used up is no measure either.
func TestTheRestOfABudgetSaysNothingOfTheEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model("acme/a", 0, "a", "b")
		w.on("a", hang)
		w.on("b", hang)
		w.plan.Timeouts.Request = 100 * time.Second
		w.attempt(t.Context(), plainCall())
		require.Equal(t, []health.Verdict{health.Failed, health.Neutral}, w.verdicts(), "60 s, then 40 s")
	})
}

// Where the operator gives all of a request no longer than a first byte, an
// endpoint that hangs is seen for what it is all the same.
func TestAGatewayOfShortRequestsLearnsToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.limits.Request = 30 * time.Second
		w.model("acme/a", 0, "north")
		w.on("north", hang)
		in := plainCall()
		<-time.After(time.Millisecond) // of the stages before
		w.attempt(t.Context(), in)
		require.Equal(t, []health.Verdict{health.Failed}, w.verdicts())
	})
}

// A 429 cools the endpoint, or the workspace's own credential, whatever it says
// was used up, for as long as the provider asks for.
func TestEvery429Cools(t *testing.T) {
	for _, words := range []string{
		`{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`,
		`{"error":{"message":"The engine is currently overloaded","type":"engine_overloaded_error"}}`,
		`{"error":{"message":"slow down"}}`, ``,
	} {
		for _, use := range []decide.CredentialUse{managed, first} {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.model("acme/a", 0, "north", "south")
				w.credentials(use, second)
				w.on("north", func(context.Context) (upstream.Response, *upstream.Failure) {
					return upstream.Response{}, upstream.Refused(http.StatusTooManyRequests, 9*time.Second, []byte(words))
				})
				w.on("south", good(plainCall()))
				w.attempt(t.Context(), plainCall())
				require.Equal(t, []string{"north", "north", "south"}, w.calls, "the next credential, then the next endpoint")
				require.Equal(t, health.RateLimited, w.seen[0].Verdict, words)
				require.Equal(t, 9*time.Second, w.seen[0].RetryAfter)
				require.Equal(t, use.ID, w.seen[0].Credential)
			})
		}
	}
}

// A credential that cannot be opened sends nothing: it takes no attempt, and
// what others answered is told before it.
func TestACredentialThatCannotBeOpenedIsNoAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model("acme/a", 0, "a", "b", "c", "d")
		w.plan.MaxAttempts = 1
		for _, slug := range []string{"a", "b", "c"} {
			w.on(slug, fail(upstream.CredentialFault))
		}
		w.on("d", good(plainCall()))
		_, records, failure := w.attempt(t.Context(), plainCall())
		require.Nil(t, failure)
		require.Equal(t, []string{"a", "b", "c", "d"}, w.calls)
		require.Len(t, records, 2, "bounded as calls are")
		require.Equal(t, "d", records[1].Provider)
		require.Empty(t, records[1].Failure)
	})
	for name, c := range map[string]struct {
		a, b answer
		want fault.Code
	}{
		"before a limit":         {fail(upstream.CredentialFault), refuse(429, 7*time.Second), fault.UpstreamRateLimited},
		"after a limit":          {refuse(429, 7*time.Second), fail(upstream.CredentialFault), fault.UpstreamRateLimited},
		"after a failure":        {refuse(500, 0), fail(upstream.CredentialFault), fault.UpstreamServerError},
		"alone":                  {fail(upstream.CredentialFault), fail(upstream.CredentialFault), fault.UpstreamCredentialRejected},
		"where nothing can come": {fail(upstream.CannotCarry), fail(upstream.CredentialFault), fault.UpstreamCredentialRejected},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.model("acme/a", 0, "north", "south")
				w.on("north", c.a)
				w.on("south", c.b)
				_, _, failure := w.attempt(t.Context(), plainCall())
				require.Equal(t, c.want, failure.Code)
				if c.want == fault.UpstreamRateLimited {
					require.Equal(t, 7*time.Second, failure.RetryAfter)
				}
			})
		})
	}
}

// Who waits longer for the first byte waits as much longer for the whole.
func TestALongWishLengthensTheReply(t *testing.T) {
	late := func(head, rest time.Duration) answer {
		return func(ctx context.Context) (upstream.Response, *upstream.Failure) {
			<-time.After(head)
			return ok("application/json", step{data: okPlain[:10]}, step{pause: rest}, step{data: okPlain[10:]})(ctx)
		}
	}
	for name, c := range map[string]struct {
		wish, head, rest time.Duration
		reason           fault.Reason
	}{
		"a late head":            {290 * time.Second, 200 * time.Second, 0, ""},
		"and a body":             {220 * time.Second, 200 * time.Second, 90 * time.Second, ""},
		"no longer than that":    {70 * time.Second, 65 * time.Second, 126 * time.Second, fault.ReplyTimeout},
		"a short wish is no cut": {5 * time.Second, 4 * time.Second, 170 * time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.model("acme/a", 0, "north")
				w.on("north", late(c.head, c.rest))
				in := plainCall()
				in.Request.FirstByte = c.wish
				_, _, failure := w.attempt(t.Context(), in)
				if c.reason == "" {
					require.Nil(t, failure)
					return
				}
				require.Equal(t, c.reason, failure.Reason)
			})
		})
	}
}

// What the gateway itself would not wait for is no caller who left.
func TestACallThatIsCutShortSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model("acme/a", 0, "north")
		w.on("north", hang)
		ctx, cancel := context.WithTimeoutCause(t.Context(), 800*time.Millisecond, fault.New(fault.UpstreamTimeout, "too long"))
		defer cancel()
		_, records, failure := w.attempt(ctx, plainCall())
		require.Equal(t, fault.UpstreamTimeout, failure.Code)
		require.Equal(t, "cut_short", records[0].Failure)
		require.Equal(t, []health.Verdict{health.Neutral}, w.verdicts())
	})
}
