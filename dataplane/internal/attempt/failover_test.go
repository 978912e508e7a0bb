package attempt_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

func TestFirstCandidateAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model("acme/a", 0, "north", "south")
		w.on("north", plain(okPlain))
		reply, records, failure := w.attempt(t.Context(), plainCall())
		require.Nil(t, failure)
		require.False(t, reply.Stream)
		require.Equal(t, http.StatusOK, reply.Status)
		require.Equal(t, "north", reply.Candidate.Provider.Slug)
		text, failure := read(t, reply)
		require.Nil(t, failure)
		want := strings.Replace(okPlain, `"up"`, `"acme/a"`, 1)
		require.Equal(t, []byte(want), []byte(text), "byte for byte")
		require.EqualValues(t, 3, reply.Meter.Seen().Usage.Input)
		require.Len(t, records, 1)
		require.Equal(t, "first_choice", records[0].Reason)
		require.Equal(t, decide.CredentialNone, records[0].Credential)
		require.Equal(t, http.StatusOK, records[0].Status)
		require.Empty(t, records[0].Failure)
		require.Equal(t, []health.Verdict{health.Succeeded}, w.verdicts())
		require.EqualValues(t, 2, w.seen[0].OutputTokens)
	})
}

func TestEveryTryIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model("acme/a", 0, "north", "south")
		w.model("acme/b", 0, "east")
		w.retries(1)
		w.on("north", refuse(503, 0))
		w.on("south", fail(upstream.TLSFailed))
		w.on("east", good(plainCall()))
		reply, records, failure := w.attempt(t.Context(), plainCall())
		require.Nil(t, failure)
		require.Equal(t, "acme/b", reply.Step.Model.ID)
		require.Equal(t, records, reply.Attempts)
		var reasons, failures []string
		var statuses []int
		for _, r := range records {
			reasons, failures, statuses = append(reasons, r.Reason), append(failures, r.Failure), append(statuses, r.Status)
		}
		require.Equal(t, []string{"first_choice", "retry", "fallback_provider", "fallback_model"}, reasons)
		require.Equal(t, []string{"server_error", "server_error", "tls_failed", ""}, failures)
		require.Equal(t, []int{503, 503, 0, 200}, statuses)
	})
}

func TestAnErrorBeforeTheFirstContentFallsBack(t *testing.T) {
	big := ": " + strings.Repeat("x", 30<<10) + "\n\n"
	for name, c := range map[string]struct {
		first answer
		class upstream.Class
	}{
		"first event":             {sse(say(failed)...), upstream.ErrorInStream},
		"rate limit, first event": {sse(say(limited)...), upstream.RateLimited},
		"event: error":            {sse(say("event: error\n" + failed)...), upstream.ErrorInStream},
		"text, no JSON":           {sse(say("event: error\ndata: exploded\n\n")...), upstream.ErrorInStream},
		"after the role":          {sse(say(role, failed)...), upstream.ErrorInStream},
		"after comments":          {sse(say(": a\n\n", big, role, failed)...), upstream.ErrorInStream},
		"bare JSON":               {sse(say(`{"error":{"message":"boom"}}` + "\n")...), upstream.ErrorInStream},
		"JSON body":               {plain(`{"error":{"message":"boom"}}`), upstream.ErrorInReply},
		"a whole plain reply":     {plain(okPlain), upstream.WrongType},
		"cut at once":             {sse(), upstream.StreamCut},
		"cut after the role":      {sse(say(role)...), upstream.StreamCut},
		"broken after the role":   {sse(step{data: role}, step{err: io.ErrUnexpectedEOF}), upstream.StreamCut},
		"only done":               {sse(say(done)...), upstream.EmptyReply},
		"garbage":                 {sse(say("\x00\x01garbage\n\n")...), upstream.StreamCut},
		"a huge event":            {sse(say("data: " + strings.Repeat("x", 9<<20))...), upstream.EventTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.model("acme/a", 0, "north", "south")
				w.on("north", c.first)
				w.on("south", good(streamCall()))
				reply, records, failure := w.attempt(t.Context(), streamCall())
				require.Nil(t, failure)
				require.Equal(t, string(c.class), records[0].Failure)
				require.Equal(t, http.StatusOK, records[0].Status)
				text, failure := read(t, reply)
				require.Nil(t, failure)
				require.Equal(t, strings.ReplaceAll(role+hello+finish+done, `"up"`, `"acme/a"`), text)
				require.Zero(t, w.unfinished())
			})
		})
	}
}

func TestABadPlainReplyFallsBack(t *testing.T) {
	for name, c := range map[string]struct {
		first answer
		class upstream.Class
	}{
		"error object":      {plain(`{"error":{"message":"boom"}}`), upstream.ErrorInReply},
		"error finish":      {plain(`{"choices":[{"message":{"content":"x"},"finish_reason":"error"}]}`), upstream.ErrorInReply},
		"not JSON":          {plain(`It works!`), upstream.MalformedReply},
		"cut JSON":          {plain(okPlain[:30]), upstream.MalformedReply},
		"no choices":        {plain(`{"ok":true}`), upstream.MalformedReply},
		"empty":             {plain(" \n"), upstream.EmptyReply},
		"broken connection": {ok("application/json", step{data: okPlain[:30]}, step{err: io.ErrUnexpectedEOF}), upstream.TruncatedReply},
		"bad encoding":      {ok("application/json", step{err: upstream.Fail(upstream.BadEncoding, nil)}), upstream.BadEncoding},
		"a stream":          {sse(say(hello)...), upstream.WrongType},
		"too large":         {plain(`{"x":"` + strings.Repeat("x", 2000) + `"}`), upstream.ReplyTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.limits.ReplyBytes = 1000
				w.model("acme/a", 0, "north", "south")
				w.on("north", c.first)
				w.on("south", good(plainCall()))
				reply, records, failure := w.attempt(t.Context(), plainCall())
				require.Nil(t, failure)
				require.Equal(t, string(c.class), records[0].Failure)
				require.Equal(t, "south", reply.Candidate.Provider.Slug)
				require.Zero(t, w.unfinished())
			})
		})
	}
}

func TestTheFinalFailure(t *testing.T) {
	for name, c := range map[string]struct {
		answers []answer
		code    fault.Code
		after   time.Duration
	}{
		"what happened last":           {[]answer{refuse(503, 0), fail(upstream.ConnectFailed)}, fault.UpstreamUnreachable, 0},
		"the other way round":          {[]answer{fail(upstream.ConnectFailed), refuse(503, 9*time.Second)}, fault.UpstreamServerError, 9 * time.Second},
		"every attempt rate-limited":   {[]answer{refuse(429, 20*time.Second), refuse(429, 7*time.Second)}, fault.UpstreamRateLimited, 7 * time.Second},
		"one wait is known":            {[]answer{refuse(429, 20*time.Second), refuse(429, 0)}, fault.UpstreamRateLimited, 20 * time.Second},
		"no wait is known":             {[]answer{refuse(429, 0), refuse(429, 0)}, fault.UpstreamRateLimited, 0},
		"a rate limit, but not always": {[]answer{refuse(500, 0), refuse(429, 7*time.Second)}, fault.UpstreamServerError, 0},
		"credentials":                  {[]answer{refuse(500, 0), refuse(401, 0)}, fault.UpstreamCredentialRejected, 0},
		"model unknown there":          {[]answer{refuse(404, 0), refuse(404, 0)}, fault.UpstreamServerError, 0},
		"refused at once":              {[]answer{refuse(400, 0), good(plainCall())}, fault.UpstreamRejected, 0},
		"unprocessable":                {[]answer{refuse(422, 0), good(plainCall())}, fault.UpstreamRejected, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.model("acme/a", 0, "north", "south")
				w.on("north", c.answers[0])
				w.on("south", c.answers[1])
				_, _, failure := w.attempt(t.Context(), plainCall())
				require.Equal(t, c.code, failure.Code)
				require.Equal(t, c.after, failure.RetryAfter)
				require.Equal(t, fault.Upstream, failure.Origin)
			})
		})
	}
}

func TestModelChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model("acme/a", 0, "north", "south")
		w.model("acme/b", 0, "east")
		w.on("north", refuse(503, 0))
		w.on("south", refuse(422, 0))
		w.on("east", good(plainCall()))
		_, _, failure := w.attempt(t.Context(), plainCall())
		require.Equal(t, fault.UpstreamRejected, failure.Code, "a 422 ends the chain")
		require.Equal(t, []string{"north", "south"}, w.calls)
	})
}

func TestTooLongForTheModel(t *testing.T) {
	tooLong := func(context.Context) (upstream.Response, *upstream.Failure) {
		return upstream.Response{}, upstream.Refused(400, 0, []byte(`{"error":{"code":"context_length_exceeded","message":"too long"}}`))
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model("acme/small", 8000, "north")
		w.model("acme/same", 8000, "south")
		w.model("acme/unknown", 0, "west")
		w.model("acme/large", 128000, "east")
		w.on("north", tooLong)
		w.on("east", good(plainCall()))
		_, _, failure := w.attempt(t.Context(), plainCall())
		require.Equal(t, fault.ContextLengthExceeded, failure.Code, "nobody wrote this chain out")
		require.Equal(t, []string{"north"}, w.calls)

		w.plan.Explicit, w.calls = true, nil
		reply, _, failure := w.attempt(t.Context(), plainCall())
		require.Nil(t, failure)
		require.Equal(t, "acme/large", reply.Step.Model.ID)
		require.Equal(t, []string{"north", "east"}, w.calls)

		w.model("acme/small", 8000, "west")
		w.calls = nil
		w.on("east", refuse(503, 0))
		_, _, failure = w.attempt(t.Context(), plainCall())
		require.Equal(t, fault.UpstreamServerError, failure.Code, "what is too long for one window stays too long for it")
		require.Equal(t, []string{"north", "east"}, w.calls)

		w = newWorld(t)
		w.plan.Explicit = true
		w.model("acme/large", 128000, "north", "south")
		w.model("acme/small", 8000, "east")
		w.on("north", tooLong)
		_, _, failure = w.attempt(t.Context(), plainCall())
		require.Equal(t, fault.ContextLengthExceeded, failure.Code)
		require.Equal(t, []string{"north"}, w.calls)
	})
}

func TestAttemptCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for most, want := range map[int]int{0: 8, 1: 1, 3: 3, 20: 12} {
			w := newWorld(t)
			for _, id := range []string{"acme/a", "acme/b", "acme/c"} {
				w.model(id, 0, "n"+id[5:], "s"+id[5:])
				w.on("n"+id[5:], refuse(500, 0))
				w.on("s"+id[5:], refuse(500, 0))
			}
			w.retries(1)
			w.plan.MaxAttempts = most
			_, records, failure := w.attempt(t.Context(), plainCall())
			require.Equal(t, fault.UpstreamServerError, failure.Code)
			require.Len(t, records, want)
		}
	})
}

func TestAnEmptyPlanIsABug(t *testing.T) {
	_, records, failure := newWorld(t).attempt(t.Context(), plainCall())
	require.Equal(t, fault.GatewayError, failure.Code)
	require.Empty(t, records)
}

func TestWhatCannotBeCarriedIsSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model("acme/a", 0, "north", "south")
		w.plan.Chain[0].Candidates[1].Provider.Type = "none"
		w.on("north", refuse(500, 0))
		_, records, failure := w.attempt(t.Context(), plainCall())
		require.Equal(t, fault.UpstreamServerError, failure.Code, "it does not replace the failure")
		require.Len(t, records, 1)

		w.plan.Chain[0].Candidates = w.plan.Chain[0].Candidates[1:]
		_, _, failure = w.attempt(t.Context(), plainCall())
		require.Equal(t, fault.UnsupportedModelOrEndpoint, failure.Code)
	})
}
