package decide_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Claude goes to Anthropic first, whatever the price, unless some rung gives an
// order, a list of those allowed, or leaves Anthropic out. No rung's word on
// something else changes that.
func TestFirstPartyUnlessARungBearsOnIt(t *testing.T) {
	const own, other = "anthropic:anthropic/claude", "north:anthropic/claude"
	says := map[string]struct {
		set   policy.Preferences
		first string
	}{
		"nothing":             {policy.Preferences{}, own},
		"a mode's sort":       {policy.Preferences{Sort: policy.Price}, own},
		"an order":            {policy.Preferences{Order: []string{"north"}}, other},
		"an order with it":    {policy.Preferences{Order: []string{"north", "anthropic"}}, other},
		"an only without it":  {policy.Preferences{Only: []string{"north"}}, other},
		"an only with it":     {policy.Preferences{Only: []string{"north", "anthropic"}}, other},
		"an ignore of it":     {policy.Preferences{Ignore: []string{"anthropic"}}, other},
		"an ignore of others": {policy.Preferences{Ignore: []string{"south"}}, own},
		"a data policy":       {policy.Preferences{RequireParameters: true}, own},
	}
	rungs := []decide.Rung{
		decide.RungWorkspaceProfile, decide.RungDepartment, decide.RungKey, decide.RungPreset, decide.RungRequest, decide.RungRoute,
	}
	for name, c := range says {
		for _, rung := range rungs {
			t.Run(name+" from the "+rung.String(), func(t *testing.T) {
				w := newWorld()
				w.provider("anthropic").Type = catalog.OpenAICompatible // only the place in the order is of interest
				w.catalog.Models = append(w.catalog.Models, model("anthropic/claude", "north 1 1", "anthropic 9 9"))
				f := decide.Facts{Model: "anthropic/claude"}
				if rung == decide.RungRequest {
					f.Provider = c.set
				} else {
					w.rungs = map[decide.Rung]policy.Routing{rung: {Provider: c.set}}
				}
				require.Equal(t, c.first, order(w.decide(t, f))[0])
			})
		}
	}
}

// A suffix orders those of a tier. It is no list of providers.
func TestASuffixKeepsFirstPartyFirst(t *testing.T) {
	w := newWorld()
	w.provider("anthropic").Type = catalog.OpenAICompatible
	w.catalog.Models = append(w.catalog.Models, model("anthropic/claude", "north 1 1", "south 2 2", "anthropic 9 9"))
	require.Equal(t, []string{"anthropic:anthropic/claude", "north:anthropic/claude", "south:anthropic/claude"},
		order(w.decide(t, decide.Facts{Model: "anthropic/claude:cheap"})))
}
