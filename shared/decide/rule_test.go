package decide_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/classify"
	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// rule reads a rule as catalog.yaml writes it, but in JSON.
func rule(name, when, then string) catalog.Rule {
	r := catalog.Rule{Name: name}
	if err := json.Unmarshal([]byte(when), &r.When); err != nil {
		panic(err)
	}
	if err := json.Unmarshal([]byte(then), &r.Then); err != nil {
		panic(err)
	}
	return r
}

const (
	always    = `{"source":"model","op":"exists"}`
	isPro     = `{"source":"metadata","path":"plan","op":"equals","value":"pro"}`
	notFree   = `{"source":"metadata","path":"plan","op":"not_equals","value":"free"}`
	isGold    = `{"source":"workspace_tag","op":"equals","value":"gold"}`
	mayBatch  = `{"source":"key_scope","op":"equals","value":"batch"}`
	isSmall   = `{"source":"model","op":"equals","value":"acme/small"}`
	equalNull = `{"source":"metadata","path":"plan","op":"equals","value":null}`
)

// TestRules holds what a model's rules make of the chain.
func TestRules(t *testing.T) {
	pro := map[string]any{"plan": "Pro"}
	small := func(rules ...catalog.Rule) func(*world) {
		return func(w *world) { w.model("acme/small").Rules = rules }
	}
	cases := []struct {
		name  string
		setup func(*world)
		facts decide.Facts
		want  []string
		rule  string
	}{
		{
			"a matching rule replaces the chain, models and fallback models with it",
			func(w *world) {
				small(rule("pro", isPro, `{"provider":"south"}`))(w)
				w.settings.FallbackModels = []string{"zeta/small"}
			},
			decide.Facts{Model: "acme/small", Models: []string{"acme/big"}, Metadata: pro},
			[]string{south},
			"acme/small#pro",
		},
		{
			"one that does not match changes nothing",
			small(rule("pro", isPro, `{"provider":"south"}`)),
			decide.Facts{Model: "acme/small:cheap", Models: []string{"acme/big"}, Metadata: map[string]any{"plan": "free"}},
			[]string{north, south, east, big},
			"",
		},
		{
			"the first match wins",
			small(rule("a", isGold, `{"provider":"east"}`), rule("b", isPro, `{"provider":"south"}`), rule("c", always, `{"provider":"north"}`)),
			decide.Facts{Model: "acme/small", Metadata: pro},
			[]string{south},
			"acme/small#b",
		},
		{
			"a rule that is switched off does not match",
			func(w *world) {
				off := rule("off", always, `{"provider":"east"}`)
				off.Disabled = true
				small(off, rule("on", always, `{"provider":"south"}`))(w)
			},
			decide.Facts{Model: "acme/small"},
			[]string{south},
			"acme/small#on",
		},
		{
			"a missing key satisfies not_equals",
			small(rule("r", notFree, `{"provider":"south"}`)),
			decide.Facts{Model: "acme/small"},
			[]string{south},
			"acme/small#r",
		},
		{
			"and never equals null",
			small(rule("r", equalNull, `{"provider":"south"}`)),
			decide.Facts{Model: "acme/small:cheap"},
			[]string{north, south, east},
			"",
		},
		{
			"null equals null",
			small(rule("r", equalNull, `{"provider":"south"}`)),
			decide.Facts{Model: "acme/small", Metadata: map[string]any{"plan": nil}},
			[]string{south},
			"acme/small#r",
		},
		{
			"workspace tags", func(w *world) { w.tags = []string{"eu", "gold"}; small(rule("r", isGold, `{"provider":"south"}`))(w) },
			decide.Facts{Model: "acme/small"},
			[]string{south},
			"acme/small#r",
		},
		{
			"key scopes", small(rule("r", mayBatch, `{"provider":"south"}`)),
			decide.Facts{Model: "acme/small", Key: decide.KeyFacts{Scopes: []string{"batch"}}},
			[]string{south},
			"acme/small#r",
		},
		{
			"the model's id, also when it was asked for by another name",
			func(w *world) {
				w.model("acme/small").Aliases = []string{"mini"}
				small(rule("r", isSmall, `{"provider":"south"}`))(w)
			},
			decide.Facts{Model: "mini"},
			[]string{south},
			"acme/small#r",
		},
		{
			"fallbacks in their order, without the caller's order of providers",
			small(rule("r", always, `{"provider":"east","fallbacks":[{"provider":"south"},{"provider":"north"}]}`)),
			decide.Facts{Model: "acme/small", Provider: decide.Preferences{Order: []string{"north"}}},
			[]string{east, south, north},
			"acme/small#r",
		},
		{
			"one that cools down goes behind the rule's others",
			func(w *world) {
				small(rule("r", always, `{"provider":"east","fallbacks":[{"provider":"south"}]}`))(w)
				w.health[east] = decide.EndpointHealth{Open: true}
			},
			decide.Facts{Model: "acme/small"},
			[]string{south, east},
			"acme/small#r",
		},
		{
			"another upstream model is an endpoint of its own",
			small(rule("r", always, `{"provider":"south","upstream_model":"small-v2","fallbacks":[{"provider":"south"}]}`)),
			decide.Facts{Model: "acme/small"},
			[]string{"south:acme/small~r", south},
			"acme/small#r",
		},
		{
			"a provider that does not list the model",
			func(w *world) {
				w.model("acme/big").Rules = []catalog.Rule{rule("r", always, `{"provider":"south","upstream_model":"huge"}`)}
			},
			decide.Facts{Model: "acme/big"},
			[]string{"south:acme/big~r"},
			"acme/big#r",
		},
		{
			"another model", small(rule("r", always, `{"model":"acme/big","fallbacks":[{"provider":"south"}]}`)),
			decide.Facts{Model: "acme/small"},
			[]string{big, south},
			"acme/small#r",
		},
		{
			"a fallback's rule ends the chain there",
			func(w *world) { w.model("acme/big").Rules = []catalog.Rule{rule("r", always, `{"provider":"north"}`)} },
			decide.Facts{Model: "zeta/small", Models: []string{"acme/big", "acme/small"}},
			[]string{"south:zeta/small", big},
			"acme/big#r",
		},
		{
			"no fallbacks of the caller's leave the rule's first",
			small(rule("r", always, `{"provider":"east","fallbacks":[{"provider":"south"}]}`)),
			decide.Facts{Model: "acme/small", Provider: decide.Preferences{AllowFallbacks: ptr(false)}},
			[]string{east},
			"acme/small#r",
		},
		{
			"a free model", func(w *world) {
				w.model("acme/tiny:free").Rules = []catalog.Rule{rule("r", always, `{"provider":"south"}`)}
			},
			decide.Facts{Model: catalog.FreeModel},
			[]string{"south:acme/tiny:free"},
			"acme/tiny:free#r",
		},
		{
			"a retired model is the rule's to serve", func(w *world) {
				small(rule("r", always, `{"model":"acme/big"}`))(w)
				w.model("acme/small").Lifecycle.State = catalog.Retired
				w.model("acme/small").Endpoints = nil
			},
			decide.Facts{Model: "acme/small"},
			[]string{big},
			"acme/small#r",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			if c.setup != nil {
				c.setup(w)
			}
			plan := w.decide(t, c.facts)
			require.Nil(t, plan.Refusal)
			require.Equal(t, c.want, order(plan))
			require.Equal(t, c.rule, plan.Record.Override)
			first := len(c.want) > 0 && c.rule != "" && plan.Chain[0].Candidates[0].Endpoint.ID == c.want[0] && c.facts.Model != "zeta/small"
			require.Equal(t, first, plan.Record.SwitchReason == decide.SwitchRule, "%s", plan.Record.SwitchReason)
		})
	}
}

// TestARuleThatLeavesNothingRefuses: restrictions bind, and nothing outside the
// rule is tried.
func TestARuleThatLeavesNothingRefuses(t *testing.T) {
	cases := []struct {
		name  string
		setup func(*world)
		then  string
		facts decide.Facts
		stage string
	}{
		{"only", nil, `{"provider":"south"}`, decide.Facts{Provider: decide.Preferences{Only: []string{"north"}}}, "only"},
		{"ignore", nil, `{"provider":"south"}`, decide.Facts{Provider: decide.Preferences{Ignore: []string{"south"}}}, "ignore"},
		{"a qualified model", nil, `{"provider":"south"}`, decide.Facts{Model: "north:acme/small"}, "qualifier"},
		{"region", nil, `{"provider":"south"}`, decide.Facts{Provider: decide.Preferences{Region: "eu"}}, "region"},
		{"data policy", func(w *world) { w.settings.RequireZDR = true }, `{"provider":"south"}`, decide.Facts{}, "data_policy"},
		{
			"price", nil, `{"provider":"south"}`,
			decide.Facts{Provider: decide.Preferences{MaxInputPrice: perMillion("1")}},
			"max_price",
		},
		{"the key's models", nil, `{"model":"acme/big"}`, decide.Facts{Key: decide.KeyFacts{Models: []string{"acme/small"}}}, "model_policy"},
		{
			"the key's models, of the model asked for", nil, `{"model":"acme/big"}`,
			decide.Facts{Key: decide.KeyFacts{Models: []string{"acme/big"}}},
			"model_policy",
		},
		{"a provider that is switched off", func(w *world) { w.provider("south").Disabled = true }, `{"provider":"south"}`, decide.Facts{}, "provider_policy"},
		{"a key that the workspace does not have", nil, `{"provider":"south","credential":"byok"}`, decide.Facts{}, "credential"},
		{"what costs, for what is free", nil, `{"model":"acme/big"}`, decide.Facts{Model: "acme/tiny:free"}, "price_present"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			for _, m := range []string{"acme/small", "acme/tiny:free"} {
				w.model(m).Rules = []catalog.Rule{rule("r", always, c.then)}
			}
			if c.setup != nil {
				c.setup(w)
			}
			if c.facts.Model == "" {
				c.facts.Model = "acme/small"
			}
			c.facts.Models = []string{"zeta/small"}
			plan := w.decide(t, c.facts)
			require.NotNil(t, plan.Refusal)
			require.Empty(t, plan.Chain)
			require.Equal(t, c.stage, plan.Record.Refusal.Stage)
			require.Equal(t, "r", plan.Refusal.Fields["rule"])
			require.Contains(t, plan.Refusal.Message, "operator's rule")
			require.NotEmpty(t, plan.Record.Override)
		})
	}
}

func TestAFallbacksRuleThatLeavesNothingKeepsTheFirstRefusal(t *testing.T) {
	w := newWorld()
	w.model("zeta/small").Endpoints = nil
	w.model("acme/small").Rules = []catalog.Rule{rule("r", always, `{"provider":"south"}`)}
	plan := w.decide(t, decide.Facts{
		Model: "zeta/small", Models: []string{"acme/small", "acme/big"}, Provider: decide.Preferences{Only: []string{"north"}},
	})
	require.True(t, fault.Is(plan.Refusal, fault.UnsupportedModelOrEndpoint))
	require.Equal(t, "zeta/small", plan.Refusal.Fields["model"])
}

func TestTheRulesCredentialReachesTheCandidate(t *testing.T) {
	w := newWorld()
	w.provider("north").Credential, w.provider("north").Keyless = nil, true
	w.model("acme/small").Rules = []catalog.Rule{rule("r", always, `{"provider":"south","credential":"managed","fallbacks":[{"provider":"north","credential":"managed"},{"provider":"east","credential":"byok"}]}`)}
	plan := w.decide(t, decide.Facts{Model: "acme/small"})
	require.Equal(t, []string{south, north}, order(plan), "the workspace has no key of its own")
	got := plan.Chain[0].Candidates
	require.Equal(t, []decide.CredentialUse{{Source: decide.CredentialManaged}}, got[0].Credentials)
	require.Equal(t, []decide.CredentialUse{{Source: decide.CredentialNone}}, got[1].Credentials)
}

func TestUsableFollowsARule(t *testing.T) {
	w := newWorld()
	w.tags = []string{"gold"}
	w.model("acme/small").Rules = []catalog.Rule{rule("pro", isPro, `{"provider":"north"}`), rule("gold", isGold, `{"provider":"south"}`)}
	in := w.input(t, decide.Facts{})
	m, _ := in.Catalog.Model("acme/small")
	usable := decide.Usable(in, m, []catalog.Surface{catalog.Chat})[0]
	require.Len(t, usable, 1)
	require.Equal(t, south, usable[0].Endpoint.ID)
}

// A rule's targets are filtered once, whatever name led to it: no drop is there
// twice.
func TestTheDropsOfARuleAreRecordedOnce(t *testing.T) {
	once := func(t *testing.T, plan decide.Plan, dropped string) {
		t.Helper()
		require.NotEmpty(t, plan.Chain)
		require.NotEmpty(t, plan.Record.Override)
		seen := map[decide.Exclusion]bool{}
		for _, x := range plan.Record.Exclusions {
			require.False(t, seen[x], "%v is there twice", x)
			seen[x] = true
			dropped = strings.TrimPrefix(dropped, x.Endpoint)
		}
		require.Empty(t, dropped, "the rule's target was dropped")
	}
	not := decide.Facts{Provider: decide.Preferences{Ignore: []string{"south"}}}
	then := `{"provider":"south","fallbacks":[{"provider":"north"}]}`
	t.Run("auto", func(t *testing.T) {
		w := autoWorld(nil)
		w.catalog.Models = w.catalog.Models[:1]
		w.model("acme/plain").Rules = []catalog.Rule{rule("r", always, then)}
		plan := w.choose(t, not, work(classify.Code, 0.5))
		once(t, plan, "south:acme/plain")
	})
	t.Run("free", func(t *testing.T) {
		w := newWorld()
		w.model("acme/tiny:free").Rules = []catalog.Rule{rule("r", always, then)}
		f := not
		f.Model = catalog.FreeModel
		once(t, w.decide(t, f), "south:acme/tiny:free")
	})
}

// TestARuleNeverWidens draws rules over any world: no candidate breaks a
// restriction, and none is outside what the rule names.
func TestARuleNeverWidens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		f := anyFacts(t, w)
		anyRules(t, w)
		in := w.input(t, f)
		plan := decide.Decide(in)
		require.Equal(t, len(plan.Chain) == 0, plan.Refusal != nil)
		require.Equal(t, plan, decide.Decide(in))
		seen := map[string]bool{}
		for _, step := range plan.Chain {
			require.NotEmpty(t, step.Candidates)
			for _, c := range step.Candidates {
				require.Empty(t, violated(w, &f, step.Model, c), c.Endpoint.ID)
				require.False(t, seen[c.Endpoint.ID], "%s is there twice", c.Endpoint.ID)
				seen[c.Endpoint.ID] = true
			}
		}
		if plan.Record.SwitchReason != decide.SwitchRule {
			return
		}
		rules := w.model(f.Model).Rules
		if len(rules) == 0 {
			return // a fallback's rule decided, as nothing serves what was asked for
		}
		then := rules[0].Then
		for _, step := range plan.Chain {
			for _, c := range step.Candidates {
				require.True(t, named(then, f.Model, step.Model.ID, c), "%s is not the rule's", c.Endpoint.ID)
			}
		}
	})
}

// anyRules gives some models one rule that always matches.
func anyRules(t *rapid.T, w *world) {
	for i := range w.catalog.Models {
		m := &w.catalog.Models[i]
		if rapid.IntRange(0, 2).Draw(t, "ruled") > 0 {
			continue
		}
		r := catalog.Rule{Name: "r", When: condition.Condition{Source: condition.Model, Op: condition.Exists}}
		for j := range rapid.IntRange(1, 4).Draw(t, "targets") {
			target := catalog.Target{
				Provider:      rapid.SampledFrom(w.catalog.Providers).Draw(t, "to").Slug,
				Model:         rapid.SampledFrom([]string{"", w.catalog.Models[0].ID}).Draw(t, "to model"),
				UpstreamModel: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "upstream"),
				Credential:    rapid.SampledFrom([]catalog.Credential{"", catalog.ManagedCredential}).Draw(t, "credential"),
			}
			if j == 0 {
				r.Then.Target = target
			} else {
				r.Then.Fallbacks = append(r.Then.Fallbacks, target)
			}
		}
		m.Rules = []catalog.Rule{r}
	}
}

func named(then catalog.Then, own, model string, c decide.Candidate) bool {
	for _, t := range then.Targets() {
		if t.Model == "" {
			t.Model = own
		}
		if t.Model == model && t.Provider == c.Provider.Slug && t.UpstreamModel == c.Endpoint.UpstreamModel {
			return true
		}
	}
	return false
}

// What a rule adds to a refusal is a sentence of its own, whatever comes before.
func TestARulesRefusalReadsAsSentences(t *testing.T) {
	for _, model := range []string{"acme/small", "south:acme/small"} {
		w := newWorld()
		w.model("acme/small").Rules = []catalog.Rule{rule("north", always, `{"provider":"north"}`)}
		plan := w.decide(t, decide.Facts{Model: model, Provider: decide.Preferences{Ignore: []string{"north"}}})
		require.NotNil(t, plan.Refusal)
		before, _, found := strings.Cut(plan.Refusal.Message, " An operator's rule decides")
		require.True(t, found)
		require.Regexp(t, `[a-z]\.$`, before)
	}
}
