package decide_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// with is a world that has presets.
func with(configs map[string]policy.PresetConfig) *world {
	w := newWorld()
	for slug, config := range configs {
		w.presets[slug] = preset(slug, config)
	}
	return w
}

// slugs are the presets of the chain's steps, "" where one has none.
func slugs(plan decide.Plan) (out []string) {
	for _, step := range plan.Chain {
		if step.Preset == nil {
			out = append(out, "")
			continue
		}
		out = append(out, step.Preset.Slug)
	}
	return out
}

// What each entry of the chain stands for, and which preset its calls are under.
func TestEachEntryIsUnderItsOwnPreset(t *testing.T) {
	small, big := policy.PresetConfig{Model: "acme/small"}, policy.PresetConfig{Model: "acme/big"}
	none := policy.PresetConfig{SystemPrompt: "Be brief."}
	all := map[string]policy.PresetConfig{
		"small": small, "big": big, "none": none, "team/one": {Model: "acme/tiny"}, "big#2": {Model: "zeta/small"},
		"falls": {Model: "acme/small", Routing: policy.Routing{FallbackModels: []string{"acme/big"}}},
	}
	for name, c := range map[string]struct {
		facts   decide.Facts
		set     func(*policy.Settings)
		route   []flow.Node
		chain   []string
		presets []string
	}{
		"its model":            {facts: decide.Facts{Model: "@small"}, chain: []string{"acme/small"}, presets: []string{"small"}},
		"in any case":          {facts: decide.Facts{Model: "@SMALL"}, chain: []string{"acme/small"}, presets: []string{"small"}},
		"a version":            {facts: decide.Facts{Model: "@big#2"}, chain: []string{"zeta/small"}, presets: []string{"big#2"}},
		"somebody else's":      {facts: decide.Facts{Model: "@Team/One"}, chain: []string{"acme/tiny"}, presets: []string{"team/one"}},
		"none of its own":      {facts: decide.Facts{Model: "@none"}, set: func(s *policy.Settings) { s.DefaultModel = "acme/big" }, chain: []string{"acme/big"}, presets: []string{"none"}},
		"the default model":    {set: func(s *policy.Settings) { s.DefaultModel = "@big" }, chain: []string{"acme/big"}, presets: []string{"big"}},
		"of models":            {facts: decide.Facts{Model: "acme/small", Models: []string{"@big", "acme/tiny"}}, chain: []string{"acme/small", "acme/big", "acme/tiny"}, presets: []string{"", "big", ""}},
		"the caller's others":  {facts: decide.Facts{Model: "@small", Models: []string{"acme/big", "@team/one"}}, chain: []string{"acme/small", "acme/big", "acme/tiny"}, presets: []string{"small", "", "team/one"}},
		"its own fallbacks":    {facts: decide.Facts{Model: "@falls"}, chain: []string{"acme/small", "acme/big"}, presets: []string{"falls", "falls"}},
		"the ladder's for it":  {facts: decide.Facts{Model: "@small"}, set: fallbacks("acme/big", "@team/one"), chain: []string{"acme/small", "acme/big", "acme/tiny"}, presets: []string{"small", "small", "team/one"}},
		"the ladder's default": {set: func(s *policy.Settings) { fallbacks("acme/big")(s); s.DefaultModel = "@small" }, chain: []string{"acme/small", "acme/big"}, presets: []string{"small", ""}},
		"one that is not":      {facts: decide.Facts{Model: "acme/small", Models: []string{"@mine", "acme/big"}}, chain: []string{"acme/small", "acme/big"}, presets: []string{"", ""}},
		"a fallback of none":   {facts: decide.Facts{Model: "acme/small", Models: []string{"@none"}}, set: func(s *policy.Settings) { s.DefaultModel = "acme/big" }, chain: []string{"acme/small", "acme/big"}, presets: []string{"", "none"}},
		"the same model once":  {facts: decide.Facts{Model: "@small", Models: []string{"acme/small", "acme/big"}}, chain: []string{"acme/small", "acme/big"}, presets: []string{"small", ""}},
		"twice the same":       {facts: decide.Facts{Model: "@small", Models: []string{"@small", "@Small"}}, chain: []string{"acme/small"}, presets: []string{"small"}},
		"a route's":            {facts: decide.Facts{Model: "acme/small"}, route: []flow.Node{fixes("to", "@big", "@team/one", "zeta/small")}, chain: []string{"acme/big", "acme/tiny", "zeta/small"}, presets: []string{"big", "team/one", ""}},
		"not under a route's":  {facts: decide.Facts{Model: "@small"}, route: []flow.Node{fixes("to", "acme/big")}, chain: []string{"acme/big"}, presets: []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			w := with(all)
			if c.set != nil {
				c.set(&w.settings)
			}
			if c.route != nil {
				route := routeOf(c.route...)
				w.route = &route
			}
			plan := w.decide(t, c.facts)
			require.Nil(t, plan.Refusal)
			require.Equal(t, c.chain, plan.Record.Chain)
			require.Equal(t, c.presets, slugs(plan))
			for i, slug := range c.presets {
				trace := plan.RecordOf(i).Preset
				require.Equal(t, slug != "", trace != nil)
				if slug != "" {
					require.Equal(t, &decide.PresetTrace{Slug: slug, Version: 3}, trace)
				}
			}
		})
	}
}

// What cannot be followed is refused, and nothing is put in its place.
func TestPresetsThatCannotBeUsed(t *testing.T) {
	w := with(map[string]policy.PresetConfig{"nested": {Model: "@small"}, "small": {Model: "acme/small"}, "none": {}})
	refusal := func(model string) *fault.Error { return w.decide(t, decide.Facts{Model: model}).Refusal }
	for _, model := range []string{"@mine", "@nested"} {
		require.Equal(t, fault.ModelNotFound, refusal(model).Code, model)
		require.Equal(t, fault.PresetNotFound, refusal(model).Reason, model)
	}
	require.Equal(t, fault.NoDefaultModel, refusal("@none").Code)
	require.Contains(t, refusal("@none").Message, "preset names no model")
	w.settings.DefaultModel = "@small"
	require.Equal(t, fault.PresetNotFound, refusal("@none").Reason, "a preset in a preset's place")
	w.settings.DefaultModel = "@none"
	require.Equal(t, fault.PresetNotFound, refusal("").Reason)
	w.settings.DefaultModel = "@mine"
	require.Contains(t, refusal("").Message, "default model of the workspace's settings")
	in := w.input(t, decide.Facts{})
	in.Opening = decide.Open(&in)
	once := decide.Decide(in).Refusal.Message
	require.Equal(t, once, decide.Decide(in).Refusal.Message, "an opening does not change")
	require.Equal(t, fault.InvalidModelName, refusal("@").Reason)
}

// One that cannot be read leaves its entry out, and is the refusal where nothing
// else serves.
func TestAPresetThatCannotBeRead(t *testing.T) {
	w := with(nil)
	in := w.input(t, decide.Facts{Model: "acme/small", Models: []string{"@Away", "acme/big"}})
	in.Unread = []string{"away"}
	plan := decide.Decide(in)
	require.Empty(t, plan.NeedsPresets)
	require.Equal(t, []string{"acme/small", "acme/big"}, plan.Record.Chain)
	require.Equal(t, "preset_not_readable", excluded(plan, "@Away"))
	in.Facts.Key.Models, in.Facts.Models = []string{"zeta/*"}, []string{"@Away"}
	plan = decide.Decide(in)
	require.Equal(t, fault.UpstreamUndetermined, plan.Refusal.Code)
	require.Positive(t, plan.Refusal.RetryAfter)
}

// What is not known yet is asked for, all that can be told at once, and nothing
// is decided without it.
func TestADecisionAsksForPresets(t *testing.T) {
	w := with(nil)
	w.settings.DefaultModel, w.settings.FallbackModels = "@standing", []string{"@last"}
	in := w.input(t, decide.Facts{Models: nil})
	needs := func() []string {
		plan := decide.Decide(in)
		if len(plan.NeedsPresets) > 0 {
			require.Empty(t, plan.Chain)
			require.Nil(t, plan.Refusal)
		}
		return plan.NeedsPresets
	}
	require.Equal(t, []string{"standing"}, needs())
	require.Equal(t, "standing", decide.Open(&in).Needs())
	in.Presets["standing"] = preset("standing", policy.PresetConfig{Model: "acme/small"})
	require.Equal(t, []string{"last"}, needs())
	in.Presets["last"] = nil
	require.Empty(t, needs())

	in = w.input(t, decide.Facts{Model: "@a", Models: []string{"@b", "@C", "@b"}})
	require.Equal(t, []string{"a"}, needs())
	in.Presets["a"] = preset("a", policy.PresetConfig{Model: "acme/small"})
	require.Equal(t, []string{"b", "c"}, needs(), "the last one is known not to be")
}

// The lists of a preset bind its own entry, whatever anybody else says.
func TestAPresetsListsBind(t *testing.T) {
	in := func(config policy.PresetConfig, f decide.Facts) decide.Plan {
		w := with(map[string]policy.PresetConfig{"p": config})
		w.settings.DefaultModel = "acme/small"
		return w.decide(t, f)
	}
	for name, c := range map[string]struct {
		config policy.PresetConfig
		reason fault.Reason
	}{
		"not allowed":            {policy.PresetConfig{Model: "acme/small", Models: policy.Lists{Allow: []string{"zeta/*"}}}, fault.PresetModelNotAllowed},
		"the default not either": {policy.PresetConfig{Models: policy.Lists{Allow: []string{"acme/big"}}}, fault.PresetModelNotAllowed},
		"blocked":                {policy.PresetConfig{Model: "acme/small", Models: policy.Lists{Block: []string{"acme/sm*"}}}, fault.PresetModelNotAllowed},
		"no provider allowed":    {policy.PresetConfig{Model: "acme/small", Providers: policy.Lists{Allow: []string{"anthropic"}}}, fault.NoProvidersAfterPresetFilter},
		"every provider blocked": {policy.PresetConfig{Model: "acme/small", Providers: policy.Lists{Block: []string{"nord", "south"}}}, fault.NoProvidersAfterPresetFilter},
	} {
		plan := in(c.config, decide.Facts{Model: "@p"})
		require.Equal(t, fault.UnsupportedModelOrEndpoint, plan.Refusal.Code, name)
		require.Equal(t, c.reason, plan.Refusal.Reason, name)
		require.Equal(t, "preset", plan.Record.Exclusions[0].Rung, name)
	}
	plan := in(policy.PresetConfig{Model: "acme/small", Providers: policy.Lists{Block: []string{"north"}}}, decide.Facts{Model: "@p"})
	require.Equal(t, []string{south}, order(plan), "an aggregator may pick the blocked one")
	plan = in(policy.PresetConfig{Model: "acme/small", Providers: policy.Lists{Allow: []string{"north"}}}, decide.Facts{Model: "@p", Models: []string{"zeta/small"}})
	require.Equal(t, []string{north, "south:zeta/small"}, order(plan), "another entry is not under it")
	plan = in(policy.PresetConfig{
		Model: "acme/small", Models: policy.Lists{Allow: []string{"acme/*"}}, Routing: policy.Routing{FallbackModels: []string{"zeta/small", "acme/big"}},
	}, decide.Facts{Model: "@p"})
	require.Equal(t, []string{"acme/small", "acme/big"}, plan.Record.Chain, "its own fallbacks are")
	rung, value := fieldOf(t, plan.Record.Policy, "preset.models.allow")
	require.Equal(t, [2]string{"preset", "acme/*"}, [2]string{rung, value})
}

// What one entry's preset says of a model holds for no other entry, and an
// operator's rule leads out of no list.
func TestListsAreOfOneEntry(t *testing.T) {
	w := with(map[string]policy.PresetConfig{"p": {Model: "acme/small", Models: policy.Lists{Block: []string{"acme/small"}}}})
	for _, key := range []decide.KeyFacts{{}, {Models: []string{"acme/*"}}} {
		plan := w.decide(t, decide.Facts{Model: "@p", Models: []string{"acme/small"}, Key: key})
		require.Equal(t, []string{""}, slugs(plan))
	}
	w.model("acme/small").Rules = []catalog.Rule{rule("r", always, `{"provider":"north","model":"acme/big"}`)}
	require.Equal(t, fault.PresetModelNotAllowed, w.decide(t, decide.Facts{Model: "@p"}).Refusal.Reason)
}

// A preset's fallbacks go where its author says; the ladder's are held to the
// preset's name as to any that the caller writes.
func TestWhatAPresetsNamePromises(t *testing.T) {
	w := with(map[string]policy.PresetConfig{
		"p":   {Model: "north:acme/small", Routing: policy.Routing{FallbackModels: []string{"south:zeta/small"}}},
		"one": {Model: "north:acme/small"},
	})
	w.settings.FallbackModels = []string{"south:zeta/small", "acme/big"}
	require.Equal(t, []string{north, "south:zeta/small"}, order(w.decide(t, decide.Facts{Model: "@p"})))
	require.Equal(t, []string{north, "north:acme/big"}, order(w.decide(t, decide.Facts{Model: "@one"})))
}

// What holds for the whole chain is the first entry's.
func TestTimeoutsAreTheFirstEntrys(t *testing.T) {
	long := policy.Routing{Timeouts: policy.Timeouts{FirstByte: 7 * time.Second}, Retries: ptr(2)}
	w := with(map[string]policy.PresetConfig{"p": {Model: "acme/small", Routing: long}})
	plan := w.decide(t, decide.Facts{Model: "@p", Models: []string{"acme/big"}})
	require.Equal(t, []string{"p", ""}, slugs(plan))
	require.Equal(t, long.Timeouts, plan.Timeouts)
	require.Equal(t, 2, *plan.Retries)
}

// The request's preferences beat the preset's, and those of the preset the
// workspace's.
func TestThePresetsRung(t *testing.T) {
	w := with(map[string]policy.PresetConfig{"p": {Model: "acme/small", Routing: policy.Routing{Mode: policy.Price, Provider: policy.Preferences{Order: []string{"south"}}}}})
	w.settings.RoutingMode = policy.Latency
	plan := w.decide(t, decide.Facts{Model: "@p"})
	require.Equal(t, south, order(plan)[0])
	rung, value := fieldOf(t, plan.Record.Policy, "routing_mode")
	require.Equal(t, [2]string{"preset", "price"}, [2]string{rung, value})
	require.Equal(t, north, order(w.decide(t, decide.Facts{Model: "@p", Provider: decide.Preferences{Order: []string{"north"}}}))[0])
	rung, value = fieldOf(t, plan.Record.Policy, "model")
	require.Equal(t, [2]string{"preset", "acme/small"}, [2]string{rung, value})
}

// The guardrails of a preset bind its entry and no other.
func TestAPresetsGuardrails(t *testing.T) {
	rail := policy.Guardrail{ID: id.New[id.GuardrailKind](id.SystemSource()), Name: "eu", Rules: policy.GuardrailRules{Providers: policy.Lists{Allow: []string{"north"}}}}
	other := id.New[id.GuardrailKind](id.SystemSource())
	w := with(map[string]policy.PresetConfig{"p": {Model: "acme/small", Guardrails: []id.Guardrail{rail.ID, other, rail.ID}}})
	w.guards = []policy.Guardrail{rail}
	plan := w.decide(t, decide.Facts{Model: "@p", Models: []string{"zeta/small"}})
	require.Equal(t, []string{north, "south:zeta/small"}, order(plan))
	require.Contains(t, plan.Record.Policy, decide.ResolvedField{Field: "guardrails", Rung: "preset", Value: rail.ID.String()})

	w.presets["p"].Config.Model = "zeta/small"
	plan = w.decide(t, decide.Facts{Model: "@p"})
	require.Equal(t, fault.GuardrailBlocked, plan.Refusal.Code)
	require.Equal(t, []string{rail.ID.String()}, plan.Refusal.Fields["guardrails"])
}

// Weights multiply shares, are told as factors and leave a fixed order alone.
func TestProviderWeights(t *testing.T) {
	w := with(map[string]policy.PresetConfig{
		"even": {Model: "acme/small"}, "south": {Model: "acme/small", ProviderWeights: map[string]float64{"south": 50, "nord": 0.5}},
		"never": {Model: "acme/small", ProviderWeights: map[string]float64{"north": 0, "south": 0, "east": 0}},
		"off":   {Model: "acme/small", ProviderWeights: map[string]float64{"north": 0}},
	})
	shares := func(model string) map[string]float64 {
		out := map[string]float64{}
		for _, c := range w.decide(t, decide.Facts{Model: model}).Record.Candidates {
			out[c.Provider] = c.Share
		}
		return out
	}
	even := shares("@even")
	sum := 0.5*even["north"] + 50*even["south"] + even["east"]
	for provider, weight := range map[string]float64{"north": 0.5, "south": 50, "east": 1} {
		require.InDelta(t, weight*even[provider]/sum, shares("@south")[provider], 1e-5)
	}
	require.Equal(t, even, shares("@never"))
	require.Zero(t, shares("@off")["north"])
	for seed := range uint64(50) {
		in := w.input(t, decide.Facts{Model: "@off"})
		in.Seed = seed
		require.Equal(t, north, order(decide.Decide(in))[2], "last, and still there")
	}
	plan := w.decide(t, decide.Facts{Model: "@south"})
	for _, c := range plan.Record.Candidates {
		want := map[string]float64{"north": 0.5, "south": 50, "east": 1}[c.Provider]
		require.Contains(t, c.Factors, decide.Factor{Name: decide.FactorWeight, Input: want})
	}
	w.presets["south"].Config.Routing.Provider.Sort = policy.Price
	require.Equal(t, []string{north, south, "east:acme/small"}, order(w.decide(t, decide.Facts{Model: "@south"})))
}

// The prompt of a preset counts as input of its entry, where the surface has a
// place for it.
func TestAPresetsPromptCountsAsInput(t *testing.T) {
	prompt := strings.Repeat("word", 200)
	w := with(map[string]policy.PresetConfig{"long": {Model: "acme/small", SystemPrompt: prompt}, "vec": {Model: "acme/vec", SystemPrompt: prompt}})
	w.model("acme/small").Context = 1000
	for tokens, fits := range map[int64]bool{800: true, 801: false} {
		plan := w.decide(t, decide.Facts{Model: "@long", InputTokens: tokens})
		require.Equal(t, fits, plan.Refusal == nil, tokens)
		if !fits {
			require.Equal(t, fault.ContextLengthExceeded, plan.Refusal.Code)
		}
	}
	require.Nil(t, w.decide(t, decide.Facts{Model: "acme/small", InputTokens: 1000}).Refusal)
	require.EqualValues(t, 300, w.decide(t, decide.Facts{Model: "@long", InputTokens: 100}).Record.Rankings[0].InputTokens)
	vectors := w.decide(t, decide.Facts{Model: "@vec", Surface: catalog.Embeddings, InputTokens: 100})
	require.EqualValues(t, 100, vectors.Record.Rankings[0].InputTokens)
}

// What a preset adds to the body counts for its own entries, and for no others.
func TestWhatAPresetAddsCounts(t *testing.T) {
	w := with(map[string]policy.PresetConfig{"p": {Model: "acme/small"}, "auto": {Model: catalog.AutoModel, Models: policy.Lists{Allow: []string{"acme/tiny:free"}}}})
	strict := decide.Preferences{RequireParameters: true}
	added := decide.Added{Parameters: []string{"seed", "tools"}}
	in := func(f decide.Facts) decide.Input {
		in := w.input(t, f)
		in.Adds = func(v *policy.PresetVersion) decide.Added {
			require.Contains(t, []string{"p", "auto"}, v.Slug)
			return added
		}
		return in
	}
	plan := func(f decide.Facts) decide.Plan { return decide.Decide(in(f)) }
	endpoints := w.model("acme/small").Endpoints
	endpoints[0].Parameters, endpoints[1].Parameters = []string{"temperature", "seed", "tools"}, []string{"temperature"}
	require.NotContains(t, order(plan(decide.Facts{Model: "@p", Provider: strict})), south)
	require.Contains(t, order(plan(decide.Facts{Model: "acme/small", Provider: strict})), south)
	require.Contains(t, order(plan(decide.Facts{Model: "@p", Models: []string{"acme/small"}, Provider: strict})), south, "the caller's own entry")
	require.Contains(t, order(plan(decide.Facts{Model: "@p"})), south, "nobody demands it")

	free := w.model("acme/tiny:free").Endpoints
	free[0].Parameters, free[1].Parameters = endpoints[0].Parameters, endpoints[1].Parameters
	asks := in(decide.Facts{Model: "@auto"})
	asks.Classification = &decide.Classification{Source: decide.ByRules}
	require.Equal(t, []string{"north:acme/tiny:free"}, order(decide.Decide(asks)), "a model that signalbox/auto chooses has to take tools")

	w.model("acme/small").Context = 1000
	added = decide.Added{InputTokens: 200, OutputTokens: 300}
	require.Nil(t, plan(decide.Facts{Model: "@p", InputTokens: 500}).Refusal)
	require.Equal(t, fault.ContextLengthExceeded, plan(decide.Facts{Model: "@p", InputTokens: 501}).Refusal.Code)
	require.Nil(t, plan(decide.Facts{Model: "@p", InputTokens: 501, OutputTokens: 299}).Refusal, "the request's cap is the one that goes out")
	require.EqualValues(t, 300, plan(decide.Facts{Model: "@p", InputTokens: 500}).Record.Rankings[0].OutputTokens)
}

// A request that the gateway makes within another one is held to what that one's
// route and preset restrict, and is under neither.
func TestAChildIsHeldToWhatItsParentIs(t *testing.T) {
	w := with(map[string]policy.PresetConfig{"p": {Model: "acme/big", SystemPrompt: "Hm.", Providers: policy.Lists{Block: []string{"south"}}}})
	route := routeOf(flow.Node{ID: "zdr", Type: flow.Model, Next: "end", Provider: &flow.Provider{Ignore: []string{"east"}}})
	w.route = &route
	parent := w.input(t, decide.Facts{Model: "@p"})
	child := w.input(t, decide.Facts{Model: "acme/small", Child: true})
	child.Within = decide.Open(&parent)
	plan := decide.Decide(child)
	require.Equal(t, []string{north}, order(plan))
	require.Nil(t, plan.Chain[0].Preset)
	require.Nil(t, plan.Record.Route)
	child.Within = nil
	require.Len(t, order(decide.Decide(child)), 3)
}

// signalbox/auto chooses among what a preset allows.
func TestAutoUnderAPreset(t *testing.T) {
	w := with(map[string]policy.PresetConfig{"p": {Model: catalog.AutoModel, Models: policy.Lists{Allow: []string{"acme/tiny"}}}})
	in := w.input(t, decide.Facts{Model: "@p"})
	require.True(t, decide.Decide(in).NeedsClassification)
	in.Classification = &decide.Classification{Source: decide.ByRules}
	plan := decide.Decide(in)
	require.Equal(t, []string{"acme/tiny"}, plan.Record.Chain)
	require.Equal(t, []string{"p"}, slugs(plan))
}

// Of a name with a version, the version may be what is missing.
func TestAMissingPresetOrVersion(t *testing.T) {
	for name, want := range map[string]string{"gone": "There is no preset with this name.", "support#2": "There is no such version of the preset, or no preset with this name."} {
		in := newWorld().input(t, decide.Facts{Model: "@" + name})
		in.Presets = map[string]*policy.PresetVersion{name: nil}
		require.Equal(t, want, decide.Decide(in).Refusal.Message)
	}
}
