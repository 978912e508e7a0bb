package gemini_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/gemini"
)

func said(role conversation.Role, parts ...conversation.Part) conversation.Message {
	return conversation.Message{Role: role, Parts: parts}
}

func text(s string) conversation.Part { return conversation.Part{Text: s} }

func media(kind conversation.Kind, m conversation.Media) conversation.Part {
	return conversation.Part{Kind: kind, Media: &m}
}

func thought(t conversation.Thinking) conversation.Part {
	return conversation.Part{Kind: conversation.Thought, Thought: &t}
}

func called(id, name, arguments string) conversation.Part {
	return conversation.Part{Kind: conversation.Call, Call: &conversation.ToolCall{ID: id, Name: name, Arguments: arguments}}
}

func answered(id string, parts ...conversation.Part) conversation.Part {
	return conversation.Part{Kind: conversation.Result, Result: &conversation.ToolResult{CallID: id, Parts: parts}}
}

func encode(t *testing.T, model string, r *conversation.Request) (gjson.Result, []string) {
	encoded, err := gemini.New().EncodeRequest(r, dialect.Target{Model: model})
	require.NoError(t, err)
	require.True(t, json.Valid(encoded.Body), "%s", encoded.Body)
	return gjson.ParseBytes(encoded.Body), encoded.Degraded
}

// The same effort is tokens for one generation and a word for the next; what
// a model cannot do is as near as it can.
func TestThinking(t *testing.T) {
	for _, c := range []struct {
		model string
		said  conversation.Reasoning
		want  string
		lost  bool
	}{
		{"gemini-2.5-flash", conversation.Reasoning{Effort: "low"}, `{"thinkingBudget":4096}`, false},
		{"gemini-2.5-flash", conversation.Reasoning{Effort: "xhigh"}, `{"thinkingBudget":24576}`, false},
		{"gemini-2.5-flash", conversation.Reasoning{Budget: 50_000}, `{"thinkingBudget":24576}`, true},
		{"gemini-2.5-flash", conversation.Reasoning{Budget: conversation.Dynamic, Summary: "auto"}, `{"thinkingBudget":-1,"includeThoughts":true}`, false},
		{"gemini-2.5-flash", conversation.Reasoning{Off: true}, `{"thinkingBudget":0}`, false},
		{"gemini-2.5-flash", conversation.Reasoning{Effort: "much"}, ``, true},
		{"gemini-2.5-flash", conversation.Reasoning{Summary: "detailed"}, `{"includeThoughts":true}`, false},
		{"gemini-2.5-flash-lite", conversation.Reasoning{Budget: 100}, `{"thinkingBudget":512}`, true},
		{"publishers/google/models/gemini-2.5-pro", conversation.Reasoning{Effort: "none"}, `{"thinkingBudget":128}`, true},
		{"gemini-2.5-pro", conversation.Reasoning{Effort: "high"}, `{"thinkingBudget":32768}`, false},
		{"gemini-3-flash-preview", conversation.Reasoning{Effort: "minimal"}, `{"thinkingLevel":"MINIMAL"}`, false},
		{"gemini-3.1-pro-preview", conversation.Reasoning{Effort: "minimal"}, `{"thinkingLevel":"LOW"}`, false},
		{"gemini-3-pro-preview", conversation.Reasoning{Effort: "xhigh"}, `{"thinkingLevel":"HIGH"}`, false},
		{"gemini-3-flash", conversation.Reasoning{Budget: 2000}, `{"thinkingBudget":2000}`, false},
		{"gemini-3-flash", conversation.Reasoning{Off: true}, `{"thinkingLevel":"MINIMAL"}`, true},
		{"gemini-3-flash", conversation.Reasoning{Effort: "much"}, ``, true},
		{"gemini-flash-latest", conversation.Reasoning{Effort: "medium"}, `{"thinkingLevel":"MEDIUM"}`, false},
		{"some-endpoint", conversation.Reasoning{Off: true}, `{"thinkingBudget":0}`, false},
	} {
		body, degraded := encode(t, c.model, &conversation.Request{
			Messages: []conversation.Message{said(conversation.User, text("x"))}, Reasoning: c.said,
		})
		require.Equal(t, c.want, body.Get("generationConfig.thinkingConfig").Raw, "%v", c)
		require.Equal(t, c.lost, len(degraded) == 1 && degraded[0] == "reasoning", "%v: %v", c, degraded)
	}
}

// A seed is an int32 for Google, which refuses any other.
func TestSeeds(t *testing.T) {
	for seed, taken := range map[conversation.Number]bool{
		"0": true, "2147483647": true, "2147483648": false, "12345678901234567890": false, "1e3": false, "0.5": false,
	} {
		body, degraded := encode(t, "gemini-3-flash", &conversation.Request{
			Messages: []conversation.Message{said(conversation.User, text("x"))}, Seed: seed,
		})
		require.Equal(t, taken, body.Get("generationConfig.seed").Raw == string(seed))
		require.Equal(t, taken, len(degraded) == 0)
	}
}

// Google demands a proof on the first call of each step of the current turn.
// For calls that another model made there is a word that stands for one.
func TestCallsOfOtherModels(t *testing.T) {
	r := &conversation.Request{Messages: []conversation.Message{
		said(conversation.User, text("first")),
		said(conversation.Assistant, called("a", "f", "{}")),
		said(conversation.ToolRole, answered("a", text("1"))),
		said(conversation.User, text("second")),
		said(conversation.Assistant, thought(conversation.Thinking{Text: "hm", Signature: "s", Origin: conversation.Anthropic}), called("b", "f", "{}"), called("c", "f", "{}")),
		said(conversation.ToolRole, answered("b", text("2")), answered("c", text("3"))),
		said(conversation.Assistant, thought(conversation.Thinking{Data: "c2ln", Origin: conversation.Google}), called("d", "f", "{}")),
		said(conversation.ToolRole, answered("d", text("4"))),
	}}
	signatures := func(model string) string {
		body, _ := encode(t, model, r)
		require.Len(t, body.Get("contents").Array(), 8)
		require.NotContains(t, body.Raw, "hm", "another family's thoughts are not for this model")
		return body.Get("contents.#.parts.#.thoughtSignature").Raw
	}
	require.Equal(t, `[[],[],[],[],["skip_thought_signature_validator"],[],["c2ln"],[]]`, signatures("gemini-3-pro-preview"))
	require.Equal(t, `[[],[],[],[],[],[],["c2ln"],[]]`, signatures("gemini-2.5-pro"))
}

func TestArguments(t *testing.T) {
	for arguments, want := range map[string]string{
		``: `{}`, ` `: `{}`, `{"a":1e400}`: `{"a":1e400}`, " {\"a\" : 1}\n": `{"a" : 1}`,
		`[1]`: `{"arguments":"[1]"}`, `{"a":`: `{"arguments":"{\"a\":"}`, `plain`: `{"arguments":"plain"}`,
	} {
		body, _ := encode(t, "gemini-3-flash", &conversation.Request{Messages: []conversation.Message{
			said(conversation.Assistant, called("a", "f", arguments)),
		}})
		require.Equal(t, want, body.Get("contents.0.parts.0.functionCall.args").Raw)
	}
}

// What a function said is an object here, and comes back as what it was.
func TestResponses(t *testing.T) {
	for _, c := range []struct {
		texts   []string
		isError bool
		want    string
	}{
		{nil, false, `{"result":""}`},
		{nil, true, `{"error":""}`},
		{[]string{"18 degrees"}, false, `{"result":"18 degrees"}`},
		{[]string{"no clock"}, true, `{"error":"no clock"}`},
		{[]string{`{"t": 18}`}, false, `{"t": 18}`},
		{[]string{`{}`}, false, `{}`},
		{[]string{`{"t": 18}`}, true, `{"error":"{\"t\": 18}"}`},
		{[]string{`[18]`}, false, `{"result":"[18]"}`},
		{[]string{`{"result":"x"}`}, false, `{"result":"{\"result\":\"x\"}"}`},
		{[]string{`{"error":{"code":5}}`}, false, `{"result":"{\"error\":{\"code\":5}}"}`},
		{[]string{`{"content":[{"type":"text","text":"x"}]}`}, false, `{"result":"{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}"}`},
		{[]string{"a", `{"b":1}`}, false, `{"content":[{"type":"text","text":"a"},{"type":"text","text":"{\"b\":1}"}]}`},
		{[]string{"a", "b"}, true, `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"isError":true}`},
	} {
		result := answered("a")
		result.Result.IsError = c.isError
		for _, s := range c.texts {
			result.Result.Parts = append(result.Result.Parts, text(s))
		}
		r := &conversation.Request{Messages: []conversation.Message{
			said(conversation.User, text("x")),
			said(conversation.Assistant, called("a", "f", "{}")), said(conversation.ToolRole, result),
		}}
		body, _ := encode(t, "gemini-3-flash", r)
		response := body.Get("contents.2.parts.0.functionResponse")
		require.Equal(t, "f", response.Get("name").String(), "found by the call's id")
		require.Equal(t, c.want, response.Get("response").Raw)

		back, violations := gemini.New().DecodeRequest([]byte(body.Raw))
		require.Empty(t, violations)
		got := back.Messages[2].Parts[0].Result
		require.Equal(t, c.isError, got.IsError)
		var texts []string
		for _, p := range got.Parts {
			if p.Text != "" {
				texts = append(texts, p.Text)
			}
		}
		require.Equal(t, c.texts, texts)
	}
}

func TestMedia(t *testing.T) {
	for _, c := range []struct {
		part conversation.Part
		want string
	}{
		{media(conversation.Image, conversation.Media{URL: "https://img.example/a.PNG?x=1"}), `{"fileData":{"mimeType":"image/png","fileUri":"https://img.example/a.PNG?x=1"}}`},
		{media(conversation.Image, conversation.Media{URL: "https://img.example/a"}), `{"fileData":{"mimeType":"image/jpeg","fileUri":"https://img.example/a"}}`},
		{media(conversation.File, conversation.Media{URL: "https://img.example/a"}), `{"fileData":{"fileUri":"https://img.example/a"}}`},
		{media(conversation.Image, conversation.Media{Data: "iVBORw0KGgo="}), `{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}`},
		{media(conversation.File, conversation.Media{Data: "JVBERi0xLjQ="}), `{"inlineData":{"mimeType":"application/pdf","data":"JVBERi0xLjQ="}}`},
		{media(conversation.File, conversation.Media{Data: "AAAA", Name: "a.CSV"}), `{"inlineData":{"mimeType":"text/csv","data":"AAAA"}}`},
		{media(conversation.File, conversation.Media{Data: "iVBORw0KGgo="}), `{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}`},
		{media(conversation.Audio, conversation.Media{Data: "AAAA"}), `{"inlineData":{"mimeType":"audio/wav","data":"AAAA"}}`},
		{media(conversation.File, conversation.Media{Text: "Once.", Name: "a.txt"}), `{"text":"a.txt:\u000aOnce."}`},
		{media(conversation.File, conversation.Media{Text: "Once."}), `{"text":"Once."}`},
	} {
		body, _ := encode(t, "gemini-3-flash", &conversation.Request{Messages: []conversation.Message{said(conversation.User, c.part)}})
		require.Equal(t, c.want, body.Get("contents.0.parts.0").Raw)
	}
	for what, part := range map[string]conversation.Part{
		"an uploaded file in messages.0": media(conversation.File, conversation.Media{FileID: "file-1"}),
		"audio by its id in messages.0":  media(conversation.Audio, conversation.Media{ID: "audio-1"}),
	} {
		_, err := gemini.New().EncodeRequest(&conversation.Request{Messages: []conversation.Message{said(conversation.User, part)}}, dialect.Target{})
		require.Equal(t, &dialect.Unable{What: what}, err)
	}
}

// Instructions go to one place, in their order, and a conversation of nothing
// else is what the user says.
func TestInstructions(t *testing.T) {
	body, _ := encode(t, "gemini-3-flash", &conversation.Request{Messages: []conversation.Message{
		said(conversation.System, text("A"), text("")), said(conversation.User, text("x")), said(conversation.Developer, text("B")),
	}})
	require.JSONEq(t, `{"parts":[{"text":"A"},{"text":"B"}]}`, body.Get("systemInstruction").Raw)
	require.JSONEq(t, `[{"role":"user","parts":[{"text":"x"}]}]`, body.Get("contents").Raw)

	body, _ = encode(t, "gemini-3-flash", &conversation.Request{Messages: []conversation.Message{said(conversation.System, text("A"))}})
	require.JSONEq(t, `{"contents":[{"role":"user","parts":[{"text":"A"}]}]}`, body.Raw)
}

func TestDegraded(t *testing.T) {
	yes, no := true, false
	m := said(conversation.User, text("x"), media(conversation.Image, conversation.Media{URL: "https://a.example/a.png", Detail: "low"}))
	m.Name, m.Parts[0].Cache = "ada", conversation.Cache5m
	_, degraded := encode(t, "gemini-3-flash", &conversation.Request{
		Messages: []conversation.Message{m},
		Tools: []conversation.Tool{
			{Name: "f", Strict: &yes},
			{Name: "g", Strict: &no},
			{Name: "h", Kind: conversation.Custom},
			{Kind: conversation.Builtin, Name: "web_search", Raw: json.RawMessage(`{"type":"web_search"}`), Origin: conversation.OpenAI},
		},
		ParallelTools: &no, Verbosity: "low", ServiceTier: "flex", User: "u", CacheKey: "k", Other: []string{"store"},
		Output: &conversation.Output{Kind: "grammar"},
	})
	require.Equal(t, []string{
		"cache_control", "messages.0.name", "messages.0.parts.1.detail", "parallel_tool_calls", "prompt_cache_key",
		"response_format", "service_tier", "store", "tools.0.strict", "tools.2", "tools.3", "user", "verbosity",
	}, degraded)
}

func TestToolChoices(t *testing.T) {
	for want, choice := range map[string]conversation.ToolChoice{
		``:                {},
		`{"mode":"AUTO"}`: {Mode: conversation.Auto},
		`{"mode":"NONE"}`: {Mode: conversation.None, Allowed: []string{"f"}},
		`{"mode":"ANY"}`:  {Mode: conversation.Required},
		`{"mode":"ANY","allowedFunctionNames":["f"]}`:           {Mode: conversation.One, Name: "f"},
		`{"mode":"ANY","allowedFunctionNames":["f","g"]}`:       {Mode: conversation.Required, Allowed: []string{"f", "g"}},
		`{"mode":"VALIDATED","allowedFunctionNames":["f","g"]}`: {Mode: conversation.Auto, Allowed: []string{"f", "g"}},
	} {
		body, degraded := encode(t, "gemini-3-flash", &conversation.Request{
			Messages: []conversation.Message{said(conversation.User, text("x"))}, ToolChoice: choice,
			Tools: []conversation.Tool{{Name: "f"}, {Name: "g"}},
		})
		require.Equal(t, want, body.Get("toolConfig.functionCallingConfig").Raw)
		require.Empty(t, degraded)
	}
	for lost, choice := range map[string]conversation.ToolChoice{
		"tool_choice":         {Mode: conversation.One, Name: "f"},
		"tool_choice.allowed": {Mode: conversation.Auto, Allowed: []string{"f"}},
	} {
		body, degraded := encode(t, "gemini-3-flash", &conversation.Request{
			Messages: []conversation.Message{said(conversation.User, text("x"))}, ToolChoice: choice,
			Tools: []conversation.Tool{{Kind: conversation.Custom, Name: "f"}},
		})
		require.False(t, body.Get("toolConfig").Exists(), "a choice of functions that are not there is refused")
		require.Contains(t, degraded, lost)
	}
}
