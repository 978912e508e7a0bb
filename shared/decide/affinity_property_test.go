package decide_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
)

func TestWithAllHealthyThePinIsAlwaysFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyContest(t)
		for id, h := range c.health {
			h.Errors, h.Open = 0, false
			c.health[id] = h
		}
		pin := rapid.SampledFrom(c.endpoints()).Draw(t, "pin")
		in := c.input(t, c.facts)
		in.Seed = rapid.Uint64().Draw(t, "seed")
		in.Conversation = decide.Conversation{
			Source: rapid.SampledFrom([]decide.PinSource{decide.FromSession, decide.FromCacheKey, decide.FromOpening}).Draw(t, "source"),
			Pins:   []decide.Pin{{Model: "acme/other", Endpoint: "x"}, {Model: "acme/m", Provider: pin.Provider, Endpoint: pin.ID}},
		}
		plan := decide.Decide(in)
		require.Equal(t, pin.ID, plan.Chain[0].Candidates[0].Endpoint.ID)
		require.Equal(t, &decide.AffinityTrace{Source: string(in.Conversation.Source), Hit: true, Endpoint: pin.ID, Applied: true}, plan.Record.Affinity)
	})
}

// A pin orders, and does nothing else: it neither lets in what a filter drops
// nor keeps out what none does.
func TestAPinChangesOnlyTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		facts := anyFacts(t, w)
		var endpoints []catalog.Endpoint
		for _, m := range w.catalog.Models {
			endpoints = append(endpoints, m.Endpoints...)
		}
		in := w.input(t, facts)
		without := decide.Decide(in)
		in.Conversation = decide.Conversation{Source: decide.FromSession, Sure: true}
		for _, m := range w.catalog.Models {
			if len(endpoints) > 0 && rapid.Bool().Draw(t, "pinned") { // perhaps to what does not serve it
				e := rapid.SampledFrom(append(slices.Clone(m.Endpoints), endpoints...)).Draw(t, "pin")
				in.Conversation.Pins = append(in.Conversation.Pins, decide.Pin{Model: m.ID, Provider: e.Provider, Endpoint: e.ID})
			}
		}
		with := decide.Decide(in)
		require.Equal(t, without.Refusal == nil, with.Refusal == nil)
		require.Equal(t, without.Record.Chain, with.Record.Chain)
		a, b := order(without), order(with)
		slices.Sort(a)
		slices.Sort(b)
		require.Equal(t, a, b)
		again := decide.Decide(in)
		require.Equal(t, order(with), order(again))

		trace := with.Record.Affinity
		if with.Refusal == nil && trace != nil && trace.Hit {
			said := 0
			for _, is := range []bool{trace.Applied, trace.Ignored != "", trace.Break != ""} {
				if is {
					said++
				}
			}
			require.Equal(t, 1, said, "%+v", trace)
			require.Equal(t, trace.Applied, with.Record.DecidedUpstream == trace.Endpoint)
		}
		body, err := json.Marshal(with.Record)
		require.NoError(t, err)
		require.LessOrEqual(t, len(body), decide.MaxRecordBytes)
	})
}
