package decide_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

func TestAnOwnedCallGoesToItsOwner(t *testing.T) {
	w := newWorld()
	w.health[south] = decide.EndpointHealth{Open: true}
	plan := w.decide(t, decide.Facts{
		Surface: catalog.Videos, Owner: south, Model: "no/such", Models: []string{"acme/big"},
		Provider: decide.Preferences{Only: []string{"north"}, Region: "eu"},
	})
	require.Nil(t, plan.Refusal)
	require.Len(t, plan.Chain, 1)
	require.Equal(t, "acme/small", plan.Chain[0].Model.ID)
	require.Len(t, plan.Chain[0].Candidates, 1)
	require.Equal(t, south, plan.Chain[0].Candidates[0].Endpoint.ID)
	require.Equal(t, south, plan.Record.DecidedUpstream)
	require.Equal(t, decide.Fixed, plan.Record.Ordering)
}

func TestAnOwnedCallIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*world)
		owner  string
		key    []string
		reason fault.Reason
	}{
		"unknown owner":     {owner: "gone:acme/small"},
		"key not allowed":   {owner: south, key: []string{"acme/big"}, reason: fault.ModelNotAllowed},
		"provider disabled": {owner: south, change: func(w *world) { w.catalog.Providers[1].Disabled = true }, reason: "provider_disabled"},
		"no credential":     {owner: south, change: func(w *world) { w.catalog.Providers[1].Credential = nil }, reason: "no_credential"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			if c.change != nil {
				c.change(w)
			}
			plan := w.decide(t, decide.Facts{Surface: catalog.Videos, Owner: c.owner, Key: decide.KeyFacts{Models: c.key}})
			require.NotNil(t, plan.Refusal)
			require.Empty(t, plan.Chain)
			require.Equal(t, fault.UnsupportedModelOrEndpoint, plan.Refusal.Code)
			require.Equal(t, c.reason, plan.Refusal.Reason)
		})
	}
}
