package app_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/decide"
)

const canary = "cAnArY-7c1f"

// Whatever a caller sends and a provider answers, the account of a request has
// none of it: no prompt, output, header value, secret or upstream text.
func TestTheAccountOfARequestHoldsNoContent(t *testing.T) {
	p := newPlatform(t)
	g := p.gateway()
	tools := `"tools":[{"type":"function","function":{"name":"` + canary + `","description":"` + canary + `","parameters":{"type":"object","properties":{"` + canary + `":{"type":"string"}}}}}]`
	openAI := func(model, more string) string {
		return `{"model":"` + model + `","messages":[{"role":"system","content":"` + canary + `"},{"role":"user","content":"` + canary + `"}],"metadata":{"a":"` +
			canary + `"},"stop":["` + canary + `"],` + more + `}`
	}
	for name, c := range map[string]struct {
		path, body string
		status     int
	}{
		"chat":      {"/v1/chat/completions", openAI("acme/small", tools), 200},
		"streamed":  {"/v1/chat/completions", openAI("acme/small", `"stream":true`), 200},
		"fallbacks": {"/v1/chat/completions", openAI("acme/broken-fault-status-503", `"models":["acme/large"]`), 200},
		"messages": {"/v1/messages", `{"model":"acme/small","max_tokens":9,"system":"` + canary + `","metadata":{"user_id":"u1"},"messages":[{"role":"user","content":"` +
			canary + `"}]}`, 200},
		"responses": {"/v1/responses", `{"model":"acme/small","instructions":"` + canary + `","input":"` + canary + `"}`, 200},
		"gemini":    {"/v1beta/models/acme/small:generateContent", `{"contents":[{"parts":[{"text":"` + canary + `"}]}]}`, 200},
		"failed":    {"/v1/chat/completions", openAI("acme/broken-fault-status-503", `"seed":1`), 502},
		"refused":   {"/v1/chat/completions", openAI("acme/small", `"provider":{"ignore":["north"]}`), 0},
		"unknown field with content": {
			"/v1/chat/completions", openAI("acme/small", `"provider":{"`+canary+`":"`+canary+`"}`), 400,
		},
		"a broken body": {"/v1/chat/completions", `{"model":"acme/small","messages":["` + canary, 400},
	} {
		t.Run(name, func(t *testing.T) {
			a := g.do(http.MethodPost, c.path, p.token, c.body,
				"x-custom", canary, "openai-organization", canary, "user-agent", canary, "cookie", "a="+canary, "traceparent", canary, "anthropic-beta", canary)
			if c.status != 0 {
				require.Equal(t, c.status, a.status, a.body)
			}
			rid := a.header.Get("x-signalbox-request-id")
			line, err := json.Marshal(g.line(rid))
			require.NoError(t, err)
			require.NotContains(t, string(line), canary, "the access line")
			n := 1
			if name == "fallbacks" {
				n = 2
			}
			for _, event := range p.events(rid, n) {
				text, err := json.Marshal(event)
				require.NoError(t, err)
				require.NotContains(t, string(text), canary, "the usage event")
				require.NotContains(t, string(text), p.token)
				require.LessOrEqual(t, len(event.Decision), decide.MaxRecordBytes)
			}
			generation := g.do(http.MethodGet, "/v1/generations/"+rid, p.token, "")
			require.NotContains(t, generation.body, canary, "the generation")
			preview := g.do(http.MethodPost, "/v1/routing/preview", p.token, c.body, "x-custom", canary)
			if preview.status == http.StatusOK { // an error names the member that nobody knows
				require.NotContains(t, preview.body, canary, "the preview")
			}
		})
	}
	require.NotContains(t, g.probe("/metrics").body, canary)
	require.NotContains(t, strings.ReplaceAll(g.log.String(), p.token, canary), canary, "the log has neither content nor secret")
}
