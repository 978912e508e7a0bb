package translate

import (
	"net/url"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
)

// place is where a request goes: the path after the provider's base URL,
// escaped, and the query.
type place struct{ path, query string }

// placeOf is the place of a conversation in a format at a candidate.
func placeOf(to decide.Candidate, spoken format, stream bool) place {
	model := to.Endpoint.UpstreamModel
	switch spoken {
	case responsesFormat:
		return openAIPlace(to, "/responses")
	case messagesFormat:
		if to.Provider.Type == catalog.Vertex {
			return place{path: "/publishers/anthropic/models/" + escaped(model) + pick(stream, ":streamRawPredict", ":rawPredict")}
		}
		return place{path: versioned(to.Provider.BaseURL) + "/messages"}
	case geminiFormat:
		path := "/models/" + escaped(strings.TrimPrefix(model, "models/"))
		if to.Provider.Type == catalog.Vertex {
			path = "/publishers/google" + path
		}
		if stream {
			return place{path: path + ":streamGenerateContent", query: "alt=sse"}
		}
		return place{path: path + ":generateContent"}
	case converseFormat:
		return place{path: "/model/" + url.PathEscape(model) + pick(stream, "/converse-stream", "/converse")}
	default:
		return openAIPlace(to, "/chat/completions")
	}
}

// countPlace is where a candidate counts tokens in a format, if it does.
func countPlace(to decide.Candidate, spoken format) (place, bool) {
	switch {
	case spoken == messagesFormat && to.Provider.Type != catalog.Vertex:
		return place{path: versioned(to.Provider.BaseURL) + "/messages/count_tokens"}, true
	case spoken == geminiFormat:
		at := placeOf(to, geminiFormat, false)
		return place{path: strings.TrimSuffix(at.path, ":generateContent") + ":countTokens"}, true
	}
	return place{}, false
}

// openAIPlace is a path of the OpenAI API at a candidate that has it. The older
// form of Azure has the deployment in the path where a model is asked, and the
// version in the query
// (https://learn.microsoft.com/azure/ai-foundry/openai/reference).
func openAIPlace(to decide.Candidate, path string) place {
	if to.Provider.Type != catalog.Azure || to.Provider.APIVersion == "" {
		return place{path: path}
	}
	at := place{path: path, query: url.Values{"api-version": {to.Provider.APIVersion}}.Encode()}
	for _, own := range deploymentless {
		if rest, ok := strings.CutPrefix(path, own); ok && (rest == "" || rest[0] == '/') {
			return at
		}
	}
	at.path = "/deployments/" + url.PathEscape(to.Endpoint.UpstreamModel) + path
	return at
}

// deploymentless are the paths that are not about one model.
var deploymentless = []string{"/responses", "/files", "/batches", "/videos"}

// versioned is what stands between a base URL and a path of Anthropic's API:
// operators write the base with and without the version.
func versioned(base string) string {
	if strings.HasSuffix(strings.TrimRight(base, "/"), "/v1") {
		return ""
	}
	return "/v1"
}

// escaped keeps the slashes of a model's name: they part its resource name.
func escaped(model string) string {
	parts := strings.Split(model, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}
