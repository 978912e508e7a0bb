package attempt_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/envelope"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// consequence is what the specification says of a class: whether the next
// candidate is asked, whether the same provider may be asked again, what it
// means for the endpoint's health, and whether another model is. What the
// classes of credentials and of windows add is below.
type consequence struct {
	moves, retries bool
	health         health.Verdict
	nextModel      bool
}

// ofCredentials are the classes after which the same endpoint is asked with its
// next credential.
var ofCredentials = []upstream.Class{
	upstream.CredentialRejected, upstream.PaymentRequired, upstream.NotFound, upstream.RateLimited, upstream.CredentialFault, upstream.Gone,
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
	upstream.PaymentRequired:    {true, false, health.Unpaid, true},
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
	upstream.CutShort:        {false, false, health.Neutral, true},
	upstream.CredentialFault: {true, false, health.Neutral, true},
	upstream.Internal:        {true, false, health.Neutral, true},
}

// every runs a test for each class, source of credentials, and chain that was
// written out or not.
func every(t *testing.T, test func(t *testing.T, class upstream.Class, use decide.CredentialUse, explicit bool)) {
	t.Helper()
	require.Len(t, consequences, len(upstream.Classes()), "a new class needs its consequences")
	for _, class := range upstream.Classes() {
		require.Contains(t, consequences, class)
		for _, use := range []decide.CredentialUse{managed, first, {Source: decide.CredentialNone}} {
			for _, explicit := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/%t", class, use.Source, explicit), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { test(t, class, use, explicit) })
				})
			}
		}
	}
}

func TestWhoIsAskedNext(t *testing.T) {
	every(t, func(t *testing.T, class upstream.Class, use decide.CredentialUse, explicit bool) {
		want := consequences[class]
		w := newWorld(t)
		w.plan.Explicit = explicit
		w.model("acme/a", 0, "north", "south")
		w.credentials(use, second)
		w.on("north", fail(class))
		w.on("south", good(plainCall()))
		_, records, _ := w.attempt(t.Context(), plainCall())
		calls := []string{"north"}
		if slices.Contains(ofCredentials, class) {
			calls = append(calls, "north")
			require.Equal(t, []decide.CredentialUse{use, second}, w.with[:2])
		}
		if want.moves {
			calls = append(calls, "south")
		}
		require.Equal(t, calls, w.calls)
		require.Equal(t, string(class), records[0].Failure)
		require.Equal(t, want.moves, records[0].Retryable)
		verdict := want.health
		if use.Source == decide.CredentialBYOK && slices.Contains(ofCredentials, class) && verdict != health.RateLimited && verdict != health.Neutral {
			verdict = health.Refused
		}
		require.Equal(t, verdict, w.verdicts()[0])
		require.Equal(t, use.ID, w.seen[0].Credential)
	})
}

func TestWhatIsRetriedAtTheSameProvider(t *testing.T) {
	every(t, func(t *testing.T, class upstream.Class, use decide.CredentialUse, explicit bool) {
		w := newWorld(t)
		w.plan.Explicit = explicit
		w.model("acme/a", 0, "north")
		w.credentials(use)
		w.retries(3)
		w.on("north", fail(class), fail(class), good(plainCall()))
		w.attempt(t.Context(), plainCall())
		want := 1
		switch {
		case timeouts[class]:
			want = 2 // at most one retry after a timeout
		case consequences[class].retries:
			want = 3
		}
		require.Len(t, w.calls, want)
	})
}

// timeouts are the classes in which time ran out.
var timeouts = map[upstream.Class]bool{
	upstream.ConnectTimeout: true, upstream.FirstByteTimeout: true, upstream.ReplyTimeout: true, upstream.StatusTimeout: true,
}

func TestWhichFailuresGoOnToAnotherModel(t *testing.T) {
	five := []int{429, 500, 502, 503, 504}
	every(t, func(t *testing.T, class upstream.Class, use decide.CredentialUse, explicit bool) {
		for _, window := range []int64{0, 4000, 8000, 64000} {
			w := newWorld(t)
			w.plan.Explicit = explicit
			w.model("acme/a", 8000, "north")
			w.model("acme/b", window, "south")
			w.credentials(use)
			w.on("north", fail(class))
			w.on("south", good(plainCall()))
			w.attempt(t.Context(), plainCall())
			want := consequences[class].nextModel || class == upstream.ContextLength && explicit && window > 8000
			require.Equal(t, want, len(w.calls) == 2, "a window of %d", window)
		}
		// The rule is the status that the caller would get. That nobody could carry
		// the content is no final status: nothing served the model. A job that may
		// have been taken is not made again, whatever its status.
		if class != upstream.CannotCarry && class != upstream.Unknown {
			require.Equal(t, consequences[class].nextModel, slices.Contains(five, envelope.Status(upstream.Fail(class, nil).Fault)))
		}
	})
}

func TestWhichSubmissionsAreMadeAgain(t *testing.T) {
	// What the specification names: no connection, no trust, and what failed on
	// our side. A status says it for itself, and is not part of a class.
	again := []upstream.Class{
		upstream.DNSFailed, upstream.ConnectFailed, upstream.ConnectTimeout, upstream.TLSFailed,
		upstream.CannotCarry, upstream.CredentialFault, upstream.Internal,
	}
	every(t, func(t *testing.T, class upstream.Class, use decide.CredentialUse, explicit bool) {
		w := newWorld(t)
		w.plan.Explicit = explicit
		w.model("acme/a", 0, "north", "south")
		w.model("acme/b", 0, "east")
		w.credentials(use)
		w.retries(1)
		w.on("north", fail(class))
		w.on("south", fail(class))
		w.on("east", fail(class))
		c := plainCall()
		c.Surface = catalog.Videos
		_, _, failure := w.attempt(t.Context(), c)
		require.Equal(t, slices.Contains(again, class), len(w.calls) > 1)
		if len(w.calls) == 1 && class != upstream.CallerGone {
			require.Equal(t, fault.SubmissionUnknown, failure.Code)
			require.False(t, failure.Retryable)
		}
	})
}
