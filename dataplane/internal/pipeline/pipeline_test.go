package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/pipeline"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

var whole = []string{"authenticate", "pin", "decide", "admit", "begin", "attempt", "deliver", "record"}

func TestOrder(t *testing.T) {
	f := &fakes{}
	s := serve(t, f, call.Call{Request: call.Request{Model: "acme/small"}})
	require.Equal(t, whole, f.order)
	require.Nil(t, s.failure)
	require.EqualValues(t, 7, f.minRev)
	require.Equal(t, []string{"acme/*"}, f.input.Facts.Key.Models)
	require.EqualValues(t, 42, f.input.Seed)
	require.Equal(t, start, f.input.Facts.Now)

	require.Equal(t, 200, f.outcome.Status)
	require.True(t, f.outcome.Turn.Begun)
	require.EqualValues(t, 9, f.outcome.Record.PolicyRevision)
	require.EqualValues(t, 3, f.outcome.Record.CatalogRevision)
	require.Len(t, f.outcome.Record.Limits, 1)
	require.Equal(t, 50*time.Millisecond, f.outcome.Upstream)
	require.True(t, f.settled)
}

func TestHeadOfAnAnswer(t *testing.T) {
	f := &fakes{}
	serve(t, f, call.Call{})
	require.Equal(t, http.Header{
		"X-Signalbox-Provider": {"north"}, "X-Signalbox-Model": {"acme/small"}, "X-Signalbox-Retry-Count": {"1"},
		"X-Signalbox-Attempted-Fallbacks": {"south"}, "X-Signalbox-Policy-Revision": {"9"},
		"Server-Timing": {"gw;dur=0.000, up;dur=50.000"}, "X-Ratelimit-Limit-Requests": {"60"},
	}, f.head)
}

func TestWhatACallIsAboutIsFoundBeforeItIsDecided(t *testing.T) {
	f := &fakes{}
	about := call.Call{Surface: catalog.Batches, Object: "file-1", Kept: catalog.Files}
	serve(t, f, about)
	require.Equal(t, "find files file-1", f.order[2])
	require.Equal(t, "north:acme/film", f.input.Facts.Owner)
	require.False(t, f.input.Facts.Costless, "a batch over a file is made, and paid for")
	f = &fakes{}
	serve(t, f, call.Call{Surface: catalog.Files, Object: "file-1", Kept: catalog.Files, Action: call.Delete})
	require.True(t, f.input.Facts.Costless)

	f = &fakes{fail: "find", err: fault.New(fault.NotFound, "not there")}
	s := serve(t, f, about)
	require.Equal(t, fault.NotFound, s.failure.Code)
	require.NotContains(t, f.order, "decide")

	f = &fakes{fail: "ready", err: fault.New(fault.UpstreamUndetermined, "no keyring")}
	s = serve(t, f, call.Call{Surface: catalog.Videos})
	require.Equal(t, fault.UpstreamUndetermined, s.failure.Code, "nothing is made that cannot be found again")
	require.NotContains(t, f.order, "decide")
}

func TestTheListOfJobsIsKept(t *testing.T) {
	for _, c := range []struct {
		call call.Call
		want []string
	}{
		{call.Call{Surface: catalog.Videos}, []string{"+videos video_1"}},
		{call.Call{Surface: catalog.Chat}, nil},
		{call.Call{Surface: catalog.Videos, Action: call.Get, Object: "video_1", Kept: catalog.Videos}, nil},
		{call.Call{Surface: catalog.Videos, Action: call.Delete, Object: "video_1", Kept: catalog.Videos}, []string{"-videos video_1"}},
	} {
		f := &fakes{}
		serve(t, f, c.call)
		require.Equal(t, c.want, f.listed)
	}
	f := &fakes{fail: "attempt", err: fault.New(fault.UpstreamServerError, "x")}
	serve(t, f, call.Call{Surface: catalog.Videos})
	require.Empty(t, f.listed)

	about := call.Call{Surface: catalog.Videos, Action: call.Get, Object: "video_1", Kept: catalog.Videos}
	serve(t, f, about)
	require.Empty(t, f.listed, "it may be there again")
	f = &fakes{fail: "attempt", err: fault.New(fault.NotFound, "gone")}
	serve(t, f, about)
	require.Equal(t, []string{"-videos video_1"}, f.listed, "the provider does not have it")
	f = &fakes{fail: "attempt", err: fault.New(fault.NotFound, "gone"), withheld: true}
	serve(t, f, about)
	require.Empty(t, f.listed, "a credential that was not asked may know it")
}

func TestTheRecordSaysWhatWasDegraded(t *testing.T) {
	f := &fakes{}
	serve(t, f, call.Call{})
	require.Equal(t, []string{"seed"}, f.outcome.Record.Degraded)
}

func TestHeadOfAFailureListsAllThatWereTried(t *testing.T) {
	f := &fakes{fail: "attempt", err: fault.New(fault.UpstreamServerError, "x")}
	s := serve(t, f, call.Call{})
	require.Equal(t, []string{"south,north"}, s.header["X-Signalbox-Attempted-Fallbacks"])
	require.NotContains(t, s.header, "X-Signalbox-Provider")
	require.Equal(t, []string{"1"}, s.header["X-Signalbox-Retry-Count"])
	require.Equal(t, []string{"gw;dur=29.000, up;dur=21.000"}, s.header["Server-Timing"])
}

// A fault at step N runs nothing after N but record, and settles only what was
// granted.
func TestFaultAtEachStep(t *testing.T) {
	for i, name := range whole[:len(whole)-1] {
		t.Run(name, func(t *testing.T) {
			f := &fakes{fail: name, err: fault.New(fault.RateLimitExceeded, "x")}
			s := serve(t, f, call.Call{})
			last := "record"
			if name == "authenticate" {
				last = "access"
			}
			require.Equal(t, append(slices.Clone(whole[:i+1]), last), f.order)
			require.NotNil(t, s.failure)
			require.Equal(t, i > slices.Index(whole, "admit"), f.settled)
			if name == "authenticate" {
				require.Equal(t, fault.RateLimitExceeded, f.access.Code)
				return
			}
			require.Equal(t, s.failure, f.outcome.Failure)
			require.Equal(t, s.status, f.outcome.Status)
			require.Equal(t, i > slices.Index(whole, "begin"), f.outcome.Turn.Begun)
		})
	}
}

func TestPanicAtEachStepIsAnsweredAndRecorded(t *testing.T) {
	for i, name := range whole[1 : len(whole)-1] {
		t.Run(name, func(t *testing.T) {
			f := &fakes{boom: name}
			s := serve(t, f, call.Call{})
			require.Equal(t, append(slices.Clone(whole[:i+2]), "record"), f.order)
			require.Equal(t, fault.GatewayError, s.failure.Code)
			require.NotContains(t, s.failure.Message, "boom")
			require.ErrorContains(t, s.failure, "boom")
			require.ErrorContains(t, s.failure, "pipeline_test.go", "the stack is for the log")
		})
	}
}

func TestCallerGoneIsRecordedAndNotAnswered(t *testing.T) {
	for _, name := range []string{"pin", "attempt", "deliver"} {
		f := &fakes{fail: name, err: errors.New("context canceled"), cancel: func(error) {}, cause: context.Canceled}
		s := serve(t, f, call.Call{})
		require.Nil(t, s.failure, name)
		require.True(t, f.outcome.Canceled)
		require.Equal(t, 499, f.outcome.Status)
		require.Equal(t, fault.ClientClosed, f.outcome.Failure.Code)
	}
	f := &fakes{fail: "deliver", err: fault.New(fault.ClientClosed, "x")}
	s := serve(t, f, call.Call{})
	require.Nil(t, s.failure)
	require.True(t, f.outcome.Canceled)
	require.EqualValues(t, 3, f.outcome.Seen.Usage.Output)
}

func TestGatewayStoppingIsAnswered(t *testing.T) {
	stopping := fault.New(fault.UpstreamUndetermined, "The gateway is stopping.")
	f := &fakes{fail: "deliver", err: errors.New("context canceled"), cancel: func(error) {}, cause: stopping}
	s := serve(t, f, call.Call{})
	require.Equal(t, stopping, s.failure)
	require.False(t, f.outcome.Canceled)
	require.Equal(t, 200, f.outcome.Status, "the head was out already")
}

func TestMalformedCallIsRefusedOnceTheCallerIsKnown(t *testing.T) {
	f := &fakes{}
	bad := fault.New(fault.InvalidJSON, "x")
	s := serve(t, f, call.Call{Malformed: bad, Request: call.Request{Model: "m"}})
	require.Equal(t, []string{"authenticate", "pin", "record"}, f.order)
	require.Equal(t, bad, s.failure)
	require.Equal(t, "m", f.outcome.Record.RequestedModel)
	require.EqualValues(t, 9, f.outcome.Record.PolicyRevision)

	f = &fakes{}
	serve(t, f, call.Call{Malformed: bad, Request: call.Request{Model: "my card is <4111 1111>\n\"" + strings.Repeat("é", 100)}})
	name := f.outcome.Record.RequestedModel
	require.Equal(t, "my?card?is??4111?1111???", name[:24], "as after a decision")
	require.Len(t, name, 128)
	require.Equal(t, decide.Recorded(name), name)
}

func TestPinRefusals(t *testing.T) {
	f := &fakes{inactive: true}
	s := serve(t, f, call.Call{})
	require.Equal(t, fault.KeyRevoked, s.failure.Reason, "a deleted workspace's keys are revoked")

	f = &fakes{noCat: true}
	s = serve(t, f, call.Call{})
	require.Equal(t, fault.UpstreamUndetermined, s.failure.Code)

	f = &fakes{fail: "pin", err: errors.New("nats is away")}
	s = serve(t, f, call.Call{})
	require.Equal(t, fault.UpstreamUndetermined, s.failure.Code)
	require.True(t, s.failure.Retryable)

	// That nobody has the policy of a key's workspace is no mistake of its caller.
	gone := fmt.Errorf("the policy cannot be determined: %w", fault.New(fault.NotFound, "There is no such pointer."))
	f = &fakes{fail: "pin", err: gone}
	s = serve(t, f, call.Call{})
	require.Equal(t, fault.UpstreamUndetermined, s.failure.Code)
	require.Equal(t, fault.Gateway, s.failure.Origin)
	require.True(t, s.failure.Retryable)
	require.ErrorIs(t, s.failure, gone, "the log has why")

	f = &fakes{fail: "begin", err: errors.New("disk full")}
	s = serve(t, f, call.Call{})
	require.Equal(t, fault.QuotaUnavailable, s.failure.Code)
}

func TestIdentify(t *testing.T) {
	f := &fakes{t: t}
	p := pipeline.New(pipeline.Steps{Auth: f, Policies: f, Catalogs: f}, time.Now, nil, nil)
	principal, pin, err := p.Identify(t.Context(), &call.Call{})
	require.NoError(t, err)
	require.Equal(t, key.ID, principal.Key.ID)
	require.EqualValues(t, 9, pin.Policy.Revision())
	require.Equal(t, []string{"authenticate", "pin"}, f.order)
}
