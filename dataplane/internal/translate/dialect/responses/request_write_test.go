package responses_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/responses"
)

func encode(t *testing.T, r *conversation.Request, to dialect.Target) (gjson.Result, []string) {
	t.Helper()
	encoded, err := responses.New().EncodeRequest(r, to)
	require.NoError(t, err)
	require.True(t, json.Valid(encoded.Body), "%s", encoded.Body)
	return gjson.ParseBytes(encoded.Body), encoded.Degraded
}

func said(role conversation.Role, parts ...conversation.Part) conversation.Message {
	return conversation.Message{Role: role, Parts: parts}
}

func TestInstructions(t *testing.T) {
	text := conversation.Part{Kind: conversation.Text, Text: "Be brief."}
	user := said(conversation.User, conversation.Part{Kind: conversation.Text, Text: "hi"})
	body, _ := encode(t, &conversation.Request{Messages: []conversation.Message{said(conversation.System, text), user}}, dialect.Target{Model: "up"})
	require.Equal(t, "Be brief.", body.Get("instructions").Str)
	require.JSONEq(t, `[{"type":"message","role":"user","content":"hi"}]`, body.Get("input").Raw)
	require.Equal(t, "up", body.Get("model").Str)

	for name, r := range map[string]*conversation.Request{
		"several parts": {Messages: []conversation.Message{said(conversation.System, text, text), user}},
		"nothing else":  {Messages: []conversation.Message{said(conversation.System, text)}},
		"a developer's": {Messages: []conversation.Message{said(conversation.Developer, text), user}},
	} {
		body, _ := encode(t, r, dialect.Target{})
		require.False(t, body.Get("instructions").Exists(), name)
		require.Len(t, body.Get("input").Array(), len(r.Messages), name)
	}
	body, _ = encode(t, &conversation.Request{Messages: []conversation.Message{said(conversation.System, text), user}},
		dialect.Target{Quirks: dialect.Quirks{SystemRole: "developer"}})
	require.Equal(t, "developer", body.Get("input.0.role").Str)
}

// Nobody who speaks another format asked that a conversation be stored.
func TestNothingIsLeftWithTheProvider(t *testing.T) {
	body, _ := encode(t, &conversation.Request{}, dialect.Target{})
	require.Equal(t, "false", body.Get("store").Raw)
	require.False(t, body.Get("include").Exists(), "models that do not reason refuse it")
}

func TestProofsAreAskedForWhereThereIsReasoning(t *testing.T) {
	asks := func(r *conversation.Request) bool {
		body, _ := encode(t, r, dialect.Target{})
		return body.Get(`include.#(=="reasoning.encrypted_content")`).Exists()
	}
	require.True(t, asks(&conversation.Request{Reasoning: conversation.Reasoning{Budget: 5000}}))
	require.False(t, asks(&conversation.Request{Reasoning: conversation.Reasoning{Off: true}}))
	thought := conversation.Part{Kind: conversation.Thought, Thought: &conversation.Thinking{ID: "rs_1", Text: "Hm.", Data: "x", Origin: conversation.OpenAI}}
	r := &conversation.Request{Messages: []conversation.Message{said(conversation.Assistant, thought)}}
	require.True(t, asks(r))
	body, _ := encode(t, r, dialect.Target{})
	require.JSONEq(t, `[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"x"}]`, body.Get("input").Raw)

	body, _ = encode(t, &conversation.Request{Reasoning: conversation.Reasoning{Budget: 5000, Summary: "auto"}}, dialect.Target{})
	require.JSONEq(t, `{"effort":"low","summary":"auto"}`, body.Get("reasoning").Raw)
}

// A thought of another family, or one that nobody proved, is no content for
// this one's models.
func TestForeignThoughtsStayBehind(t *testing.T) {
	for _, thought := range []conversation.Thinking{
		{Text: "Hm.", Signature: "x", Origin: conversation.Anthropic}, {Data: "x", Origin: conversation.Google}, {Text: "Hm."}, {ID: "rs_1", Summary: true, Text: "Hm."},
	} {
		r := &conversation.Request{Messages: []conversation.Message{said(conversation.Assistant, conversation.Part{Kind: conversation.Thought, Thought: &thought})}}
		body, degraded := encode(t, r, dialect.Target{})
		require.Empty(t, body.Get("input").Array())
		require.Empty(t, degraded)
	}
}

func TestToolsAreStrictOnlyWhenTheySayIt(t *testing.T) {
	yes := true
	schema := json.RawMessage(`{"type":"object", "b":1e400,"a":{"$ref":"#/$defs/x"}}`)
	body, degraded := encode(t, &conversation.Request{Tools: []conversation.Tool{
		{Name: "a", Parameters: schema},
		{Name: "b", Strict: &yes},
		{Kind: conversation.Builtin, Name: "c", Raw: json.RawMessage(`{"type":"c"}`), Origin: conversation.Anthropic},
		{Kind: conversation.Custom, Name: "d", Raw: json.RawMessage(`{"type":"grammar","grammar":{"syntax":"lark","definition":"x"}}`), Origin: conversation.OpenAI},
		{Kind: conversation.Custom, Name: "e", Raw: json.RawMessage(`{}`), Origin: conversation.Google},
	}}, dialect.Target{})
	require.Equal(t, `[{"type":"function","name":"a","parameters":`+string(schema)+`,"strict":false},`+
		`{"type":"function","name":"b","parameters":{"type":"object","properties":{}},"strict":true},`+
		`{"type":"custom","name":"d","format":{"type":"grammar","definition":"x","syntax":"lark"}},{"type":"custom","name":"e"}]`, body.Get("tools").Raw)
	require.Equal(t, []string{"tools.2", "tools.4.format"}, degraded)
}

func TestToolChoice(t *testing.T) {
	tools := []conversation.Tool{
		{Name: "f"},
		{Kind: conversation.Custom, Name: "c"},
		{Kind: conversation.Builtin, Name: "web_search", Raw: json.RawMessage(`{"type":"web_search"}`), Origin: conversation.OpenAI},
	}
	for _, c := range []struct {
		choice   conversation.ToolChoice
		want     string
		degraded []string
	}{
		{conversation.ToolChoice{Mode: conversation.None}, `"none"`, nil},
		{conversation.ToolChoice{Mode: conversation.One, Name: "c"}, `{"type":"custom","name":"c"}`, nil},
		{conversation.ToolChoice{Mode: conversation.One, Name: "web_search"}, `{"type":"web_search"}`, nil},
		{conversation.ToolChoice{Mode: conversation.One, Name: "x"}, ``, []string{"tool_choice"}},
		{
			conversation.ToolChoice{Mode: conversation.Auto, Allowed: []string{"f", "web_search", "x"}},
			`{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"},{"type":"web_search"}]}`,
			[]string{"tool_choice.allowed"},
		},
		{conversation.ToolChoice{Mode: conversation.Auto, Allowed: []string{"x"}}, ``, []string{"tool_choice.allowed"}},
	} {
		body, degraded := encode(t, &conversation.Request{Tools: tools, ToolChoice: c.choice}, dialect.Target{})
		require.Equal(t, c.want, body.Get("tool_choice").Raw)
		require.Equal(t, c.degraded, degraded)
	}
	yes := true
	body, degraded := encode(t, &conversation.Request{ToolChoice: conversation.ToolChoice{Mode: conversation.Required}, ParallelTools: &yes}, dialect.Target{})
	require.False(t, body.Get("tool_choice").Exists())
	require.Equal(t, []string{"parallel_tool_calls", "tool_choice"}, degraded)
}

func TestParts(t *testing.T) {
	media := func(kind conversation.Kind, m conversation.Media) conversation.Part {
		return conversation.Part{Kind: kind, Media: &m}
	}
	for _, c := range []struct {
		part conversation.Part
		want string
	}{
		{media(conversation.File, conversation.Media{Text: "Rules.", Name: "a.txt"}), `{"type":"input_text","text":"a.txt\n\nRules."}`},
		{media(conversation.File, conversation.Media{Data: "AA==", MIME: "application/pdf"}), `{"type":"input_file","filename":"file.pdf","file_data":"data:application/pdf;base64,AA=="}`},
		{media(conversation.File, conversation.Media{Data: "AA=="}), `{"type":"input_file","filename":"file","file_data":"data:application/octet-stream;base64,AA=="}`},
		{media(conversation.File, conversation.Media{URL: "https://a.example/a.pdf"}), `{"type":"input_file","file_url":"https://a.example/a.pdf"}`},
		{media(conversation.Audio, conversation.Media{Data: "AA==", MIME: "audio/x-wav"}), `{"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}}`},
		{media(conversation.Audio, conversation.Media{Data: "AA==", MIME: "audio/ogg"}), ""},
		{media(conversation.Audio, conversation.Media{URL: "https://a.example/a.wav"}), ""},
		{media(conversation.Image, conversation.Media{}), ""},
		{media(conversation.File, conversation.Media{}), ""},
		{media(conversation.Video, conversation.Media{Data: "AA=="}), ""},
		{conversation.Part{Kind: conversation.Call, Call: &conversation.ToolCall{}}, ""},
	} {
		r := &conversation.Request{Messages: []conversation.Message{said(conversation.User, c.part)}}
		encoded, err := responses.New().EncodeRequest(r, dialect.Target{})
		if c.want == "" {
			unable, ok := errors.AsType[*dialect.Unable](err)
			require.True(t, ok)
			require.Contains(t, unable.What, "messages.0")
			continue
		}
		require.NoError(t, err)
		require.JSONEq(t, c.want, gjson.GetBytes(encoded.Body, "input.0.content.0").Raw)
	}
}

func TestMarksAndNamesAreDegraded(t *testing.T) {
	marked := conversation.Part{Kind: conversation.Text, Text: "x", Cache: conversation.Cache5m}
	for _, r := range []*conversation.Request{
		{Messages: []conversation.Message{said(conversation.System, marked), said(conversation.User, conversation.Part{Kind: conversation.Text})}},
		{Messages: []conversation.Message{said(conversation.ToolRole, conversation.Part{Kind: conversation.Result, Result: &conversation.ToolResult{Parts: []conversation.Part{marked}}})}},
		{Tools: []conversation.Tool{{Name: "f", Cache: conversation.Cache1h}}},
	} {
		_, degraded := encode(t, r, dialect.Target{})
		require.Equal(t, []string{"cache_control"}, degraded)
	}
	_, degraded := encode(t, &conversation.Request{Choices: 1, Messages: []conversation.Message{{Role: conversation.User, Name: "ada"}}}, dialect.Target{})
	require.Equal(t, []string{"messages.0.name"}, degraded)
}
