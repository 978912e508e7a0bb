package translate_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// A provider is told which prompts begin alike in the way that it knows, when
// the conversation is pinned and the caller has not said it.
func TestWhoIsToldWhichPromptsBeginAlike(t *testing.T) {
	told := call.Hint{0xc0, 1}
	const chat, messages = `{"model":"m","messages":[{"role":"user","content":"x"}]}`, `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"x"}]}`
	for name, c := range map[string]struct {
		surface catalog.Surface
		kind    catalog.ProviderType
		quirk   string
		stated  bool
		body    string
		member  string
		header  string
	}{
		"OpenAI":                {surface: catalog.Chat, kind: catalog.OpenAI, body: chat, member: told.String()},
		"OpenAI, responses":     {surface: catalog.Responses, kind: catalog.OpenAI, body: `{"model":"m","input":"x"}`, member: told.String()},
		"OpenAI, translated":    {surface: catalog.Messages, kind: catalog.OpenAI, body: messages, member: told.String()},
		"Azure":                 {surface: catalog.Chat, kind: catalog.Azure, body: chat, member: told.String()},
		"the caller has":        {surface: catalog.Chat, kind: catalog.OpenAI, stated: true, body: `{"model":"m","messages":[],"prompt_cache_key":"own"}`, member: "own"},
		"the caller has null":   {surface: catalog.Chat, kind: catalog.OpenAI, stated: true, body: `{"model":"m","messages":[],"prompt_cache_key":null}`},
		"a copy of OpenAI":      {surface: catalog.Chat, kind: catalog.OpenAICompatible, body: chat},
		"a copy that knows":     {surface: catalog.Chat, kind: catalog.OpenAICompatible, quirk: catalog.HintPromptCacheKey, body: chat, member: told.String()},
		"OpenAI that does not":  {surface: catalog.Chat, kind: catalog.OpenAI, quirk: catalog.HintNone, body: chat},
		"xAI":                   {surface: catalog.Chat, kind: catalog.OpenAICompatible, quirk: catalog.HintXAI, body: chat, header: "X-Grok-Conv-Id"},
		"Fireworks, translated": {surface: catalog.Messages, kind: catalog.OpenAICompatible, quirk: catalog.HintFireworks, stated: true, body: messages, header: "X-Session-Affinity"},
		"Anthropic":             {surface: catalog.Messages, kind: catalog.Anthropic, body: messages},
		"Anthropic, translated": {surface: catalog.Chat, kind: catalog.Anthropic, body: chat},
		"Google, translated":    {surface: catalog.Chat, kind: catalog.Google, body: chat},
	} {
		t.Run(name, func(t *testing.T) {
			to := at(c.kind, "u")
			if c.quirk != "" {
				to.Provider.Quirks = &catalog.Quirks{CacheHint: c.quirk}
			}
			in := call.Call{Surface: c.surface, Body: []byte(c.body), Conversation: call.Conversation{Hint: told}}
			in.Request.Caching.Stated, in.Request.Provider.RequireParameters = c.stated, true
			request, failure := translate.New(nil).Request(&in, to)
			require.Nil(t, failure, "a hint is no parameter that a provider has to have")
			body := sent(t, request)
			require.Equal(t, c.member, gjson.GetBytes(body, "prompt_cache_key").String())
			for _, header := range []string{"X-Grok-Conv-Id", "X-Session-Affinity"} {
				want := ""
				if header == c.header {
					want = told.String()
				}
				require.Equal(t, want, request.Set.Get(header))
			}
			require.Empty(t, request.Degraded)

			in.Conversation.Hint = call.Hint{}
			request, failure = translate.New(nil).Request(&in, to)
			require.Nil(t, failure)
			require.NotContains(t, string(sent(t, request)), told.String())
			require.Empty(t, request.Set.Get("X-Grok-Conv-Id")+request.Set.Get("X-Session-Affinity"))
		})
	}
}

func sent(t *testing.T, r upstream.Request) []byte {
	t.Helper()
	return r.Body.Join()
}
