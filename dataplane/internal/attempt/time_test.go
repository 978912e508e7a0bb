package attempt_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

func TestRetryWaits(t *testing.T) {
	for name, c := range map[string]struct {
		jitter  float64
		answers []answer
		retries int
		others  []string
		waits   time.Duration
		calls   int
	}{
		"full jitter doubles":       {1, []answer{refuse(500, 0)}, 3, nil, (250 + 500 + 1000) * time.Millisecond, 4},
		"down to nothing":           {0, []answer{refuse(500, 0)}, 2, nil, 0, 3},
		"retry-after is kept":       {0, []answer{refuse(429, 7*time.Second), good(plainCall())}, 1, nil, 7 * time.Second, 2},
		"unless it does not fit":    {0, []answer{refuse(429, 301*time.Second)}, 1, nil, 0, 1},
		"or others can be asked":    {0, []answer{refuse(429, 7*time.Second)}, 1, []string{"south"}, 0, 2},
		"a short one is waited for": {0, []answer{refuse(429, 2*time.Second), good(plainCall())}, 1, []string{"south"}, 2 * time.Second, 2},
		"one retry after a timeout": {0, []answer{hang}, 3, nil, 120 * time.Second, 2},
		"a timeout, then an error":  {0, []answer{hang, refuse(500, 0), good(plainCall())}, 3, nil, 60 * time.Second, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.jitter = c.jitter
				w.model("acme/a", 0, append([]string{"north"}, c.others...)...)
				w.retries(c.retries)
				w.on("north", c.answers...)
				w.on("south", good(plainCall()))
				began := time.Now()
				w.attempt(t.Context(), plainCall())
				require.Equal(t, c.waits, time.Since(began))
				require.Len(t, w.calls, c.calls)
			})
		})
	}
}

// What the policy ladder says of retries takes the place of the operator's
// number: more, fewer and none.
func TestTheLadderSaysHowOftenAnEndpointIsAskedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		operator int
		ladder   *int
		calls    int
	}{
		"nobody":             {0, nil, 1},
		"the operator":       {2, nil, 3},
		"the ladder, more":   {0, new(2), 3},
		"the ladder, fewer":  {3, new(1), 2},
		"the ladder, none":   {3, new(0), 1},
		"no more than three": {0, new(9), 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.model("acme/a", 0, "north")
				w.retries(c.operator)
				w.plan.Retries = c.ladder
				w.on("north", refuse(500, 0))
				w.attempt(t.Context(), plainCall())
				require.Len(t, w.calls, c.calls)
			})
		})
	}
}

func TestLimits(t *testing.T) {
	slow := func(d time.Duration) answer {
		return func(ctx context.Context) (upstream.Response, *upstream.Failure) {
			select {
			case <-time.After(d):
				return plain(okPlain)(ctx)
			case <-ctx.Done():
				return hang(ctx)
			}
		}
	}
	for name, c := range map[string]struct {
		answer answer
		stream bool
		asked  time.Duration
		reason fault.Reason
		after  time.Duration
	}{
		"no head":                    {hang, false, 0, fault.FirstByteTimeout, 60 * time.Second},
		"no head, stream":            {hang, true, 0, fault.FirstByteTimeout, 60 * time.Second},
		"asked for less":             {hang, false, 2 * time.Second, fault.FirstByteTimeout, 2 * time.Second},
		"asked for too little":       {hang, false, time.Millisecond, fault.FirstByteTimeout, time.Second},
		"asked for more":             {hang, false, 100 * time.Second, fault.FirstByteTimeout, 100 * time.Second},
		"asked for too much":         {hang, false, time.Hour, fault.RequestTimeout, 300 * time.Second},
		"head in time":               {slow(59 * time.Second), false, 0, "", 59 * time.Second},
		"plain body hangs":           {ok("application/json", step{data: okPlain[:10]}, step{hang: true}), false, 0, fault.ReplyTimeout, 180 * time.Second},
		"plain body in time":         {ok("application/json", step{data: okPlain[:10]}, step{pause: 179 * time.Second}, step{data: okPlain[10:]}), false, 0, "", 179 * time.Second},
		"head, then no content":      {sse(step{data: role}, step{hang: true}), true, 5 * time.Second, fault.FirstByteTimeout, 5 * time.Second},
		"JSON in place of a stream":  {ok("application/json", step{hang: true}), true, 0, fault.FirstByteTimeout, 60 * time.Second},
		"content in time":            {sse(step{pause: 9 * time.Second}, step{data: hello}), true, 0, "", 9 * time.Second},
		"no content, head goes out":  {sse(step{data: role}, step{hang: true}), true, 0, "", 10 * time.Second},
		"head goes out even if bare": {sse(step{hang: true}), true, 0, "", 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.model("acme/a", 0, "north")
				w.on("north", c.answer)
				in := plainCall()
				in.Request.Stream, in.Request.FirstByte = c.stream, c.asked
				reply, _, failure := w.attempt(t.Context(), in)
				require.Equal(t, c.after, time.Since(in.Received))
				if c.reason == "" {
					require.Nil(t, failure)
					require.NoError(t, reply.Body.Close())
				} else {
					require.Equal(t, fault.UpstreamTimeout, failure.Code)
					require.Equal(t, c.reason, failure.Reason)
					want := health.Failed
					if c.asked > 0 && c.asked < w.limits.FirstByte {
						want = health.Neutral // what one caller has no time for
					}
					require.Equal(t, []health.Verdict{want}, w.verdicts())
				}
				require.Zero(t, w.unfinished())
			})
		})
	}
}

func TestOneBudgetForAllAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model("acme/a", 0, "a", "b", "c", "d", "e", "f", "g")
		for _, slug := range []string{"a", "b", "c", "d", "e", "f", "g"} {
			w.on(slug, hang)
		}
		began := time.Now()
		_, records, failure := w.attempt(t.Context(), plainCall())
		require.Equal(t, 300*time.Second, time.Since(began))
		require.Len(t, records, 5)
		require.Equal(t, fault.UpstreamTimeout, failure.Code)
	})
}

func TestATimeoutAskedForTurnsTheRetryOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for asked, calls := range map[time.Duration]int{0: 2, 5 * time.Second: 1, 90 * time.Second: 2} {
			w := newWorld(t)
			w.model("acme/a", 0, "north")
			w.retries(1)
			w.on("north", hang)
			c := plainCall()
			c.Request.FirstByte = asked
			w.attempt(t.Context(), c)
			require.Len(t, w.calls, calls, asked)
		}
	})
}

// A late success wins over a limit that another attempt ran into.
func TestSuccessAfterATimeoutWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model("acme/a", 0, "north", "south")
		w.on("north", hang)
		w.on("south", good(plainCall()))
		reply, records, failure := w.attempt(t.Context(), plainCall())
		require.Nil(t, failure)
		require.Equal(t, "south", reply.Candidate.Provider.Slug)
		require.Equal(t, "first_byte_timeout", records[0].Failure)
		require.Equal(t, 60*time.Second, records[0].Duration)
	})
}

func TestStreamsThatStop(t *testing.T) {
	trickle := []step{{data: hello}}
	for range 20 {
		trickle = append(trickle, step{pause: 59 * time.Second}, step{data: hello})
	}
	for name, c := range map[string]struct {
		steps  []step
		text   string
		code   fault.Code
		reason fault.Reason
		after  time.Duration
	}{
		"silence":            {[]step{{data: hello}, {hang: true}}, hello, fault.UpstreamTimeout, fault.StreamIdle, 60 * time.Second},
		"half an event":      {[]step{{data: hello + hello[:20]}, {hang: true}}, hello, fault.UpstreamTimeout, fault.StreamIdle, 60 * time.Second},
		"cut":                {say(hello, hello), hello + hello, fault.UpstreamServerError, fault.StreamCut, 0},
		"cut in an event":    {say(hello, hello[:20]), hello, fault.UpstreamServerError, fault.StreamCut, 0},
		"reset":              {[]step{{data: hello}, {err: errors.New("reset")}}, hello, fault.UpstreamServerError, fault.StreamCut, 0},
		"error event":        {say(hello, failed, done), hello, fault.UpstreamServerError, "", 0},
		"rate limit":         {say(hello, limited), hello, fault.UpstreamRateLimited, "", 0},
		"a huge event":       {say(hello, "data: "+strings.Repeat("x", 9<<20)), hello, fault.UpstreamServerError, fault.EventTooLarge, 0},
		"for too long":       {trickle, strings.Repeat(hello, 6), fault.UpstreamTimeout, fault.RequestTimeout, 300 * time.Second},
		"silence at first":   {[]step{{data: role}, {hang: true}}, role, fault.UpstreamTimeout, fault.FirstByteTimeout, 60 * time.Second},
		"signs of life only": {signs(25 * time.Second), strings.Repeat(": a\n\n", 3), fault.UpstreamTimeout, fault.FirstByteTimeout, 60 * time.Second},
		"many of them":       {signs(1400 * time.Millisecond), strings.Repeat(": a\n\n", 43), fault.UpstreamTimeout, fault.FirstByteTimeout, 60 * time.Second},
		"error after a wait": {[]step{{data: role}, {pause: 11 * time.Second}, {data: failed}}, role, fault.UpstreamServerError, "", 11 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.model("acme/a", 0, "north", "south")
				w.on("north", sse(c.steps...))
				reply, _, failure := w.attempt(t.Context(), streamCall())
				require.Nil(t, failure)
				began := reply.Attempts[0].Started
				text, failure := read(t, reply)
				require.Equal(t, strings.ReplaceAll(c.text, `"up"`, `"acme/a"`), text)
				require.NotContains(t, text, "[DONE]")
				require.Equal(t, c.code, failure.Code)
				require.Equal(t, c.reason, failure.Reason)
				require.Equal(t, c.after, time.Since(began))
				require.NotEmpty(t, reply.Attempts[0].Failure)
				require.Equal(t, []string{"north"}, w.calls, "what was sent cannot be taken back")
				require.Len(t, w.verdicts(), 1)
				want := health.Failed
				switch {
				case c.code == fault.UpstreamRateLimited:
					want = health.RateLimited
				case c.reason == fault.RequestTimeout: // it was answering all the time
					want = health.Neutral
				}
				require.Equal(t, want, w.verdicts()[0])
				require.Zero(t, w.unfinished())
			})
		})
	}
}

// signs is a stream that never falls silent and never says anything.
func signs(every time.Duration) []step {
	var out []step
	for range 600 {
		out = append(out, step{data: ": a\n\n"}, step{pause: every})
	}
	return out
}

// What was read already comes without waiting for it, so no timer would end a
// flood.
func TestAFloodEndsInTime(t *testing.T) {
	for name, c := range map[string]struct {
		event  string
		reason fault.Reason
		after  time.Duration
	}{
		"of signs of life": {": a\n\n", fault.FirstByteTimeout, 60 * time.Second},
		"of content":       {hello, fault.RequestTimeout, 300 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.model("acme/a", 0, "north")
				w.on("north", sse(say(strings.Repeat(c.event, 100_000))...))
				reply, _, failure := w.attempt(t.Context(), streamCall())
				require.Nil(t, failure)
				var err error
				for err == nil {
					_, err = reply.Pieces.Next()
					<-time.After(time.Second) // a slow caller: reading itself never waits
				}
				require.NoError(t, reply.Body.Close())
				require.Equal(t, c.reason, fault.Of(err).Reason)
				require.WithinDuration(t, reply.Attempts[0].Started.Add(c.after), time.Now(), 2*time.Second)
				require.Zero(t, w.unfinished())
			})
		})
	}
}

// Some providers send comments several times a second until a model answers,
// or does not: they are no events, and must not use up the chance of another
// provider.
func TestCommentsDoNotForceTheHeadOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model("acme/a", 0, "north", "south")
		w.on("north", sse(append(signs(200 * time.Millisecond)[:80], step{data: failed})...)) // 8 s of them
		w.on("south", good(streamCall()))
		reply, _, failure := w.attempt(t.Context(), streamCall())
		require.Nil(t, failure)
		require.Equal(t, "south", reply.Candidate.Provider.Slug)
		require.NoError(t, reply.Body.Close())
	})
}

func TestStreamsThatAreComplete(t *testing.T) {
	for name, c := range map[string]struct {
		steps []step
		text  string
		after time.Duration
	}{
		"in order":  {say(role, hello, finish, done), role + hello + finish + done, 0},
		"no marker": {say(hello, finish), hello + finish + done, 0},
		"after long thought": {
			append(signs(2 * time.Second)[:56], say(role, hello, finish, done)...),
			strings.Repeat(": a\n\n", 28) + role + hello + finish + done, 56 * time.Second,
		},
		"reset after the finish":  {[]step{{data: hello + finish}, {err: io.ErrUnexpectedEOF}}, hello + finish + done, 0},
		"no last newline":         {say(hello, finish, "data: [DONE]"), hello + finish + done, 0},
		"open after the marker":   {[]step{{data: hello + finish + done}, {hang: true}}, hello + finish + done, 100 * time.Millisecond},
		"more after the marker":   {say(hello, finish, done, hello, hello), hello + finish + done, 0},
		"first content is late":   {[]step{{data: role}, {pause: 30 * time.Second}, {data: hello + finish + done}}, role + hello + finish + done, 30 * time.Second},
		"nothing until too late":  {[]step{{pause: 30 * time.Second}, {data: hello + finish + done}}, hello + finish + done, 30 * time.Second},
		"malformed in the middle": {say(hello, "data: {\"ch\n\n", finish, done), hello + finish + done, 0},
		"sixteen without content": {append(say(strings.Repeat(": a\n\n", 16)), step{pause: time.Second}, step{data: hello + finish + done}), strings.Repeat(": a\n\n", 16) + hello + finish + done, time.Second},
		"byte by byte":            {say(strings.Split(hello+finish+done, "")...), hello + finish + done, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.model("acme/a", 0, "north", "south")
				w.on("north", sse(c.steps...))
				reply, _, failure := w.attempt(t.Context(), streamCall())
				require.Nil(t, failure)
				require.True(t, reply.Stream)
				began := reply.Attempts[0].Started
				text, failure := read(t, reply)
				require.Nil(t, failure)
				require.Equal(t, strings.ReplaceAll(c.text, `"up"`, `"acme/a"`), text)
				require.Equal(t, c.after, time.Since(began))
				require.Empty(t, reply.Attempts[0].Failure)
				require.Positive(t, reply.Attempts[0].Duration)
				require.Equal(t, []health.Verdict{health.Succeeded}, w.verdicts())
				require.Zero(t, w.unfinished())
			})
		})
	}
}

// The look-ahead is bounded: what is too much goes out, and then no fallback
// may follow.
func TestLookAheadIsBounded(t *testing.T) {
	big := ": " + strings.Repeat("x", 33<<10) + "\n\n"
	for name, c := range map[string]struct {
		steps []step
		held  int
	}{
		"bytes":  {say(big, big, failed), 2 * len(big)},
		"events": {say(strings.Repeat(role, 20), failed), 16 * len(strings.ReplaceAll(role, `"up"`, `"acme/a"`))},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.model("acme/a", 0, "north", "south")
				w.on("north", sse(c.steps...))
				reply, _, failure := w.attempt(t.Context(), streamCall())
				require.Nil(t, failure)
				piece, err := reply.Pieces.Next()
				require.NoError(t, err)
				require.Len(t, piece, c.held)
				_, failure = read(t, reply)
				require.Equal(t, fault.UpstreamServerError, failure.Code)
			})
		})
	}
}

// What came in one read leaves in one piece, the first content included, and
// the stream knows when nothing has to be waited for after it.
func TestWhatArrivesTogetherLeavesTogether(t *testing.T) {
	type piece struct {
		text  string
		ended bool
	}
	for name, c := range map[string]struct {
		steps []step
		want  []piece
		fails bool
	}{
		"all at once":      {[]step{{data: role + hello + finish + done, end: true}}, []piece{{role + hello + finish + done, true}}, false},
		"end to wait for":  {say(role + hello + finish + done), []piece{{role + hello + finish + done, false}}, false},
		"one by one":       {say(role, hello, finish, done), []piece{{role + hello, false}, {finish, false}, {done, false}}, false},
		"marker left out":  {[]step{{data: hello + finish, end: true}}, []piece{{hello + finish, false}, {done, true}}, false},
		"error after it":   {say(hello + failed), []piece{{hello, false}}, true},
		"cut after it":     {[]step{{data: hello, end: true}}, []piece{{hello, false}}, true},
		"error before any": {say(role + failed), nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.model("acme/a", 0, "north")
				w.on("north", sse(c.steps...))
				reply, _, failure := w.attempt(t.Context(), streamCall())
				var got []piece
				for failure == nil {
					bytes, err := reply.Pieces.Next()
					if failure = fault.Of(err); err != nil {
						break
					}
					got = append(got, piece{strings.ReplaceAll(string(bytes), `"acme/a"`, `"up"`), reply.Pieces.(interface{ Ended() bool }).Ended()})
				}
				require.Equal(t, c.want, got)
				require.Equal(t, c.fails, !errors.Is(failure, io.EOF), failure)
				if reply != nil {
					require.NoError(t, reply.Body.Close())
				}
			})
		})
	}
}

func TestEventsThatArriveTogetherGoOutTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model("acme/a", 0, "north")
		w.on("north", sse(step{data: hello}, step{data: hello + finish + hello[:20]}, step{pause: time.Second}, step{data: hello[20:] + finish + failed}))
		reply, _, failure := w.attempt(t.Context(), streamCall())
		require.Nil(t, failure)
		began := time.Now()
		named := strings.NewReplacer(`"up"`, `"acme/a"`)
		for _, want := range []string{hello, hello + finish, hello + finish} {
			piece, err := reply.Pieces.Next()
			require.NoError(t, err)
			require.Equal(t, named.Replace(want), string(piece))
		}
		require.Equal(t, time.Second, time.Since(began), "what was whole did not wait for what was not")
		_, failure = read(t, reply)
		require.Equal(t, "boom", failure.Message)
	})
}
