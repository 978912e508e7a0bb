package decide_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/classify"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// autoWorld has acme/strong (dear, measured well), acme/plain (cheap, measured
// badly) and acme/unknown (cheap, not measured), all at north, and acme/plain at
// south too.
func autoWorld(change func(a *policy.Auto)) *world {
	w := newWorld()
	w.catalog.Models = []catalog.Model{
		model("acme/plain", "north 0.1 0.4", "south 0.1 0.4"),
		model("acme/strong", "north 3 15"),
		model("acme/unknown", "north 0.1 0.4"),
	}
	w.model("acme/strong").Benchmarks = []catalog.Benchmark{{ID: "livebench.coding", Score: 84}, {ID: "livebench.reasoning", Score: 94}}
	w.model("acme/plain").Benchmarks = []catalog.Benchmark{{ID: "livebench.coding", Score: 62}, {ID: "livebench.reasoning", Score: 50}}
	a := policy.DefaultAuto()
	a.Spend = policy.SpendAny
	if change != nil {
		change(&a)
	}
	w.auto = &a
	return w
}

// work is a classification as one workload, which a model is sure of.
func work(kind classify.Workload, complexity float64) *decide.Classification {
	c := &decide.Classification{Source: decide.ByModel, Model: "acme/judge", Request: "req_1"}
	c.Mix[kind], c.Complexity, c.Confidence = 1, complexity, 1
	return c
}

func (w *world) choose(t testing.TB, f decide.Facts, c *decide.Classification) decide.Plan {
	t.Helper()
	f.Model = catalog.AutoModel
	in := w.input(t, f)
	in.Classification = c
	return decide.Decide(in)
}

func models(p decide.Plan) (ids []string) {
	for _, step := range p.Chain {
		ids = append(ids, step.Model.ID)
	}
	return ids
}

// The first call asks for a classification and nothing else; the second has the
// chain, best model first.
func TestAutoAsksThenChooses(t *testing.T) {
	w := autoWorld(nil)
	first := w.choose(t, decide.Facts{}, nil)
	require.True(t, first.NeedsClassification)
	require.False(t, first.LocalSuffices)
	require.Nil(t, first.Refusal)
	require.Empty(t, first.Chain)

	plan := w.choose(t, decide.Facts{}, work(classify.Code, 0.9))
	require.Nil(t, plan.Refusal)
	require.False(t, plan.NeedsClassification)
	require.Len(t, plan.Chain, 3, "the ranked remainder are the fallbacks")
	r := plan.Record
	require.Equal(t, "signalbox/auto", r.RequestedModel)
	require.Equal(t, plan.Chain[0].Model.ID, r.DecidedModel)
	require.Equal(t, decide.SwitchAuto, r.SwitchReason)
	require.Equal(t, models(plan), r.Chain)
	a := r.Auto
	require.Equal(t, decide.AutoAlgorithm, a.Algorithm)
	require.EqualValues(t, 1, a.ConfigVersion)
	require.Equal(t, []string{"balanced", "any", "code", "model", "acme/judge", "req_1"},
		[]string{a.Objective, a.SpendProfile, a.Workload, a.Classifier, a.ClassifierModel, a.ClassifierRequest})
	require.Equal(t, []int{3, 3}, []int{a.Universe, a.Eligible})
	for i, c := range a.Candidates {
		require.Equal(t, r.Chain[i], c.Model)
		sum := 0.0
		for _, f := range c.Factors {
			sum += f.Contribution
		}
		require.InDelta(t, c.Score, sum, 1e-5, "the factors explain the score")
	}
}

func TestObjectives(t *testing.T) {
	slow := func(w *world) {
		w.health["north:acme/strong"] = decide.EndpointHealth{Calls: 100, Success: 1, FirstByte: 20 * time.Second, Throughput: 10, Recent: 50}
	}
	cases := []struct {
		name      string
		objective policy.Objective
		said      *decide.Classification
		setup     func(*world)
		want      string
	}{
		{"quality wants the best", policy.ForQuality, work(classify.Code, 0.5), nil, "acme/strong"},
		{"cost wants the cheapest that nobody found weak", policy.ForCost, work(classify.General, 0.1), nil, "acme/plain"},
		{"hard reasoning, balanced", policy.ForBalance, work(classify.Reasoning, 1), nil, "acme/strong"},
		{"an easy question, balanced", policy.ForBalance, work(classify.General, 0), nil, "acme/plain"},
		{"latency leaves a slow one", policy.ForLatency, work(classify.Code, 0.5), slow, "acme/plain"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := autoWorld(func(a *policy.Auto) { a.Objective = c.objective })
			w.catalog.Models = w.catalog.Models[:2]
			if c.setup != nil {
				c.setup(w)
			}
			require.Equal(t, c.want, w.choose(t, decide.Facts{}, c.said).Record.DecidedModel)
		})
	}
}

func TestSpendProfiles(t *testing.T) {
	custom := func(in, out string) func(*policy.Auto) {
		return func(a *policy.Auto) {
			a.Spend, a.Prices = policy.SpendCustom, &policy.SpendLimit{Input: *perMillion(in), Output: *perMillion(out)}
		}
	}
	profile := func(p policy.SpendProfile) func(*policy.Auto) { return func(a *policy.Auto) { a.Spend = p } }
	cases := []struct {
		name   string
		config func(*policy.Auto)
		price  string // of the one model
		ok     bool
	}{
		{"economy at its edge", profile(policy.SpendEconomy), "0.10 0.50", true},
		{"economy, output above", profile(policy.SpendEconomy), "0.10 0.500000001", false},
		{"economy, input above", profile(policy.SpendEconomy), "0.100000001 0.50", false},
		{"standard at its edge", profile(policy.SpendStandard), "0.30 1.50", true},
		{"standard above", profile(policy.SpendStandard), "0.30 1.51", false},
		{"premium at its edge", profile(policy.SpendPremium), "1 5", true},
		{"premium above", profile(policy.SpendPremium), "1.01 5", false},
		{"any", profile(policy.SpendAny), "1000 1000", true},
		{"custom at its edge", custom("2", "7"), "2 7", true},
		{"custom above", custom("2", "7"), "2 7.1", false},
		{"custom without prices lets nothing pass", profile(policy.SpendCustom), "0.01 0.01", false},
		{"a profile that this version does not know lets nothing pass", profile("lavish"), "0.01 0.01", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := autoWorld(c.config)
			w.catalog.Models = []catalog.Model{model("acme/one", "north "+c.price)}
			plan := w.choose(t, decide.Facts{}, work(classify.General, 0.5))
			if c.ok {
				require.Nil(t, plan.Refusal)
				return
			}
			require.Equal(t, fault.NoAutoModel, plan.Refusal.Reason)
			require.Contains(t, plan.Refusal.Message, "spend profile")
			require.Equal(t, []decide.AutoExclusion{{Stage: "max_price", Reason: "above_spend_profile", Models: 1}}, plan.Record.Auto.Exclusions)
		})
	}
}

// What is chosen must be fit for production, whatever naming it would allow.
func TestOnlyProductionModelsAreChosen(t *testing.T) {
	cases := map[string]func(w *world){
		"deprecated":        func(w *world) { w.model("acme/one").Lifecycle.State = catalog.Deprecated },
		"retired":           func(w *world) { w.model("acme/one").Lifecycle.State = catalog.Retired },
		"no price":          func(w *world) { w.model("acme/one").Endpoints[0].Price = nil },
		"no output price":   func(w *world) { w.model("acme/one").Endpoints[0].Price.Output = nil },
		"beta":              func(w *world) { w.settings.BetaChannel = true; w.model("acme/one").Endpoints[0].Channel = catalog.Beta },
		"off":               func(w *world) { w.model("acme/one").Endpoints[0].Disabled = true },
		"provider off":      func(w *world) { w.provider("north").Disabled = true },
		"no credential":     func(w *world) { w.provider("north").Credential = nil },
		"an image model":    func(w *world) { w.model("acme/one").Output = []catalog.Modality{catalog.Text, catalog.Image} },
		"an embedder":       func(w *world) { w.model("acme/one").Output = []catalog.Modality{catalog.Embedding} },
		"other surfaces":    func(w *world) { w.model("acme/one").Endpoints[0].Surfaces = []catalog.Surface{catalog.Rerank} },
		"nothing in it":     func(w *world) { w.catalog.Models = nil },
		"free that is not":  func(w *world) { w.catalog.Models = []catalog.Model{model("acme/one:free", "north 1 1")} },
		"no address":        func(w *world) { w.provider("north").BaseURL = ""; w.provider("north").Type = catalog.Azure },
		"retired by a date": func(w *world) { w.model("acme/one").Lifecycle.RetiresAt = ptr(now.Add(-time.Hour)) },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			w := autoWorld(nil)
			w.catalog.Models = []catalog.Model{model("acme/one", "north 1 1")}
			require.Nil(t, w.choose(t, decide.Facts{}, work(classify.General, 0.5)).Refusal)
			change(w)
			plan := w.choose(t, decide.Facts{}, work(classify.General, 0.5))
			require.NotNil(t, plan.Refusal, models(plan))
			require.Equal(t, fault.NoAutoModel, plan.Refusal.Reason)
			require.Zero(t, plan.Record.Auto.Universe)
		})
	}
}

func TestAutoConstraints(t *testing.T) {
	cases := []struct {
		name  string
		setup func(w *world)
		facts decide.Facts
		want  []string // models of the chain, in any order
	}{
		{"patterns", func(w *world) { w.auto.Models = []string{"acme/s*", "nobody/*"} }, decide.Facts{}, []string{"acme/strong"}},
		{"a bare pattern", func(w *world) { w.auto.Models = []string{"plain"} }, decide.Facts{}, []string{"acme/plain"}},
		{"the key's models", nil, decide.Facts{Key: decide.KeyFacts{Models: []string{"acme/u*"}}}, []string{"acme/unknown"}},
		{"only", nil, decide.Facts{Provider: decide.Preferences{Only: []string{"south"}}}, []string{"acme/plain"}},
		{"ignore", nil, decide.Facts{Provider: decide.Preferences{Ignore: []string{"north"}}}, []string{"acme/plain"}},
		{"region", nil, decide.Facts{Provider: decide.Preferences{Region: "us"}}, []string{"acme/plain"}},
		{"max price", nil, decide.Facts{Provider: decide.Preferences{MaxInputPrice: perMillion("1")}}, []string{"acme/plain", "acme/unknown"}},
		{"context", func(w *world) { w.model("acme/strong").Context = 10 }, decide.Facts{InputTokens: 11}, []string{"acme/plain", "acme/unknown"}},
		{
			"modality", func(w *world) { w.model("acme/strong").Input = []catalog.Modality{catalog.Text} },
			decide.Facts{Needs: []catalog.Modality{catalog.Image}},
			[]string{"acme/plain", "acme/unknown"},
		},
		{
			"tools are a fact: an endpoint known not to take them is left out",
			func(w *world) { w.model("acme/strong").Endpoints[0].Parameters = []string{"max_tokens"} },
			decide.Facts{Parameters: []string{"tools"}},
			[]string{"acme/plain", "acme/unknown"},
		},
		{"no fallbacks", func(w *world) {
			w.auto.AllowFallbacks, w.auto.Objective = false, policy.ForQuality
		}, decide.Facts{}, []string{"acme/strong"}},
		{
			"the chain's limit", func(w *world) { w.settings.MaxModels, w.auto.Objective = 1, policy.ForQuality },
			decide.Facts{},
			[]string{"acme/strong"},
		},
		{
			"a suffix keeps its mode and its constraints", nil,
			decide.Facts{Provider: decide.Preferences{Only: []string{"south"}}, Routing: decide.RoutingFields{Mode: policy.Latency}},
			[]string{"acme/plain"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := autoWorld(nil)
			if c.setup != nil {
				c.setup(w)
			}
			plan := w.choose(t, c.facts, work(classify.Code, 0.5))
			require.Nil(t, plan.Refusal)
			require.ElementsMatch(t, c.want, models(plan))
			for _, step := range plan.Chain {
				require.NotEmpty(t, step.Candidates)
			}
		})
	}
}

// An endpoint above the spend profile is left out even where the model has
// another one below it.
func TestTheSpendProfileHoldsForEachEndpoint(t *testing.T) {
	w := autoWorld(func(a *policy.Auto) { a.Spend = policy.SpendEconomy })
	w.catalog.Models = []catalog.Model{model("acme/one", "north 0.1 0.4", "south 9 9")}
	plan := w.choose(t, decide.Facts{}, work(classify.General, 0.5))
	require.Equal(t, []string{"north:acme/one"}, order(plan))
	require.Contains(t, plan.Record.Exclusions, decide.Exclusion{
		Model: "acme/one", Endpoint: "south:acme/one", Stage: "max_price", Reason: "above_spend_profile",
	})
}

func TestAutoRefusals(t *testing.T) {
	cases := []struct {
		name    string
		setup   func(w *world)
		facts   decide.Facts
		code    fault.Code
		message string
	}{
		{"residency alone", nil, decide.Facts{Provider: decide.Preferences{Region: "asia"}}, fault.ModelRegionUnavailable, "required_region"},
		{
			"residency, where something else leaves out some as well",
			func(w *world) { w.auto.Spend = policy.SpendEconomy },
			decide.Facts{Provider: decide.Preferences{Region: "asia"}},
			fault.ModelRegionUnavailable, "required_region",
		},
		{
			"residency and another restriction, each of which leaves something", func(w *world) { w.provider("north").DataPolicy.ZeroDataRetention = nil },
			decide.Facts{Provider: decide.Preferences{Region: "eu", RequireZDR: true}},
			fault.UnsupportedModelOrEndpoint, "data policy",
		},
		{
			"nothing would serve in another region either", nil,
			decide.Facts{Provider: decide.Preferences{Region: "asia", MaxInputPrice: perMillion("0.01")}},
			fault.UnsupportedModelOrEndpoint, "required_region",
		},
		{"patterns that name nothing", func(w *world) { w.auto.Models = []string{"other/*"} }, decide.Facts{}, fault.UnsupportedModelOrEndpoint, "patterns"},
		{"a qualifier", nil, decide.Facts{Model: "north:signalbox/auto"}, fault.ValidationError, "takes no provider"},
		{"embeddings", nil, decide.Facts{Surface: catalog.Embeddings}, fault.UnsupportedModelOrEndpoint, "Name a model"},
		{"images", nil, decide.Facts{Surface: catalog.Images}, fault.UnsupportedModelOrEndpoint, "Name a model"},
		{"an unknown provider", nil, decide.Facts{Provider: decide.Preferences{Only: []string{"nobody"}}}, fault.ValidationError, "provider"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := autoWorld(nil)
			if c.setup != nil {
				c.setup(w)
			}
			if c.facts.Model == "" {
				c.facts.Model = catalog.AutoModel
			}
			plan := w.decide(t, c.facts) // not classified: nobody is asked in vain
			require.False(t, plan.NeedsClassification)
			require.NotNil(t, plan.Refusal)
			require.Equal(t, c.code, plan.Refusal.Code)
			text := plan.Refusal.Message
			for _, v := range plan.Refusal.Violations {
				text += " " + v.Message + " " + v.Path
			}
			require.Contains(t, text, c.message)
		})
	}
}

func TestAutoIsNeverAFallback(t *testing.T) {
	w := autoWorld(nil)
	w.settings.FallbackModels = []string{"signalbox/auto", "acme/plain"}
	plan := w.decide(t, decide.Facts{Model: "acme/strong"})
	require.Equal(t, []string{"acme/strong", "acme/plain"}, models(plan))
	w.settings.FallbackModels = []string{"acme/plain"}
	plan = w.choose(t, decide.Facts{}, work(classify.Code, 1))
	require.Len(t, plan.Chain, 3, "a fallback that is in the chain is not tried twice")
}

// A rung can make it the default; a model that is named is not chosen anew.
func TestAutoAsARungsDefault(t *testing.T) {
	w := autoWorld(nil)
	w.rungs = map[decide.Rung]policy.Routing{decide.RungKey: {Auto: true}}
	in := w.input(t, decide.Facts{})
	require.True(t, decide.Decide(in).NeedsClassification)
	in.Classification = work(classify.Code, 1)
	plan := decide.Decide(in)
	require.Equal(t, decide.SwitchAuto, plan.Record.SwitchReason)
	require.NotNil(t, plan.Record.Auto)
	plan = w.decide(t, decide.Facts{Model: "acme/plain"})
	require.Equal(t, "acme/plain", plan.Record.DecidedModel)
	require.Nil(t, plan.Record.Auto)
}

func TestOneCandidateNeedsNoModelToClassify(t *testing.T) {
	w := autoWorld(nil)
	plan := w.choose(t, decide.Facts{Provider: decide.Preferences{Only: []string{"south"}}}, nil)
	require.True(t, plan.NeedsClassification)
	require.True(t, plan.LocalSuffices)
}

func TestModelsWhoseEndpointsAllCoolComeLast(t *testing.T) {
	w := autoWorld(func(a *policy.Auto) { a.Objective = policy.ForQuality })
	w.health["north:acme/strong"] = decide.EndpointHealth{Open: true}
	plan := w.choose(t, decide.Facts{}, work(classify.Code, 1))
	require.Equal(t, "acme/strong", models(plan)[2])
	require.True(t, plan.Record.Auto.Candidates[2].Cooling)
}

// Being measured by nobody is neutral; being measured by its author alone is
// the same.
func TestSelfReportedBenchmarksDoNotCount(t *testing.T) {
	score := func(b ...catalog.Benchmark) float64 {
		w := autoWorld(nil)
		w.model("acme/unknown").Benchmarks = b
		for _, c := range w.choose(t, decide.Facts{}, work(classify.Code, 1)).Record.Auto.Candidates {
			if c.Model == "acme/unknown" {
				return c.Score
			}
		}
		return -1
	}
	none := score()
	require.InDelta(t, none, score(catalog.Benchmark{ID: "livebench.coding", Score: 100, SelfReported: true}), 0)
	require.Greater(t, score(catalog.Benchmark{ID: "livebench.coding", Score: 100}), none)
}

// A request of the gateway's own goes to the model that it names, and nowhere
// else.
func TestAChildHasNoFallbacks(t *testing.T) {
	w := autoWorld(nil)
	w.settings.FallbackModels = []string{"acme/plain"}
	w.settings.DefaultModel = "acme/plain"
	require.Equal(t, []string{"acme/strong"}, models(w.decide(t, decide.Facts{Model: "acme/strong", Child: true})))
}

func TestTheCheapestClassifier(t *testing.T) {
	pick := func(change func(w *world)) string {
		w := autoWorld(nil)
		w.catalog.Models = []catalog.Model{
			model("acme/cheap", "north 0.1 0.1"), model("acme/cheaper", "north 0.05 0.1"), model("acme/free:free", "north 0 0"),
		}
		if change != nil {
			change(w)
		}
		view, err := catalog.Compile(w.catalog)
		require.NoError(t, err)
		picked, until := decide.CheapestClassifier(view, now)
		require.Zero(t, until, "nothing changes by itself")
		return picked
	}
	require.Equal(t, "acme/cheaper", pick(nil))
	for name, change := range map[string]func(m *catalog.Model){
		"it thinks first": func(m *catalog.Model) { m.Capabilities = []string{"reasoning"} },
		"deprecated":      func(m *catalog.Model) { m.Lifecycle.State = catalog.Deprecated },
		"short":           func(m *catalog.Model) { m.Context = 4000 },
		"no price":        func(m *catalog.Model) { m.Endpoints[0].Price = nil },
		"draws":           func(m *catalog.Model) { m.Output = []catalog.Modality{catalog.Text, catalog.Image} },
		"an aggregator's": func(m *catalog.Model) { m.Endpoints[0].ID, m.Endpoints[0].Provider = "east:acme/cheaper", "east" },
	} {
		require.Equal(t, "acme/cheap", pick(func(w *world) { change(w.model("acme/cheaper")) }), name)
	}
	require.Empty(t, pick(func(w *world) { w.provider("north").Credential = nil }))
}

// A pick holds until the next change of any model's state.
func TestHowLongTheCheapestClassifierIsThat(t *testing.T) {
	w := autoWorld(nil)
	w.catalog.Models = []catalog.Model{model("acme/cheap", "north 0.1 0.1"), model("acme/cheaper", "north 0.05 0.1")}
	past, soon, later := now.Add(-time.Hour), now.Add(time.Hour), now.Add(2*time.Hour)
	w.model("acme/cheaper").Lifecycle = catalog.Lifecycle{DeprecatedAt: &soon, RetiresAt: &later}
	w.model("acme/cheap").Lifecycle.RetiresAt = &later
	view, err := catalog.Compile(w.catalog)
	require.NoError(t, err)
	for _, c := range []struct {
		at, until time.Time
		want      string
	}{{past, soon, "acme/cheaper"}, {now, soon, "acme/cheaper"}, {soon, later, "acme/cheap"}, {later, time.Time{}, ""}} {
		picked, until := decide.CheapestClassifier(view, c.at)
		require.Equal(t, c.want, picked)
		require.Equal(t, c.until, until)
	}
}

// The record stays within its bound whatever the catalog, and tells what it
// leaves out.
func TestTheRecordOfAChoiceIsBounded(t *testing.T) {
	w := autoWorld(nil)
	w.catalog.Models = nil
	for i := range 200 {
		id := fmt.Sprintf("acme/%s-%03d", strings.Repeat("long", 10), i)
		m := model(id, "north 1 4", "south 2 8")
		for j := range 30 {
			m.Benchmarks = append(m.Benchmarks, catalog.Benchmark{ID: fmt.Sprintf("bench-%s-%d", strings.Repeat("x", 60), j), Score: 50})
		}
		w.catalog.Models = append(w.catalog.Models, m)
	}
	plan := w.choose(t, decide.Facts{}, work(classify.Code, 1))
	require.Len(t, plan.Chain, 34)
	body, err := plan.Record.Encode()
	require.NoError(t, err)
	require.LessOrEqual(t, len(body), 12<<10, "what Decide writes leaves room for the attempts")
	require.Positive(t, plan.Record.Truncated)
	require.NotEmpty(t, plan.Record.Auto.Candidates)
	var back decide.Record
	require.NoError(t, json.Unmarshal(body, &back))
}
