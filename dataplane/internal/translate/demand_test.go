package translate_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
)

// Anthropic wants its version in a header, and Vertex in the body alone, where
// the model is not, but whether to stream is
// (https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude).
func TestClaudeOnVertex(t *testing.T) {
	const version = "Anthropic-Version"
	at := func(kind catalog.ProviderType) decide.Candidate {
		return decide.Candidate{
			Endpoint: &catalog.Endpoint{UpstreamModel: "claude-x"},
			Provider: &catalog.Provider{Slug: "p", Type: kind, BaseURL: "http://p.example", Project: "q", Location: "global"},
		}
	}
	body := []byte(`{"model":"a/b","stream":true,"max_tokens":10,"messages":[{"role":"user","content":"x"}]}`)
	for _, surface := range []catalog.Surface{catalog.Messages, catalog.Chat} {
		for _, sent := range []http.Header{{}, {version: {"2023-06-01"}, "Anthropic-Beta": {"b"}}} {
			c := call.Call{Surface: surface, Body: body, Header: sent}
			c.Request.Stream = true
			count := len(sent)

			there, failure := translate.New(nil).Request(&c, at(catalog.Anthropic))
			require.Nil(t, failure)
			require.Equal(t, "2023-06-01", there.Set.Get(version)+there.Header.Get(version))

			vertex, failure := translate.New(nil).Request(&c, at(catalog.Vertex))
			require.Nil(t, failure)
			require.Empty(t, vertex.Set.Get(version)+vertex.Header.Get(version))
			require.Contains(t, string(vertex.Body.Join()), `"anthropic_version":"vertex-2023-10-16"`)
			require.Contains(t, string(vertex.Body.Join()), `"stream":true`, "the path alone makes no stream of it")
			require.NotContains(t, string(vertex.Body.Join()), `"model"`)
			if surface == catalog.Messages {
				require.Equal(t, sent.Get("Anthropic-Beta"), vertex.Header.Get("Anthropic-Beta"))
			}
			require.Len(t, sent, count, "the caller's headers are left alone")
		}
	}
}
