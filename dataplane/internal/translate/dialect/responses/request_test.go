package responses_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/responses"
)

func TestWhatIsWrongIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want []string // path: code
	}{
		"no input":             {`{"model":"m"}`, []string{"input: missing"}},
		"input":                {`{"input":5}`, []string{"input: wrong_type"}},
		"an item":              {`{"input":[5]}`, []string{"input.0: wrong_type", "input.0.type: unknown_value"}},
		"a kind of item":       {`{"input":[{"type":"x"}]}`, []string{"input.0.type: unknown_value"}},
		"role":                 {`{"input":[{"role":"tool","content":"x"}]}`, []string{"input.0.role: unknown_value"}},
		"role's type":          {`{"input":[{"role":5,"content":"x"}]}`, []string{"input.0.role: wrong_type", "input.0.role: unknown_value"}},
		"no content":           {`{"input":[{"role":"user"}]}`, []string{"input.0.content: missing"}},
		"content":              {`{"input":[{"role":"user","content":{}}]}`, []string{"input.0.content: wrong_type"}},
		"a kind of part":       {`{"input":[{"role":"user","content":"x"},{"role":"user","content":[{"type":"input_text","text":"x"},{"type":"text"}]}]}`, []string{"input.1.content.1.type: unknown_value"}},
		"text":                 {`{"input":[{"role":"user","content":[{"type":"input_text","text":5}]}]}`, []string{"input.0.content.0.text: wrong_type"}},
		"refusal":              {`{"input":[{"role":"assistant","content":[{"type":"refusal","refusal":5}]}]}`, []string{"input.0.content.0.refusal: wrong_type"}},
		"image":                {`{"input":[{"role":"user","content":[{"type":"input_image"}]}]}`, []string{"input.0.content.0: missing"}},
		"image's URL":          {`{"input":[{"role":"user","content":[{"type":"input_image","image_url":{"url":"x"}}]}]}`, []string{"input.0.content.0.image_url: wrong_type"}},
		"file":                 {`{"input":[{"role":"user","content":[{"type":"input_file","filename":"x"}]}]}`, []string{"input.0.content.0: missing"}},
		"file data":            {`{"input":[{"role":"user","content":[{"type":"input_file","file_data":[1]}]}]}`, []string{"input.0.content.0.file_data: wrong_type"}},
		"sound":                {`{"input":[{"role":"user","content":[{"type":"input_audio","input_audio":"x"}]}]}`, []string{"input.0.content.0.input_audio: wrong_type", "input.0.content.0.input_audio.data: missing"}},
		"call":                 {`{"input":[{"type":"function_call","arguments":{}}]}`, []string{"input.0.call_id: missing", "input.0.name: missing", "input.0.arguments: wrong_type"}},
		"custom call":          {`{"input":[{"type":"custom_tool_call","call_id":"c","name":"n","input":5}]}`, []string{"input.0.input: wrong_type"}},
		"output":               {`{"input":[{"type":"function_call_output","output":{}}]}`, []string{"input.0.call_id: missing", "input.0.output: wrong_type"}},
		"output part":          {`{"input":[{"type":"function_call_output","call_id":"c","output":[{"type":"x"}]}]}`, []string{"input.0.output.0.type: unknown_value"}},
		"reasoning":            {`{"input":[{"type":"reasoning","summary":"x","encrypted_content":5}]}`, []string{"input.0.summary: wrong_type", "input.0.encrypted_content: wrong_type"}},
		"instructions":         {`{"input":"x","instructions":["x"]}`, []string{"instructions: wrong_type"}},
		"numbers":              {`{"input":"x","temperature":"1","max_output_tokens":1.5,"top_p":[],"top_logprobs":{}}`, []string{"temperature: wrong_type", "max_output_tokens: wrong_type", "top_p: wrong_type", "top_logprobs: wrong_type"}},
		"flags":                {`{"input":"x","stream":"yes","parallel_tool_calls":1}`, []string{"stream: wrong_type", "parallel_tool_calls: wrong_type"}},
		"tools":                {`{"input":"x","tools":{}}`, []string{"tools: wrong_type"}},
		"a tool":               {`{"input":"x","tools":[5,{"type":"function","parameters":"x","strict":0},{"type":"custom"}]}`, []string{"tools.0.type: missing", "tools.1.parameters: wrong_type", "tools.1.strict: wrong_type", "tools.1.name: missing", "tools.2.name: missing"}},
		"choice":               {`{"input":"x","tool_choice":"any"}`, []string{"tool_choice: unknown_value"}},
		"choice of one":        {`{"input":"x","tool_choice":{"type":"function"}}`, []string{"tool_choice.name: missing"}},
		"choice of some":       {`{"input":"x","tool_choice":{"type":"allowed_tools","mode":"x","tools":[{"type":"function"},5]}}`, []string{"tool_choice.mode: unknown_value", "tool_choice.tools.0.name: missing", "tool_choice.tools.1: wrong_type", "tool_choice.tools.1.type: missing"}},
		"choice of none named": {`{"input":"x","tool_choice":{"type":"allowed_tools"}}`, []string{"tool_choice.tools: missing"}},
		"choice of nothing":    {`{"input":"x","tool_choice":[]}`, []string{"tool_choice: unknown_value"}},
		"text format":          {`{"input":"x","text":{"format":{"type":"xml"},"verbosity":5}}`, []string{"text.format.type: unknown_value", "text.verbosity: wrong_type"}},
		"schema":               {`{"input":"x","text":{"format":{"type":"json_schema","name":5}}}`, []string{"text.format.name: wrong_type", "text.format.schema: missing"}},
		"thinking":             {`{"input":"x","reasoning":"high"}`, []string{"reasoning: wrong_type"}},
		"effort":               {`{"input":"x","reasoning":{"effort":5}}`, []string{"reasoning.effort: wrong_type"}},
		"include":              {`{"input":"x","include":[5]}`, []string{"include.0: wrong_type"}},
		"model":                {`{"input":"x","model":5,"user":5}`, []string{"model: wrong_type", "user: wrong_type"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, violations := responses.New().DecodeRequest([]byte(c.body))
			var got []string
			for _, v := range violations {
				got = append(got, v.Path+": "+v.Code)
				require.NotEmpty(t, v.Message)
			}
			require.Equal(t, c.want, got)
		})
	}
}

func decode(t *testing.T, body string) *conversation.Request {
	t.Helper()
	r, violations := responses.New().DecodeRequest([]byte(body))
	require.Empty(t, violations)
	return r
}

// What the caller left with a provider, no other can know.
func TestStateIsNamedAndNeverDropped(t *testing.T) {
	for body, want := range map[string]string{
		`{"input":"x","previous_response_id":"resp_1"}`:                                            "previous_response_id",
		`{"input":"x","conversation":"conv_1"}`:                                                    "conversation",
		`{"prompt":{"id":"pmpt_1"}}`:                                                               "prompt",
		`{"input":[{"role":"user","content":"x"},{"type":"item_reference","id":"msg_1"}]}`:         "input.1",
		`{"input":[{"id":"msg_1"}]}`:                                                               "input.0",
		`{"input":[{"type":"computer_call_output","call_id":"c","output":{}}]}`:                    "input.0",
		`{"input":[{"type":"compaction","encrypted_content":"x"}]}`:                                "input.0",
		`{"input":[{"type":"mcp_approval_response","approve":true}]}`:                              "input.0",
		`{"input":[{"type":"file_search_call","id":"fs_1","results":[{"text":"what it found"}]}]}`: "input.0",
	} {
		r := decode(t, body)
		require.Equal(t, []string{want}, r.State, body)
		require.Contains(t, r.Unable(), want)
		_, err := responses.New().EncodeRequest(r, dialect.Target{})
		unable, ok := errors.AsType[*dialect.Unable](err)
		require.True(t, ok, body)
		require.Contains(t, unable.Error(), want)
	}
	for _, body := range []string{
		`{"input":"x","previous_response_id":null,"conversation":null,"prompt":null}`,
		`{"input":[{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search"}},{"type":"file_search_call","id":"fs_1","queries":["x"],"results":null},{"role":"assistant","content":"Found."}]}`,
	} {
		require.Empty(t, decode(t, body).State, body)
	}
}

func TestOthersAreListedUnlessTheyAskForWhatHappensAnyway(t *testing.T) {
	r := decode(t, `{"input":"x","store":true,"background":true,"truncation":"auto","max_tool_calls":3,"context_management":[{"type":"compaction"}],
		"prompt_cache_retention":"24h","text":{"stop":"x"},"reasoning":{"effort":"low","context":"all_turns"},"include":["web_search_call.results","reasoning.encrypted_content"],
		"tools":[{"type":"function","name":"f","parameters":{},"defer_loading":true}]}`)
	require.ElementsMatch(t, []string{
		"store", "background", "truncation", "max_tool_calls", "context_management", "prompt_cache_retention", "text.stop", "reasoning.context",
		"include.web_search_call.results", "tools.0.defer_loading",
	}, r.Other)
	encoded, err := responses.New().EncodeRequest(r, dialect.Target{Model: "m"})
	require.NoError(t, err)
	require.ElementsMatch(t, r.Other, encoded.Degraded)

	r = decode(t, `{"input":"x","store":false,"background":false,"truncation":"disabled","max_tool_calls":null,"metadata":{"a":"b"},"stream_options":{"include_obfuscation":false},
		"models":["a"],"provider":{"order":["x"]},"session_id":"s","tools":[]}`)
	require.Empty(t, r.Other)
}

func TestRequestsMean(t *testing.T) {
	text := func(s string) conversation.Part { return conversation.Part{Kind: conversation.Text, Text: s} }
	for name, c := range map[string]struct {
		body string
		want conversation.Request
	}{
		"one turn of the model": {
			`{"input":[{"role":"user","content":"x"},{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"content":[{"type":"reasoning_text","text":"c"}],"encrypted_content":"e"},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"d","annotations":[]}]},{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{}"},
			{"type":"custom_tool_call","call_id":"call_2","name":"g","input":"ls"},{"type":"function_call_output","call_id":"call_1","output":"1"},{"type":"custom_tool_call_output","call_id":"call_2","output":[{"type":"input_text","text":"2"}]}]}`,
			conversation.Request{Messages: []conversation.Message{
				{Role: conversation.User, Parts: []conversation.Part{text("x")}},
				{Role: conversation.Assistant, Parts: []conversation.Part{
					{Kind: conversation.Thought, Thought: &conversation.Thinking{ID: "rs_1", Text: "a\n\nb", Summary: true}},
					{Kind: conversation.Thought, Thought: &conversation.Thinking{ID: "rs_1", Text: "c", Data: "e", Origin: conversation.OpenAI}},
					text("d"),
					{Kind: conversation.Call, Call: &conversation.ToolCall{ID: "call_1", Name: "f", Arguments: "{}"}},
					{Kind: conversation.Call, Call: &conversation.ToolCall{ID: "call_2", Name: "g", Arguments: "ls", Custom: true}},
				}},
				{Role: conversation.ToolRole, Parts: []conversation.Part{
					{Kind: conversation.Result, Result: &conversation.ToolResult{CallID: "call_1", Parts: []conversation.Part{text("1")}}},
					{Kind: conversation.Result, Result: &conversation.ToolResult{CallID: "call_2", Parts: []conversation.Part{text("2")}, Custom: true}},
				}},
			}},
		},
		"instructions, whichever comes first": {
			`{"input":[{"role":"developer","content":"b"},{"role":"system","content":"c"}],"instructions":"a"}`,
			conversation.Request{Messages: []conversation.Message{
				{Role: conversation.System, Parts: []conversation.Part{text("a")}},
				{Role: conversation.Developer, Parts: []conversation.Part{text("b")}},
				{Role: conversation.System, Parts: []conversation.Part{text("c")}},
			}},
		},
		"media": {
			`{"input":[{"role":"user","content":[{"type":"input_file","file_data":"JVBERi0="},{"type":"input_file","file_url":"https://a.example/a.pdf","file_id":""},{"type":"input_file","file_id":"file-1","filename":"a"},
			{"type":"input_image","file_id":"file-2","detail":"original"},{"type":"input_image","image_url":"data:text/plain,x"},{"type":"input_audio","input_audio":{"data":"AA==","format":"mp3"}}]}]}`,
			conversation.Request{Messages: []conversation.Message{{Role: conversation.User, Parts: []conversation.Part{
				{Kind: conversation.File, Media: &conversation.Media{Data: "JVBERi0="}},
				{Kind: conversation.File, Media: &conversation.Media{URL: "https://a.example/a.pdf"}},
				{Kind: conversation.File, Media: &conversation.Media{FileID: "file-1", Name: "a"}},
				{Kind: conversation.Image, Media: &conversation.Media{FileID: "file-2", Detail: "original"}},
				{Kind: conversation.Image, Media: &conversation.Media{MIME: "text/plain", Data: "eA=="}},
				{Kind: conversation.Audio, Media: &conversation.Media{Data: "AA==", MIME: "audio/mpeg"}},
			}}}},
		},
		"an image that the model made": {
			`{"input":[{"type":"image_generation_call","id":"ig_1","result":"AA==","output_format":"webp"},{"type":"image_generation_call","id":"ig_2","result":null}]}`,
			conversation.Request{Messages: []conversation.Message{{Role: conversation.Assistant, Parts: []conversation.Part{
				{Kind: conversation.Image, Media: &conversation.Media{MIME: "image/webp", Data: "AA=="}},
			}}}},
		},
		"parameters": {
			`{"input":[],"safety_identifier":"s","reasoning":{"effort":"none","generate_summary":"concise"},"top_logprobs":5,"temperature":1e400,"text":{"format":{"type":"text"}}}`,
			conversation.Request{
				User: "s", Reasoning: conversation.Reasoning{Off: true, Summary: "concise"}, Temperature: "1e400",
				Output: &conversation.Output{Kind: conversation.PlainText},
			},
		},
		"tools": {
			`{"input":[],"tools":[{"type":"custom","name":"c","format":{"type":"grammar","syntax":"lark","definition":"x"}},{"type":"mcp","server_label":"s"}],"tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"custom","name":"c"},{"type":"mcp"}]}}`,
			conversation.Request{
				Tools: []conversation.Tool{
					{Kind: conversation.Custom, Name: "c", Raw: json.RawMessage(`{"type":"grammar","syntax":"lark","definition":"x"}`), Origin: conversation.OpenAI},
					{Kind: conversation.Builtin, Name: "mcp", Raw: json.RawMessage(`{"type":"mcp","server_label":"s"}`), Origin: conversation.OpenAI},
				},
				ToolChoice: conversation.ToolChoice{Mode: conversation.Required, Allowed: []string{"c", "mcp"}},
			},
		},
		"a choice of a tool that the provider runs": {
			`{"input":[],"tool_choice":{"type":"web_search_preview"}}`,
			conversation.Request{ToolChoice: conversation.ToolChoice{Mode: conversation.One, Name: "web_search_preview"}},
		},
		"cache marks": {
			`{"input":[{"role":"user","content":[{"type":"input_text","text":"a","prompt_cache_breakpoint":{"mode":"explicit"}},{"type":"input_text","text":"b","prompt_cache_breakpoint":{"mode":"explicit","ttl":"30m"}}]}]}`,
			conversation.Request{Messages: []conversation.Message{{Role: conversation.User, Parts: []conversation.Part{
				{Kind: conversation.Text, Text: "a", Cache: conversation.Cache5m}, {Kind: conversation.Text, Text: "b", Cache: conversation.Cache1h},
			}}}},
		},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, &c.want, decode(t, c.body)) })
	}
}

// A proof of another family goes through the caller's hands and back to it.
func TestProofsComeBackToTheirFamily(t *testing.T) {
	for _, thought := range []conversation.Thinking{
		{Text: "Hm.", Signature: "sig==", Origin: conversation.Anthropic},
		{Data: "redacted", Origin: conversation.Anthropic},
		{Data: "s.", Origin: conversation.Google},
		{Text: "Hm.", Data: "gAAAA", Origin: conversation.OpenAI},
	} {
		body := responses.New().EncodeReply(&conversation.Reply{Choices: []conversation.Choice{{
			Parts: []conversation.Part{{Kind: conversation.Thought, Thought: &thought}},
		}}}, dialect.Told{ID: "req_1"})
		var reply struct{ Output json.RawMessage }
		require.NoError(t, json.Unmarshal(body, &reply))
		back := decode(t, `{"input":`+string(reply.Output)+`}`).Messages[0].Parts[0].Thought
		thought.ID, thought.Summary = "rs_req_1_0", thought.Text != ""
		require.Equal(t, &thought, back)
	}
}
