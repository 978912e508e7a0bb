package decide_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

const (
	north, south, east = "north:acme/small", "south:acme/small", "east:acme/small"
	big                = "north:acme/big"
)

// TestOrder holds the order in which endpoints are tried.
func TestOrder(t *testing.T) {
	slow := decide.EndpointHealth{FirstByte: 2 * time.Second, Throughput: 10}
	quick := decide.EndpointHealth{FirstByte: time.Second / 4, Throughput: 90}
	cases := []struct {
		name  string
		setup func(*world)
		facts decide.Facts
		want  []string
	}{
		{"cheapest first by suffix", nil, decide.Facts{Model: "acme/small:cheap"}, []string{north, south, east}},
		{
			"equal prices go by the whole cost", func(w *world) {
				m := w.model("acme/small")
				m.Endpoints[1].Price, m.Endpoints[2].Price = m.Endpoints[0].Price, m.Endpoints[0].Price
				w.health[north] = decide.EndpointHealth{Calls: 100, Success: 0.2}
				w.health[east] = quick
			},
			decide.Facts{Model: "acme/small:cheap"},
			[]string{east, south, north},
		},
		{"price mode looks at the price only", func(w *world) {
			w.health[north] = decide.EndpointHealth{Calls: 100, Success: 0.2}
		}, decide.Facts{Model: "acme/small:cheap"}, []string{north, south, east}},
		{"latency by suffix", func(w *world) {
			w.health[north], w.health[south], w.health[east] = slow, quick, slow
		}, decide.Facts{Model: "acme/small:fast"}, []string{south, north, east}},
		{"throughput by suffix beats the request's sort", func(w *world) {
			w.health[north], w.health[south], w.health[east] = slow, slow, quick
		}, decide.Facts{Model: "acme/small:nitro", Provider: decide.Preferences{Sort: policy.Price}}, []string{east, north, south}},
		{
			"sort by latency", func(w *world) { w.health[north], w.health[south] = slow, quick },
			decide.Facts{Model: "acme/small", Provider: decide.Preferences{Sort: policy.Latency}},
			[]string{south, east, north},
		},
		{"a suffix beats the workspace's mode", func(w *world) {
			w.health[north], w.health[south] = slow, quick
			w.settings.RoutingMode = policy.Price
		}, decide.Facts{Model: "acme/small:fast"}, []string{south, east, north}},
		{
			"listed first, then ranked", nil,
			decide.Facts{Model: "acme/small", Provider: decide.Preferences{Order: []string{"EAST"}, Sort: policy.Price}},
			[]string{east, north, south},
		},
		{
			"order by alias", nil,
			decide.Facts{Model: "acme/small", Provider: decide.Preferences{Order: []string{"south", "nord"}}},
			[]string{south, north, east},
		},
		{
			"an open endpoint comes last, under order too", func(w *world) { w.health[north] = decide.EndpointHealth{Open: true} },
			decide.Facts{Model: "acme/small", Provider: decide.Preferences{Order: []string{"north"}, Sort: policy.Price}},
			[]string{south, east, north},
		},
		{"a cooling endpoint comes last until its time", func(w *world) {
			w.health[north] = decide.EndpointHealth{CoolingUntil: now.Add(time.Second)}
			w.health[south] = decide.EndpointHealth{CoolingUntil: now.Add(-time.Second)}
		}, decide.Facts{Model: "acme/small:cheap"}, []string{south, east, north}},
		{
			"alone and open is tried", func(w *world) { w.health[big] = decide.EndpointHealth{Open: true} },
			decide.Facts{Model: "acme/big"},
			[]string{big},
		},
		{
			"deranked after others", func(w *world) { w.model("acme/small").Endpoints[0].Derank = 1 },
			decide.Facts{Model: "acme/small:cheap"},
			[]string{south, east, north},
		},
		{
			"a missed latency preference", func(w *world) { w.health[north] = slow },
			decide.Facts{Model: "acme/small:cheap", Provider: decide.Preferences{PreferredMaxLatency: time.Second}},
			[]string{south, east, north},
		},
		{
			"an unknown price is neutral", func(w *world) { w.model("acme/small").Endpoints[0].Price = nil },
			decide.Facts{Model: "acme/small:cheap"},
			[]string{north, south, east},
		},
		{
			"no fallbacks", nil,
			decide.Facts{Model: "acme/small:cheap", Provider: decide.Preferences{AllowFallbacks: ptr(false)}},
			[]string{north},
		},
		{"qualified", nil, decide.Facts{Model: "South:acme/small"}, []string{south}},
		{"qualified by alias with suffix", nil, decide.Facts{Model: "NORD:acme/small:nitro"}, []string{north}},
		{"bare name", nil, decide.Facts{Model: "big"}, []string{big}},
		{"bare name with suffix", nil, decide.Facts{Model: "big:cheap"}, []string{big}},
		{
			"chain", nil,
			decide.Facts{Model: "acme/big", Models: []string{"acme/big", "acme/small:cheap", "acme/small"}},
			[]string{big, north, south, east},
		},
		{
			"the same endpoint is not tried twice", nil,
			decide.Facts{Model: "acme/small:cheap", Models: []string{"north:acme/small", "small-alias"}},
			[]string{north, south, east},
		},
		{
			"workspace fallbacks follow the request's", func(w *world) { w.settings.FallbackModels = []string{"zeta/small"} },
			decide.Facts{Model: "acme/big", Models: []string{"acme/tiny"}},
			[]string{big, "north:acme/tiny", "south:zeta/small"},
		},
		{"default model", func(w *world) { w.settings.DefaultModel = "acme/big" }, decide.Facts{}, []string{big}},
		{
			"models without model", func(w *world) { w.settings.ModelsWithoutModel = policy.ModelsUseFirst },
			decide.Facts{Models: []string{"acme/big", "acme/tiny"}},
			[]string{big, "north:acme/tiny"},
		},
		{
			"max_models cuts", func(w *world) { w.settings.MaxModels = 1 },
			decide.Facts{Model: "acme/big", Models: []string{"acme/tiny"}},
			[]string{big},
		},
		{
			"a fallback serves when the primary cannot", func(w *world) { w.model("acme/big").Endpoints[0].Disabled = true },
			decide.Facts{Model: "acme/big", Models: []string{"nothing/here", "acme/tiny"}},
			[]string{"north:acme/tiny"},
		},
		{
			"retired but served", func(w *world) { w.model("acme/big").Lifecycle.State = catalog.Retired },
			decide.Facts{Model: "acme/big"},
			[]string{big},
		},
		{"retired routing goes after the request's models", func(w *world) {
			m := w.model("acme/big")
			m.Endpoints, m.Lifecycle = nil, catalog.Lifecycle{State: catalog.Retired, Replacement: "zeta/small"}
			w.settings.RetiredRouting, w.settings.FallbackModels = true, []string{"acme/vec"}
		}, decide.Facts{Model: "acme/big", Models: []string{"acme/tiny"}}, []string{"north:acme/tiny", "south:zeta/small"}},
		{"embeddings", nil, decide.Facts{Model: "acme/vec", Surface: catalog.Embeddings}, []string{"north:acme/vec"}},
		{"key patterns", nil, decide.Facts{Model: "acme/big", Key: decide.KeyFacts{Models: []string{"zeta/*", "acme/b*g"}}}, []string{big}},
		{
			"max_price keeps what is cheap enough", nil,
			decide.Facts{Model: "acme/small:cheap", Provider: decide.Preferences{MaxInputPrice: perMillion("2"), MaxOutputPrice: perMillion("8")}},
			[]string{north, south},
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
		})
	}
}

// TestRefusals holds what is said when nothing is left.
func TestRefusals(t *testing.T) {
	prefs := func(p decide.Preferences) decide.Facts { return decide.Facts{Model: "acme/big", Provider: p} }
	cases := []struct {
		name   string
		setup  func(*world)
		facts  decide.Facts
		code   fault.Code
		reason fault.Reason
		stage  string
	}{
		{"unknown model", nil, decide.Facts{Model: "acme/none"}, fault.ModelNotFound, "", ""},
		{"ambiguous", nil, decide.Facts{Model: "small"}, fault.ModelNotFound, "", ""},
		{"no model", nil, decide.Facts{}, fault.NoDefaultModel, "", ""},
		{"preset", nil, decide.Facts{Model: "@mine"}, fault.ModelNotFound, fault.PresetNotFound, ""},
		{"auto where it is not", nil, decide.Facts{Model: "signalbox/auto", Surface: catalog.Embeddings}, fault.UnsupportedModelOrEndpoint, fault.AutoNotSupported, ""},
		{"auto in models", nil, decide.Facts{Model: "acme/big", Models: []string{"signalbox/auto"}}, fault.ValidationError, "", ""},
		{"auto with models", nil, decide.Facts{Model: "signalbox/auto", Models: []string{"acme/big"}}, fault.ValidationError, "", ""},
		{"too many models", nil, decide.Facts{Model: "acme/big", Models: make([]string, 26)}, fault.ValidationError, "", ""},
		{"models without model", nil, decide.Facts{Models: []string{"acme/big"}}, fault.ValidationError, "", ""},
		{"models on batches", nil, decide.Facts{Model: "acme/big", Models: []string{"acme/tiny"}, Surface: catalog.Batches}, fault.ValidationError, "", ""},
		{"invalid provider", nil, decide.Facts{Model: "no rth:acme/big"}, fault.ValidationError, fault.InvalidProviderSlug, ""},
		{"unknown provider", nil, decide.Facts{Model: "west:acme/big"}, fault.ValidationError, fault.UnknownProviderSlug, ""},
		{
			"qualifier against only", nil,
			decide.Facts{Model: "north:acme/big", Provider: decide.Preferences{Only: []string{"south"}}},
			fault.ValidationError, fault.ProviderQualifiedModelConflict, "",
		},
		{
			"qualifier against ignore", nil,
			decide.Facts{Model: "north:acme/big", Provider: decide.Preferences{Ignore: []string{"NORD"}}},
			fault.ValidationError, fault.ProviderQualifiedModelConflict, "",
		},
		{
			"qualified provider lacks the model", nil,
			decide.Facts{Model: "south:acme/big"},
			fault.ValidationError, fault.QualifiedProviderUnavailable, "qualifier",
		},
		{
			"qualified and not free", func(w *world) { w.model("acme/tiny:free").Endpoints[0].Price.CachedInput = perMillion("1") },
			decide.Facts{Model: "north:acme/tiny:free"},
			fault.ValidationError, fault.QualifiedFreeProviderUnavailable, "price_present",
		},
		{"unknown in only", nil, prefs(decide.Preferences{Only: []string{"north", "west"}}), fault.ValidationError, fault.UnknownProviderSlug, ""},
		{"only", nil, prefs(decide.Preferences{Only: []string{"south"}}), fault.UnsupportedModelOrEndpoint, "not_in_only", "only"},
		{"ignore", nil, prefs(decide.Preferences{Ignore: []string{"north"}}), fault.UnsupportedModelOrEndpoint, "ignored", "ignore"},
		{
			"key's models", nil,
			decide.Facts{Model: "acme/big", Key: decide.KeyFacts{Models: []string{"acme/small", "zeta/*"}}},
			fault.UnsupportedModelOrEndpoint, fault.ModelNotAllowed, "model_policy",
		},
		{
			"provider off", func(w *world) { w.provider("north").Disabled = true }, prefs(decide.Preferences{}),
			fault.UnsupportedModelOrEndpoint, "provider_disabled", "provider_policy",
		},
		{
			"beta", func(w *world) { w.model("acme/big").Endpoints[0].Channel = catalog.Beta }, prefs(decide.Preferences{}),
			fault.UnsupportedModelOrEndpoint, "beta_channel_off", "channel",
		},
		{"alpha needs beta", func(w *world) {
			w.model("acme/big").Endpoints[0].Channel = catalog.Alpha
			w.settings.AlphaChannel = true
		}, prefs(decide.Preferences{}), fault.UnsupportedModelOrEndpoint, "alpha_channel_off", "channel"},
		{
			"endpoint off", func(w *world) { w.model("acme/big").Endpoints[0].Disabled = true }, prefs(decide.Preferences{}),
			fault.UnsupportedModelOrEndpoint, "endpoint_disabled", "rollout",
		},
		{"surface", nil, decide.Facts{Model: "acme/big", Surface: catalog.Videos}, fault.UnsupportedModelOrEndpoint, "surface_not_supported", "capability"},
		{"format", func(w *world) { w.provider("north").Type = catalog.Anthropic }, decide.Facts{Model: "acme/vec", Surface: catalog.Embeddings}, fault.UnsupportedModelOrEndpoint, "format_not_supported", "capability"},
		{"chat with an embedding model", nil, decide.Facts{Model: "acme/vec"}, fault.UnsupportedModelOrEndpoint, "surface_not_supported", "capability"},
		{
			"modality", func(w *world) { w.model("acme/big").Input = []catalog.Modality{catalog.Text} },
			decide.Facts{Model: "acme/big", Needs: []catalog.Modality{catalog.Image}},
			fault.UnsupportedModelOrEndpoint, "modality_not_supported", "capability",
		},
		{
			"parameters", func(w *world) { w.model("acme/big").Endpoints[0].Parameters = []string{"temperature"} },
			decide.Facts{Model: "acme/big", Parameters: []string{"logprobs"}, Provider: decide.Preferences{RequireParameters: true}},
			fault.UnsupportedModelOrEndpoint, "parameter_not_supported", "capability",
		},
		{"context", nil, decide.Facts{Model: "acme/big", InputTokens: 90_000, OutputTokens: 10_001}, fault.ContextLengthExceeded, "", "context_length"},
		{"region", nil, prefs(decide.Preferences{Region: "us"}), fault.ModelRegionUnavailable, "", "region"},
		{
			"training", func(w *world) { w.provider("north").DataPolicy.Trains = nil }, prefs(decide.Preferences{DenyTraining: true}),
			fault.UnsupportedModelOrEndpoint, "training_not_ruled_out", "data_policy",
		},
		{"workspace ZDR", func(w *world) {
			w.provider("north").DataPolicy.ZeroDataRetention = nil
			w.settings.RequireZDR = true
		}, prefs(decide.Preferences{}), fault.UnsupportedModelOrEndpoint, "zero_data_retention_not_known", "data_policy"},
		{
			"price unknown", func(w *world) { w.model("acme/big").Endpoints[0].Price = nil },
			prefs(decide.Preferences{MaxInputPrice: perMillion("100")}), fault.UnsupportedModelOrEndpoint, "price_unknown", "price_present",
		},
		{"too dear", nil, prefs(decide.Preferences{MaxOutputPrice: perMillion("39.999999999")}), fault.UnsupportedModelOrEndpoint, "above_max_price", "max_price"},
		{
			"no credential", func(w *world) { w.provider("north").Credential = nil }, prefs(decide.Preferences{}),
			fault.UnsupportedModelOrEndpoint, "no_credential", "credential",
		},
		{
			"no endpoints", func(w *world) { w.model("acme/big").Endpoints = nil }, prefs(decide.Preferences{}),
			fault.UnsupportedModelOrEndpoint, "no_endpoints", "",
		},
		{"retired", func(w *world) {
			w.model("acme/big").Endpoints[0].Disabled = true
			w.model("acme/big").Lifecycle.RetiresAt = ptr(now.Add(-time.Hour))
		}, prefs(decide.Preferences{}), fault.ModelRetired, "", "rollout"},
		{
			"retired, but the caller's limit is what emptied it", func(w *world) { w.model("acme/big").Lifecycle.State = catalog.Retired },
			prefs(decide.Preferences{Only: []string{"south"}}), fault.UnsupportedModelOrEndpoint, "not_in_only", "only",
		},
		{
			"a fallback's refusal does not replace the primary's", nil,
			decide.Facts{Model: "acme/big", Models: []string{"zeta/small", "west:x/y"}, Provider: decide.Preferences{Region: "asia"}},
			fault.ModelRegionUnavailable, "", "region",
		},
		{
			"no free model", nil,
			decide.Facts{Model: "signalbox/free", Provider: decide.Preferences{Only: []string{"east"}}},
			fault.UnsupportedModelOrEndpoint, fault.NoFreeModel, "only",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			if c.setup != nil {
				c.setup(w)
			}
			plan := w.decide(t, c.facts)
			require.NotNil(t, plan.Refusal, "chain %v", order(plan))
			require.Equal(t, c.code, plan.Refusal.Code)
			require.Equal(t, c.reason, plan.Refusal.Reason)
			require.NotEmpty(t, plan.Refusal.Message)
			require.Empty(t, plan.Chain)
			require.Equal(t, c.stage, plan.Record.Refusal.Stage)
			require.Equal(t, string(c.code), plan.Record.Refusal.Code)
		})
	}
}

func TestNearMatchesAndAmbiguityAreNamed(t *testing.T) {
	require.Contains(t, newWorld().decide(t, decide.Facts{Model: "acme/smal"}).Refusal.Message, "acme/small")
	require.Contains(t, newWorld().decide(t, decide.Facts{Model: "wrong/big"}).Refusal.Message, "acme/big")
	require.Contains(t, newWorld().decide(t, decide.Facts{Model: "acme/big:online"}).Refusal.Message, ":nitro")
	ambiguous := newWorld().decide(t, decide.Facts{Model: "small"}).Refusal
	require.Contains(t, ambiguous.Message, "acme/small, zeta/small")
	require.Equal(t, "model", ambiguous.Violations[0].Path)
}

func TestIgnoreExcludesAggregators(t *testing.T) {
	plan := newWorld().decide(t, decide.Facts{Model: "acme/small", Provider: decide.Preferences{Ignore: []string{"south"}}})
	require.Equal(t, []string{north}, order(plan))
	require.Contains(t, plan.Record.Exclusions, decide.Exclusion{
		Model: "acme/small", Endpoint: east, Stage: "ignore", Reason: "aggregator_cannot_enforce", Rung: "request",
	})
}

func TestRegionMustBeCertain(t *testing.T) {
	region := func(r string) decide.Facts {
		return decide.Facts{Model: "acme/small", Provider: decide.Preferences{Region: r}}
	}
	require.Equal(t, []string{north}, order(newWorld().decide(t, region("eu"))))
	require.Equal(t, []string{south}, order(newWorld().decide(t, region("us"))), "both regions of south are in us")
	require.NotNil(t, newWorld().decide(t, region("us-east")).Refusal, "south may also run in us-west")
	w := newWorld()
	m := w.model("acme/small")
	m.Endpoints[1].Region, m.Endpoints[1].ID = "us-east", south+"@us-east"
	require.Equal(t, []string{south + "@us-east"}, order(w.decide(t, region("us-east"))))
}

func TestFreeModelsNeedNoNameAndAreDrawn(t *testing.T) {
	w := newWorld()
	w.catalog.Models = append(w.catalog.Models, model("zeta/mini:free", "south 0 0"))
	firsts := map[string]int{}
	in := w.input(t, decide.Facts{Model: "signalbox/free"})
	for seed := range uint64(200) {
		in.Seed = seed
		plan := decide.Decide(in)
		require.Nil(t, plan.Refusal)
		require.Equal(t, decide.Sampled, plan.Record.Ordering)
		require.Len(t, plan.Chain, 2)
		firsts[plan.Chain[0].Model.ID]++
	}
	require.Len(t, firsts, 2)
	require.Greater(t, firsts["zeta/mini:free"], 50)
}

func TestAnthropicGoesToAnthropicFirst(t *testing.T) {
	w := newWorld()
	w.provider("anthropic").Type = catalog.OpenAICompatible // only the place in the order is of interest
	w.catalog.Models = append(w.catalog.Models, model("anthropic/claude", "north 1 1", "anthropic 9 9"))
	first := func(p decide.Preferences) string {
		p.Sort = policy.Price // north where nothing puts Anthropic first
		return order(w.decide(t, decide.Facts{Model: "anthropic/claude", Provider: p}))[0]
	}
	require.Equal(t, "anthropic:anthropic/claude", first(decide.Preferences{}))
	require.Equal(t, "north:anthropic/claude", first(decide.Preferences{Order: []string{"north"}}))
	require.Equal(t, "north:anthropic/claude", first(decide.Preferences{Only: []string{"north", "anthropic"}}))
	require.Equal(t, "north:anthropic/claude", first(decide.Preferences{Ignore: []string{"anthropic"}}))
	require.Equal(t, "anthropic:anthropic/claude", first(decide.Preferences{Ignore: []string{"south"}}))
}

func TestRecord(t *testing.T) {
	w := newWorld()
	w.model("acme/small").Lifecycle.State = catalog.Deprecated
	w.settings.MaxAttempts = 5
	w.health[north] = decide.EndpointHealth{Calls: 10, Success: 1, FirstByte: time.Second, Throughput: 50}
	plan := w.decide(t, decide.Facts{
		Model: "acme/gone", Models: nil,
	})
	require.Equal(t, "acme/gone", plan.Record.RequestedModel)

	plan = w.decide(t, decide.Facts{
		Model: "nord:acme/small", Routing: decide.RoutingFields{MaxAttempts: 3},
		Provider: decide.Preferences{Order: []string{"nope", "north"}, RequireZDR: true, MaxInputPrice: perMillion("5")},
	})
	r := plan.Record
	require.Nil(t, plan.Refusal)
	require.Equal(t, 3, plan.MaxAttempts)
	require.Equal(t, "acme/small", r.DecidedModel)
	require.Equal(t, "north", r.DecidedProvider)
	require.Equal(t, north, r.DecidedUpstream)
	require.Equal(t, decide.SwitchProviderAlias, r.SwitchReason)
	require.Equal(t, catalog.Deprecated, r.Lifecycle)
	require.EqualValues(t, 3, r.PolicyRevision)
	require.EqualValues(t, 7, r.CatalogRevision)
	require.EqualValues(t, 42, r.Seed)
	require.Equal(t, []string{"acme/small"}, r.Chain)
	require.Equal(t, []string{"provider.order[0]: unknown provider"}, r.Degraded)
	require.Contains(t, r.Policy, decide.ResolvedField{Field: "provider.max_price.input", Rung: "request", Value: "5.00"})
	require.Contains(t, r.Policy, decide.ResolvedField{Field: "provider.order", Rung: "request", Value: "north"})
	require.Len(t, r.Candidates, 1)
	require.Equal(t, decide.FactorTokens, r.Candidates[0].Factors[0].Name)
	require.InDelta(t, 3e6, r.Candidates[0].Factors[0].Input, 1, "1000 tokens at 1 and 500 at 4 USD per million, in nano-USD")
	require.Len(t, r.Exclusions, 2)
	body, err := r.Encode()
	require.NoError(t, err)
	var back decide.Record
	require.NoError(t, json.Unmarshal(body, &back))
	require.Equal(t, r, back)
}

func TestFallbackModelIsNoted(t *testing.T) {
	w := newWorld()
	w.model("acme/big").Endpoints[0].Disabled = true
	r := w.decide(t, decide.Facts{Model: "acme/big", Models: []string{"acme/tiny"}}).Record
	require.Equal(t, decide.SwitchFallbackModel, r.SwitchReason)
	require.Nil(t, r.Refusal)
}

func TestNothingPinnedYet(t *testing.T) {
	plan := decide.Decide(decide.Input{Facts: decide.Facts{Model: "acme/big"}})
	require.Equal(t, fault.UpstreamUndetermined, plan.Refusal.Code)
}

func TestEmbeddingsHaveNoOutputToPay(t *testing.T) {
	w := newWorld()
	w.catalog.Models = append(w.catalog.Models, model("zeta/vec", "north 1 9", "south 2 0"))
	plan := w.decide(t, decide.Facts{Model: "zeta/vec:cheap", Surface: catalog.Embeddings})
	require.Equal(t, []string{"north:zeta/vec", "south:zeta/vec"}, order(plan))
}

func TestALongRecordLosesFactorsBeforeCandidates(t *testing.T) {
	w := newWorld()
	m := model("zeta/wide")
	for i := range 40 {
		slug := fmt.Sprintf("wide-%d", i)
		w.catalog.Providers = append(w.catalog.Providers, provider(slug, nil))
		m.Endpoints = append(m.Endpoints, model("zeta/wide", slug+" 1 1").Endpoints...)
		w.health[catalog.EndpointID(slug, m.ID, "")] = decide.EndpointHealth{Calls: 5, Success: 1, FirstByte: time.Second, Throughput: 9}
	}
	w.catalog.Models = append(w.catalog.Models, m)
	r := w.decide(t, decide.Facts{Model: "zeta/wide"}).Record
	require.Len(t, r.Candidates, 40)
	require.Zero(t, r.Truncated)
	require.NotEmpty(t, r.Candidates[0].Factors)
	require.Empty(t, r.Candidates[39].Factors)
}
