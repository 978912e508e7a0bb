package gemini_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/gemini"
)

func TestCounts(t *testing.T) {
	hello := []conversation.Message{said(conversation.User, text("Hello"))}
	briefly := append([]conversation.Message{said(conversation.System, text("Brief."))}, hello...)
	for body, want := range map[string][]conversation.Message{
		`{"contents":[{"parts":[{"text":"Hello"}]}]}`: hello,
		`{"generateContentRequest":{"model":"models/m","contents":[{"parts":[{"text":"Hello"}]}],"systemInstruction":{"parts":[{"text":"Brief."}]}}}`: briefly,
		`{"generate_content_request":{"contents":[{"parts":[{"text":"Hello"}]}]},"contents":null}`:                                                    hello,
		`{"contents":[{"parts":[{"text":"Hello"}]}],"systemInstruction":{"parts":[{"text":"Brief."}]}}`:                                               briefly,
	} {
		r, violations := gemini.DecodeCount([]byte(body))
		require.Empty(t, violations, body)
		require.Equal(t, want, r.Messages, body)
		require.Empty(t, r.Other, body)
	}
	for body, path := range map[string]string{
		`[]`:                            "",
		`{}`:                            "contents",
		`{"generateContentRequest":5}`:  "generateContentRequest",
		`{"generateContentRequest":{}}`: "generateContentRequest.contents",
		`{"generateContentRequest":{"contents":[{"parts":[{"text":1}]}]}}`: "generateContentRequest.contents.0.parts.0.text",
		`{"generateContentRequest":{},"contents":[]}`:                      "contents",
	} {
		r, violations := gemini.DecodeCount([]byte(body))
		require.NotNil(t, r)
		require.Len(t, violations, 1, body)
		require.Equal(t, path, violations[0].Path, body)
	}
	require.JSONEq(t, `{"totalTokens":31}`, string(gemini.EncodeCount(31)))
}
