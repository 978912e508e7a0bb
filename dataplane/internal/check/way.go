package check

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// way is one call by which a provider shows what it makes of a credential. It
// asks the same of everyone: nothing of a tenant's is in it.
type way struct {
	call wire.CheckCall
	path string // {model} is the upstream's name of the model
	// query and body may have {model}, and body {limit}, the name of the member
	// that limits the output.
	query, body string
	set         http.Header
	// asks reports whether an offer can be asked so; nil: no model is needed.
	asks func(catalog.Offer) bool
}

var (
	anthropicVersion = http.Header{"Anthropic-Version": {"2023-06-01"}}

	listModels = way{call: wire.CheckListModels, path: "/models"}
	listClaude = way{call: wire.CheckListModels, path: "/v1/models", query: "limit=1", set: anthropicVersion}
	listGemini = way{call: wire.CheckListModels, path: "/models", query: "pageSize=1"}

	completion = way{
		call: wire.CheckCompletion, path: "/chat/completions", asks: converses,
		body: `{"model":"{model}","messages":[{"role":"user","content":"Hi"}],"{limit}":1}`,
	}
	embedding = way{
		call: wire.CheckEmbedding, path: "/embeddings", asks: embeds, body: `{"model":"{model}","input":"Hi"}`,
	}
	countGemini = way{
		call: wire.CheckCountTokens, path: "/publishers/google/models/{model}:countTokens",
		asks: func(o catalog.Offer) bool { return converses(o) && !isClaude(o) },
		body: `{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}`,
	}
	claudeAtGoogle = way{
		call: wire.CheckCompletion, path: "/publishers/anthropic/models/{model}:rawPredict",
		asks: func(o catalog.Offer) bool { return converses(o) && isClaude(o) },
		body: `{"anthropic_version":"vertex-2023-10-16","messages":[{"role":"user","content":"Hi"}],"max_tokens":1}`,
	}
	converse = way{
		call: wire.CheckCompletion, path: "/model/{model}/converse", asks: converses,
		body: `{"messages":[{"role":"user","content":[{"text":"Hi"}]}],"inferenceConfig":{"maxTokens":1}}`,
	}
)

// ways are how the types of providers are asked, the preferred one first. A
// list of models is free; it will do where nobody gets it without a
// credential. Servers of type openai-compatible may show theirs to anyone, as
// OpenRouter does, and a bad key would seem good.
var ways = map[catalog.ProviderType][]way{
	catalog.OpenAI:           {listModels},
	catalog.Anthropic:        {listClaude},
	catalog.Google:           {listGemini},
	catalog.Azure:            {listModels},
	catalog.Vertex:           {countGemini, claudeAtGoogle},
	catalog.Bedrock:          {converse},
	catalog.OpenAICompatible: {completion, embedding},
}

// closedLists are hosts of type openai-compatible whose list of models is for
// holders of a key alone, as their references say.
var closedLists = []string{"api.groq.com", "api.mistral.ai", "api.deepseek.com", "api.x.ai"}

// waysOf are how a provider is asked.
func waysOf(p *catalog.Provider) []way {
	if p.Type == catalog.OpenAICompatible {
		if u, err := url.Parse(p.BaseURL); err == nil && slices.Contains(closedLists, u.Hostname()) {
			return []way{listModels}
		}
	}
	return ways[p.Type]
}

// asked is a way with the offer that is asked; none where it needs no model.
type asked struct {
	way   way
	offer catalog.Offer
}

func (a asked) model() string {
	if a.offer.Model == nil {
		return ""
	}
	return a.offer.Model.ID
}

func (a asked) request(p *catalog.Provider) upstream.Request {
	r := upstream.Request{Provider: p, Path: a.way.path, Query: a.way.query, Set: a.way.set, Header: http.Header{}}
	if a.offer.Endpoint != nil {
		r.Region = a.offer.Endpoint.Region
		r.Path = strings.ReplaceAll(r.Path, "{model}", escaped(a.offer.Endpoint.UpstreamModel))
		body := strings.ReplaceAll(a.way.body, "{model}", quoted(a.offer.Endpoint.UpstreamModel))
		r.Body = upstream.Bytes([]byte(strings.ReplaceAll(body, "{limit}", tokenLimit(p))))
	}
	if a.way.body == "" {
		r.Method = http.MethodGet
	}
	if p.Type == catalog.Anthropic && strings.HasSuffix(strings.TrimRight(p.BaseURL, "/"), "/v1") {
		r.Path = strings.TrimPrefix(r.Path, "/v1") // operators write the base with and without it
	}
	if p.Type == catalog.Azure && p.APIVersion != "" {
		r.Query = url.Values{"api-version": {p.APIVersion}}.Encode()
	}
	return r
}
