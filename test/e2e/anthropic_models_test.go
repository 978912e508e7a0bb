//go:build e2e

package e2e_test

import (
	"net/http"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
)

// countedFree checks that the newest request was counting, and cost nothing.
func (b bench) countedFree(t *testing.T) {
	t.Helper()
	entry := b.p.On(t).Logged(b.witness.last())
	require.Equal(t, b.can.surface, entry.Get("surface").Str)
	require.Equal(t, "success", entry.Get("outcome").Str, "%s", entry.Raw)
	require.Zero(t, entry.Get("cost_nanos").Int(), "%s", entry.Raw)
	require.Zero(t, entry.Get("usage.input").Int()+entry.Get("usage.output").Int(), "%s", entry.Raw)
}

func anthropicCounts(t *testing.T, b bench) {
	sdk := anthropicOver(b.connection)
	params := anthropicClient{}.params(b.at.model("small"), question{system: "Be brief.", prompt: "Say hello"})
	counted, err := sdk.Messages.CountTokens(t.Context(), anthropic.MessageCountTokensParams{
		Model: params.Model, Messages: params.Messages, System: anthropic.MessageCountTokensParamsSystemUnion{OfTextBlockArray: params.System},
	})
	require.NoError(t, err)
	require.Positive(t, counted.InputTokens)
	b.countedFree(t)

	_, err = sdk.Messages.CountTokens(t.Context(), anthropic.MessageCountTokensParams{Model: "sim/none", Messages: params.Messages})
	got := anthropicClient{}.failed(t, err)
	require.Equal(t, http.StatusNotFound, got.status)
	require.Equal(t, "not_found_error", got.kind)
}

// TestModels lets each client list and get what there is.
func TestModels(t *testing.T) {
	p := harness.Start(t, harness.Options{Simulator: true})
	t.Run("anthropic-sdk-go", func(t *testing.T) { anthropicModels(t, p.On(t)) })
	t.Run("genai", func(t *testing.T) { geminiModels(t, p.On(t)) })
	t.Run("openai-go", func(t *testing.T) { openAIModels(t, p.On(t)) })
}

func anthropicModels(t *testing.T, p *harness.Platform) {
	t.Helper()
	sdk := anthropicOver(connect(p, p.Key().Secret))
	seen := map[string]bool{}
	pages := sdk.Models.ListAutoPaging(t.Context(), anthropic.ModelListParams{Limit: param.NewOpt[int64](7)})
	for pages.Next() {
		one := pages.Current()
		require.False(t, seen[one.ID], "%s is listed twice", one.ID)
		require.NotEmpty(t, one.DisplayName)
		require.False(t, one.CreatedAt.IsZero())
		require.EqualValues(t, "model", one.Type)
		seen[one.ID] = true
	}
	require.NoError(t, pages.Err())
	for _, name := range []string{"claude", "gemini", "gpt", "small"} {
		require.Contains(t, seen, sim(name), "the models of all providers, by their ids here")
	}

	one, err := sdk.Models.Get(t.Context(), sim("claude"), anthropic.ModelGetParams{})
	require.NoError(t, err)
	require.Equal(t, sim("claude"), one.ID)
	_, err = sdk.Models.Get(t.Context(), "sim/none", anthropic.ModelGetParams{})
	require.Equal(t, http.StatusNotFound, anthropicClient{}.failed(t, err).status)

	narrow := anthropicOver(connect(p, p.NewKey(client.NewKey{Name: "narrow", Models: []string{sim("claude")}}).Secret))
	page, err := narrow.Models.List(t.Context(), anthropic.ModelListParams{})
	require.NoError(t, err)
	require.Len(t, page.Data, 1, "only what the key may use")
}
