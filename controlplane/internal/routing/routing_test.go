package routing_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/routing"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

func ptr[T any](v T) *T { return &v }

// offered is north (eu, promises both), south (us, promises nothing) and west,
// which is disabled.
func offered(t *testing.T) *catalog.View {
	t.Helper()
	endpoint := func(provider, model string) catalog.Endpoint {
		return catalog.Endpoint{ID: catalog.EndpointID(provider, model, ""), Provider: provider, UpstreamModel: "x"}
	}
	view, err := catalog.Compile(catalog.Catalog{
		Schema: catalog.Schema, Revision: 1,
		Providers: []catalog.Provider{
			{
				Slug: "north", Aliases: []string{"nord"}, Type: catalog.OpenAICompatible, BaseURL: "http://127.0.0.1:9/v1",
				Regions: []string{"eu-west-1"}, DataPolicy: catalog.DataPolicy{ZeroDataRetention: ptr(true), Trains: ptr(false)},
			},
			{Slug: "south", Type: catalog.OpenAICompatible, BaseURL: "http://127.0.0.1:9/v1", Regions: []string{"us"}},
			{Slug: "west", Type: catalog.OpenAICompatible, BaseURL: "http://127.0.0.1:9/v1", Disabled: true},
		},
		Models: []catalog.Model{
			{ID: "acme/small", Author: "acme", Aliases: []string{"tiny"}, Endpoints: []catalog.Endpoint{endpoint("north", "acme/small"), endpoint("south", "acme/small")}},
			{ID: "acme/big", Author: "acme", Endpoints: []catalog.Endpoint{endpoint("south", "acme/big")}},
			{ID: "zeta/small", Author: "zeta", Endpoints: []catalog.Endpoint{endpoint("north", "zeta/small")}},
		},
	})
	require.NoError(t, err)
	return view
}

// check returns what is kept, and the violations as "path code".
func check(t *testing.T, r policy.Routing) (kept policy.Routing, found []string) {
	t.Helper()
	var v rule.Violations
	kept = routing.NewChecker(offered(t)).Check(&v, "routing", r)
	if err := v.Err(); err != nil {
		for _, one := range fault.Of(err).Violations {
			path, ok := strings.CutPrefix(one.Path, "routing.")
			require.True(t, ok, one.Path)
			require.NotEmpty(t, one.Message)
			found = append(found, path+" "+one.Code)
		}
	}
	return kept, found
}

func prefers(p policy.Preferences) policy.Routing { return policy.Routing{Provider: p} }

func TestCheck(t *testing.T) {
	cases := map[string]struct {
		routing policy.Routing
		want    []string
	}{
		"nothing": {policy.Routing{}, nil},
		"everything": {policy.Routing{
			DefaultModel: "acme/small", FallbackModels: []string{"tiny", "zeta/small", "north:acme/small:cheap"}, Mode: policy.Balanced,
			Provider: policy.Preferences{
				Order: []string{"north"}, Only: []string{"north", "south"}, AllowFallbacks: ptr(false), Sort: policy.Price,
				RequireParameters: true, RequireZDR: true, DenyTraining: true, Region: "EU", MaxInputPrice: ptr(money.PerMillion(0)),
				PreferredMaxLatency: 10 * time.Minute, PreferredMinThroughput: 1, CacheAware: ptr(false),
			},
			Timeouts: policy.Timeouts{FirstByte: time.Second, Request: 24 * time.Hour}, Retries: ptr(0), Affinity: ptr(true),
		}, nil},
		"auto":                       {policy.Routing{Auto: true, FallbackModels: []string{"acme/small"}}, nil},
		"auto by its name":           {policy.Routing{DefaultModel: "signalbox/auto"}, nil},
		"free":                       {policy.Routing{DefaultModel: "signalbox/free", FallbackModels: []string{"signalbox/free"}}, nil},
		"auto and a model":           {policy.Routing{Auto: true, DefaultModel: "acme/small"}, []string{"auto contradiction"}},
		"auto as a fallback":         {policy.Routing{FallbackModels: []string{"signalbox/auto"}}, []string{"fallback_models[0] not_allowed"}},
		"auto with a suffix":         {policy.Routing{DefaultModel: "signalbox/auto:fast"}, []string{"default_model not_allowed"}},
		"auto at a provider":         {policy.Routing{DefaultModel: "north:signalbox/auto"}, []string{"default_model not_allowed"}},
		"free at a provider":         {policy.Routing{DefaultModel: "north:signalbox/free"}, []string{"default_model not_allowed"}},
		"a preset":                   {policy.Routing{DefaultModel: "@mine"}, []string{"default_model not_allowed"}},
		"no name":                    {policy.Routing{DefaultModel: "/"}, []string{"default_model malformed"}},
		"an unknown model":           {policy.Routing{DefaultModel: "acme/smal"}, []string{"default_model model_not_found"}},
		"an ambiguous model":         {policy.Routing{DefaultModel: "small"}, []string{"default_model model_not_found"}},
		"a model at nobody":          {policy.Routing{DefaultModel: "east:acme/small"}, []string{"default_model unknown_provider_slug"}},
		"a model at a disabled one":  {policy.Routing{DefaultModel: "west:acme/small"}, []string{"default_model provider_disabled"}},
		"a model not served there":   {policy.Routing{DefaultModel: "north:acme/big"}, []string{"default_model contradiction"}},
		"a model at an excluded one": {policy.Routing{DefaultModel: "north:acme/small", Provider: policy.Preferences{Ignore: []string{"north"}}}, []string{"default_model contradiction"}},
		"a model that only excludes": {policy.Routing{FallbackModels: []string{"acme/big"}, Provider: policy.Preferences{Only: []string{"north"}}}, []string{"fallback_models[0] contradiction"}},
		"a model that ignore excludes": {
			policy.Routing{DefaultModel: "acme/big", Provider: policy.Preferences{Ignore: []string{"south"}}}, []string{"default_model contradiction"},
		},
		"nine fallbacks":           {policy.Routing{FallbackModels: strings.Split("a b c d e f g h i", " ")}, []string{"fallback_models too_long"}},
		"a fallback twice":         {policy.Routing{FallbackModels: []string{"acme/small", "acme/small"}}, []string{"fallback_models[1] duplicate"}},
		"an empty fallback":        {policy.Routing{FallbackModels: []string{""}}, []string{"fallback_models[0] required"}},
		"a mode of none":           {policy.Routing{Mode: "fastest"}, []string{"routing_mode not_allowed"}},
		"a sort of none":           {prefers(policy.Preferences{Sort: policy.Balanced}), []string{"provider.sort not_allowed"}},
		"an unknown provider":      {prefers(policy.Preferences{Only: []string{"north", "east"}}), []string{"provider.only[1] unknown_provider_slug"}},
		"a disabled provider":      {prefers(policy.Preferences{Order: []string{"west"}}), []string{"provider.order[0] provider_disabled"}},
		"an ignored disabled one":  {prefers(policy.Preferences{Ignore: []string{"west"}}), []string{"provider.ignore[0] provider_disabled"}},
		"a provider twice":         {prefers(policy.Preferences{Ignore: []string{"north", "NORD"}}), []string{"provider.ignore[1] duplicate"}},
		"65 providers":             {prefers(policy.Preferences{Only: make([]string, 65)}), []string{"provider.only too_long"}},
		"only and ignored":         {prefers(policy.Preferences{Only: []string{"north"}, Ignore: []string{"north"}}), []string{"provider.ignore[0] contradiction"}},
		"ordered and ignored":      {prefers(policy.Preferences{Order: []string{"north"}, Ignore: []string{"nord"}}), []string{"provider.order[0] contradiction"}},
		"ordered and not only":     {prefers(policy.Preferences{Order: []string{"south"}, Only: []string{"north"}}), []string{"provider.order[0] contradiction"}},
		"a region of nobody":       {prefers(policy.Preferences{Region: "mars"}), []string{"provider.required_region not_allowed"}},
		"half a region":            {prefers(policy.Preferences{Region: "eu-w"}), []string{"provider.required_region not_allowed"}},
		"a long region":            {prefers(policy.Preferences{Region: strings.Repeat("x", 65)}), []string{"provider.required_region too_long"}},
		"only who retains":         {prefers(policy.Preferences{Only: []string{"south"}, RequireZDR: true}), []string{"provider.require_zero_data_retention contradiction"}},
		"only who may train":       {prefers(policy.Preferences{Only: []string{"south"}, DenyTraining: true}), []string{"provider.deny_training contradiction"}},
		"a negative price":         {prefers(policy.Preferences{MaxOutputPrice: ptr(money.PerMillion(-1))}), []string{"provider.max_price.output out_of_range"}},
		"a long latency":           {prefers(policy.Preferences{PreferredMaxLatency: 10*time.Minute + 1}), []string{"provider.preferred_max_latency out_of_range"}},
		"a negative throughput":    {prefers(policy.Preferences{PreferredMinThroughput: -1}), []string{"provider.preferred_min_throughput out_of_range"}},
		"a short first byte":       {policy.Routing{Timeouts: policy.Timeouts{FirstByte: time.Second - 1}}, []string{"timeouts.first_byte_ms out_of_range"}},
		"a long request":           {policy.Routing{Timeouts: policy.Timeouts{Request: 24*time.Hour + 1}}, []string{"timeouts.request_ms out_of_range"}},
		"a first byte over it all": {policy.Routing{Timeouts: policy.Timeouts{FirstByte: 2 * time.Second, Request: time.Second}}, []string{"timeouts.first_byte_ms contradiction"}},
		"four retries":             {policy.Routing{Retries: ptr(4)}, []string{"retries out_of_range"}},
		"fewer than none":          {policy.Routing{Retries: ptr(-1)}, []string{"retries out_of_range"}},
		"three retries":            {policy.Routing{Retries: ptr(3)}, nil},
		"an unknown one is all of it": {
			policy.Routing{DefaultModel: "acme/small", Provider: policy.Preferences{Only: []string{"east"}, Ignore: []string{"east"}, RequireZDR: true}},
			[]string{"provider.only[0] unknown_provider_slug", "provider.ignore[0] unknown_provider_slug"},
		},
		"several at once": {
			policy.Routing{Mode: "x", DefaultModel: "nope", Provider: policy.Preferences{Only: []string{"east"}, Sort: "x"}, Timeouts: policy.Timeouts{Request: 1}},
			[]string{
				"routing_mode not_allowed", "provider.sort not_allowed", "provider.only[0] unknown_provider_slug", "default_model model_not_found",
				"timeouts.request_ms out_of_range",
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, found := check(t, c.routing)
			require.Equal(t, c.want, found)
		})
	}
}

// Providers are kept by their slugs and the region in lower case; the
// caller's own lists stay as they were.
func TestWhatIsKept(t *testing.T) {
	given := policy.Preferences{Only: []string{"NORD", "South"}, Order: []string{"nord"}, Region: "EU"}
	kept, found := check(t, prefers(given))
	require.Empty(t, found)
	require.Equal(t, policy.Preferences{Only: []string{"north", "south"}, Order: []string{"north"}, Region: "eu"}, kept.Provider)
	require.Equal(t, []string{"NORD", "South"}, given.Only)
}

func TestMessagesHelp(t *testing.T) {
	var v rule.Violations
	routing.NewChecker(offered(t)).CheckModels(&v, "", "acme/smal", []string{"small"})
	list := fault.Of(v.Err()).Violations
	require.Equal(t, "default_model", list[0].Path)
	require.Contains(t, list[0].Message, "acme/small")
	require.Contains(t, list[1].Message, "acme/small, zeta/small")
}
