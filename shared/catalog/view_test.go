package catalog_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/money"
)

func sample() catalog.Catalog {
	endpoint := func(provider, model string) catalog.Endpoint {
		return catalog.Endpoint{ID: catalog.EndpointID(provider, model, ""), Provider: provider, UpstreamModel: "x"}
	}
	return catalog.Catalog{
		Schema: catalog.Schema, Revision: 4,
		Providers: []catalog.Provider{
			{Slug: "south", Type: catalog.OpenAI, BaseURL: "https://south.example/v1", Aliases: []string{"Sud", "s-2"}},
			{Slug: "north", Type: catalog.OpenAICompatible, BaseURL: "http://127.0.0.1:9/v1"},
		},
		Models: []catalog.Model{
			{ID: "zeta/small", Author: "zeta", Endpoints: []catalog.Endpoint{endpoint("south", "zeta/small")}},
			{ID: "acme/small", Author: "acme", Aliases: []string{"tiny", "acme-inc/small"}, Endpoints: []catalog.Endpoint{endpoint("north", "acme/small"), endpoint("south", "acme/small")}},
			{ID: "acme/big-1.5", Author: "acme"},
			{ID: "acme/small:free", Author: "acme", Endpoints: []catalog.Endpoint{endpoint("north", "acme/small:free")}},
		},
	}
}

func compiled(t *testing.T) *catalog.View {
	t.Helper()
	v, err := catalog.Compile(sample())
	require.NoError(t, err)
	return v
}

func TestViewFindsByEveryName(t *testing.T) {
	v := compiled(t)
	require.EqualValues(t, 4, v.Revision())
	ids := func(name string) (out []string) {
		for _, m := range v.Resolve(name) {
			out = append(out, m.ID)
		}
		return out
	}
	require.Equal(t, []string{"acme/small"}, ids("acme/small"))
	require.Equal(t, []string{"acme/small"}, ids("tiny"))
	require.Equal(t, []string{"acme/small"}, ids("acme-inc/small"))
	require.Equal(t, []string{"acme/big-1.5"}, ids("big-1.5"))
	require.Equal(t, []string{"acme/small", "zeta/small"}, ids("small"), "ambiguous, sorted")
	require.Equal(t, []string{"acme/small:free"}, ids("small:free"))
	require.Empty(t, ids("none"))

	for _, slug := range []string{"south", "SOUTH", "sud", "SUD", "S-2"} {
		p, ok := v.Provider(slug)
		require.True(t, ok, slug)
		require.Equal(t, "south", p.Slug)
	}
	_, ok := v.Provider("west")
	require.False(t, ok)

	o, ok := v.Endpoint("south:acme/small")
	require.True(t, ok)
	require.Equal(t, "acme/small", o.Model.ID)
	require.Equal(t, "south", o.Provider.Slug)
	m, _ := v.Model("acme/small")
	require.Len(t, v.Offers(m), 2)
	require.Same(t, o.Endpoint, v.Offers(m)[1].Endpoint)
	require.Len(t, v.FreeModels(), 1)
	require.Equal(t, "north", v.Providers()[0].Slug)
	require.Equal(t, "acme/big-1.5", v.Models()[0].ID)
}

func TestCompileLeavesTheCatalogAlone(t *testing.T) {
	c := sample()
	_, err := catalog.Compile(c)
	require.NoError(t, err)
	require.Equal(t, sample(), c)
}

func TestPage(t *testing.T) {
	v := compiled(t)
	var seen []string
	after := ""
	for range 10 {
		page, next := v.Page(after, 3, nil)
		for _, m := range page {
			seen = append(seen, m.ID)
		}
		if next == "" {
			break
		}
		after = next
	}
	require.Equal(t, []string{"acme/big-1.5", "acme/small", "acme/small:free", "zeta/small"}, seen)
	page, next := v.Page("acme/k", 10, func(m *catalog.Model) bool { return m.Author == "acme" })
	require.Len(t, page, 2, "a cursor need not exist any more")
	require.Empty(t, next)
	page, next = v.Page("", 4, nil)
	require.Len(t, page, 4)
	require.Empty(t, next, "a full last page has no next")
}

func TestSuggest(t *testing.T) {
	v := compiled(t)
	for name, want := range map[string]string{
		"acme/smal": "acme/small", "acme/big-1-5": "acme/big-1.5", "ACME/Small": "acme/small", "big": "",
		"other/big-1.5": "acme/big-1.5", "big-1.4": "acme/big-1.5", "": "", "x": "", "qqqqqqqqqq/zzzzzz": "",
		strings.Repeat("a", 500): "", "/": "",
	} {
		got := v.Suggest(name)
		require.LessOrEqual(t, len(got), 3)
		if want == "" {
			require.Empty(t, got, name)
			continue
		}
		require.NotEmpty(t, got, name)
		require.Equal(t, want, got[0], name)
	}
}

func TestStateAt(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	m := catalog.Model{Lifecycle: catalog.Lifecycle{DeprecatedAt: &at}}
	require.Equal(t, catalog.Active, m.StateAt(at.Add(-1)))
	require.Equal(t, catalog.Deprecated, m.StateAt(at))
	m.Lifecycle.RetiresAt = &at
	require.Equal(t, catalog.Retired, m.StateAt(at))
	m = catalog.Model{Lifecycle: catalog.Lifecycle{State: catalog.Retired}}
	require.Equal(t, catalog.Retired, m.StateAt(at))
}

// TestCompileReportsEveryProblem breaks one catalog in every way at once.
func TestCompileReportsEveryProblem(t *testing.T) {
	c := sample()
	price := money.PerMillion(-1)
	c.Schema = 9
	c.Providers = append(c.Providers,
		catalog.Provider{Slug: "North", Type: "x", BaseURL: "ftp://u:p@h/v1?q", Aliases: []string{"sud", "a b"}, Retry: catalog.Retry{Max: 4}},
		catalog.Provider{Slug: "west", Type: catalog.OpenAI},
		catalog.Provider{Slug: "bed", Type: catalog.Bedrock},
	)
	c.Models = append(c.Models,
		catalog.Model{ID: "acme/small", Author: "acme"},
		catalog.Model{ID: "Bad Id", Author: "y", Aliases: []string{"tiny", "A"}, Context: -1},
		catalog.Model{ID: "signalbox/auto", Author: "signalbox"},
		catalog.Model{ID: "acme/x", Author: "acme", Lifecycle: catalog.Lifecycle{State: "gone", Replacement: "acme/none"}, Endpoints: []catalog.Endpoint{
			{
				ID: "wrong", Provider: "nowhere", Channel: "gamma", Derank: 4, Context: -1, Region: "E U", Surfaces: []catalog.Surface{"fax"},
				Price: &catalog.Price{Input: &price, Request: -1, Tiers: []catalog.Tier{{Above: 5}, {Above: 5, Price: catalog.Price{Output: &price}}}},
			},
			{ID: "north:acme/x", Provider: "north", UpstreamModel: "x"},
			{ID: "north:acme/x", Provider: "north", UpstreamModel: "x"},
		}},
	)
	_, err := catalog.Compile(c)
	var problems catalog.Problems
	require.ErrorAs(t, err, &problems)
	var paths []string
	for _, p := range problems {
		paths = append(paths, p.Path)
	}
	for _, want := range []string{
		"schema", "providers[2].slug", "providers[2].type", "providers[2].base_url", "providers[2].aliases[0]",
		"providers[2].aliases[1]", "providers[2].retry.max", "providers[3].base_url", "models[4].id", "models[5].id",
		"models[5].author", "models[5].aliases[0]", "models[5].aliases[1]", "models[5].context", "models[6].id",
		"models[7].lifecycle.state", "models[7].lifecycle.replacement", "models[7].endpoints[0].provider",
		"models[7].endpoints[0].region", "models[7].endpoints[0].id", "models[7].endpoints[0].upstream_model",
		"models[7].endpoints[0].channel", "models[7].endpoints[0].derank", "models[7].endpoints[0].context",
		"models[7].endpoints[0].surfaces[0]", "models[7].endpoints[0].price.input", "models[7].endpoints[0].price.request",
		"models[7].endpoints[0].price.tiers[1].above", "models[7].endpoints[0].price.tiers[1].price.output", "models[7].endpoints[2]",
	} {
		require.Contains(t, paths, want)
	}
	require.False(t, slices.Contains(paths, "providers[4].base_url"), "bedrock's address is the account's")
	require.NotContains(t, err.Error(), "u:p")
}

func BenchmarkSuggest(b *testing.B) {
	c, err := catalog.Embedded()
	require.NoError(b, err)
	v, err := catalog.Compile(c)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		v.Suggest("openai/gpt-5.6-lunar-mini-preview")
	}
}
