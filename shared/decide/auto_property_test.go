package decide_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/classify"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// anyAuto draws a world with benchmarks and a configuration, and what a
// classifier says.
func anyAuto(t *rapid.T) (*world, decide.Input) {
	w := anyWorld(t)
	for i := range w.catalog.Models {
		m := &w.catalog.Models[i]
		for range rapid.IntRange(0, 3).Draw(t, "benchmarks") {
			m.Benchmarks = append(m.Benchmarks, catalog.Benchmark{
				ID:    rapid.SampledFrom([]string{"livebench.coding", "livebench.reasoning", "livebench.language", "own"}).Draw(t, "benchmark"),
				Score: rapid.Float64Range(0, 100).Draw(t, "score"), SelfReported: rapid.Bool().Draw(t, "self"),
			})
		}
	}
	a := policy.DefaultAuto()
	a.Objective = rapid.SampledFrom(policy.Objectives()).Draw(t, "objective")
	a.Spend = rapid.SampledFrom([]policy.SpendProfile{policy.SpendAny, policy.SpendPremium, policy.SpendStandard}).Draw(t, "spend")
	a.Models = rapid.SampledFrom([][]string{nil, nil, {"acme/m0", "m1"}}).Draw(t, "patterns")
	w.auto = &a
	said := &decide.Classification{Source: decide.ByModel}
	kind := classify.Workload(rapid.IntRange(0, classify.Count-1).Draw(t, "workload"))
	said.Mix[kind] = 1
	said.Complexity, said.Confidence = rapid.Float64Range(0, 1).Draw(t, "complexity"), rapid.Float64Range(0, 1).Draw(t, "confidence")
	in := w.input(t, decide.Facts{Model: catalog.AutoModel, InputTokens: rapid.Int64Range(0, 2000).Draw(t, "input")})
	in.Classification = said
	return w, in
}

// ruled lets operators' rules lead from some models to others.
func (w *world) ruled(t *rapid.T, in decide.Input) decide.Input {
	for i := range w.catalog.Models {
		to := rapid.SampledFrom(w.catalog.Models).Draw(t, "rule's model")
		if len(to.Endpoints) > 0 && rapid.Bool().Draw(t, "ruled") {
			w.catalog.Models[i].Rules = []catalog.Rule{rule("away", always, `{"model":"`+to.ID+`"}`)}
		}
	}
	again := w.input(t, in.Facts)
	again.Classification = in.Classification
	return again
}

func scores(p decide.Plan) map[string]float64 {
	all := map[string]float64{}
	if p.Record.Auto != nil {
		for _, c := range p.Record.Auto.Candidates {
			all[c.Model] = c.Score
		}
	}
	return all
}

// A constraint more never makes anything eligible that was not. All that is
// eligible is in the chain, of which the record may have left some out.
func TestMoreConstraintsNeverAddACandidate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, in := anyAuto(t)
		before := models(decide.Decide(in))
		tighter := map[string]func(f *decide.Facts, a *policy.Auto){
			"only":     func(f *decide.Facts, _ *policy.Auto) { f.Provider.Only = []string{"p0"} },
			"ignore":   func(f *decide.Facts, _ *policy.Auto) { f.Provider.Ignore = []string{"p0"} },
			"region":   func(f *decide.Facts, _ *policy.Auto) { f.Provider.Region = "eu" },
			"zdr":      func(f *decide.Facts, _ *policy.Auto) { f.Provider.RequireZDR = true },
			"training": func(f *decide.Facts, _ *policy.Auto) { f.Provider.DenyTraining = true },
			"price":    func(f *decide.Facts, _ *policy.Auto) { f.Provider.MaxInputPrice = perMillion("1") },
			"key":      func(f *decide.Facts, _ *policy.Auto) { f.Key.Models = []string{"acme/m0", "m1"} },
			"patterns": func(_ *decide.Facts, a *policy.Auto) { a.Models = []string{"acme/m0"} },
			"profile":  func(_ *decide.Facts, a *policy.Auto) { a.Spend = policy.SpendEconomy },
			"tools":    func(f *decide.Facts, _ *policy.Auto) { f.Parameters = []string{"tools"} },
			"image":    func(f *decide.Facts, _ *policy.Auto) { f.Needs = []catalog.Modality{catalog.Image} },
			"length":   func(f *decide.Facts, _ *policy.Auto) { f.OutputTokens = 5000 },
		}
		names := make([]string, 0, len(tighter))
		for name := range tighter {
			names = append(names, name)
		}
		slices.Sort(names)
		config := *w.auto
		w.auto = &config
		facts := in.Facts
		tighter[rapid.SampledFrom(names).Draw(t, "constraint")](&facts, w.auto)
		again := w.input(t, facts)
		again.Classification = in.Classification
		for _, model := range models(decide.Decide(again)) {
			require.Contains(t, before, model)
		}
	})
}

// A better independent benchmark never lowers a model's score, nor its place.
func TestABetterBenchmarkNeverLowersTheScore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, in := anyAuto(t)
		before := decide.Decide(in)
		if before.Refusal != nil {
			return
		}
		m := w.model(rapid.SampledFrom(models(before)).Draw(t, "model"))
		if len(m.Benchmarks) == 0 {
			return
		}
		i := rapid.IntRange(0, len(m.Benchmarks)-1).Draw(t, "which")
		m.Benchmarks[i].Score = rapid.Float64Range(m.Benchmarks[i].Score, 100).Draw(t, "better")
		again := w.input(t, in.Facts)
		again.Classification = in.Classification
		after := decide.Decide(again)
		require.GreaterOrEqual(t, scores(after)[m.ID], scores(before)[m.ID])
		require.LessOrEqual(t, slices.Index(models(after), m.ID), slices.Index(models(before), m.ID))
	})
}

// Every endpoint of the chain keeps to the spend profile, and the chain is in
// the order of the scores.
func TestEveryChoiceKeepsToTheProfile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, in := anyAuto(t)
		in = w.ruled(t, in)
		plan := decide.Decide(in)
		require.Equal(t, plan, decide.Decide(in), "the same input, the same plan")
		limit := w.auto.Limit()
		for _, step := range plan.Chain {
			for _, c := range step.Candidates {
				require.NotNil(t, c.Endpoint.Price)
				if limit != nil {
					require.LessOrEqual(t, *c.Endpoint.Price.Input, limit.Input)
					require.LessOrEqual(t, *c.Endpoint.Price.Output, limit.Output)
					if thought := c.Endpoint.Price.Reasoning; thought != nil {
						require.LessOrEqual(t, *thought, limit.Output)
					}
				}
				require.Empty(t, c.Endpoint.Channel)
				if len(w.auto.Models) > 0 {
					require.Contains(t, []string{"acme/m0", "acme/m1"}, step.Model.ID)
				}
			}
		}
		if plan.Refusal != nil {
			return
		}
		list := plan.Record.Auto.Candidates
		for i, c := range list {
			require.True(t, c.Score >= 0 && c.Score <= 1, "%v", c.Score)
			if i > 0 && c.Cooling == list[i-1].Cooling {
				require.GreaterOrEqual(t, list[i-1].Score, c.Score)
			}
			require.False(t, i > 0 && list[i-1].Cooling && !c.Cooling, "what cools comes last")
		}
	})
}
