package pipeline_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/pipeline"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

func preview(t *testing.T, f *fakes, c call.Call) (*fault.Error, error) {
	t.Helper()
	return previewWith(t, f, &memory{}, c)
}

func previewWith(t *testing.T, f *fakes, m *memory, c call.Call) (*fault.Error, error) {
	t.Helper()
	f.t = t
	p := pipeline.New(pipeline.Steps{
		Auth: f, Policies: f, Catalogs: f, Objects: f, Affinity: m, Health: f, Decide: f.decide, Admit: f,
		Begin: f, Attempt: f, Deliver: f, Record: f, Access: f,
	}, func() time.Time { return start }, func() uint64 { return 42 }, nil)
	c.Received = start
	_, plan, err := p.Preview(t.Context(), &c)
	return plan.Refusal, err
}

func TestPreviewStopsAtTheDecision(t *testing.T) {
	f := &fakes{}
	refusal, err := preview(t, f, call.Call{Request: call.Request{Model: "acme/small"}})
	require.NoError(t, err)
	require.Nil(t, refusal)
	require.Equal(t, whole[:3], f.order, "nothing is admitted, begun, called or recorded")
	require.Equal(t, "acme/small", f.input.Facts.Model)

	// The conversation counts as for the request, and nobody is asked for it.
	m := &memory{found: call.Conversation{Conversation: decide.Conversation{Source: decide.FromSession, Model: "acme/small"}}}
	f = &fakes{}
	_, err = previewWith(t, f, m, call.Call{Request: call.Request{SessionID: "s"}})
	require.NoError(t, err)
	require.Equal(t, []int{0, 1}, []int{m.finds, m.peeks})
	require.Equal(t, m.found.Conversation, f.input.Conversation)

	f = &fakes{fail: "decide", err: fault.New(fault.ModelNotFound, "no such model")}
	refusal, err = preview(t, f, call.Call{})
	require.NoError(t, err, "a refusal is an answer")
	require.Equal(t, fault.ModelNotFound, refusal.Code)
}

func TestPreviewFailsAsTheRequestWould(t *testing.T) {
	for step, want := range map[string]struct {
		code  fault.Code
		order []string
	}{
		"authenticate": {fault.Unauthorized, whole[:1]},
		"pin":          {fault.UpstreamUndetermined, whole[:2]}, // whatever the cause
	} {
		f := &fakes{fail: step, err: fault.New(fault.Unauthorized, "no")}
		_, err := preview(t, f, call.Call{})
		require.Equal(t, want.code, fault.CodeOf(err), step)
		require.Equal(t, want.order, f.order)
	}
	f := &fakes{}
	_, err := preview(t, f, call.Call{Malformed: fault.New(fault.InvalidJSON, "bad")})
	require.True(t, fault.Is(err, fault.InvalidJSON))
	require.Equal(t, whole[:2], f.order, "only a known caller learns what is wrong")
}
