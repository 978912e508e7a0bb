package catalog_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
)

const secretCanary = "sk-live-canary"

func env(name string) (string, bool) {
	switch name {
	case "NORTH_KEY":
		return secretCanary, true
	case "EMPTY_KEY":
		return "", true
	}
	return "", false
}

const documented = `
providers:
  - slug: north
    type: openai-compatible        # openai, anthropic, google, azure, bedrock, vertex, openai-compatible
    base_url: http://127.0.0.1:9101/v1
    api_key: ${NORTH_KEY}          # environment references only; a literal is accepted with a warning
    regions: [eu]
    data_policy: {zero_data_retention: true, trains: false}
    retry: {max: 0}
models:
  - id: acme/small
    context: 128000
    endpoints:
      - {provider: north, upstream_model: small-v1, price: {input: "0.10", output: "0.40", cached_input: "0.01"}}  # USD per million tokens
    rules: []                      # conditional routing, below
`

func TestTheDocumentedFileLoads(t *testing.T) {
	over, warnings, err := catalog.Load(strings.NewReader(documented), "catalog.yaml", env)
	require.NoError(t, err)
	require.Empty(t, warnings)
	require.Equal(t, secretCanary, over.Keys["north"].Reveal())
	c := catalog.Merge(catalog.Catalog{Schema: catalog.Schema}, over)
	_, err = catalog.Compile(c)
	require.NoError(t, err)
	p, m := c.Providers[0], c.Models[0]
	require.Equal(t, catalog.OpenAICompatible, p.Type)
	require.Equal(t, []string{"eu"}, p.Regions)
	require.True(t, *p.DataPolicy.ZeroDataRetention)
	require.False(t, *p.DataPolicy.Trains)
	require.Nil(t, p.DataPolicy.Retains)
	require.Equal(t, "acme", m.Author)
	require.EqualValues(t, 128000, m.Context)
	require.Equal(t, "north:acme/small", m.Endpoints[0].ID)
	require.Equal(t, "0.10", m.Endpoints[0].Price.Input.String())
	require.Equal(t, "0.01", m.Endpoints[0].Price.CachedInput.String())
	require.NotContains(t, fmt.Sprintf("%+v", c), secretCanary, "keys stay out of the catalog")
	require.NotContains(t, fmt.Sprintf("%+v %#v", over, over.Keys), secretCanary)
}

func TestOverridesFieldByField(t *testing.T) {
	base, err := catalog.Embedded()
	require.NoError(t, err)
	merged, _, _, err := catalog.Overlaid(base, strings.NewReader(`
providers:
  - slug: openai
    base_url: http://127.0.0.1:1/v1/
    retry: {max: 2}
models:
  - id: openai/gpt-5-mini
    aliases: [mini]
    lifecycle: {state: deprecated, retires_at: 2027-01-31, replacement: openai/gpt-5}
    endpoints:
      - {provider: openai, price: {input: 9.5}, derank: 2}
      - {provider: groq, region: eu, upstream_model: m, channel: beta}
`), "c.yaml", env)
	require.NoError(t, err)
	v, err := catalog.Compile(merged)
	require.NoError(t, err)
	p, _ := v.Provider("openai")
	require.Equal(t, "http://127.0.0.1:1/v1", p.BaseURL)
	require.Equal(t, "OpenAI", p.Name)
	require.Equal(t, 2, p.Retry.Max)
	require.False(t, *p.DataPolicy.Trains)
	before, _ := catalog.Compile(base)
	old, _ := before.Endpoint("openai:openai/gpt-5-mini")
	e, _ := v.Endpoint("openai:openai/gpt-5-mini")
	require.Equal(t, "9.50", e.Endpoint.Price.Input.String())
	require.Equal(t, old.Endpoint.Price.Output, e.Endpoint.Price.Output)
	require.NotEqual(t, "9.50", old.Endpoint.Price.Input.String(), "the base is not changed")
	require.Equal(t, old.Endpoint.UpstreamModel, e.Endpoint.UpstreamModel)
	require.Equal(t, 2, e.Endpoint.Derank)
	require.Len(t, e.Model.Endpoints, len(old.Model.Endpoints)+1)
	require.Equal(t, old.Model.Context, e.Model.Context)
	require.Equal(t, "2027-01-31T00:00:00Z", e.Model.Lifecycle.RetiresAt.Format("2006-01-02T15:04:05Z07:00"))
	_, ok := v.Endpoint("groq:openai/gpt-5-mini@eu")
	require.True(t, ok)
}

// TestEveryProblemAtOnce reads testdata/load/*.yaml over the embedded catalog
// and compares with the .problems beside each.
func TestEveryProblemAtOnce(t *testing.T) {
	base, err := catalog.Embedded()
	require.NoError(t, err)
	files, err := filepath.Glob("testdata/load/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			body, err := os.ReadFile(file)
			require.NoError(t, err)
			_, _, warnings, err := catalog.Overlaid(base, bytes.NewReader(body), "catalog.yaml", env)
			var out strings.Builder
			for _, w := range warnings {
				fmt.Fprintf(&out, "warning: %s\n", w)
			}
			var problems catalog.Problems
			if err != nil {
				require.ErrorAs(t, err, &problems)
			}
			for _, p := range problems {
				fmt.Fprintf(&out, "%s\n", p)
			}
			require.NotContains(t, out.String(), "canary")
			golden(t, strings.TrimSuffix(file, ".yaml")+".problems", out.String())
		})
	}
}

func TestAliasBombsAndLargeFilesAreRefused(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&bomb, "a%d: &a%d [", i, i)
		for j := range 10 {
			if j > 0 {
				bomb.WriteString(", ")
			}
			fmt.Fprintf(&bomb, "*a%d", i-1)
		}
		bomb.WriteString("]\n")
	}
	_, _, err := catalog.Load(strings.NewReader(bomb.String()), "c.yaml", env)
	require.Error(t, err)

	nested := "models:\n  - &m\n    id: a/b\n    benchmarks: &b [{id: x, score: 1}]\n"
	for range 1000 {
		nested += "  - *m\n"
	}
	_, _, err = catalog.Load(strings.NewReader(nested), "c.yaml", env)
	require.ErrorContains(t, err, "the same id")

	items := "x" + strings.Repeat(", x", 9_999)
	wide := "models:\n  - {id: a/b0, capabilities: &c [" + items + "]}\n"
	for i := range 60 {
		wide += fmt.Sprintf("  - {id: a/b%d, capabilities: *c}\n", i+1)
	}
	_, _, err = catalog.Load(strings.NewReader(wide), "c.yaml", env)
	require.ErrorContains(t, err, "unfold to too much")

	_, _, err = catalog.Load(strings.NewReader(strings.Repeat("#\n", catalog.MaxFileBytes)), "c.yaml", env)
	require.ErrorContains(t, err, "4 MiB")
}

func TestAnEmptyFileChangesNothing(t *testing.T) {
	for _, text := range []string{"", "\n", "# nothing\n", "---\n", "providers:\nmodels: []\n"} {
		over, warnings, err := catalog.Load(strings.NewReader(text), "c.yaml", env)
		require.NoError(t, err, text)
		require.Empty(t, warnings)
		base := sample()
		merged := catalog.Merge(base, over)
		require.Len(t, merged.Models, len(base.Models))
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(documented))
	files, _ := filepath.Glob("testdata/load/*.yaml")
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	base := sample()
	f.Fuzz(func(t *testing.T, body []byte) {
		merged, over, _, err := catalog.Overlaid(base, bytes.NewReader(body), "c.yaml", env)
		if err != nil {
			if strings.Contains(err.Error(), secretCanary) {
				t.Fatal("the error has a secret")
			}
			return
		}
		if _, err := catalog.Compile(merged); err != nil {
			t.Fatalf("accepted, and does not compile: %v", err)
		}
		if len(over.Keys) > len(over.Providers) {
			t.Fatal("more keys than providers")
		}
	})
}
