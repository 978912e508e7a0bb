package decide_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// breaker makes north:acme/big fall at one stage.
type breaker struct {
	stage  decide.Stage
	reason string
	apply  func(*world, *decide.Facts)
	says   string // part of the remedy
}

// breakers are in the order of their stages: at least one for each stage, and
// one for each reason.
func breakers() []breaker {
	endpoint := func(w *world) *catalog.Endpoint { return &w.model("acme/big").Endpoints[0] }
	return []breaker{
		{decide.StageQualifier, "other_provider", func(_ *world, f *decide.Facts) { f.Model = "south:acme/big" }, "does not serve this model"},
		{decide.StageOnly, "not_in_only", func(_ *world, f *decide.Facts) { f.Provider.Only = []string{"south"} }, "provider.only leaves"},
		{decide.StageIgnore, "ignored", func(_ *world, f *decide.Facts) { f.Provider.Ignore = []string{"north"} }, "provider.ignore leaves"},
		{decide.StageIgnore, "aggregator_cannot_enforce", func(w *world, f *decide.Facts) {
			w.provider("north").Aggregator = true
			f.Provider.Ignore = []string{"east"}
		}, "aggregators"},
		{decide.StageModelPolicy, "model_not_allowed", func(_ *world, f *decide.Facts) { f.Key.Models = []string{"zeta/*"} }, "This key may not"},
		{decide.StageProviderPolicy, "provider_disabled", func(w *world, _ *decide.Facts) { w.provider("north").Disabled = true }, "switched off"},
		{decide.StageChannel, "beta_channel_off", func(w *world, _ *decide.Facts) { endpoint(w).Channel = catalog.Beta }, "preview channel"},
		{decide.StageChannel, "alpha_channel_off", func(w *world, _ *decide.Facts) {
			endpoint(w).Channel = catalog.Alpha
			w.settings.BetaChannel = true
		}, "preview channel"},
		{decide.StageRollout, "endpoint_disabled", func(w *world, _ *decide.Facts) { endpoint(w).Disabled = true }, "switched off"},
		{decide.StageCapability, "format_not_supported", func(w *world, f *decide.Facts) {
			w.provider("north").Type = catalog.Vertex
			f.Surface = catalog.Embeddings
		}, "this surface"},
		{decide.StageCapability, "surface_not_supported", func(_ *world, f *decide.Facts) { f.Surface = catalog.Rerank }, "this surface"},
		{decide.StageCapability, "modality_not_supported", func(w *world, f *decide.Facts) {
			w.model("acme/big").Input = []catalog.Modality{catalog.Text}
			f.Needs = []catalog.Modality{catalog.Image}
		}, "kinds of content"},
		{decide.StageCapability, "parameter_not_supported", func(w *world, f *decide.Facts) {
			endpoint(w).Parameters = []string{"seed"}
			f.Parameters, f.Provider.RequireParameters = []string{"logprobs"}, true
		}, "provider.require_parameters"},
		{decide.StageContext, "context_too_small", func(_ *world, f *decide.Facts) { f.InputTokens = 1 << 40 }, "Shorten"},
		{decide.StageRegion, "region_mismatch", func(_ *world, f *decide.Facts) { f.Provider.Region = "us" }, "provider.required_region"},
		{decide.StageRegion, "region_unknown", func(w *world, f *decide.Facts) {
			w.provider("north").Regions = nil
			f.Provider.Region = "eu"
		}, "provider.required_region"},
		{decide.StageRegion, "aggregator_cannot_enforce", func(w *world, f *decide.Facts) {
			w.provider("north").Aggregator = true
			f.Provider.Region = "eu"
		}, "provider.required_region"},
		{decide.StageDataPolicy, "zero_data_retention_not_known", func(w *world, f *decide.Facts) {
			w.provider("north").DataPolicy.ZeroDataRetention = nil
			f.Provider.RequireZDR = true
		}, "provider.require_zero_data_retention"},
		{decide.StageDataPolicy, "training_not_ruled_out", func(w *world, f *decide.Facts) {
			w.provider("north").DataPolicy.Trains = ptr(true)
			f.Provider.DenyTraining = true
		}, "train"},
		{decide.StagePricePresent, "price_unknown", func(w *world, f *decide.Facts) {
			endpoint(w).Price = nil
			f.Provider.MaxInputPrice = perMillion("100")
		}, "known price"},
		{decide.StageMaxPrice, "above_max_price", func(_ *world, f *decide.Facts) { f.Provider.MaxOutputPrice = perMillion("39") }, "costs more"},
		{decide.StageCredential, "no_credential", func(w *world, _ *decide.Facts) { w.provider("north").Credential = nil }, "credential"},
		{decide.StageCredential, "no_base_url", func(w *world, _ *decide.Facts) {
			w.provider("north").Type, w.provider("north").BaseURL = catalog.Vertex, ""
		}, "address"},
	}
}

func fallen(t *testing.T, e *fault.Error) []decide.Fallen {
	t.Helper()
	stages, ok := e.Fields["stages"].([]decide.Fallen)
	require.True(t, ok)
	return stages
}

// TestEveryStageDropsAndSaysWhatWouldHaveToChange: each stage empties the pool,
// is in the record with its reason, and has its remedy in the error.
func TestEveryStageDropsAndSaysWhatWouldHaveToChange(t *testing.T) {
	seen := map[decide.Stage]bool{}
	for _, b := range breakers() {
		seen[b.stage] = true
		w, f := newWorld(), decide.Facts{Model: "acme/big"}
		b.apply(w, &f)
		plan := w.decide(t, f)
		require.NotNil(t, plan.Refusal, b.reason)
		require.Equal(t, b.stage.String(), plan.Record.Refusal.Stage, b.reason)
		require.Len(t, plan.Record.Exclusions, 1)
		require.Equal(t, b.reason, plan.Record.Exclusions[0].Reason)
		require.Equal(t, b.stage.String(), plan.Record.Exclusions[0].Stage)
		require.Contains(t, plan.Refusal.Message, b.says, b.reason)
		require.Equal(t, b.stage.String(), plan.Refusal.Fields["stage"])
		require.Equal(t, plan.Record.Exclusions, plan.Refusal.Fields["exclusions"])
		stages := fallen(t, plan.Refusal)
		require.Len(t, stages, 1)
		require.Equal(t, b.stage.String(), stages[0].Stage)
		require.Equal(t, 1, stages[0].Dropped)
		require.Contains(t, stages[0].Remedy, b.says)
	}
	for stage := decide.StageQualifier; stage <= decide.StageCredential; stage++ {
		require.True(t, seen[stage], "%s has no breaker", stage)
	}
}

// TestStagesRunInTheirFixedOrder: what breaks two is dropped at the earlier.
func TestStagesRunInTheirFixedOrder(t *testing.T) {
	all := breakers()
	for i := range all {
		for j := i + 1; j < len(all); j++ {
			if all[i].stage == all[j].stage {
				continue
			}
			w, f := newWorld(), decide.Facts{Model: "acme/big"}
			all[j].apply(w, &f)
			all[i].apply(w, &f)
			plan := w.decide(t, f)
			require.Equal(t, all[i].stage.String(), plan.Record.Refusal.Stage, "%s and %s", all[i].reason, all[j].reason)
		}
	}
}

// TestEveryStageThatDroppedSomethingIsNamed: endpoints that fell at several
// stages each have theirs, and the message is about the last.
func TestEveryStageThatDroppedSomethingIsNamed(t *testing.T) {
	refusal := newWorld().decide(t, decide.Facts{Model: "acme/small", Provider: decide.Preferences{
		Only: []string{"north", "south"}, Region: "us", MaxInputPrice: perMillion("1"),
	}}).Refusal
	require.Equal(t, "max_price", refusal.Fields["stage"])
	require.Equal(t, []decide.Fallen{
		{Stage: "only", Dropped: 1, Remedy: "provider.only leaves no provider of this model. Add one that serves it."},
		{Stage: "region", Dropped: 1, Remedy: "No endpoint of this model is certain to run in provider.required_region. Choose another region or model."},
		{Stage: "max_price", Dropped: 1, Remedy: "Every endpoint of this model costs more than provider.max_price. Raise it or choose another model."},
	}, fallen(t, refusal))
	require.Equal(t, "Every endpoint of this model costs more than provider.max_price. Raise it or choose another model. "+
		"Other endpoints were left out before: 1 at only, 1 at region.", refusal.Message)
}

// TestResidencyAlone: 403 where the required regions are what leaves nothing,
// 400 where anything else that was demanded has a part in it.
func TestResidencyAlone(t *testing.T) {
	region := func(more policy.Preferences) decide.Facts {
		more.Region = "asia"
		return decide.Facts{Model: "acme/small", Provider: more}
	}
	qualified := region(policy.Preferences{})
	qualified.Model = "north:acme/small"
	free := region(policy.Preferences{})
	free.Model = "signalbox/free"
	cases := []struct {
		name  string
		setup func(*world)
		facts decide.Facts
		alone bool
	}{
		{"all are elsewhere", nil, region(policy.Preferences{}), true},
		{"qualified", nil, qualified, true},
		{"signalbox/free", nil, free, true},
		{"others are not on offer", func(w *world) {
			w.provider("south").Disabled = true
			w.model("acme/small").Endpoints[2].Channel = catalog.Beta
		}, region(policy.Preferences{}), true},
		{"one is ignored", func(w *world) { w.provider("east").Aggregator = false }, region(policy.Preferences{Ignore: []string{"south"}}), false},
		{"one is outside only", nil, region(policy.Preferences{Only: []string{"north"}}), false},
		{"none would be cheap enough", nil, region(policy.Preferences{MaxInputPrice: perMillion("0.5")}), false},
		{"one would be cheap enough", nil, region(policy.Preferences{MaxInputPrice: perMillion("1")}), true},
		{"none has a credential", func(w *world) {
			for i := range w.catalog.Providers {
				w.catalog.Providers[i].Credential = nil
			}
		}, region(policy.Preferences{}), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			if c.setup != nil {
				c.setup(w)
			}
			refusal := w.decide(t, c.facts).Refusal
			require.Equal(t, "region", refusal.Fields["stage"])
			if !c.alone {
				require.Equal(t, fault.UnsupportedModelOrEndpoint, refusal.Code)
				require.NotContains(t, refusal.Fields, "unmet_requirements")
				return
			}
			require.Equal(t, fault.ModelRegionUnavailable, refusal.Code)
			require.Equal(t, []string{"required_region"}, refusal.Fields["unmet_requirements"])
			require.Equal(t, []string{"asia"}, refusal.Fields["required_regions"])
		})
	}
}

// crowd puts a model at n more providers.
func crowd(w *world, modelID string, n int, change func(*catalog.Provider)) {
	for i := range n {
		slug := fmt.Sprintf("crowd-%03d", i)
		w.catalog.Providers = append(w.catalog.Providers, provider(slug, change))
		w.model(modelID).Endpoints = append(w.model(modelID).Endpoints, model(modelID, slug+" 1 1").Endpoints[0])
	}
}

// TestWhatIsBeyondTheRecordCountsToo: the record lists 128 exclusions; what a
// refusal says is about all of them.
func TestWhatIsBeyondTheRecordCountsToo(t *testing.T) {
	const many = 200
	w := newWorld()
	crowd(w, "acme/big", many, func(p *catalog.Provider) { p.Regions = []string{"us"} })
	w.model("acme/big").Endpoints = w.model("acme/big").Endpoints[1:]
	facts := decide.Facts{Model: "acme/big", Provider: decide.Preferences{Region: "eu"}}
	plan := w.decide(t, facts)
	require.True(t, fault.Is(plan.Refusal, fault.ModelRegionUnavailable))
	require.Equal(t, []decide.Fallen{{Stage: "region", Dropped: many, Remedy: fallen(t, plan.Refusal)[0].Remedy}}, fallen(t, plan.Refusal))
	require.LessOrEqual(t, len(plan.Record.Exclusions), 128)
	require.Equal(t, many-len(plan.Record.Exclusions), plan.Record.Truncated)

	// The one that another demand dropped is behind what the record holds.
	facts.Provider.Ignore = []string{fmt.Sprintf("crowd-%03d", many-1)}
	plan = w.decide(t, facts)
	require.True(t, fault.Is(plan.Refusal, fault.UnsupportedModelOrEndpoint), "not residency alone: %v", plan.Refusal)
	require.Equal(t, 1, fallen(t, plan.Refusal)[0].Dropped)
}

// TestExclusionsAndRemediesNameTheRung: a caller is not told to change what a
// profile demands.
func TestExclusionsAndRemediesNameTheRung(t *testing.T) {
	cases := map[string]struct {
		set  policy.Preferences
		says string
	}{
		"only":        {policy.Preferences{Only: []string{"south"}}, "provider.only of the key's routing profile"},
		"ignore":      {policy.Preferences{Ignore: []string{"north"}}, "provider.ignore of the key's routing profile"},
		"region":      {policy.Preferences{Region: "us"}, "provider.required_region of the key's routing profile"},
		"data_policy": {policy.Preferences{RequireZDR: true}, "provider.require_zero_data_retention of the key's routing profile"},
		"max_price":   {policy.Preferences{MaxInputPrice: perMillion("1")}, "provider.max_price of the key's routing profile"},
		"capability":  {policy.Preferences{RequireParameters: true}, "provider.require_parameters of the key's routing profile"},
	}
	for stage, c := range cases {
		w := newWorld()
		w.provider("north").DataPolicy.ZeroDataRetention = nil
		w.model("acme/big").Endpoints[0].Parameters = []string{"seed"}
		w.rungs = map[decide.Rung]policy.Routing{decide.RungKey: prefers(c.set)}
		plan := w.decide(t, decide.Facts{Model: "acme/big", Parameters: []string{"logprobs"}})
		require.Equal(t, stage, plan.Record.Refusal.Stage)
		require.Equal(t, "key", plan.Record.Exclusions[0].Rung)
		require.Contains(t, plan.Refusal.Message, c.says)
		require.Contains(t, plan.Refusal.Message, "ask a workspace admin to change the key's routing profile")
	}
	w := newWorld()
	w.rungs = map[decide.Rung]policy.Routing{decide.RungKey: prefers(policy.Preferences{Only: []string{"north"}})}
	plan := w.decide(t, decide.Facts{Model: "acme/small", Provider: decide.Preferences{Only: []string{"south"}}})
	require.Contains(t, plan.Refusal.Message, "provider.only of the key's routing profile and the request have no provider of this model in common.")
	w = newWorld()
	w.provider("north").DataPolicy.Trains, w.settings.DenyTraining = nil, true
	require.Contains(t, w.decide(t, decide.Facts{Model: "acme/big"}).Refusal.Message, "provider.deny_training of the workspace's settings")
}

// TestARequestThatIgnoresAllItAllowsIsAContradiction, which a profile and a
// request together are not.
func TestARequestThatIgnoresAllItAllowsIsAContradiction(t *testing.T) {
	w := newWorld()
	f := decide.Facts{Model: "acme/small", Provider: decide.Preferences{Only: []string{"north", "south"}, Ignore: []string{"south", "NORD"}}}
	refusal := w.decide(t, f).Refusal
	require.Equal(t, fault.ValidationError, refusal.Code)
	require.Equal(t, fault.ContradictoryRestrictions, refusal.Reason)
	require.Equal(t, "provider.only", refusal.Violations[0].Path)
	f.Provider.Ignore = []string{"south"}
	require.Equal(t, []string{north}, order(w.decide(t, f)))
	w.rungs = map[decide.Rung]policy.Routing{decide.RungKey: prefers(policy.Preferences{Ignore: []string{"north"}})}
	require.Equal(t, fault.UnsupportedModelOrEndpoint, w.decide(t, f).Refusal.Code)
}
