package decide_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// saved are the rungs that a test can give any routing field, widest first.
var saved = []decide.Rung{
	decide.RungWorkspaceProfile, decide.RungDepartment, decide.RungKey, decide.RungPreset, decide.RungRoute,
}

func prefers(p policy.Preferences) policy.Routing { return policy.Routing{Provider: p} }

// fieldOf is a resolved field of the record: its rung and value, "" when it is
// not there.
func fieldOf(t testing.TB, fields []decide.ResolvedField, name string) (rung, value string) {
	t.Helper()
	for _, f := range fields {
		if f.Field == name {
			require.Empty(t, rung, "%s is there twice", name)
			rung, value = f.Rung, f.Value
		}
	}
	return rung, value
}

// TestTheNarrowestRungThatSetsAPreferenceWins goes over every preference and
// every pair of rungs: the narrower one's value holds, and the record names it.
func TestTheNarrowestRungThatSetsAPreferenceWins(t *testing.T) {
	preferences := []struct {
		field      string
		wide, thin policy.Routing
		want       [2]string // of wide and thin
	}{
		{"routing_mode", policy.Routing{Mode: policy.Price}, policy.Routing{Mode: policy.Latency}, [2]string{"price", "latency"}},
		{"routing_mode", policy.Routing{Mode: policy.Price}, policy.Routing{Mode: policy.Balanced}, [2]string{"price", "balanced"}},
		{"provider.sort", prefers(policy.Preferences{Sort: policy.Price}), prefers(policy.Preferences{Sort: policy.Latency}), [2]string{"price", "latency"}},
		{"provider.order", prefers(policy.Preferences{Order: []string{"north"}}), prefers(policy.Preferences{Order: []string{"south", "east"}}), [2]string{"north", "south,east"}},
		{"provider.allow_fallbacks", prefers(policy.Preferences{AllowFallbacks: ptr(false)}), prefers(policy.Preferences{AllowFallbacks: ptr(true)}), [2]string{"false", "true"}},
		{"provider.cache_aware_routing", prefers(policy.Preferences{CacheAware: ptr(true)}), prefers(policy.Preferences{CacheAware: ptr(false)}), [2]string{"true", "false"}},
		{"affinity", policy.Routing{Affinity: ptr(false)}, policy.Routing{Affinity: ptr(true)}, [2]string{"false", "true"}},
		{"provider.preferred_max_latency", prefers(policy.Preferences{PreferredMaxLatency: time.Second}), prefers(policy.Preferences{PreferredMaxLatency: 3 * time.Second}), [2]string{"1s", "3s"}},
		{"provider.preferred_min_throughput", prefers(policy.Preferences{PreferredMinThroughput: 30}), prefers(policy.Preferences{PreferredMinThroughput: 2.5}), [2]string{"30", "2.5"}},
		{"timeouts.first_byte", policy.Routing{Timeouts: policy.Timeouts{FirstByte: time.Second}}, policy.Routing{Timeouts: policy.Timeouts{FirstByte: time.Minute}}, [2]string{"1s", "1m0s"}},
		{"timeouts.request", policy.Routing{Timeouts: policy.Timeouts{Request: time.Minute}}, policy.Routing{Timeouts: policy.Timeouts{Request: time.Second}}, [2]string{"1m0s", "1s"}},
		{"default_model", policy.Routing{DefaultModel: "acme/big"}, policy.Routing{DefaultModel: "acme/small"}, [2]string{"acme/big", "acme/small"}},
		{"default_model", policy.Routing{DefaultModel: "acme/big"}, policy.Routing{Auto: true}, [2]string{"acme/big", "signalbox/auto"}},
		{"default_model", policy.Routing{Auto: true}, policy.Routing{DefaultModel: "acme/big"}, [2]string{"signalbox/auto", "acme/big"}},
		{"fallback_models", policy.Routing{FallbackModels: []string{"acme/big"}}, policy.Routing{FallbackModels: []string{"acme/tiny", "zeta/small"}}, [2]string{"acme/big", "acme/tiny,zeta/small"}},
	}
	for _, p := range preferences {
		for i, wide := range saved {
			if wide == decide.RungRoute && !settable(p.field) {
				continue
			}
			w := newWorld()
			w.rungs = map[decide.Rung]policy.Routing{wide: p.wide}
			rung, value := fieldOf(t, w.decide(t, decide.Facts{Model: "acme/small"}).Record.Policy, p.field)
			require.Equal(t, wide.String(), rung, p.field)
			require.Equal(t, p.want[0], value, p.field)
			for _, thin := range saved[i+1:] {
				if thin == decide.RungRoute && !settable(p.field) {
					continue
				}
				w.rungs[thin] = p.thin
				rung, value = fieldOf(t, w.decide(t, decide.Facts{Model: "acme/small"}).Record.Policy, p.field)
				require.Equal(t, thin.String(), rung, p.field)
				require.Equal(t, p.want[1], value, p.field)
				delete(w.rungs, thin)
			}
		}
	}
}

// settable reports whether a node of a route can set a field.
func settable(field string) bool {
	switch field {
	case "timeouts.first_byte", "timeouts.request", "default_model":
		return false
	}
	return true
}

// TestWhereRequestAndSettingsStand holds the rungs that are no routing object.
func TestWhereRequestAndSettingsStand(t *testing.T) {
	w := newWorld()
	w.settings.RoutingMode, w.settings.DefaultModel, w.settings.CacheAwareRouting = policy.Price, "acme/big", false
	w.settings.FallbackModels = []string{"acme/tiny"}
	f := decide.Facts{Model: "acme/small"}
	check := func(field string, rung decide.Rung, value string) {
		t.Helper()
		gotRung, gotValue := fieldOf(t, w.decide(t, f).Record.Policy, field)
		require.Equal(t, [2]string{rung.String(), value}, [2]string{gotRung, gotValue}, field)
	}
	check("routing_mode", decide.RungWorkspace, "price")
	check("default_model", decide.RungWorkspace, "acme/big")
	check("fallback_models", decide.RungWorkspace, "acme/tiny")
	check("provider.cache_aware_routing", decide.RungWorkspace, "false")

	w.rungs = map[decide.Rung]policy.Routing{
		decide.RungWorkspaceProfile: {
			Mode: policy.Balanced, DefaultModel: "acme/small", FallbackModels: []string{"zeta/small"}, Affinity: ptr(true),
			Provider: policy.Preferences{CacheAware: ptr(true)}, Timeouts: policy.Timeouts{Request: time.Minute},
		},
	}
	check("routing_mode", decide.RungWorkspaceProfile, "balanced")
	check("default_model", decide.RungWorkspaceProfile, "acme/small")
	check("fallback_models", decide.RungWorkspaceProfile, "zeta/small")
	check("provider.cache_aware_routing", decide.RungWorkspaceProfile, "true")
	check("timeouts.request", decide.RungWorkspaceProfile, "1m0s")

	f.Routing = decide.RoutingFields{Mode: policy.Throughput, SessionAffinity: ptr(false)}
	f.Provider.CacheAware = ptr(false)
	f.Timeouts.Request = 2 * time.Second
	check("routing_mode", decide.RungRequest, "throughput")
	check("provider.cache_aware_routing", decide.RungRequest, "false")
	check("affinity", decide.RungRequest, "false")
	check("timeouts.request", decide.RungRequest, "2s")
	require.Equal(t, policy.Timeouts{Request: 2 * time.Second}, w.decide(t, f).Timeouts)

	w.rungs[decide.RungRoute] = policy.Routing{Provider: policy.Preferences{Sort: policy.Price}}
	check("provider.sort", decide.RungRoute, "price")
	f.Model = "acme/small:fast"
	check("routing_mode", decide.RungSuffix, "latency")
}

// TestSortAndModeAnswerOneQuestion: a narrower mode replaces a wider sort.
func TestSortAndModeAnswerOneQuestion(t *testing.T) {
	w := newWorld()
	w.rungs = map[decide.Rung]policy.Routing{decide.RungKey: {Mode: policy.Latency, Provider: policy.Preferences{Sort: policy.Price}}}
	require.Equal(t, decide.Fixed, w.decide(t, decide.Facts{Model: "acme/small"}).Record.Ordering)
	plan := w.decide(t, decide.Facts{Model: "acme/small", Routing: decide.RoutingFields{Mode: policy.Balanced}})
	require.Equal(t, decide.Sampled, plan.Record.Ordering)
}

// TestRestrictionsOfAllRungsHold goes over every restriction: each rung alone
// excludes by it, whatever the narrower ones say.
func TestRestrictionsOfAllRungsHold(t *testing.T) {
	w := newWorld()
	w.provider("south").DataPolicy = catalog.DataPolicy{Trains: ptr(false), ZeroDataRetention: ptr(false)}
	w.provider("east").Aggregator, w.provider("east").Regions = false, []string{"eu"}
	w.provider("east").DataPolicy.ZeroDataRetention = ptr(true)
	w.model("acme/small").Endpoints[0].Parameters = []string{"seed"}
	w.model("acme/small").Endpoints[2].Parameters = []string{"logprobs"}
	restrictions := []struct {
		field       string
		strict, lax policy.Preferences
		want        []string
	}{
		{"provider.only", policy.Preferences{Only: []string{"north", "south"}}, policy.Preferences{Only: []string{"east", "nord"}}, []string{north}},
		{"provider.only", policy.Preferences{Only: []string{"north"}}, policy.Preferences{Only: []string{"north", "south", "east"}}, []string{north}},
		{"provider.ignore", policy.Preferences{Ignore: []string{"north"}}, policy.Preferences{Ignore: []string{"south"}}, []string{east}},
		{"provider.required_region", policy.Preferences{Region: "us"}, policy.Preferences{}, []string{south}},
		{"provider.require_zero_data_retention", policy.Preferences{RequireZDR: true}, policy.Preferences{}, []string{north, east}},
		{"provider.deny_training", policy.Preferences{DenyTraining: true}, policy.Preferences{}, []string{north, south}},
		{"provider.require_parameters", policy.Preferences{RequireParameters: true}, policy.Preferences{}, []string{south, east}},
		{"provider.max_price.input", policy.Preferences{MaxInputPrice: perMillion("2")}, policy.Preferences{MaxInputPrice: perMillion("50")}, []string{north, south}},
		{"provider.max_price.output", policy.Preferences{MaxOutputPrice: perMillion("4")}, policy.Preferences{MaxOutputPrice: perMillion("8")}, []string{north}},
	}
	for _, r := range restrictions {
		for _, strict := range append([]decide.Rung{decide.RungRequest}, saved...) {
			for _, lax := range append([]decide.Rung{decide.RungRequest}, saved...) {
				if lax == strict {
					continue
				}
				f := decide.Facts{Model: "acme/small:cheap", Parameters: []string{"logprobs"}}
				w.rungs = map[decide.Rung]policy.Routing{}
				for rung, p := range map[decide.Rung]policy.Preferences{strict: r.strict, lax: r.lax} {
					if rung == decide.RungRequest {
						f.Provider = p
					} else {
						w.rungs[rung] = prefers(p)
					}
				}
				plan := w.decide(t, f)
				require.ElementsMatch(t, r.want, order(plan), "%s by %s and %s", r.field, strict, lax)
				require.Contains(t, rungsOf(plan.Record.Policy, r.field), strict.String())
			}
		}
	}
}

func rungsOf(fields []decide.ResolvedField, name string) (rungs []string) {
	for _, f := range fields {
		if f.Field == name {
			rungs = append(rungs, f.Rung)
		}
	}
	return rungs
}

// TestNothingInCommonAllowsNothing: two lists without a common provider are
// not the same as no list.
func TestNothingInCommonAllowsNothing(t *testing.T) {
	w := newWorld()
	w.rungs = map[decide.Rung]policy.Routing{
		decide.RungKey:        prefers(policy.Preferences{Only: []string{"north"}}),
		decide.RungDepartment: prefers(policy.Preferences{Only: []string{"south"}}),
	}
	plan := w.decide(t, decide.Facts{Model: "acme/small"})
	require.Empty(t, order(plan))
	require.Equal(t, "only", plan.Record.Refusal.Stage)
	e, refusal := decide.ResolveEffective(effectiveInput(t, w, nil))
	require.Nil(t, refusal)
	require.True(t, e.Nothing)
	require.Empty(t, e.Routing.Provider.Only)
}

// TestEveryRequiredRegionHolds: eu of one rung and eu-west of another leave
// eu-west, and eu and us leave nothing.
func TestEveryRequiredRegionHolds(t *testing.T) {
	w := newWorld()
	m := w.model("acme/small")
	m.Endpoints[1].Region, m.Endpoints[1].ID = "eu-west", south+"@eu-west"
	w.rungs = map[decide.Rung]policy.Routing{decide.RungWorkspaceProfile: prefers(policy.Preferences{Region: "eu"})}
	f := decide.Facts{Model: "acme/small", Provider: decide.Preferences{Region: "eu-west"}}
	require.Equal(t, []string{south + "@eu-west"}, order(w.decide(t, f)))
	f.Provider.Region = "us"
	require.Equal(t, fault.ModelRegionUnavailable, w.decide(t, f).Refusal.Code)
}

// TestOAuthIsRestrictedAndNothingMore: an application's token skips what the
// workspace and its profiles prefer, and is held to what they forbid.
func TestOAuthIsRestrictedAndNothingMore(t *testing.T) {
	w := newWorld()
	w.settings.RoutingMode, w.settings.FallbackModels, w.settings.DenyTraining = policy.Price, []string{"acme/big"}, true
	w.rungs = map[decide.Rung]policy.Routing{
		decide.RungWorkspaceProfile: {DefaultModel: "acme/small", Provider: policy.Preferences{AllowFallbacks: ptr(false)}},
		decide.RungDepartment:       {Mode: policy.Latency, Provider: policy.Preferences{Ignore: []string{"south"}}},
		decide.RungKey:              {Timeouts: policy.Timeouts{Request: time.Second}, Provider: policy.Preferences{Order: []string{"east"}, MaxInputPrice: perMillion("9")}},
		decide.RungPreset:           {Affinity: ptr(false)},
	}
	plan := w.decide(t, decide.Facts{Model: "acme/small", OAuth: true})
	require.Equal(t, []decide.ResolvedField{
		{Field: "routing_mode", Rung: decide.RungPlatform.String(), Value: "balanced"},
		{Field: "provider.ignore", Rung: decide.RungDepartment.String(), Value: "south"},
		{Field: "provider.deny_training", Rung: decide.RungWorkspace.String(), Value: "true"},
		{Field: "provider.max_price.input", Rung: decide.RungKey.String(), Value: "9.00"},
		{Field: "affinity", Rung: decide.RungPreset.String(), Value: "false"},
		{Field: "model", Rung: decide.RungPreset.String(), Value: "acme/small"},
	}, plan.Record.Policy)
	require.Zero(t, plan.Timeouts)
	require.Equal(t, []string{north}, order(plan))
	require.Equal(t, fault.NoDefaultModel, w.decide(t, decide.Facts{OAuth: true}).Refusal.Code)
}

// TestAProfileThatNamesAProviderThatIsOffIsRefused: nothing is put in the
// place of what its author wanted.
func TestAProfileThatNamesAProviderThatIsOffIsRefused(t *testing.T) {
	lists := map[string]policy.Preferences{
		"provider.only": {Only: []string{"north", "south"}}, "provider.ignore": {Ignore: []string{"South"}},
		"provider.order": {Order: []string{"north", "south"}},
	}
	for field, prefs := range lists {
		for _, rung := range saved {
			w := newWorld()
			w.rungs = map[decide.Rung]policy.Routing{rung: prefers(prefs)}
			require.Nil(t, w.decide(t, decide.Facts{Model: "acme/small"}).Refusal, field)
			w.provider("south").Disabled = true
			check := func() {
				t.Helper()
				refusal := w.decide(t, decide.Facts{Model: "acme/small"}).Refusal
				require.NotNil(t, refusal, field)
				require.Equal(t, fault.UnsupportedModelOrEndpoint, refusal.Code)
				require.Equal(t, fault.ProfileProviderDisabled, refusal.Reason)
				require.Equal(t, rung.String(), refusal.Fields["rung"])
				require.Equal(t, field, refusal.Fields["field"])
				if profile, ok := profiles[rung]; ok {
					require.Equal(t, profile.String(), refusal.Fields["profile"])
				}
			}
			check()
			w.provider("south").Disabled, w.provider("south").Slug = false, "elsewhere"
			for i := range w.catalog.Models {
				w.catalog.Models[i].Endpoints = nil
			}
			check()
		}
	}
	w := newWorld()
	w.provider("south").Disabled = true
	plan := w.decide(t, decide.Facts{Model: "acme/small", Provider: decide.Preferences{Order: []string{"south"}, Ignore: []string{"south"}}})
	require.Equal(t, []string{north}, order(plan), "a request may name it: it is there to be seen in the catalog")
}

// TestAProfileThatIsNotHereYetDecidesNothing: it may restrict anything.
func TestAProfileThatIsNotHereYetDecidesNothing(t *testing.T) {
	for _, key := range []decide.KeyFacts{
		{Profile: profiles[decide.RungKey]},
		{Department: department},
	} {
		refusal := newWorld().decide(t, decide.Facts{Model: "acme/small", Key: key}).Refusal
		require.Equal(t, fault.UpstreamUndetermined, refusal.Code)
		require.True(t, refusal.Retryable)
	}
	w := newWorld()
	w.rungs = map[decide.Rung]policy.Routing{decide.RungDepartment: {Mode: policy.Price}}
	in := w.input(t, decide.Facts{Model: "acme/small"})
	in.Facts.Key = decide.KeyFacts{}
	require.Nil(t, decide.Decide(in).Refusal, "another department's profile is none of this key's")
}

func effectiveInput(t require.TestingT, w *world, key *decide.KeyFacts) (*policy.View, *catalog.View, decide.KeyFacts) {
	in := w.input(t, decide.Facts{})
	if key != nil {
		in.Facts.Key = *key
	}
	return in.Policy, in.Catalog, in.Facts.Key
}

func TestEffective(t *testing.T) {
	w := newWorld()
	w.settings.RequireZDR = true
	w.rungs = map[decide.Rung]policy.Routing{
		decide.RungWorkspaceProfile: {Auto: true, Provider: policy.Preferences{Only: []string{"nord", "south"}, Region: "eu", MaxInputPrice: perMillion("3")}},
		decide.RungDepartment:       {Mode: policy.Price, Retries: ptr(2), Provider: policy.Preferences{Ignore: []string{"east"}, Region: "eu-west"}},
		decide.RungKey: {
			FallbackModels: []string{"acme/tiny"}, Retries: ptr(0), Timeouts: policy.Timeouts{FirstByte: time.Second},
			Provider: policy.Preferences{Sort: policy.Latency, Only: []string{"north", "anthropic"}, Ignore: []string{"south"}, MaxInputPrice: perMillion("2"), Order: []string{"north"}},
		},
	}
	e, refusal := decide.ResolveEffective(effectiveInput(t, w, nil))
	require.Nil(t, refusal)
	require.Equal(t, policy.Routing{
		Auto: true, Mode: policy.Latency, FallbackModels: []string{"acme/tiny"}, Retries: ptr(0), Affinity: ptr(true),
		Timeouts: policy.Timeouts{FirstByte: time.Second},
		Provider: policy.Preferences{
			Order: []string{"north"}, Only: []string{"north"}, Ignore: []string{"east", "south"}, Sort: policy.Latency,
			AllowFallbacks: ptr(true), CacheAware: ptr(true), Region: "eu", RequireZDR: true, MaxInputPrice: perMillion("2"),
		},
	}, e.Routing)
	require.Equal(t, []string{"eu", "eu-west"}, e.Regions)
	require.False(t, e.Nothing)
	require.Equal(t, []decide.ResolvedField{
		{Field: "provider.sort", Rung: decide.RungKey.String(), Value: "latency"},
		{Field: "provider.order", Rung: decide.RungKey.String(), Value: "north"},
		{Field: "provider.only", Rung: decide.RungWorkspaceProfile.String(), Value: "north,south"},
		{Field: "provider.only", Rung: decide.RungKey.String(), Value: "north,anthropic"},
		{Field: "provider.ignore", Rung: decide.RungDepartment.String(), Value: "east"},
		{Field: "provider.ignore", Rung: decide.RungKey.String(), Value: "south"},
		{Field: "provider.required_region", Rung: decide.RungWorkspaceProfile.String(), Value: "eu"},
		{Field: "provider.required_region", Rung: decide.RungDepartment.String(), Value: "eu-west"},
		{Field: "provider.require_zero_data_retention", Rung: decide.RungWorkspace.String(), Value: "true"},
		{Field: "provider.max_price.input", Rung: decide.RungKey.String(), Value: "2.00"},
		{Field: "timeouts.first_byte", Rung: decide.RungKey.String(), Value: "1s"},
		{Field: "retries", Rung: decide.RungKey.String(), Value: "0"},
		{Field: "default_model", Rung: decide.RungWorkspaceProfile.String(), Value: "signalbox/auto"},
		{Field: "fallback_models", Rung: decide.RungKey.String(), Value: "acme/tiny"},
		{Field: "provider.allow_fallbacks", Rung: decide.RungPlatform.String(), Value: "true"},
		{Field: "provider.cache_aware_routing", Rung: decide.RungPlatform.String(), Value: "true"},
		{Field: "affinity", Rung: decide.RungPlatform.String(), Value: "true"},
	}, e.Fields)

	w.provider("south").Disabled = true
	e, refusal = decide.ResolveEffective(effectiveInput(t, w, nil))
	require.Equal(t, fault.ProfileProviderDisabled, refusal.Reason)
	require.True(t, e.Routing.Provider.RequireZDR, "what was resolved until then is shown beside it")
	require.Contains(t, e.Fields, decide.ResolvedField{
		Field: "provider.only", Rung: decide.RungWorkspaceProfile.String(), Value: "north,south(off)",
	}, "what is switched off is shown by its name")
	require.Contains(t, e.Fields, decide.ResolvedField{Field: "provider.ignore", Rung: decide.RungKey.String(), Value: "south(off)"})

	w.provider("south").Disabled = false
	_, refusal = decide.ResolveEffective(effectiveInput(t, w, &decide.KeyFacts{Profile: id.MustParse[id.ProfileKind]("profile_01kb7n0z1v8q5r2m3t4w5x6y7f")}))
	require.Equal(t, fault.UpstreamUndetermined, refusal.Code)
}

// TestLongLaddersFitTheRecord: seven rungs of long lists leave room for the
// candidates.
func TestLongLaddersFitTheRecord(t *testing.T) {
	w := newWorld()
	var slugs []string
	for i := range 64 {
		slug := "provider-of-a-long-name-" + string(rune('a'+i%26)) + string(rune('a'+i/26))
		w.catalog.Providers = append(w.catalog.Providers, provider(slug, nil))
		slugs = append(slugs, slug)
	}
	set := prefers(policy.Preferences{Order: slugs, Only: append(slugs[:60:60], "north"), Ignore: slugs[:1], Region: "eu"})
	set.FallbackModels = []string{"acme/big", "acme/tiny"}
	w.rungs = map[decide.Rung]policy.Routing{}
	for _, rung := range saved {
		w.rungs[rung] = set
	}
	r := w.decide(t, decide.Facts{Model: "acme/small", Provider: set.Provider}).Record
	body, err := r.Encode()
	require.NoError(t, err)
	require.Less(t, len(body), 8<<10)
	require.NotEmpty(t, r.Candidates)
	require.Zero(t, r.Truncated)
}

// TestTheModeIsOfTheFirstModelOfTheChain, whoever names it.
func TestTheModeIsOfTheFirstModelOfTheChain(t *testing.T) {
	w := newWorld()
	w.settings.ModelsWithoutModel, w.settings.DefaultModel = policy.ModelsUseFirst, "acme/big:cheap"
	for models, want := range map[string][2]string{
		"acme/small:fast": {"suffix", "latency"}, "acme/small": {"platform", "balanced"}, "": {"suffix", "price"},
	} {
		f := decide.Facts{}
		if models != "" {
			f.Models = []string{models}
		}
		rung, value := fieldOf(t, w.decide(t, f).Record.Policy, "routing_mode")
		require.Equal(t, want, [2]string{rung, value}, models)
	}
}

// TestRegionsAreComparedWithoutCase, whoever wrote them.
func TestRegionsAreComparedWithoutCase(t *testing.T) {
	w := newWorld()
	w.rungs = map[decide.Rung]policy.Routing{decide.RungKey: prefers(policy.Preferences{Region: "EU"})}
	require.Equal(t, []string{north}, order(w.decide(t, decide.Facts{Model: "acme/small"})))
}

func TestWithoutAPolicyNothingIsKnown(t *testing.T) {
	w := newWorld()
	in := w.input(t, decide.Facts{})
	for _, c := range []decide.Input{{}, {Policy: in.Policy}, {Catalog: in.Catalog}} {
		e, refusal := decide.ResolveEffective(c.Policy, c.Catalog, decide.KeyFacts{})
		require.True(t, fault.Is(refusal, fault.UpstreamUndetermined))
		require.Empty(t, e)
		require.Nil(t, decide.Climb(&c))
		require.Empty(t, c.Affinity())
	}
}

func TestRetriesAreTheNarrowestRungs(t *testing.T) {
	w := newWorld()
	f := decide.Facts{Model: "acme/small"}
	require.Nil(t, w.decide(t, f).Retries, "the operator's")
	w.rungs = map[decide.Rung]policy.Routing{decide.RungWorkspaceProfile: {Retries: ptr(3)}}
	plan := w.decide(t, f)
	require.Equal(t, ptr(3), plan.Retries)
	require.Contains(t, plan.Record.Policy, decide.ResolvedField{Field: "retries", Rung: "workspace_profile", Value: "3"})
	w.rungs[decide.RungKey] = policy.Routing{Retries: ptr(0)}
	plan = w.decide(t, f)
	require.Equal(t, ptr(0), plan.Retries, "none is a number")
	require.Contains(t, plan.Record.Policy, decide.ResolvedField{Field: "retries", Rung: "key", Value: "0"})
	f.OAuth = true
	require.Nil(t, w.decide(t, f).Retries, "a preference, which an application's token skips")
}
