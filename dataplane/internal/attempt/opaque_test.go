package attempt_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

func speechCall() call.Call {
	return call.Call{Surface: catalog.Speech, Received: time.Now(), Body: []byte(`{"model":"m","input":"hi","voice":"v"}`)}
}

// sound is large enough to need several reads.
var sound = strings.Repeat("\xff\x00sound", 20_000)

func TestOpaqueRepliesPassAsTheyCome(t *testing.T) {
	for name, c := range map[string]struct {
		media string
		steps []step
		text  string
	}{
		"sound":          {"audio/mpeg", say(sound), sound},
		"piece by piece": {"audio/pcm", []step{{data: "a"}, {pause: 50 * time.Second}, {data: "b"}, {pause: 50 * time.Second}, {data: "c"}}, "abc"},
		"subtitles":      {"text/plain", say("1\n00:00 --> 00:01\nhi\n"), "1\n00:00 --> 00:01\nhi\n"},
		"no type":        {"", say("x"), "x"},
		"late":           {"audio/mpeg", []step{{pause: 59 * time.Second}, {data: "x"}}, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.model("acme/a", 0, "north", "south")
				w.on("north", ok(c.media, c.steps...))
				reply, _, failure := w.attempt(t.Context(), speechCall())
				require.Nil(t, failure)
				require.True(t, reply.Opaque)
				require.False(t, reply.Stream)
				if c.media == "" {
					require.Equal(t, "application/octet-stream", reply.Header.Get("Content-Type"), "and nobody guesses")
				} else {
					require.Equal(t, c.media, reply.Header.Get("Content-Type"))
				}
				for {
					piece, err := reply.Pieces.Next()
					if errors.Is(err, io.EOF) {
						break
					}
					require.NoError(t, err)
					require.LessOrEqual(t, len(piece), 64<<10)
					require.True(t, strings.HasPrefix(c.text, string(piece)))
					c.text = c.text[len(piece):]
				}
				require.Empty(t, c.text)
				require.NoError(t, reply.Body.Close())
				require.Empty(t, reply.Attempts[0].Failure)
				require.Positive(t, reply.Attempts[0].Duration)
				require.Equal(t, []health.Verdict{health.Succeeded}, w.verdicts())
				require.Zero(t, w.unfinished())
			})
		})
	}
}

// Before its first bytes an opaque reply can be replaced like any other.
func TestOpaqueRepliesThatBeginBadlyAreReplaced(t *testing.T) {
	for name, c := range map[string]struct {
		answer answer
		class  upstream.Class
	}{
		"empty":          {ok("audio/mpeg"), upstream.EmptyReply},
		"broken":         {ok("audio/mpeg", step{err: io.ErrUnexpectedEOF}), upstream.TruncatedReply},
		"silent":         {ok("audio/mpeg", step{hang: true}), upstream.FirstByteTimeout},
		"error in a 200": {ok("application/json", say(`{"error":{"message":"no"}}`)...), upstream.ErrorInReply},
		"half of JSON":   {ok("application/json", step{data: `{"text":`}, step{err: io.ErrUnexpectedEOF}), upstream.TruncatedReply},
		"refused":        {refuse(http.StatusServiceUnavailable, 0), upstream.ServerError},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.model("acme/a", 0, "north", "south")
				w.on("north", c.answer)
				w.on("south", ok("audio/mpeg", say("x")...))
				reply, _, failure := w.attempt(t.Context(), speechCall())
				require.Nil(t, failure)
				text, failure := read(t, reply)
				require.Nil(t, failure)
				require.Equal(t, "x", text)
				require.Equal(t, "south", reply.Candidate.Provider.Slug)
				require.EqualValues(t, c.class, reply.Attempts[0].Failure)
				require.Zero(t, w.unfinished())
			})
		})
	}
}

// After them a failure is told, and recorded.
func TestOpaqueRepliesThatBreak(t *testing.T) {
	trickle := make([]step, 0, 800)
	for range 400 {
		trickle = append(trickle, step{data: "x"}, step{pause: time.Second})
	}
	for name, c := range map[string]struct {
		steps  []step
		class  upstream.Class
		reason fault.Reason
		after  time.Duration
	}{
		"cut":      {[]step{{data: sound}, {err: io.ErrUnexpectedEOF}}, upstream.TruncatedReply, "", 0},
		"silence":  {[]step{{data: sound}, {hang: true}}, upstream.IdleTimeout, fault.StreamIdle, 60 * time.Second},
		"for ever": {trickle, upstream.RequestTimeout, fault.RequestTimeout, 300 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.model("acme/a", 0, "north", "south")
				w.on("north", ok("audio/mpeg", c.steps...))
				reply, _, failure := w.attempt(t.Context(), speechCall())
				require.Nil(t, failure)
				began := time.Now()
				text, failure := read(t, reply)
				require.NotNil(t, failure)
				require.NotEmpty(t, text)
				require.Equal(t, c.reason, failure.Reason)
				require.Equal(t, fault.Upstream, failure.Origin)
				require.EqualValues(t, c.class, reply.Attempts[0].Failure)
				require.Equal(t, c.after, time.Since(began))
				require.Zero(t, w.unfinished())
			})
		})
	}
}

func TestOpaqueRepliesOfCallersWhoLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model("acme/a", 0, "north")
		w.on("north", ok("audio/mpeg", step{data: "a"}, step{hang: true}))
		ctx, leave := context.WithCancel(t.Context())
		reply, _, failure := w.attempt(ctx, speechCall())
		require.Nil(t, failure)
		leave()
		_, failure = read(t, reply)
		require.Equal(t, fault.ClientClosed, failure.Code)
		require.Equal(t, []health.Verdict{health.Neutral}, w.verdicts())
		require.Zero(t, w.unfinished())

		reply, _, failure = w.attempt(t.Context(), speechCall())
		require.Nil(t, failure)
		require.NoError(t, reply.Body.Close(), "and of one that was not read to its end")
		require.EqualValues(t, upstream.CallerGone, reply.Attempts[0].Failure)
		require.Zero(t, w.unfinished())
	})
}

// A slow caller is not a silent provider.
func TestOpaqueRepliesWaitForTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model("acme/a", 0, "north")
		w.on("north", ok("audio/mpeg", say("a", "b", "c")...))
		reply, _, failure := w.attempt(t.Context(), speechCall())
		require.Nil(t, failure)
		for _, want := range []string{"a", "b"} {
			<-time.After(70 * time.Second)
			piece, err := reply.Pieces.Next()
			require.NoError(t, err)
			require.Equal(t, want, string(piece))
		}
		<-time.After(70 * time.Second)
		text, failure := read(t, reply)
		require.Nil(t, failure)
		require.Equal(t, "c", text)
	})
}

// JSON is read whole and events are read as events, whatever was asked for.
func TestWhatIsNotOpaqueIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model("acme/a", 0, "north")
		for _, media := range []string{"application/json", "application/problem+json"} {
			for _, streams := range []bool{false, true} { // some models ignore that a stream was asked for
				w.on("north", ok(media, say(`{"text":"hi"}`)...))
				c := speechCall()
				c.Request.Stream = streams
				reply, _, failure := w.attempt(t.Context(), c)
				require.Nil(t, failure)
				require.False(t, reply.Opaque)
				require.False(t, reply.Stream)
				require.Equal(t, "application/json", reply.Header.Get("Content-Type"))
				text, failure := read(t, reply)
				require.Nil(t, failure)
				require.JSONEq(t, `{"text":"hi"}`, text)
			}
		}
		const events = "data: {\"type\":\"speech.audio.delta\",\"audio\":\"AA==\"}\n\ndata: {\"type\":\"speech.audio.done\"}\n\n"
		w.on("north", sse(say(events)...))
		reply, _, failure := w.attempt(t.Context(), speechCall())
		require.Nil(t, failure)
		require.True(t, reply.Stream)
		text, failure := read(t, reply)
		require.Nil(t, failure)
		require.Equal(t, events, text)
		require.Zero(t, w.unfinished())
	})
}
