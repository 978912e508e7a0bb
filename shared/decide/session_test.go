package decide_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/classify"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// session is what an earlier turn without a model left.
func session(model string) decide.Conversation {
	return decide.Conversation{Source: decide.FromSession, Sure: true, Model: model}
}

// second answers a turn without a model by the first candidate of its first
// step, and returns what the turn after it is decided with.
func second(first decide.Plan) decide.Conversation {
	step := first.Chain[0]
	c := session("")
	m, _ := decide.Remember(first.Record.Affinity, decide.Turn{Conversation: c, Model: step.Model, Asked: step.Asked, Candidate: step.Candidates[0]})
	c.Model = m.Model
	c.Pins = []decide.Pin{m.Pin}
	return c
}

// TestAPinKeepsWhatTheRungsNameSays: the second turn goes nowhere that the first
// could not have gone.
func TestAPinKeepsWhatTheRungsNameSays(t *testing.T) {
	const north, south, east, big = "north:acme/small", "south:acme/small", "east:acme/small", "north:acme/big"
	for name, c := range map[string]struct {
		standing  string
		fallbacks []string
		pinned    string
		setup     func(*world)
		want      []string
		broken    decide.CacheBreak
	}{
		"at one provider":             {standing: north, pinned: "acme/small", want: []string{north}},
		"not a fallback's":            {standing: north, fallbacks: []string{south}, pinned: "acme/small", want: []string{north}},
		"by its alias":                {standing: "NORD:acme/small", pinned: "acme/small", want: []string{north}},
		"in a suffix's order":         {standing: "acme/small:cheap", pinned: "acme/small", want: []string{north, south, east}},
		"both":                        {standing: "south:acme/small:fast", pinned: "acme/small", want: []string{south}},
		"a fallback's name":           {standing: "zeta/small", fallbacks: []string{"acme/big", north}, pinned: "acme/small", want: []string{north}},
		"another default's provider":  {standing: big, pinned: "acme/small", want: []string{north}},
		"another default's, not here": {standing: "north:acme/big", pinned: "zeta/small", want: []string{big}, broken: decide.BreakPolicy},
		"another default":             {standing: "acme/big", pinned: "zeta/small", want: []string{"south:zeta/small"}},
		"no default":                  {pinned: "zeta/small", want: []string{"south:zeta/small"}},
		"a replacement's": {
			standing: "north:acme/tiny", pinned: "acme/small", setup: func(w *world) {
				w.settings.RetiredRouting = true
				w.model("acme/tiny").Endpoints = nil
				w.model("acme/tiny").Lifecycle = catalog.Lifecycle{State: catalog.Retired, Replacement: "acme/small"}
			}, want: []string{north},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.settings.DefaultModel, w.settings.FallbackModels = c.standing, c.fallbacks
			if c.setup != nil {
				c.setup(w)
			}
			plan := w.turn(t, session(c.pinned), decide.Facts{})
			require.Nil(t, plan.Refusal)
			require.Equal(t, c.broken, plan.Record.Affinity.ModelBreak)
			var first []string
			for _, candidate := range plan.Chain[0].Candidates {
				first = append(first, candidate.Endpoint.ID)
			}
			require.Equal(t, c.want, first)
			if c.broken == "" {
				require.Equal(t, decide.SwitchSessionPin, plan.Record.SwitchReason)
				require.Equal(t, c.pinned, plan.Record.Affinity.Model)
			}
		})
	}
}

// What signalbox/auto chose keeps to the spend profile with every endpoint, and
// to the order that was asked of it.
func TestAPinOfAutosChoiceKeepsToItsLimits(t *testing.T) {
	w := autoWorld(func(a *policy.Auto) { a.Spend = policy.SpendEconomy })
	w.catalog.Models = []catalog.Model{model("acme/one", "north 0.1 0.4", "south 9 9", "east 0.05 0.3")}
	w.settings.DefaultModel = "signalbox/auto:cheap"
	in := w.input(t, decide.Facts{})
	in.Conversation, in.Classification = session(""), work(classify.General, 0.5)
	first := decide.Decide(in)
	require.Equal(t, []string{"east:acme/one", "north:acme/one"}, order(first))
	in.Conversation = second(first)
	require.Equal(t, "acme/one", in.Conversation.Model)
	plan := decide.Decide(in)
	require.Equal(t, decide.SwitchSessionPin, plan.Record.SwitchReason)
	require.Equal(t, order(first), order(plan))
}

// TestARuleIsLookedAtInEveryTurn: a session stays with the model that was meant,
// and not with where a rule led.
func TestARuleIsLookedAtInEveryTurn(t *testing.T) {
	pro := decide.Facts{Metadata: map[string]any{"plan": "pro"}}
	w := newWorld()
	w.settings.DefaultModel = "acme/small"
	w.model("acme/small").Rules = []catalog.Rule{rule("pro", isPro, `{"model":"acme/big"}`)}
	first := w.turn(t, session(""), pro)
	require.Equal(t, []string{"north:acme/big"}, order(first))
	require.Equal(t, "acme/small", first.Chain[0].Asked.ID)

	pinned := second(first)
	require.Equal(t, "acme/small", pinned.Model)
	require.Equal(t, "acme/big", pinned.Pins[0].Model, "an endpoint is pinned for what it serves")
	again := w.turn(t, pinned, pro)
	require.Equal(t, []string{"north:acme/big"}, order(again))
	require.Equal(t, decide.SwitchRule, again.Record.SwitchReason)
	_, trace := decide.Remember(again.Record.Affinity, decide.Turn{
		Conversation: pinned, Model: again.Chain[0].Model, Asked: again.Chain[0].Asked, Candidate: again.Chain[0].Candidates[0],
	})
	require.Empty(t, trace.ModelBreak, "the rule's model stood in for none that failed")

	without := w.turn(t, pinned, decide.Facts{})
	require.Equal(t, "acme/small", without.Record.DecidedModel, "who is not meant by the rule any more")
	require.Nil(t, without.Chain[0].Asked)
	w.model("acme/small").Rules = nil
	require.Equal(t, "acme/small", w.turn(t, pinned, pro).Record.DecidedModel, "nor where it is gone")
}

// A pinned model of which a rule leaves nothing is left for the default.
func TestAPinWhoseRuleLeavesNothingIsLeft(t *testing.T) {
	w := newWorld()
	w.settings.DefaultModel = "zeta/small"
	w.model("acme/small").Rules = []catalog.Rule{rule("away", always, `{"provider":"north","fallbacks":[{"model":"acme/big"}]}`)}
	ignoring := decide.Facts{Provider: decide.Preferences{Ignore: []string{"north"}}}
	plan := w.turn(t, session("acme/small"), ignoring)
	require.Nil(t, plan.Refusal)
	require.Equal(t, []string{"south:zeta/small"}, order(plan))
	require.Equal(t, decide.BreakPolicy, plan.Record.Affinity.ModelBreak)
	require.Empty(t, plan.Record.Override)
	// A fallback of the rule's is enough to stay.
	ignoring.Provider.Ignore = nil
	w.model("acme/small").Endpoints[0].Disabled = true
	require.Equal(t, []string{"north:acme/big"}, order(w.turn(t, session("acme/small"), ignoring)))
}

// TestAPinWidensNothing: whatever an earlier turn left, a turn without a model is
// served wherever it would be without, and only as the names of the rungs, the
// rules and what restricts it allow.
func TestAPinWidensNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, f := anyOfThem(t)
		f.Model, f.Models = "", nil
		for i := range w.catalog.Models {
			if to := rapid.SampledFrom(w.catalog.Models).Draw(t, "rule's model"); len(to.Endpoints) > 0 && rapid.IntRange(0, 2).Draw(t, "ruled") == 0 {
				w.catalog.Models[i].Rules = []catalog.Rule{rule("away", always, `{"model":"`+to.ID+`"}`)}
			}
		}
		in := w.input(t, f)
		free := decide.Decide(in)
		in.Conversation = session(rapid.SampledFrom(w.catalog.Models).Draw(t, "pinned").ID)
		plan := decide.Decide(in)
		require.True(t, free.Refusal != nil || plan.Refusal == nil, "a pin takes no answer away: %v", plan.Refusal)
		if plan.Refusal != nil || plan.Record.Affinity.Model == "" {
			return
		}
		require.Equal(t, in.Conversation.Model, plan.Record.Affinity.Model)
		step := plan.Chain[0]
		if rules := w.model(in.Conversation.Model).Rules; len(rules) > 0 {
			require.Equal(t, rules[0].Then.Model, step.Model.ID, "the rule decides")
		} else {
			require.Equal(t, in.Conversation.Model, step.Model.ID)
		}
		// Of the rungs' names one allows it, or it is held to the default's.
		ladder := append([]string{w.settings.DefaultModel}, w.settings.FallbackModels...)
		for _, c := range step.Candidates {
			standing, _ := decide.ParseName(w.settings.DefaultModel)
			held := standing.Provider == "" || w.is(c.Provider, standing.Provider)
			require.True(t, held || w.meant(ladder, in.Conversation.Model, c.Provider), "%s is beyond %v", c.Endpoint.ID, ladder)
		}
	})
}

// Where the default is a preset, its name says which model is meant each time:
// what it means now, whatever the session's earlier turns went to.
func TestADefaultPresetIsNotPinned(t *testing.T) {
	w := with(map[string]policy.PresetConfig{"p": {Model: "acme/big"}})
	w.settings.DefaultModel = "@p"
	plan := w.turn(t, session("acme/small"), decide.Facts{SessionID: "s"})
	require.Equal(t, []string{"acme/big"}, plan.Record.Chain)
	require.Equal(t, []string{"p"}, slugs(plan))
	require.Empty(t, plan.Record.SwitchReason)
	w.settings.DefaultModel = "acme/big"
	require.Equal(t, decide.SwitchSessionPin, w.turn(t, session("acme/small"), decide.Facts{SessionID: "s"}).Record.SwitchReason)
}
