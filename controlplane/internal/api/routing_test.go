package api

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
)

// Routing fields go to the wire and back without losing one, and the wire's
// form has no field that is not set.
func TestRoutingFieldsRoundTrip(t *testing.T) {
	r := fill.Value[policy.Routing](1)
	// The wire counts in milliseconds and seconds.
	r.Timeouts = policy.Timeouts{FirstByte: 1500 * time.Millisecond, Request: time.Minute}
	r.Provider.PreferredMaxLatency = 1250 * time.Millisecond
	wire := routingOf(r)
	require.Empty(t, fill.Zero(wire))
	require.Empty(t, fill.Zero(*wire.Provider))
	require.Empty(t, fill.Zero(*wire.Provider.MaxPrice))
	require.Empty(t, fill.Zero(*wire.Timeouts))
	require.Equal(t, r, routingFrom(wire))

	require.Equal(t, gen.RoutingFields{}, routingOf(policy.Routing{}), "nothing is set")
	require.Equal(t, policy.Routing{}, routingFrom(gen.RoutingFields{}))
}
