package decide_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/classify"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// pinned is a conversation by a session id that is pinned to endpoints, each
// of acme/small unless it says otherwise.
func pinned(endpoints ...string) decide.Conversation {
	c := decide.Conversation{Source: decide.FromSession, Sure: true}
	for _, e := range endpoints {
		provider, model, _ := cut(e, ':')
		if model == "" {
			model = "acme/small"
		}
		c.Pins = append(c.Pins, decide.Pin{Model: model, Provider: provider, Endpoint: provider + ":" + model})
	}
	return c
}

func (w *world) turn(t *testing.T, c decide.Conversation, facts decide.Facts) decide.Plan {
	t.Helper()
	in := w.input(t, facts)
	in.Conversation = c
	return decide.Decide(in)
}

func TestThePinGoesFirst(t *testing.T) {
	small := decide.Facts{Model: "acme/small"}
	broken := func(h decide.EndpointHealth) func(w *world) {
		return func(w *world) { w.health["east:acme/small"] = h }
	}
	for name, c := range map[string]struct {
		facts decide.Facts
		world func(w *world)
		first string // provider; "" is any
		want  decide.AffinityTrace
	}{
		"though it is the dearest": {small, nil, "east", decide.AffinityTrace{Applied: true}},
		"though it is deranked": {
			small, func(w *world) { w.model("acme/small").Endpoints[2].Derank = 3 }, "east",
			decide.AffinityTrace{Applied: true},
		},
		"though it misses a preference": {
			decide.Facts{Model: "acme/small", Provider: decide.Preferences{PreferredMaxLatency: time.Millisecond}},
			broken(decide.EndpointHealth{Calls: 20, Success: 1, FirstByte: time.Second}), "east",
			decide.AffinityTrace{Applied: true},
		},
		"in the mode of the ladder": {
			decide.Facts{Model: "acme/small", Routing: decide.RoutingFields{Mode: "price"}},
			nil, "east",
			decide.AffinityTrace{Applied: true},
		},
		"with two failures of two":   {small, broken(decide.EndpointHealth{Recent: 2, Errors: 1}), "east", decide.AffinityTrace{Applied: true}},
		"with a quarter of failures": {small, broken(decide.EndpointHealth{Recent: 400, Errors: 0.25}), "east", decide.AffinityTrace{Applied: true}},

		"not before a sort":   {decide.Facts{Model: "acme/small", Provider: decide.Preferences{Sort: "price"}}, nil, "north", decide.AffinityTrace{Ignored: "provider.sort"}},
		"not before a suffix": {decide.Facts{Model: "acme/small:cheap"}, nil, "north", decide.AffinityTrace{Ignored: "suffix"}},
		"not before an order": {decide.Facts{Model: "acme/small", Provider: decide.Preferences{Order: []string{"south"}}}, nil, "south", decide.AffinityTrace{Ignored: "provider.order"}},
		"but as an order has it": {
			decide.Facts{Model: "acme/small", Provider: decide.Preferences{Order: []string{"east", "south"}}},
			nil, "east",
			decide.AffinityTrace{Applied: true},
		},
		"not before a qualifier": {decide.Facts{Model: "south:acme/small"}, nil, "south", decide.AffinityTrace{Ignored: "qualifier"}},

		"unless its breaker is open":      {small, broken(decide.EndpointHealth{Open: true}), "", decide.AffinityTrace{Break: decide.BreakOpen}},
		"unless it cools down":            {small, broken(decide.EndpointHealth{Open: true, CoolingUntil: now.Add(time.Second)}), "", decide.AffinityTrace{Break: decide.BreakCooling}},
		"unless three of three failed":    {small, broken(decide.EndpointHealth{Recent: 3, Errors: 1}), "", decide.AffinityTrace{Break: decide.BreakErrors}},
		"unless only forbids it":          {decide.Facts{Model: "acme/small", Provider: decide.Preferences{Only: []string{"north"}}}, nil, "north", decide.AffinityTrace{Break: decide.BreakPolicy}},
		"unless ignore forbids it":        {decide.Facts{Model: "acme/small", Provider: decide.Preferences{Ignore: []string{"east"}}}, nil, "", decide.AffinityTrace{Break: decide.BreakPolicy}},
		"unless its provider is disabled": {small, func(w *world) { w.provider("east").Disabled = true }, "", decide.AffinityTrace{Break: decide.BreakPolicy}},
		"unless the turn is too long for it": {
			decide.Facts{Model: "acme/small", InputTokens: 500},
			func(w *world) { w.model("acme/small").Endpoints[2].Context = 100 }, "",
			decide.AffinityTrace{Break: decide.BreakUnable},
		},
		"unless it is gone": {small, func(w *world) { m := w.model("acme/small"); m.Endpoints = m.Endpoints[:2] }, "", decide.AffinityTrace{Break: decide.BreakGone}},
		"when all are down": {small, func(w *world) {
			for _, p := range []string{"north", "south", "east"} {
				w.health[p+":acme/small"] = decide.EndpointHealth{Open: true}
			}
		}, "", decide.AffinityTrace{Break: decide.BreakOpen}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			if c.world != nil {
				c.world(w)
			}
			plan := w.turn(t, pinned("east"), c.facts)
			require.Nil(t, plan.Refusal)
			want := c.want
			want.Source, want.Hit, want.Endpoint = "session", true, "east:acme/small"
			if plan.Record.DecidedProvider == "east" {
				want.Applied, want.Break = true, ""
			}
			require.Equal(t, &want, plan.Record.Affinity)
			if c.first != "" {
				require.Equal(t, c.first, plan.Record.DecidedProvider)
			} else if name != "when all are down" {
				require.NotEqual(t, "east", plan.Record.DecidedProvider)
			}
			require.Equal(t, c.want.Applied, plan.Record.Candidates[0].Pinned)
		})
	}
}

func TestAPinIsOfItsModelAlone(t *testing.T) {
	w := newWorld()
	plan := w.turn(t, pinned("north:acme/big"), decide.Facts{Model: "acme/small"})
	require.Equal(t, &decide.AffinityTrace{Source: "session"}, plan.Record.Affinity)
	// Later models of a chain have their own.
	plan = w.turn(t, pinned("north:acme/big", "east"), decide.Facts{Model: "acme/big", Models: []string{"acme/small"}})
	require.Equal(t, "east:acme/small", plan.Chain[1].Candidates[0].Endpoint.ID)
	require.Equal(t, "north:acme/big", plan.Record.Affinity.Endpoint)
}

func TestThePinnedOfTheFreeModelsGoesFirst(t *testing.T) {
	w := newWorld()
	w.catalog.Models = append(w.catalog.Models, model("acme/other:free", "north 0 0"), model("acme/third:free", "north 0 0"))
	for seed := range uint64(20) {
		in := w.input(t, decide.Facts{Model: "signalbox/free"})
		in.Seed, in.Conversation = seed, pinned("south:acme/tiny:free")
		plan := decide.Decide(in)
		require.Equal(t, "south:acme/tiny:free", plan.Record.DecidedUpstream)
		require.True(t, plan.Record.Affinity.Applied)
	}
	w.health["south:acme/tiny:free"] = decide.EndpointHealth{Recent: 10, Errors: 1}
	seen := map[string]bool{}
	for seed := range uint64(40) {
		in := w.input(t, decide.Facts{Model: "signalbox/free"})
		in.Seed, in.Conversation = seed, pinned("south:acme/tiny:free")
		seen[decide.Decide(in).Record.DecidedModel] = true
	}
	require.Len(t, seen, 3, "a pin that is to be left orders no models")
}

func TestTheSwitches(t *testing.T) {
	off, on := ptr(false), ptr(true)
	all := decide.AffinityRules{CacheAware: true, Session: true}
	noSession := decide.AffinityRules{CacheAware: true}
	aware := func(v *bool) policy.Routing { return policy.Routing{Provider: decide.Preferences{CacheAware: v}} }
	for name, c := range map[string]struct {
		setting bool
		rungs   map[decide.Rung]policy.Routing
		facts   decide.Facts
		want    decide.AffinityRules
		off     string
	}{
		"by default":               {true, nil, decide.Facts{}, all, ""},
		"the workspace's":          {false, nil, decide.Facts{}, decide.AffinityRules{}, decide.OffCacheAware},
		"a profile's":              {true, map[decide.Rung]policy.Routing{decide.RungDepartment: aware(off)}, decide.Facts{}, decide.AffinityRules{}, decide.OffCacheAware},
		"a profile is narrower":    {false, map[decide.Rung]policy.Routing{decide.RungKey: aware(on)}, decide.Facts{}, all, ""},
		"an application's token":   {false, map[decide.Rung]policy.Routing{decide.RungKey: aware(off)}, decide.Facts{OAuth: true}, all, ""},
		"the request's":            {true, nil, decide.Facts{Provider: decide.Preferences{CacheAware: off}}, decide.AffinityRules{}, decide.OffCacheAware},
		"the request is narrower":  {false, map[decide.Rung]policy.Routing{decide.RungKey: aware(off)}, decide.Facts{Provider: decide.Preferences{CacheAware: on}}, all, ""},
		"the route's":              {true, map[decide.Rung]policy.Routing{decide.RungRoute: aware(off)}, decide.Facts{}, decide.AffinityRules{}, decide.OffCacheAware},
		"the route fills gaps":     {true, map[decide.Rung]policy.Routing{decide.RungRoute: aware(off)}, decide.Facts{Provider: decide.Preferences{CacheAware: on}}, all, ""},
		"the route's, the session": {true, map[decide.Rung]policy.Routing{decide.RungRoute: {Affinity: off}}, decide.Facts{}, noSession, decide.OffSession},
		"and the request's own":    {true, map[decide.Rung]policy.Routing{decide.RungRoute: {Affinity: off}}, decide.Facts{Routing: decide.RoutingFields{SessionAffinity: on}}, all, ""},
		"the session's":            {true, nil, decide.Facts{Routing: decide.RoutingFields{SessionAffinity: off}}, noSession, decide.OffSession},
		"the session's, a preset":  {true, map[decide.Rung]policy.Routing{decide.RungPreset: {Affinity: off}}, decide.Facts{}, noSession, decide.OffSession},
		"the session's, on again":  {true, map[decide.Rung]policy.Routing{decide.RungKey: {Affinity: off}}, decide.Facts{Routing: decide.RoutingFields{SessionAffinity: on}}, all, ""},
		"both":                     {false, map[decide.Rung]policy.Routing{decide.RungKey: {Affinity: off}}, decide.Facts{}, decide.AffinityRules{}, decide.OffCacheAware},
		"not text":                 {true, nil, decide.Facts{Model: "acme/vec", Surface: catalog.Embeddings}, decide.AffinityRules{}, ""},
		"not text, and off":        {false, nil, decide.Facts{Model: "acme/vec", Surface: catalog.Embeddings}, decide.AffinityRules{}, ""},
		"a conversation of frames": {true, nil, decide.Facts{Surface: catalog.Realtime}, decide.AffinityRules{}, ""},
		"a job":                    {true, nil, decide.Facts{Owner: "north:acme/film"}, decide.AffinityRules{}, ""},
	} {
		w := newWorld()
		w.settings.CacheAwareRouting, w.rungs = c.setting, c.rungs
		if c.facts.Model == "" {
			c.facts.Model = "acme/small"
		}
		in := w.input(t, c.facts)
		require.Equal(t, c.want, in.Affinity(), name)
		trace := decide.Decide(in).Record.Affinity
		require.Equal(t, c.off != "", trace != nil, name)
		if trace != nil {
			require.Equal(t, &decide.AffinityTrace{Off: c.off}, trace, name)
		}
	}
}

// What signalbox/auto chose for a session stays while it could choose it today.
func TestASessionsModelIsHeldAgainstTheAutoOfToday(t *testing.T) {
	strong := decide.Conversation{Source: decide.FromSession, Sure: true, Model: "acme/strong"}
	for name, c := range map[string]struct {
		auto     func(*policy.Auto)
		world    func(*world)
		standing string // default model; "" for signalbox/auto
		want     decide.CacheBreak
	}{
		"as it was chosen":   {},
		"a narrower profile": {auto: func(a *policy.Auto) { a.Spend = policy.SpendStandard }, want: decide.BreakAuto},
		"prices of its own": {auto: func(a *policy.Auto) {
			a.Spend, a.Prices = policy.SpendCustom, &policy.SpendLimit{Input: 2_000_000_000, Output: 90_000_000_000}
		}, want: decide.BreakAuto},
		"dearer than it was": {auto: func(a *policy.Auto) {
			a.Spend, a.Prices = policy.SpendCustom, &policy.SpendLimit{Input: 9_000_000_000, Output: 90_000_000_000}
		}, world: func(w *world) { w.model("acme/strong").Endpoints[0].Price.Input = perMillion("10") }, want: decide.BreakAuto},
		"not among the patterns": {auto: func(a *policy.Auto) { a.Models = []string{"acme/p*"} }, want: decide.BreakAuto},
		"among them":             {auto: func(a *policy.Auto) { a.Models = []string{"acme/s*", "acme/p*"} }},
		"deprecated":             {world: func(w *world) { w.model("acme/strong").Lifecycle.State = catalog.Deprecated }, want: decide.BreakAuto},
		"beta": {world: func(w *world) {
			w.settings.BetaChannel = true
			w.model("acme/strong").Endpoints[0].Channel = catalog.Beta
		}, want: decide.BreakAuto},
		"a suffix":        {auto: func(a *policy.Auto) { a.Spend = policy.SpendStandard }, standing: "signalbox/auto:cheap", want: decide.BreakAuto},
		"another default": {auto: func(a *policy.Auto) { a.Spend = policy.SpendStandard }, standing: "acme/plain"},
	} {
		t.Run(name, func(t *testing.T) {
			w := autoWorld(c.auto)
			w.settings.DefaultModel = catalog.AutoModel
			if c.standing != "" {
				w.settings.DefaultModel = c.standing
			}
			if c.world != nil {
				c.world(w)
			}
			in := w.input(t, decide.Facts{})
			in.Conversation, in.Classification = strong, work(classify.General, 0)
			plan := decide.Decide(in)
			require.Nil(t, plan.Refusal)
			require.Equal(t, c.want, plan.Record.Affinity.ModelBreak)
			if c.want == "" {
				require.Equal(t, "acme/strong", plan.Record.DecidedModel)
				require.Equal(t, decide.SwitchSessionPin, plan.Record.SwitchReason)
				return
			}
			require.NotEqual(t, "acme/strong", plan.Record.DecidedModel)
			require.Equal(t, decide.SwitchAuto, plan.Record.SwitchReason)
			require.NotNil(t, plan.Record.Auto, "chosen anew")
			// The turn that follows stays with the new choice.
			step := plan.Chain[0]
			m, trace := decide.Remember(plan.Record.Affinity, decide.Turn{Conversation: strong, Model: step.Model, Candidate: step.Candidates[0]})
			require.Equal(t, []string{step.Model.ID, "acme/strong"}, []string{m.Model, m.ModelWas})
			require.Equal(t, decide.BreakAuto, trace.ModelBreak)
		})
	}
}

func TestTheSessionsModel(t *testing.T) {
	session := func(model string) decide.Conversation {
		return decide.Conversation{Source: decide.FromSession, Sure: true, Model: model}
	}
	w := newWorld()
	w.settings.DefaultModel = "acme/big"
	unnamed := decide.Facts{}

	plan := w.turn(t, session("acme/small"), unnamed)
	require.Equal(t, "acme/small", plan.Record.DecidedModel)
	require.Equal(t, decide.SwitchSessionPin, plan.Record.SwitchReason)
	require.Equal(t, "acme/small", plan.Record.Affinity.Model)

	named := w.turn(t, session("acme/small"), decide.Facts{Model: "acme/big"})
	require.Equal(t, "acme/big", named.Record.DecidedModel, "a named model is never substituted")
	require.Empty(t, named.Record.SwitchReason)
	require.Empty(t, named.Record.Affinity.Model)

	other := session("acme/small")
	other.Source = decide.FromCacheKey
	require.Equal(t, "acme/big", w.turn(t, other, unnamed).Record.DecidedModel, "of a session alone")

	gone := w.turn(t, session("acme/gone"), unnamed)
	require.Equal(t, "acme/big", gone.Record.DecidedModel)
	require.Equal(t, decide.BreakGone, gone.Record.Affinity.ModelBreak)

	refused := w.turn(t, session("acme/small"), decide.Facts{Key: decide.KeyFacts{Models: []string{"acme/big"}}})
	require.Equal(t, "acme/big", refused.Record.DecidedModel)
	require.Equal(t, decide.BreakPolicy, refused.Record.Affinity.ModelBreak)

	w.settings.DefaultModel = ""
	require.Equal(t, "acme/small", w.turn(t, session("acme/small"), unnamed).Record.DecidedModel, "also without a default")
	require.NotNil(t, w.turn(t, session("acme/gone"), unnamed).Refusal)
}
