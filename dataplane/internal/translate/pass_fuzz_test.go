package translate_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
)

// FuzzPass edits bodies for providers that refuse what others take: what was
// sound JSON stays so, however its members are nested and repeated.
func FuzzPass(f *testing.F) {
	for _, body := range []string{
		`{"model":"m","messages":[{"role":"assistant","reasoning":"t","content":[{"cache_control":{}},{"type":"text","cache_control":1}],"cache_control":2}],"tools":[{"function":{"cache_control":{}},"cache_control":{}}]}`,
		`{"thinking":{"type":"enabled"},"messages":[{"content":[{"type":"thinking","signature":"sb1.google.x"},{"type":"redacted_thinking","data":"sb1.openai.x"},{"type":"tool_use"}]},{"content":[{"type":"tool_result"}]},{"content":[{"type":"thinking","signature":""}]}]}`,
		`{"input":[{"type":"reasoning","encrypted_content":"sb1.anthropic.x"},{},{"type":"reasoning","id":"rs_00000000000000000000000001_0"}]}`,
		`{"contents":[{"role":"model","parts":[{"functionCall":{"id":"1"},"thoughtSignature":"` + google + `"},{"functionCall":{"id":1,"id":2}}]},{"parts":{"functionResponse":{"id":"1"}}}],"contents":{"parts":[{"thoughtSignature":"` + google + `"}]}}`,
	} {
		f.Add([]byte(body))
	}
	targets := []struct {
		surface catalog.Surface
		to      decide.Candidate
	}{
		{catalog.Chat, at(catalog.OpenAI, "u")},
		{catalog.Messages, at(catalog.Anthropic, "u")},
		{catalog.Responses, at(catalog.OpenAI, "u", catalog.Responses)},
		{catalog.Gemini, at(catalog.Vertex, "gemini-3-pro")},
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, target := range targets {
			r, failure := translate.New(nil).Request(&call.Call{Surface: target.surface, Body: body}, target.to)
			if failure == nil {
				require.Equal(t, json.Valid(body), json.Valid(r.Body.Join()), "%q gave %q", body, r.Body.Join())
			}
		}
	})
}
