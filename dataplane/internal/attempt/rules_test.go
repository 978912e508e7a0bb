package attempt_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// consequence is what the specification says of a class: whether the next
// candidate is asked, whether the same provider may be asked again, what it
// means for health, and the status that the caller would get.
type consequence struct {
	moves, retries bool
	health         health.Verdict
	nextModel      bool
}

var consequences = map[upstream.Class]consequence{
	upstream.DNSFailed:      {true, true, health.Failed, true},
	upstream.ConnectFailed:  {true, true, health.Failed, true},
	upstream.ConnectTimeout: {true, true, health.Failed, true},
	upstream.TLSFailed:      {true, false, health.Failed, true},
	upstream.Reset:          {true, true, health.Failed, true},
	upstream.BadHead:        {true, true, health.Failed, true},

	upstream.FirstByteTimeout: {true, true, health.Failed, true},
	upstream.ReplyTimeout:     {true, true, health.Failed, true},
	upstream.RequestTimeout:   {false, false, health.Failed, true},
	upstream.IdleTimeout:      {false, false, health.Failed, true},

	upstream.Rejected:           {false, false, health.Neutral, false},
	upstream.TooLarge:           {false, false, health.Neutral, false},
	upstream.ContextLength:      {false, false, health.Neutral, false},
	upstream.ContentPolicy:      {false, false, health.Neutral, false},
	upstream.CredentialRejected: {true, false, health.Failed, true},
	upstream.GeoBlocked:         {true, false, health.GeoBlocked, true},
	upstream.PaymentRequired:    {true, false, health.Failed, true},
	upstream.NotFound:           {true, false, health.Failed, true},
	upstream.StatusTimeout:      {true, true, health.Failed, true},
	upstream.UnsupportedMedia:   {true, false, health.Neutral, false},
	upstream.RateLimited:        {true, true, health.RateLimited, true},
	upstream.Overloaded:         {true, true, health.Failed, true},
	upstream.ServerError:        {true, true, health.Failed, true},
	upstream.Redirected:         {true, false, health.Failed, true},

	upstream.ErrorInReply:   {true, true, health.Failed, true},
	upstream.ErrorInStream:  {true, true, health.Failed, true},
	upstream.WrongType:      {true, true, health.Failed, true},
	upstream.EmptyReply:     {true, true, health.Failed, true},
	upstream.MalformedReply: {true, true, health.Failed, true},
	upstream.TruncatedReply: {true, true, health.Failed, true},
	upstream.BadEncoding:    {true, false, health.Failed, true},
	upstream.ReplyTooLarge:  {true, false, health.Failed, true},
	upstream.EventTooLarge:  {true, false, health.Failed, true},
	upstream.StreamCut:      {true, true, health.Failed, true},

	upstream.Unknown:         {false, false, health.Failed, false},
	upstream.Gone:            {false, false, health.Neutral, false},
	upstream.CannotCarry:     {true, false, health.Neutral, true},
	upstream.CallerGone:      {false, false, health.Neutral, false},
	upstream.CredentialFault: {true, false, health.Neutral, true},
	upstream.Internal:        {true, false, health.Neutral, true},
}

func TestEveryClass(t *testing.T) {
	require.Len(t, consequences, len(upstream.Classes()), "a new class needs its consequences")
	for _, class := range upstream.Classes() {
		want, ok := consequences[class]
		require.True(t, ok, class)
		t.Run(string(class), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.model("acme/a", 0, "north", "south")
				w.on("north", fail(class))
				w.on("south", good(plainCall()))
				_, records, _ := w.attempt(t.Context(), plainCall())
				if want.moves {
					require.Equal(t, []string{"north", "south"}, w.calls)
				} else {
					require.Equal(t, []string{"north"}, w.calls)
				}
				require.Equal(t, want.health, w.verdicts()[0])
				require.Equal(t, string(class), records[0].Failure)
				require.Equal(t, want.moves, records[0].Retryable)

				w = newWorld(t)
				w.model("acme/a", 0, "north")
				w.retries(1)
				w.on("north", fail(class), good(plainCall()))
				w.attempt(t.Context(), plainCall())
				require.Equal(t, want.retries, len(w.calls) == 2, "retry at the same provider")

				w = newWorld(t)
				w.model("acme/a", 0, "north")
				w.model("acme/b", 0, "south")
				w.on("north", fail(class))
				w.on("south", good(plainCall()))
				w.attempt(t.Context(), plainCall())
				require.Equal(t, want.nextModel, len(w.calls) == 2, "next model")
			})
		})
	}
}
