package translate_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate"
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

const (
	contentsAlone  = `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`
	wholeRequest   = `{"generateContentRequest": {"model":"models/acme/small","system_instruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"hi"}]}],"toolConfig":{}}}`
	toClaude       = `{"model":"acme/small","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}`
	countsAtClaude = "/messages/count_tokens"
)

// TestCountsAreAskedInTheProvidersForm: each API that counts takes less than a
// request for an answer, and its own shape.
func TestCountsAreAskedInTheProvidersForm(t *testing.T) {
	for name, c := range map[string]struct {
		surface          catalog.Surface
		kind             catalog.ProviderType
		model            string
		body, path, want string
	}{
		"messages to Anthropic":                 {catalog.Messages, catalog.Anthropic, "claude-x", toClaude, countsAtClaude, `{"model":"claude-x","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}`},
		"contents to Google":                    {catalog.Gemini, catalog.Google, "g", contentsAlone, "/models/g:countTokens", contentsAlone},
		"a whole request to Google":             {catalog.Gemini, catalog.Google, "g", wholeRequest, "/models/g:countTokens", `{"generateContentRequest":{"model":"models/g","system_instruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"hi"}]}],"toolConfig":{}}}`},
		"a whole request to Vertex":             {catalog.Gemini, catalog.Vertex, "g", wholeRequest, "/publishers/google/models/g:countTokens", `{"system_instruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`},
		"a whole request of Gemini's to Claude": {catalog.Gemini, catalog.Anthropic, "claude-x", wholeRequest, countsAtClaude, `{"model":"claude-x","system":"Be brief.","messages":[{"role":"user","content":"hi"}]}`},
		"messages to Google":                    {catalog.Messages, catalog.Google, "g", toClaude, "/models/g:countTokens", `{"generateContentRequest":{"model":"models/g","contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":{"maxOutputTokens":5}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			request, failure := translate.New(nil).Request(&call.Call{Surface: c.surface, Action: call.Count, Body: []byte(c.body)}, at(c.kind, c.model))
			require.Nil(t, failure)
			require.Equal(t, c.path, request.Path)
			body, err := io.ReadAll(request.Body.Open())
			require.NoError(t, err)
			exactly(t, c.want, string(body))
		})
	}
}

func TestCountsThatNobodyMakesAreEstimates(t *testing.T) {
	for surface, want := range map[catalog.Surface]string{catalog.Messages: `{"input_tokens":7}`, catalog.Gemini: `{"totalTokens":7}`} {
		c := call.Call{Surface: surface, Action: call.Count, Body: []byte(contentsAlone)}
		c.Request.InputTokens = 7
		request, failure := translate.New(nil).Request(&c, at(catalog.OpenAI, "o"))
		require.Nil(t, failure)
		exactly(t, want, string(request.Answer))
	}
}

func TestCountsSayWhereARequestIsWrong(t *testing.T) {
	for body, path := range map[string]string{
		`{"generateContentRequest":{"contents":[{"parts":[{"text":1}]}]}}`: "generateContentRequest.contents.0.parts.0.text",
		`{"contents":[{"parts":[{"text":1}]}]}`:                            "contents.0.parts.0.text",
		`{"generateContentRequest":{"contents":[]},"contents":[]}`:         "contents",
	} {
		_, failure := translate.New(nil).Request(&call.Call{Surface: catalog.Gemini, Action: call.Count, Body: []byte(body)}, at(catalog.Anthropic, "claude-x"))
		require.NotNil(t, failure, body)
		require.Len(t, failure.Fault.Violations, 1)
		require.Equal(t, path, failure.Fault.Violations[0].Path)
	}
}
