package decide_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

func TestPreferences(t *testing.T) {
	p, violations := decide.ParsePreferences(json.RawMessage(`{
		"order": ["OpenAI", "azure"], "only": ["openai"], "ignore": [], "allow_fallbacks": false, "sort": "latency",
		"require_parameters": true, "require_zero_data_retention": true, "required_region": "EU",
		"max_price": {"input": 2.5, "output": "10"}, "preferred_max_latency": 1.5, "preferred_min_throughput": 30, "cache_aware_routing": null}`))
	require.Empty(t, violations)
	require.Equal(t, decide.Preferences{
		Order: []string{"openai", "azure"}, Only: []string{"openai"}, Ignore: []string{}, AllowFallbacks: ptr(false), Sort: policy.Latency,
		RequireParameters: true, RequireZDR: true, Region: "eu", MaxInputPrice: perMillion("2.5"), MaxOutputPrice: perMillion("10"),
		PreferredMaxLatency: 1500 * time.Millisecond, PreferredMinThroughput: 30,
	}, p)
	for _, empty := range []string{"", "null", "{}", " { } "} {
		p, violations := decide.ParsePreferences(json.RawMessage(empty))
		require.Empty(t, violations)
		require.Equal(t, decide.Preferences{}, p)
	}
}

func TestOtherClientsSpellings(t *testing.T) {
	p, violations := decide.ParsePreferences(json.RawMessage(`{"zdr": true, "require_zero_data_retention": false,
		"data_collection": "deny", "max_price": {"prompt": 1, "completion": "2", "input": 3}}`))
	require.Empty(t, violations)
	require.True(t, p.RequireZDR, "false does not lift what another spelling asks for")
	require.True(t, p.DenyTraining)
	require.Equal(t, *perMillion("1"), *p.MaxInputPrice, "the lower of two limits holds")
	require.Equal(t, *perMillion("2"), *p.MaxOutputPrice)
	p, violations = decide.ParsePreferences(json.RawMessage(`{"data_collection": "allow"}`))
	require.Empty(t, violations)
	require.False(t, p.DenyTraining)
}

func TestRoutingFields(t *testing.T) {
	f, violations := decide.ParseRouting(json.RawMessage(`{"mode": "price", "session_affinity": false, "max_attempts": 3}`))
	require.Empty(t, violations)
	require.Equal(t, decide.RoutingFields{Mode: policy.Price, SessionAffinity: ptr(false), MaxAttempts: 3}, f)
}

// TestBadPreferencesAreNamedByPath holds that a misspelled or mistyped
// restriction is never ignored, and that values are not repeated.
func TestBadPreferencesAreNamedByPath(t *testing.T) {
	cases := map[string][]string{
		`{"only_": ["a"], "zdr": "canary"}`:                       {"provider.only_", "provider.zdr"},
		`{"only_": null}`:                                         {"provider.only_"},
		`{"max_price": {"inptu": 1, "output": -1, "input": 1e3}}`: {"provider.max_price.inptu", "provider.max_price.output", "provider.max_price.input"},
		`{"max_price": 3}`:                                        {"provider.max_price"},
		`{"max_price": {"input": "canary"}}`:                      {"provider.max_price.input"},
		`{"only": "canary"}`:                                      {"provider.only"},
		`{"only": [1, "", "ok", null]}`:                           {"provider.only[0]", "provider.only[1]", "provider.only[3]"},
		`{"sort": "balanced"}`:                                    {"provider.sort"},
		`{"sort": {"by": "price"}}`:                               {"provider.sort"},
		`{"data_collection": "canary"}`:                           {"provider.data_collection"},
		`{"required_region": 5}`:                                  {"provider.required_region"},
		`{"preferred_max_latency": 0}`:                            {"provider.preferred_max_latency"},
		`{"preferred_min_throughput": "canary"}`:                  {"provider.preferred_min_throughput"},
		`{"allow_fallbacks": 1}`:                                  {"provider.allow_fallbacks"},
		`["canary"]`:                                              {"provider"},
		`{"a canary \" key": 1}`:                                  {"provider.?"},
		`{"quantizations": ["fp8"]}`:                              {"provider.quantizations"},
		`{"only": ["canary"], "only": []}`:                        {"provider.only"},
		`{"only": ["canary"], "only": null}`:                      {"provider.only"},
		`{"only": null, "\u006fnly": ["canary"]}`:                 {"provider.only"},
		`{"max_price": {"input": 1, "input": 9}}`:                 {"provider.max_price.input"},
		`{"zdr": true, "zdr": false, "zdr": 1}`:                   {"provider.zdr", "provider.zdr"},
	}
	for body, want := range cases {
		_, violations := decide.ParsePreferences(json.RawMessage(body))
		var paths []string
		for _, v := range violations {
			paths = append(paths, v.Path)
			require.NotContains(t, v.Path+v.Message, "canary", body)
		}
		require.Equal(t, want, paths, body)
	}
	_, violations := decide.ParseRouting(json.RawMessage(`{"max_attempts": 21, "mode": "fast", "models": []}`))
	require.Len(t, violations, 3)
	_, violations = decide.ParseRouting(json.RawMessage(`{"max_attempts": 1, "max_attempts": 9}`))
	require.Equal(t, "routing.max_attempts", violations[0].Path)
	require.Equal(t, "duplicate", violations[0].Code)
	long := `{"only": ["` + strings.Repeat(`a","`, 70) + `b"]}`
	_, violations = decide.ParsePreferences(json.RawMessage(long))
	require.Len(t, violations, 1)
}

func TestParseName(t *testing.T) {
	cases := map[string]decide.Name{
		"openai/gpt-5":                 {Model: "openai/gpt-5"},
		"openai/gpt-5:nitro":           {Model: "openai/gpt-5", Mode: policy.Throughput},
		"openai/gpt-5:cheap":           {Model: "openai/gpt-5", Mode: policy.Price},
		"openai/gpt-5:fast":            {Model: "openai/gpt-5", Mode: policy.Latency},
		"a/b:free":                     {Model: "a/b:free"},
		"a/b:free:nitro":               {Model: "a/b:free", Mode: policy.Throughput},
		"azure:openai/gpt-5:fast":      {Provider: "azure", Model: "openai/gpt-5", Mode: policy.Latency},
		"AZ.ure_1-x:openai/gpt-5:free": {Provider: "AZ.ure_1-x", Model: "openai/gpt-5:free"},
		"gpt-5:nitro":                  {Model: "gpt-5", Mode: policy.Throughput},
		"azure:gpt-5":                  {Model: "azure:gpt-5"}, // without a slash a colon starts a suffix, and this is none
		"a/b:online":                   {Model: "a/b:online"},
		"@mine":                        {Preset: "mine"},
		"@mine#3":                      {Preset: "mine#3"},
	}
	for text, want := range cases {
		got, refusal := decide.ParseName(text)
		require.Nil(t, refusal, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "@", "/", "a/", "/b", ":nitro", "a/b:nitro:fast", ":a/b", "-x:a/b", "x y:a/b", strings.Repeat("x", 257)} {
		_, refusal := decide.ParseName(text)
		require.NotNil(t, refusal, text)
		require.Equal(t, "model", refusal.Violations[0].Path)
	}
}

func FuzzParseName(f *testing.F) {
	for _, text := range []string{"openai/gpt-5", "azure:openai/gpt-5:free:nitro", "@p#1", "a:b/c:d", ":::/:::"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, refusal := decide.ParseName(text)
		if refusal != nil {
			return
		}
		if (n.Model == "") == (n.Preset == "") {
			t.Fatalf("%q: want a model or a preset", text)
		}
		if len(n.Provider)+len(n.Model)+len(n.Preset) > len(text) {
			t.Fatalf("%q: parts are longer than the whole", text)
		}
	})
}

func FuzzParsePreferences(f *testing.F) {
	for _, body := range []string{`{}`, `null`, `{"only":["a"],"max_price":{"input":1}}`, `{"sort":"price","zdr":true}`, `[`, `{"max_price":{"input":"1e5"}}`} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p, violations := decide.ParsePreferences(body)
		if len(violations) > 0 {
			return
		}
		if p.PreferredMaxLatency < 0 || p.PreferredMinThroughput < 0 || math.IsNaN(p.PreferredMinThroughput) {
			t.Fatal("a preference is out of range")
		}
		for _, price := range []int64{price(p.MaxInputPrice), price(p.MaxOutputPrice)} {
			if price < 0 {
				t.Fatal("a limit is negative")
			}
		}
	})
}

func price[T ~int64](p *T) int64 {
	if p == nil {
		return 0
	}
	return int64(*p)
}
