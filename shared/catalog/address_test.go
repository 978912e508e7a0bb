package catalog_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
)

func TestAddress(t *testing.T) {
	for name, c := range map[string]struct {
		p      catalog.Provider
		region string
		want   string
	}{
		"openai":                       {catalog.Provider{Type: catalog.OpenAI, BaseURL: "https://api.openai.com/v1"}, "", "https://api.openai.com/v1"},
		"a slash at the end":           {catalog.Provider{Type: catalog.OpenAI, BaseURL: "https://api.openai.com/v1/"}, "", "https://api.openai.com/v1"},
		"anthropic":                    {catalog.Provider{Type: catalog.Anthropic, BaseURL: "https://api.anthropic.com"}, "eu", "https://api.anthropic.com"},
		"anthropic with its version":   {catalog.Provider{Type: catalog.Anthropic, BaseURL: "https://a.example/v1"}, "", "https://a.example/v1"},
		"google":                       {catalog.Provider{Type: catalog.Google, BaseURL: "https://g.example/v1beta"}, "", "https://g.example/v1beta"},
		"google, stable":               {catalog.Provider{Type: catalog.Google, BaseURL: "https://g.example/v1"}, "", "https://g.example/v1"},
		"google without version":       {catalog.Provider{Type: catalog.Google, BaseURL: "https://g.example"}, "", "https://g.example/v1beta"},
		"google, nothing":              {catalog.Provider{Type: catalog.Google}, "", ""},
		"azure":                        {catalog.Provider{Type: catalog.Azure, BaseURL: "https://x.openai.azure.com"}, "", "https://x.openai.azure.com/openai/v1"},
		"azure, whole":                 {catalog.Provider{Type: catalog.Azure, BaseURL: "https://x.openai.azure.com/openai/v1"}, "", "https://x.openai.azure.com/openai/v1"},
		"azure, deployments":           {catalog.Provider{Type: catalog.Azure, BaseURL: "https://x.openai.azure.com", APIVersion: "2024-10-21"}, "", "https://x.openai.azure.com/openai"},
		"azure, deployments, whole":    {catalog.Provider{Type: catalog.Azure, BaseURL: "https://x.openai.azure.com/openai", APIVersion: "2024-10-21"}, "", "https://x.openai.azure.com/openai"},
		"azure, nothing":               {catalog.Provider{Type: catalog.Azure}, "eu", ""},
		"vertex":                       {catalog.Provider{Type: catalog.Vertex, Project: "p-1", Location: "europe-west4"}, "", "https://europe-west4-aiplatform.googleapis.com/v1/projects/p-1/locations/europe-west4"},
		"vertex, the endpoint's":       {catalog.Provider{Type: catalog.Vertex, Project: "p-1", Location: "europe-west4"}, "us-east5", "https://us-east5-aiplatform.googleapis.com/v1/projects/p-1/locations/us-east5"},
		"vertex, global":               {catalog.Provider{Type: catalog.Vertex, Project: "p-1", Location: "global"}, "", "https://aiplatform.googleapis.com/v1/projects/p-1/locations/global"},
		"vertex, eu":                   {catalog.Provider{Type: catalog.Vertex, Project: "p-1"}, "eu", "https://aiplatform.eu.rep.googleapis.com/v1/projects/p-1/locations/eu"},
		"vertex, own host":             {catalog.Provider{Type: catalog.Vertex, BaseURL: "http://127.0.0.1:1", Project: "p-1", Location: "x"}, "", "http://127.0.0.1:1/v1/projects/p-1/locations/x"},
		"vertex, own host and version": {catalog.Provider{Type: catalog.Vertex, BaseURL: "http://127.0.0.1:1/v1beta1", Project: "p-1", Location: "x"}, "", "http://127.0.0.1:1/v1beta1/projects/p-1/locations/x"},
		"vertex, own address":          {catalog.Provider{Type: catalog.Vertex, BaseURL: "http://127.0.0.1:1/v1/projects/a/locations/b"}, "x", "http://127.0.0.1:1/v1/projects/a/locations/b"},
		"vertex, project alone":        {catalog.Provider{Type: catalog.Vertex, BaseURL: "http://127.0.0.1:1", Project: "p-1"}, "", ""},
		"vertex, nothing":              {catalog.Provider{Type: catalog.Vertex}, "us-east5", ""},
		"bedrock":                      {catalog.Provider{Type: catalog.Bedrock, Location: "us-west-2"}, "", "https://bedrock-runtime.us-west-2.amazonaws.com"},
		"bedrock, the endpoint's":      {catalog.Provider{Type: catalog.Bedrock, Location: "us-west-2"}, "eu-west-1", "https://bedrock-runtime.eu-west-1.amazonaws.com"},
		"bedrock, government":          {catalog.Provider{Type: catalog.Bedrock}, "us-gov-west-1", "https://bedrock-runtime.us-gov-west-1.amazonaws.com"},
		"bedrock, China":               {catalog.Provider{Type: catalog.Bedrock}, "cn-north-1", "https://bedrock-runtime.cn-north-1.amazonaws.com.cn"},
		"bedrock, geography":           {catalog.Provider{Type: catalog.Bedrock}, "eu", "https://bedrock-runtime.eu-central-1.amazonaws.com"},
		"bedrock, inside of it":        {catalog.Provider{Type: catalog.Bedrock, Location: "eu-north-1"}, "eu", "https://bedrock-runtime.eu-north-1.amazonaws.com"},
		"bedrock, outside of it":       {catalog.Provider{Type: catalog.Bedrock, Location: "eu-north-1"}, "us", "https://bedrock-runtime.us-east-1.amazonaws.com"},
		"bedrock, own host":            {catalog.Provider{Type: catalog.Bedrock, BaseURL: "http://127.0.0.1:1"}, "us", "http://127.0.0.1:1"},
		"bedrock, nothing":             {catalog.Provider{Type: catalog.Bedrock}, "jp", ""},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, c.p.Address(c.region))
			require.Equal(t, c.want != "", c.p.Addressed(c.region))
		})
	}
}

// A gateway that knows no accounts or quirks reads a catalog that has them,
// and one that does reads a catalog without.
func TestPublishedFormOnlyGrew(t *testing.T) {
	stream, cache := false, true
	full := catalog.Provider{
		Slug: "x", Type: catalog.Azure, APIVersion: "2024-10-21", Project: "p", Location: "l",
		Quirks: &catalog.Quirks{TokenLimit: "max_tokens", SystemRole: "system", StreamUsage: &stream, ReasoningField: "reasoning", CacheControl: &cache},
	}
	body, err := json.Marshal(full)
	require.NoError(t, err)
	require.JSONEq(t, `{"slug":"x","type":"azure","base_url":"","data_policy":{},"retry":{"max":0},
		"quirks":{"token_limit":"max_tokens","system_role":"system","stream_usage":false,"reasoning_field":"reasoning","cache_control":true},
		"api_version":"2024-10-21","project":"p","location":"l"}`, string(body))
	plain, err := json.Marshal(catalog.Provider{Slug: "x", Type: catalog.OpenAI})
	require.NoError(t, err)
	require.JSONEq(t, `{"slug":"x","type":"openai","base_url":"","data_policy":{},"retry":{"max":0}}`, string(plain))
	require.Equal(t, 1, catalog.Schema)
}
