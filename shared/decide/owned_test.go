package decide_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
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

// What an endpoint keeps may be at the account of any credential, so that all
// are asked, last those that cool. The plan says so when it leaves any out.
func TestAnOwnedCallMayUseEveryCredential(t *testing.T) {
	first, last := own(1, "south", policy.UsePriority), own(2, "south", policy.UseFallback)
	foreign := own(3, "south", policy.UsePriority)
	foreign.APIKeys = []id.Key{key2}
	for name, c := range map[string]struct {
		own      []policy.Credential
		spare    bool // byok_fallback_enabled is off
		makes    bool
		unpaid   bool // no credential of the platform's
		cooling  int
		want     string
		withheld bool
	}{
		"the platform's":            {want: "south m"},
		"all":                       {own: []policy.Credential{first, last}, want: "south 1 m 2"},
		"cooling ones too":          {own: []policy.Credential{first, last}, cooling: 1, want: "south m 2 1"},
		"none of the platform's":    {own: []policy.Credential{first}, unpaid: true, want: "south 1"},
		"nothing is spent":          {own: []policy.Credential{first}, spare: true, want: "south 1 m"},
		"a batch spends":            {own: []policy.Credential{first}, spare: true, makes: true, want: "south 1", withheld: true},
		"another key's":             {own: []policy.Credential{first, foreign}, want: "south 1 m", withheld: true},
		"another key's, and no own": {own: []policy.Credential{foreign}, want: "south m", withheld: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.own, w.settings.BYOKFallback = c.own, !c.spare
			if c.unpaid {
				w.provider("south").Credential = nil
			}
			if c.cooling != 0 {
				w.cooling = append(w.cooling, credentialID(c.cooling))
			}
			plan := w.decide(t, decide.Facts{Now: now, Surface: catalog.Videos, Owner: south, Costless: !c.makes, Key: decide.KeyFacts{ID: key1}})
			require.Nil(t, plan.Refusal)
			require.Equal(t, []string{c.want}, called(plan))
			require.Equal(t, c.withheld, plan.Withheld)
		})
	}
}
