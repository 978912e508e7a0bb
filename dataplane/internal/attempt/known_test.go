package attempt_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

func TestWhatIsKnownIsNotAsked(t *testing.T) {
	w := newWorld(t)
	w.model("acme/a", 0, "north")
	c := call.Call{
		Surface: catalog.Messages, Action: call.Count, Body: []byte(`{"model":"m","messages":[]}`),
		Request: call.Request{InputTokens: 42},
	}
	reply, records, failure := w.attempt(t.Context(), c)
	require.Nil(t, failure)
	require.Empty(t, records)
	require.Empty(t, w.calls)
	require.Empty(t, w.seen, "an endpoint that was not asked has shown nothing")
	text, failure := read(t, reply)
	require.Nil(t, failure)
	require.JSONEq(t, `{"input_tokens":42}`, text)
	require.True(t, reply.Meter.Seen().Usage.IsZero())
}
