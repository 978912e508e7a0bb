package catalog_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
)

func embeddedView(t *testing.T) *catalog.View {
	t.Helper()
	c, err := catalog.Embedded()
	require.NoError(t, err)
	v, err := catalog.Compile(c)
	require.NoError(t, err)
	return v
}

// TestEmbeddedListing holds the whole catalog, and what was left out of it,
// so that a new release of the library is reviewed as a diff.
func TestEmbeddedListing(t *testing.T) {
	c, err := catalog.Embedded()
	require.NoError(t, err)
	var out strings.Builder
	for _, p := range c.Providers {
		quirks := ""
		if p.Quirks != nil {
			text, err := json.Marshal(p.Quirks)
			require.NoError(t, err)
			quirks = " quirks=" + string(text)
		}
		fmt.Fprintf(&out, "%s %s %s env=%s aliases=%s aggregator=%t%s\n", p.Slug, p.Type, p.BaseURL,
			strings.Join(catalog.EnvKeys(p.Slug), ","), strings.Join(p.Aliases, ","), p.Aggregator, quirks)
	}
	for i := range c.Models {
		m := &c.Models[i]
		fmt.Fprintf(&out, "\n%s context=%d in=%v out=%v aliases=%s\n", m.ID, m.Context, m.Input, m.Output, strings.Join(m.Aliases, ","))
		for _, e := range m.Endpoints {
			surfaces := ""
			if len(e.Surfaces) > 0 {
				surfaces = fmt.Sprintf(" surfaces=%v", e.Surfaces)
			}
			fmt.Fprintf(&out, "  %s = %s %s%s\n", strings.TrimSuffix(e.ID, ":"+m.ID), e.UpstreamModel, priced(e.Price), surfaces)
		}
	}
	golden(t, "testdata/embedded.golden", out.String())

	out.Reset()
	for _, d := range catalog.EmbeddedDropped() {
		fmt.Fprintf(&out, "%s %s: %s\n", d.Provider, d.Model, d.Reason)
	}
	golden(t, "testdata/dropped.golden", out.String())
}

func priced(p *catalog.Price) string {
	if p == nil {
		return "price unknown"
	}
	text := fmt.Sprintf("%s/%s", p.Input, p.Output)
	if p.CachedInput != nil {
		text += " read " + p.CachedInput.String()
	}
	if p.CacheWrite5m != nil {
		text += " write " + p.CacheWrite5m.String()
	}
	if p.Image != nil {
		text += " image " + p.Image.String()
	}
	if p.Audio != nil {
		text += " audio " + p.Audio.String()
	}
	return text
}

func TestOneModelHasAllItsEndpoints(t *testing.T) {
	v := embeddedView(t)
	for _, name := range []string{
		"anthropic/claude-sonnet-4.5", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5", "claude-4-5-sonnet",
	} {
		found := v.Resolve(name)
		require.Len(t, found, 1, name)
		require.Equal(t, "anthropic/claude-sonnet-4.5", found[0].ID)
	}
	for _, endpoint := range []string{
		"anthropic:anthropic/claude-sonnet-4.5", "vertex:anthropic/claude-sonnet-4.5", "openrouter:anthropic/claude-sonnet-4.5",
		"bedrock:anthropic/claude-sonnet-4.5@us", "bedrock:anthropic/claude-sonnet-4.5@eu",
		"openai:openai/gpt-5-mini", "azure:openai/gpt-5-mini", "openrouter:openai/gpt-5-mini",
		"fireworks:zai/glm-5.2", "chutes:zai/glm-5.2", "synthetic:zai/glm-5.2", "openrouter:zai/glm-5.2",
		"venice:openai/gpt-5.2", "google:google/gemini-2.5-pro", "vertex:google/gemini-2.5-pro",
	} {
		_, ok := v.Endpoint(endpoint)
		require.True(t, ok, endpoint)
	}
	for _, slug := range []string{"amazon-bedrock", "google-vertex", "x-ai", "Gemini"} {
		_, ok := v.Provider(slug)
		require.True(t, ok, slug)
	}
}

func TestEmbeddedPricesAreHonest(t *testing.T) {
	v := embeddedView(t)
	for _, m := range v.Models() {
		for _, e := range m.Endpoints {
			if e.Price == nil {
				continue
			}
			require.NotNil(t, e.Price.Input, e.ID)
			require.NotNil(t, e.Price.Output, e.ID)
			switch {
			case slices.Equal(e.Surfaces, []catalog.Surface{catalog.Moderations}): // OpenAI's are free
			case !m.Free():
				require.False(t, *e.Price.Input == 0 && *e.Price.Output == 0, "%s: 0/0 is not a price", e.ID)
			default:
				require.Zero(t, *e.Price.Input+*e.Price.Output, e.ID)
			}
			if e.Price.CachedInput != nil {
				require.Less(t, *e.Price.CachedInput, *e.Price.Input, e.ID)
			}
		}
	}
	e, _ := v.Endpoint("anthropic:anthropic/claude-sonnet-4.5")
	require.Equal(t, "3.00/15.00 read 0.30 write 3.75", priced(e.Endpoint.Price))
}

func TestEmbeddedProvidersHaveDocumentedAddresses(t *testing.T) {
	v := embeddedView(t)
	for slug, want := range map[string]string{
		"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com",
		"google": "https://generativelanguage.googleapis.com/v1beta",
	} {
		p, ok := v.Provider(slug)
		require.True(t, ok)
		require.Equal(t, want, p.BaseURL)
	}
	require.Equal(t, []string{"OPENAI_API_KEY"}, catalog.EnvKeys("openai"))
	require.Equal(t, []string{"ANTHROPIC_API_KEY"}, catalog.EnvKeys("anthropic"))
	require.Equal(t, []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, catalog.EnvKeys("google"))
	require.Empty(t, catalog.EnvKeys("nobody"))
	for _, m := range v.Models() {
		require.NotContains(t, m.ID, "//")
	}
	e, ok := v.Endpoint("openai:openai/text-embedding-3-small")
	require.True(t, ok)
	require.Equal(t, []catalog.Surface{catalog.Embeddings}, e.Endpoint.Surfaces)
	require.Equal(t, "0.02", e.Endpoint.Price.Input.String())
}

func BenchmarkCompileEmbedded(b *testing.B) {
	c, err := catalog.Embedded()
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := catalog.Compile(c); err != nil {
			b.Fatal(err)
		}
	}
}
