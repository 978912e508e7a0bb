package catalog_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
)

func TestCacheLifetime(t *testing.T) {
	for kind, want := range map[catalog.ProviderType]time.Duration{
		catalog.OpenAI: time.Hour, catalog.Azure: time.Hour, catalog.Google: time.Hour, catalog.Vertex: time.Hour,
		catalog.Anthropic: 15 * time.Minute, catalog.Bedrock: 15 * time.Minute, catalog.OpenAICompatible: 15 * time.Minute,
	} {
		require.Equal(t, want, (&catalog.Provider{Type: kind}).CacheLifetime(), kind)
		require.Equal(t, 2*time.Hour, (&catalog.Provider{Type: kind, CacheRetention: 2 * time.Hour}).CacheLifetime(), kind)
	}
	require.Equal(t, 15*time.Minute, (&catalog.Provider{CacheRetention: 1}).CacheLifetime(), "a catalog that nobody checked")
	require.Equal(t, 24*time.Hour, (&catalog.Provider{CacheRetention: 1000 * time.Hour}).CacheLifetime())
}

func TestCacheHint(t *testing.T) {
	require.Equal(t, catalog.HintPromptCacheKey, (&catalog.Provider{Type: catalog.OpenAI}).CacheHint())
	require.Equal(t, catalog.HintPromptCacheKey, (&catalog.Provider{Type: catalog.Azure, Quirks: &catalog.Quirks{}}).CacheHint())
	require.Equal(t, catalog.HintNone, (&catalog.Provider{Type: catalog.OpenAICompatible}).CacheHint(), "some of them refuse what they do not know")
	require.Equal(t, catalog.HintXAI, (&catalog.Provider{Type: catalog.OpenAICompatible, Quirks: &catalog.Quirks{CacheHint: "x-grok-conv-id"}}).CacheHint())
	require.Equal(t, catalog.HintNone, (&catalog.Provider{Type: catalog.OpenAI, Quirks: &catalog.Quirks{CacheHint: "none"}}).CacheHint())
}

func TestCacheFieldsOfAFile(t *testing.T) {
	file := func(fields string) (catalog.Catalog, error) {
		text := "providers:\n  - {slug: north, type: openai-compatible, base_url: 'http://a.example/v1', " + fields + "}\n"
		c, _, _, err := catalog.Overlaid(catalog.Catalog{Schema: catalog.Schema}, strings.NewReader(text), "c.yaml", nil)
		return c, err
	}
	c, err := file("cache_retention: 90m, quirks: {cache_hint: prompt_cache_key}")
	require.NoError(t, err)
	require.Equal(t, 90*time.Minute, c.Providers[0].CacheRetention)
	require.Equal(t, catalog.HintPromptCacheKey, c.Providers[0].CacheHint())
	for fields, want := range map[string]string{
		"cache_retention: 15":                  "cache_retention: want a time such as 15m or 24h",
		"cache_retention: soon":                "cache_retention: want a time such as 15m or 24h",
		"cache_retention: 14m":                 "cache_retention: want 15m to 24h",
		"cache_retention: 25h":                 "cache_retention: want 15m to 24h",
		"cache_retention: -1h":                 "cache_retention: want 15m to 24h",
		"quirks: {cache_hint: x-other}":        "quirks.cache_hint: want prompt_cache_key or",
		"quirks: {cache_hint: [x-other]}":      "quirks.cache_hint: want text",
		"quirks: {cache_hint: X-Grok-Conv-Id}": "quirks.cache_hint: want prompt_cache_key or",
	} {
		_, err := file(fields)
		require.ErrorContains(t, err, want, fields)
	}
}
