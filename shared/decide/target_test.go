package decide_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// aliased is a world whose model acme/small has an alias and whose free model
// has all that may cost nothing.
func aliased() *world {
	w := newWorld()
	w.model("acme/small").Aliases = []string{"petit", "acme/small-2026"}
	return w
}

// TestEveryFormOfAModelID goes over the forms that a name may have.
func TestEveryFormOfAModelID(t *testing.T) {
	cases := []struct {
		name  string
		model string   // decided
		order []string // nil: not looked at
		mode  policy.Mode
	}{
		{"acme/small", "acme/small", nil, ""},
		{"acme/small:nitro", "acme/small", nil, policy.Throughput},
		{"acme/small:cheap", "acme/small", []string{north, south, east}, policy.Price},
		{"acme/small:fast", "acme/small", nil, policy.Latency},
		{"acme/tiny:free", "acme/tiny:free", nil, ""},
		{"acme/tiny:free:cheap", "acme/tiny:free", []string{"north:acme/tiny:free", "south:acme/tiny:free"}, policy.Price},
		{"acme/tiny", "acme/tiny", nil, ""},
		{"north:acme/small", "acme/small", []string{north}, ""},
		{"NORTH:acme/small:fast", "acme/small", []string{north}, policy.Latency},
		{"nord:acme/small", "acme/small", []string{north}, ""},
		{"north:acme/tiny:free", "acme/tiny:free", []string{"north:acme/tiny:free"}, ""},
		{"north:acme/tiny:free:cheap", "acme/tiny:free", []string{"north:acme/tiny:free"}, policy.Price},
		{"big", "acme/big", []string{big}, ""},
		{"big:fast", "acme/big", []string{big}, policy.Latency},
		{"tiny:free", "acme/tiny:free", nil, ""},
		{"petit", "acme/small", nil, ""},
		{"petit:cheap", "acme/small", []string{north, south, east}, policy.Price},
		{"acme/small-2026", "acme/small", nil, ""},
		{"north:acme/small-2026", "acme/small", []string{north}, ""},
		{"signalbox/free", "acme/tiny:free", nil, ""},
		{"signalbox/free:cheap", "acme/tiny:free", []string{"north:acme/tiny:free", "south:acme/tiny:free"}, policy.Price},
	}
	for _, c := range cases {
		plan := aliased().decide(t, decide.Facts{Model: c.name})
		require.Nil(t, plan.Refusal, c.name)
		require.Equal(t, c.model, plan.Record.DecidedModel, c.name)
		require.Equal(t, c.name, plan.Record.RequestedModel)
		if c.order != nil {
			require.Equal(t, c.order, order(plan), c.name)
		}
		rung, value := fieldOf(t, plan.Record.Policy, "routing_mode")
		if c.mode == "" {
			require.Equal(t, decide.RungPlatform.String(), rung, c.name)
			continue
		}
		require.Equal(t, decide.RungSuffix.String(), rung, c.name)
		require.Equal(t, string(c.mode), value, c.name)
	}
}

// TestEveryRefusalOfAModelID holds code, reason and what the message names.
func TestEveryRefusalOfAModelID(t *testing.T) {
	free := func(change func(*catalog.Endpoint)) func(*world) {
		return func(w *world) { change(&w.model("acme/tiny:free").Endpoints[0]) }
	}
	cases := []struct {
		name   string
		setup  func(*world)
		prefs  policy.Preferences
		code   fault.Code
		reason fault.Reason
		says   string
	}{
		{"acme/smal", nil, policy.Preferences{}, fault.ModelNotFound, "", "Did you mean acme/small"},
		{"other/big", nil, policy.Preferences{}, fault.ModelNotFound, "", "acme/big"},
		{"acme/nothing-like-it-at-all", nil, policy.Preferences{}, fault.ModelNotFound, "", "GET /v1/models"},
		{"acme/small:online", nil, policy.Preferences{}, fault.ModelNotFound, "", "the suffixes are"},
		{"acme/tiny:nitro:free", nil, policy.Preferences{}, fault.ModelNotFound, "", "comes first"},
		{"acme/big:free", nil, policy.Preferences{}, fault.ModelNotFound, "", ""},
		{"small", nil, policy.Preferences{}, fault.ModelNotFound, "", "acme/small, zeta/small"},
		{"north:big", nil, policy.Preferences{}, fault.ModelNotFound, "", ""}, // without a slash a colon starts a suffix
		{"@mine", nil, policy.Preferences{}, fault.ModelNotFound, fault.PresetNotFound, "preset"},
		{"@", nil, policy.Preferences{}, fault.ValidationError, fault.InvalidModelName, ""},
		{"acme/", nil, policy.Preferences{}, fault.ValidationError, fault.InvalidModelName, ""},
		{"acme/small:nitro:fast", nil, policy.Preferences{}, fault.ValidationError, fault.InvalidModelName, ""},
		{strings.Repeat("a", 257), nil, policy.Preferences{}, fault.ValidationError, fault.InvalidModelName, "256"},
		{"north:signalbox/free", nil, policy.Preferences{}, fault.ValidationError, fault.InvalidModelName, ""},

		{"nor th:acme/small", nil, policy.Preferences{}, fault.ValidationError, fault.InvalidProviderSlug, ""},
		{":acme/small", nil, policy.Preferences{}, fault.ValidationError, fault.InvalidProviderSlug, ""},
		{"-north:acme/small", nil, policy.Preferences{}, fault.ValidationError, fault.InvalidProviderSlug, ""},
		{strings.Repeat("n", 129) + ":acme/small", nil, policy.Preferences{}, fault.ValidationError, fault.InvalidProviderSlug, ""},
		{"west:acme/small", nil, policy.Preferences{}, fault.ValidationError, fault.UnknownProviderSlug, "GET /v1/providers"},
		{"north:acme/small", nil, policy.Preferences{Only: []string{"south"}}, fault.ValidationError, fault.ProviderQualifiedModelConflict, "provider.only"},
		{"nord:acme/small", nil, policy.Preferences{Ignore: []string{"north"}}, fault.ValidationError, fault.ProviderQualifiedModelConflict, "provider.ignore"},

		{"south:acme/big", nil, policy.Preferences{}, fault.ValidationError, fault.QualifiedProviderUnavailable, "does not serve"},
		{"north:acme/big", func(w *world) { w.provider("north").Disabled = true }, policy.Preferences{}, fault.ValidationError, fault.QualifiedProviderUnavailable, "switched off"},
		{"north:acme/big", func(w *world) { w.model("acme/big").Endpoints[0].Channel = catalog.Alpha }, policy.Preferences{}, fault.ValidationError, fault.QualifiedProviderUnavailable, "channel"},
		{"north:acme/big", func(w *world) { w.provider("north").Credential = nil }, policy.Preferences{}, fault.ValidationError, fault.QualifiedProviderUnavailable, "credential"},
		{"north:acme/big", nil, policy.Preferences{MaxInputPrice: perMillion("1")}, fault.ValidationError, fault.QualifiedProviderUnavailable, "provider.max_price"},
		{"south:acme/big", nil, policy.Preferences{Only: []string{"south"}}, fault.ValidationError, fault.QualifiedProviderUnavailable, "does not serve"},

		{"north:acme/tiny:free", free(func(e *catalog.Endpoint) { e.Price = nil }), policy.Preferences{}, fault.ValidationError, fault.QualifiedFreeProviderUnavailable, "for free"},
		{"north:acme/tiny:free", free(func(e *catalog.Endpoint) { e.Price.Output = nil }), policy.Preferences{}, fault.ValidationError, fault.QualifiedFreeProviderUnavailable, "for free"},
		{"north:acme/tiny:free", free(func(e *catalog.Endpoint) { e.Price.Reasoning = perMillion("0.000000001") }), policy.Preferences{}, fault.ValidationError, fault.QualifiedFreeProviderUnavailable, "for free"},
		{"north:acme/tiny:free", free(func(e *catalog.Endpoint) { e.Price.Request = money.Nanos(1) }), policy.Preferences{}, fault.ValidationError, fault.QualifiedFreeProviderUnavailable, "for free"},
		{"north:acme/tiny:free", free(func(e *catalog.Endpoint) {
			e.Price.Tiers = []catalog.Tier{{Above: 1000, Price: catalog.Price{Input: perMillion("1")}}}
		}), policy.Preferences{}, fault.ValidationError, fault.QualifiedFreeProviderUnavailable, "for free"},
		{"anthropic:acme/tiny:free", nil, policy.Preferences{}, fault.ValidationError, fault.QualifiedFreeProviderUnavailable, "does not serve"},
	}
	for _, c := range cases {
		w := aliased()
		if c.setup != nil {
			c.setup(w)
		}
		plan := w.decide(t, decide.Facts{Model: c.name, Provider: c.prefs})
		require.NotNil(t, plan.Refusal, c.name)
		require.Equal(t, c.code, plan.Refusal.Code, c.name)
		require.Equal(t, c.reason, plan.Refusal.Reason, c.name)
		require.Contains(t, plan.Refusal.Message, c.says, c.name)
		require.Equal(t, "model", plan.Refusal.Violations[0].Path, c.name)
	}
}

// TestAFreeEndpointMayHaveTiersThatCostNothing, and others of the model serve
// when one is not proven free.
func TestAFreeEndpointMayHaveTiersThatCostNothing(t *testing.T) {
	w := newWorld()
	zero := perMillion("0")
	w.model("acme/tiny:free").Endpoints[0].Price = &catalog.Price{
		Input: zero, Output: zero, CachedInput: zero, Tiers: []catalog.Tier{{Above: 1000, Price: catalog.Price{Input: zero, Output: zero}}},
	}
	w.model("acme/tiny:free").Endpoints[1].Price.Audio = perMillion("1")
	plan := w.decide(t, decide.Facts{Model: "acme/tiny:free"})
	require.Equal(t, []string{"north:acme/tiny:free"}, order(plan))
	require.Equal(t, "not_free", plan.Record.Exclusions[0].Reason)
}

// TestAConflictWithAnyRungIsFound, and the error says with whose.
func TestAConflictWithAnyRungIsFound(t *testing.T) {
	for _, rung := range saved {
		for field, prefs := range map[string]policy.Preferences{"provider.only": {Only: []string{"south"}}, "provider.ignore": {Ignore: []string{"nord"}}} {
			w := newWorld()
			w.rungs = map[decide.Rung]policy.Routing{rung: prefers(prefs)}
			for _, oauth := range []bool{false, true} {
				refusal := w.decide(t, decide.Facts{Model: "north:acme/small", OAuth: oauth}).Refusal
				require.Equal(t, fault.ProviderQualifiedModelConflict, refusal.Reason, field)
				require.Equal(t, rung.String(), refusal.Fields["rung"])
				require.Equal(t, field, refusal.Fields["field"])
				require.Equal(t, "north", refusal.Fields["provider"])
			}
			if rung == decide.RungPreset {
				continue // the request's models name none
			}
			plan := w.decide(t, decide.Facts{Model: "south:acme/small", Models: []string{"north:acme/small", "south:zeta/small"}})
			require.NotContains(t, order(plan), north)
			require.Contains(t, plan.Record.Exclusions, decide.Exclusion{Model: "north:acme/small", Stage: "model", Reason: "qualifier_conflict"})
		}
	}
}

// TestAStandingModelThatCannotBeUsedSaysWhoseItIs: the caller has not named it.
func TestAStandingModelThatCannotBeUsedSaysWhoseItIs(t *testing.T) {
	w := newWorld()
	w.rungs = map[decide.Rung]policy.Routing{decide.RungDepartment: {DefaultModel: "acme/gone"}}
	refusal := w.decide(t, decide.Facts{}).Refusal
	require.Equal(t, fault.ModelNotFound, refusal.Code)
	require.Contains(t, refusal.Message, "The default model of the routing profile of the key's department cannot be used.")
	require.Equal(t, "department", refusal.Fields["rung"])

	w.rungs = map[decide.Rung]policy.Routing{decide.RungKey: {DefaultModel: "north:acme/big", FallbackModels: []string{"south:acme/small"}}}
	require.Equal(t, []string{big, south}, order(w.decide(t, decide.Facts{})))
	w.provider("north").Disabled = true
	refusal = w.decide(t, decide.Facts{}).Refusal
	require.Equal(t, fault.ProfileProviderDisabled, refusal.Reason)
	require.Equal(t, "default_model", refusal.Fields["field"])
	require.Equal(t, profiles[decide.RungKey].String(), refusal.Fields["profile"])
	w.rungs = map[decide.Rung]policy.Routing{decide.RungKey: {DefaultModel: "west:acme/big"}}
	require.Equal(t, fault.ProfileProviderDisabled, w.decide(t, decide.Facts{}).Refusal.Reason, "a provider that is gone is as one that is off")

	w = newWorld()
	w.provider("south").Disabled = true
	w.rungs = map[decide.Rung]policy.Routing{decide.RungKey: {FallbackModels: []string{"south:acme/small", "acme/tiny"}}}
	plan := w.decide(t, decide.Facts{Model: "acme/big"})
	require.Equal(t, []string{big, "north:acme/tiny"}, order(plan))
	require.Contains(t, plan.Record.Exclusions, decide.Exclusion{Model: "south:acme/small", Stage: "model", Reason: "provider_disabled"})
}

// TestASuffixOnSignalboxFreeIsOfEachModel: the order is fixed, whatever the seed.
func TestASuffixOnSignalboxFreeIsOfEachModel(t *testing.T) {
	w := newWorld()
	w.health["south:acme/tiny:free"] = decide.EndpointHealth{Calls: 50, Success: 1, FirstByte: time.Millisecond, Throughput: 100}
	w.health["north:acme/tiny:free"] = decide.EndpointHealth{Calls: 50, Success: 1, FirstByte: 2 * time.Millisecond, Throughput: 100}
	in := w.input(t, decide.Facts{Model: "signalbox/free:fast"})
	for seed := range uint64(20) {
		in.Seed = seed
		require.Equal(t, []string{"south:acme/tiny:free", "north:acme/tiny:free"}, order(decide.Decide(in)))
	}
}

// TestAFallbackThatNobodyHasIsNotSearchedFor: what may have been meant by a name
// is found out only where somebody is told.
func TestAFallbackThatNobodyHasIsNotSearchedFor(t *testing.T) {
	allocations := func(name string) float64 {
		f := decide.Facts{Model: "acme/small"}
		for range decide.MaxModels {
			f.Models = append(f.Models, name+strconv.Itoa(len(f.Models)))
		}
		in := newWorld().input(t, f)
		return testing.AllocsPerRun(20, func() { decide.Decide(in) })
	}
	require.InDelta(t, allocations("qqqq/zzzzz"), allocations("acme/smal-"), 0, "near or far, nothing is made of it")
}
