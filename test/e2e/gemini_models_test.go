//go:build e2e

package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/signalbox-dev/signalbox/test/harness"
)

func TestGeminiCountsTokens(t *testing.T) {
	p := conversing(t)
	key := p.Key()
	for _, at := range spokenFormats() {
		t.Run(at.word, func(t *testing.T) {
			t.Parallel()
			c := connect(p, key.Secret)
			counted, err := geminiOver(t, c).Models.CountTokens(t.Context(), at.model("small"), genai.Text("Say hello to all of them"), nil)
			require.NoError(t, err)
			require.Positive(t, counted.TotalTokens)
			countedFree(t, p, c, "gemini")
		})
	}
	t.Run("errors", func(t *testing.T) {
		_, err := geminiOver(t, connect(p, key.Secret)).Models.CountTokens(t.Context(), "sim/none", genai.Text("x"), nil)
		got := geminiClient{}.failed(t, err)
		require.Equal(t, http.StatusNotFound, got.status)
		require.Equal(t, "NOT_FOUND", got.kind)
	})
}

func TestGeminiModels(t *testing.T) {
	p := harness.Start(t, harness.Options{Simulator: true})
	sdk := geminiOver(t, connect(p, p.Key().Secret))
	names := map[string]bool{}
	for model, err := range sdk.Models.All(t.Context()) {
		require.NoError(t, err)
		names[model.Name] = true
	}
	require.Contains(t, names, "models/"+sim("gemini"))

	one, err := sdk.Models.Get(t.Context(), sim("gemini"), nil)
	require.NoError(t, err)
	require.Equal(t, "models/"+sim("gemini"), one.Name)
	require.Positive(t, one.InputTokenLimit)
	_, err = sdk.Models.Get(t.Context(), "sim/none", nil)
	require.Equal(t, http.StatusNotFound, geminiClient{}.failed(t, err).status)
}

// TestGeminiChats lets Google's own conversations keep the history.
func TestGeminiChats(t *testing.T) {
	p := conversing(t)
	sdk := geminiOver(t, connect(p, p.Key().Secret))
	for _, at := range spokenFormats() {
		t.Run(at.word, func(t *testing.T) {
			chat, err := sdk.Chats.Create(t.Context(), at.model("small"), nil, nil)
			require.NoError(t, err)
			for _, err := range chat.SendMessageStream(t.Context(), genai.Part{Text: "First"}) {
				require.NoError(t, err)
			}
			require.NotEmpty(t, chat.History(true), "the turn was whole")
			reply, err := chat.SendMessage(t.Context(), genai.Part{Text: "Second"})
			require.NoError(t, err)
			require.Contains(t, reply.Text(), "Second")
			seen := at.received(p, "small")
			require.Contains(t, string(seen[len(seen)-1].Body), "wrote:", "what was answered goes back")
		})
	}
}
