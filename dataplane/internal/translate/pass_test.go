package translate_test

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
)

// at is a candidate of a type of provider that speaks a surface's own format.
func at(kind catalog.ProviderType, model string, only ...catalog.Surface) decide.Candidate {
	return decide.Candidate{
		Endpoint: &catalog.Endpoint{ID: "p:a/b", UpstreamModel: model, Surfaces: only},
		Provider: &catalog.Provider{Slug: "p", Type: kind, BaseURL: "http://p.example/v1", Project: "q", Location: "global"},
	}
}

// google is a proof of another family as callers of the Gemini format have it.
var google = base64.StdEncoding.EncodeToString([]byte("sb1.anthropic.sig-1"))

// TestWhatPassesIsWhatTheProviderTakes: a caller sends back what the gateway
// gave it with the answers of other models. Where a provider would refuse that,
// it is left out; everything else keeps its bytes.
func TestWhatPassesIsWhatTheProviderTakes(t *testing.T) {
	for name, c := range map[string]struct {
		surface  catalog.Surface
		to       decide.Candidate
		in, want string
		lost     []string
	}{
		"thoughts to OpenAI": {
			surface: catalog.Chat, to: at(catalog.OpenAI, "u"),
			in:   `{"model":"m", "messages":[{"role":"assistant","reasoning_content":"t","content":null,"tool_calls":[]}, {"reasoning":"t","role":"user","content":"x"} ,{"role":"assistant","content":"x" , "reasoning_details":[{}]}]}`,
			want: `{"model":"u", "messages":[{"role":"assistant","content":null,"tool_calls":[]}, {"role":"user","content":"x"} ,{"role":"assistant","content":"x" }]}`,
		},
		"thoughts to one that copied OpenAI": {
			surface: catalog.Chat, to: at(catalog.OpenAICompatible, "u"),
			in:   `{"model":"m","messages":[{"role":"assistant","reasoning_content":"t","content":[{"type":"text","text":"x","cache_control":{}}]}]}`,
			want: `{"model":"u","messages":[{"role":"assistant","reasoning_content":"t","content":[{"type":"text","text":"x","cache_control":{}}]}]}`,
		},
		"cache marks to Azure": {
			surface: catalog.Chat, to: at(catalog.Azure, "u"),
			in: `{"model":"m","messages":[{"role":"system","content":[{"type":"text","text":"cache_control","cache_control":{"type":"ephemeral"}},{"cache_control":{},"type":"text","text":""}],"cache_control":{}}],` +
				`"tools":[{"type":"function","function":{"name":"f","parameters":{"properties":{"cache_control":{}}},"cache_control":{}},"cache_control":{}}]}`,
			want: `{"model":"u","messages":[{"role":"system","content":[{"type":"text","text":"cache_control"},{"type":"text","text":""}]}],` +
				`"tools":[{"type":"function","function":{"name":"f","parameters":{"properties":{"cache_control":{}}}}}]}`,
			lost: []string{"cache_control"},
		},
		"foreign thoughts to Anthropic": {
			surface: catalog.Messages, to: at(catalog.Anthropic, "u"),
			in: `{"model":"m","thinking":{"type":"enabled","budget_tokens":1024},"messages":[{"role":"user","content":"x"},` +
				`{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"sb1.google.c2ln"}, {"type":"text","text":"x","citations":null}]},` +
				`{"role":"assistant","content":[ {"type":"redacted_thinking","data":"sb1.openai.c2ln"} ]},` +
				`{"role":"assistant","content":[{"type":"thinking","thinking":"own","signature":"EqoB"},{"type":"text","text":"\"sb1."},{"type":"thinking","thinking":"t","signature":""}]},{"role":"user","content":"y"}]}`,
			want: `{"model":"u","thinking":{"type":"enabled","budget_tokens":1024},"messages":[{"role":"user","content":"x"},` +
				`{"role":"assistant","content":[{"type":"text","text":"x","citations":null}]},` +
				`{"role":"assistant","content":[{"type":"thinking","thinking":"own","signature":"EqoB"},{"type":"text","text":"\"sb1."}]},{"role":"user","content":"y"}]}`,
		},
		"a foreign turn that goes on at Anthropic": {
			surface: catalog.Messages, to: at(catalog.Anthropic, "u"),
			in: `{"model":"m","messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"sb1.google.c2ln"},{"type":"tool_use","id":"1","name":"f","input":{}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"x"}]}],"thinking":{"type":"enabled","budget_tokens":1024},"max_tokens":2000}`,
			want: `{"model":"u","messages":[{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"x"}]}],"max_tokens":2000}`,
			lost: []string{"reasoning"},
		},
		"foreign thoughts to OpenAI's responses": {
			surface: catalog.Responses, to: at(catalog.OpenAI, "u", catalog.Responses),
			in: `{"model":"m","input":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"sb1.anthropic.s.sig"},{"type":"reasoning","id":"rs_0abc","summary":[]},` +
				`{"type":"reasoning","id":"rs_00000000000000000000000001_0","summary":[]} ,{"type":"reasoning","id":"rs_3","summary":[],"content":[{"type":"reasoning_text","text":"t"}]}, {"type":"message","role":"user","content":"rs_00000000000000000000000001_0"},{"type":"reasoning","id":"rs_2","encrypted_content":"gAAA","summary":[]}]}`,
			want: `{"model":"u","input":[{"type":"reasoning","id":"rs_0abc","summary":[]}, {"type":"message","role":"user","content":"rs_00000000000000000000000001_0"},{"type":"reasoning","id":"rs_2","encrypted_content":"gAAA","summary":[]}]}`,
		},
		"foreign thoughts to Google": {
			surface: catalog.Gemini, to: at(catalog.Google, "u"),
			in: `{"contents":[{"role":"model","parts":[{"thoughtSignature":"` + google + `","text":"t","thought":true},{"functionCall":{"id":"1","name":"f"}, "thought_signature":"` + google + `"},` +
				`{"functionCall":{"id":"2","name":"f"},"thoughtSignature":"QUJD"}]}]}`,
			want: `{"contents":[{"role":"model","parts":[{"text":"t","thought":true},{"functionCall":{"id":"1","name":"f"}, "thought_signature":"skip_thought_signature_validator"},` +
				`{"functionCall":{"id":"2","name":"f"},"thoughtSignature":"QUJD"}]}]}`,
		},
		"calls of another model to Google": {
			surface: catalog.Gemini, to: at(catalog.Google, "gemini-3-flash"),
			in: `{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"name":"old"}}]},{"role":"user","parts":[{"functionResponse":{"name":"old"}},{"text":"y"}]},` +
				`{"role":"model","parts":[{"text":"z"}, {"functionCall":{"name":"f"}},{"functionCall":{"name":"g"}}]},{"parts":[{"functionResponse":{"name":"f"}},{"functionResponse":{"name":"g"}}]},` +
				`{"role":"model","parts":[{"functionCall":{"name":"h"},"thoughtSignature":"QUJD"},{"functionCall":{"name":"i"}}]},{"role":"function","parts":[{"functionResponse":{"name":"h"}}]}]}`,
			want: `{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"name":"old"}}]},{"role":"user","parts":[{"functionResponse":{"name":"old"}},{"text":"y"}]},` +
				`{"role":"model","parts":[{"text":"z"}, {"thoughtSignature":"skip_thought_signature_validator","functionCall":{"name":"f"}},{"functionCall":{"name":"g"}}]},{"parts":[{"functionResponse":{"name":"f"}},{"functionResponse":{"name":"g"}}]},` +
				`{"role":"model","parts":[{"functionCall":{"name":"h"},"thoughtSignature":"QUJD"},{"functionCall":{"name":"i"}}]},{"role":"function","parts":[{"functionResponse":{"name":"h"}}]}]}`,
		},
		"calls to an older model of Google's": {
			surface: catalog.Gemini, to: at(catalog.Google, "gemini-2.5-flash"),
			in:   `{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"name":"f"}}]}]}`,
			want: `{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"name":"f"}}]}]}`,
		},
		"calls to Vertex": {
			surface: catalog.Gemini, to: at(catalog.Vertex, "gemini-3-pro"),
			in: `{"contents":[{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{"id":7}},"thoughtSignature":"` + google + `"}]},` +
				`{"parts":{"function_response":{"name":"f" , "id":"1" , "response":{"id":7}}}}],"labels":{"id":"x"}}`,
			want: `{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":{"id":7}},"thoughtSignature":"skip_thought_signature_validator"}]},` +
				`{"parts":{"function_response":{"name":"f"  , "response":{"id":7}}}}],"labels":{"id":"x"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			request := call.Call{Surface: c.surface, Body: []byte(c.in)}
			r, failure := translate.New(nil).Request(&request, c.to)
			require.Nil(t, failure)
			require.Equal(t, c.want, string(r.Body.Join()))
			require.Equal(t, c.lost, r.Degraded)
			require.Equal(t, c.in, string(request.Body), "the caller's body is left alone")

			request.Request.Provider.RequireParameters = true
			_, failure = translate.New(nil).Request(&request, c.to)
			require.Equal(t, c.lost != nil, failure != nil && failure.Class == upstream.CannotCarry)
		})
	}
}

// TestCallsAtVertexGoByTheirOrder: Vertex refuses the ids that Google's own API
// has, so that results stand in the order of their calls.
func TestCallsAtVertexGoByTheirOrder(t *testing.T) {
	body := `{"model":"m","messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[` +
		`{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"n\":1}"}},{"id":"c2","type":"function","function":{"name":"f","arguments":"{\"n\":2}"}}]},` +
		`{"role":"tool","tool_call_id":"c2","content":"two"},{"role":"tool","tool_call_id":"c1","content":"one"}]}`
	for kind, want := range map[catalog.ProviderType]string{
		catalog.Vertex: `{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{"n":1}}},{"functionCall":{"name":"f","args":{"n":2}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"result":"one"}}},{"functionResponse":{"name":"f","response":{"result":"two"}}}]}]}`,
		catalog.Google: `{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"id":"c1","name":"f","args":{"n":1}}},{"functionCall":{"id":"c2","name":"f","args":{"n":2}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"c2","name":"f","response":{"result":"two"}}},{"functionResponse":{"id":"c1","name":"f","response":{"result":"one"}}}]}]}`,
	} {
		r, failure := translate.New(nil).Request(chat(body), at(kind, "gemini-2.5-flash"))
		require.Nil(t, failure)
		require.Equal(t, want, string(r.Body.Join()), kind)
	}
}

// TestNothingOfTheGatewaysReachesAnUpstream: on no surface, whoever is asked.
func TestNothingOfTheGatewaysReachesAnUpstream(t *testing.T) {
	const own = `"models":["x"],"provider":{"only":["p"]},"routing":{},"session_id":"s","preset":"p","provider_options":{"other":{"k":1}}`
	for _, c := range []struct {
		surface  catalog.Surface
		rest     string
		metadata bool // the format has it, in full
	}{
		{catalog.Chat, `"messages":[{"role":"user","content":"x"}]`, true},
		{catalog.Responses, `"input":"x"`, true},
		{catalog.Messages, `"max_tokens":5,"messages":[{"role":"user","content":"x"}]`, false},
		{catalog.Gemini, `"contents":[{"role":"user","parts":[{"text":"x"}]}]`, false},
		{catalog.Completions, `"prompt":"x"`, false},
		{catalog.Embeddings, `"input":"x"`, false},
		{catalog.Moderations, `"input":"x"`, false},
		{catalog.Rerank, `"query":"x"`, false},
		{catalog.Images, `"prompt":"x"`, false},
		{catalog.Speech, `"input":"x"`, false},
		{catalog.OCR, `"document":{}`, false},
		{catalog.Videos, `"prompt":"x"`, false},
	} {
		for _, kind := range []catalog.ProviderType{
			catalog.OpenAI, catalog.Azure, catalog.OpenAICompatible, catalog.Anthropic, catalog.Google, catalog.Vertex, catalog.Bedrock,
		} {
			t.Run(string(c.surface)+" at "+string(kind), func(t *testing.T) {
				body := `{` + own + `,"model":"m",` + c.rest + `,"metadata":{"rule":"secret","user_id":"u-1"}}`
				r, failure := translate.New(nil).Request(&call.Call{Surface: c.surface, Body: []byte(body)}, at(kind, "up"))
				if failure != nil {
					require.Equal(t, upstream.CannotCarry, failure.Class)
					return
				}
				sent := string(r.Body.Join())
				for _, name := range []string{`"models"`, `"provider"`, `"routing"`, `"session_id"`, `"preset"`, `"provider_options"`, `"other"`} {
					require.NotContains(t, sent, name)
				}
				passes := c.metadata && (kind == catalog.OpenAI || kind == catalog.Azure || kind == catalog.OpenAICompatible && c.surface == catalog.Chat)
				if !passes {
					require.NotContains(t, sent, "secret", "metadata is for rules alone where the format has none")
				}
			})
		}
	}
}
