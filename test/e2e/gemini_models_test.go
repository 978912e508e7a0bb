//go:build e2e

package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/signalbox-dev/signalbox/test/harness"
)

func geminiCounts(t *testing.T, b bench) {
	models := geminiOver(t, b.connection).Models
	counted, err := models.CountTokens(t.Context(), b.at.model("small"), genai.Text("Say hello to all of them"), nil)
	require.NoError(t, err)
	require.Positive(t, counted.TotalTokens)
	b.countedFree(t)

	_, err = models.CountTokens(t.Context(), "sim/none", genai.Text("x"), nil)
	got := geminiClient{}.failed(t, err)
	require.Equal(t, http.StatusNotFound, got.status)
	require.Equal(t, "NOT_FOUND", got.kind)
}

// geminiChats lets Google's own conversations keep the history.
func geminiChats(t *testing.T, b bench) {
	chat, err := geminiOver(t, b.connection).Chats.Create(t.Context(), b.at.model(b.own("chats")), nil, nil)
	require.NoError(t, err)
	for _, err := range chat.SendMessageStream(t.Context(), genai.Part{Text: "First"}) {
		require.NoError(t, err)
	}
	require.NotEmpty(t, chat.History(true), "the turn was whole")
	reply, err := chat.SendMessage(t.Context(), genai.Part{Text: "Second"})
	require.NoError(t, err)
	require.Contains(t, reply.Text(), "Second")
	seen := b.at.received(b.p, b.own("chats"))
	require.Len(t, seen, 2)
	require.Contains(t, string(seen[1].Body), "wrote:", "what was answered goes back")
}

func geminiModels(t *testing.T, p *harness.Platform) {
	t.Helper()
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
