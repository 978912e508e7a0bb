package simulator_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
)

func openAIHeader() http.Header { return header("Authorization", "Bearer "+simulator.OpenAIKey) }

const (
	openAIChat = "/as-openai/v1/chat/completions"
	chatAsk    = `{"model":"gpt-sim","messages":[{"role":"user","content":"get_weather"}],"tools":[{"type":"function","function":{"name":"get_weather","parameters":{"type":"object","properties":{}}}}]}`
)

func TestOpenAIChatRefuses(t *testing.T) {
	r := start(t, simulator.Options{})
	r.good(http.MethodPost, openAIChat, openAIHeader(), chatAsk)
	turns := func(messages string) string { return `{"model":"m","messages":[` + messages + `]}` }
	user := func(part string) string { return turns(`{"role":"user","content":[` + part + `]}`) }
	more := func(members string) string { return with(chatAsk, `"messages"`, members+`,"messages"`) }
	const call = `{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	for name, c := range map[string]struct{ body, words string }{
		"unknown member":      {more(`"top_k":1`), "Unknown parameter: 'top_k'."},
		"gateway's member":    {more(`"provider":{}`), "Unknown parameter: 'provider'."},
		"responses' member":   {more(`"max_output_tokens":1`), "Unknown parameter: 'max_output_tokens'."},
		"message member":      {turns(`{"role":"user","content":"x","cache_control":{}}`), "messages[0].cache_control"},
		"thoughts":            {turns(`{"role":"assistant","content":"x","reasoning_content":"y"}`), "messages[0].reasoning_content"},
		"part member":         {user(`{"type":"text","text":"x","cache_control":{}}`), "content[0].cache_control"},
		"part kind":           {user(`{"type":"image","source":{}}`), "messages[0].content[0]"},
		"image url":           {user(`{"type":"image_url","image_url":{"url":"gs://x"}}`), "Invalid image URL"},
		"image data":          {user(`{"type":"image_url","image_url":{"url":"data:image/png;base64,!"}}`), "Invalid image URL"},
		"audio format":        {user(`{"type":"input_audio","input_audio":{"format":"audio/wav","data":"AAAA"}}`), "'wav', 'mp3'"},
		"file name":           {user(`{"type":"file","file":{"file_data":"data:application/pdf;base64,AAAA"}}`), "filename"},
		"file data":           {user(`{"type":"file","file":{"filename":"a.pdf","file_data":"AAAA"}}`), "data URL"},
		"role":                {turns(`{"role":"model","content":"x"}`), "Invalid value: 'model'"},
		"no content":          {turns(`{"role":"user"}`), "Invalid type for 'messages[0].content'"},
		"open call":           {turns(call), "must be followed by tool messages"},
		"open call, then":     {turns(call + `,{"role":"user","content":"x"}`), "did not have response messages: c1"},
		"other result":        {turns(call + `,{"role":"tool","tool_call_id":"c2","content":"r"}`), "must be a response to a preceding message"},
		"arguments":           {turns(with(call, `"arguments":"{}"`, `"arguments":{}`) + `,{"role":"tool","tool_call_id":"c1","content":"r"}`), "tool_calls[0]"},
		"tool name":           {with(chatAsk, `"name":"get_weather"`, `"name":"get weather"`), "does not match pattern"},
		"tool kind":           {with(chatAsk, `"type":"function"`, `"type":"web_search"`), "Invalid value: 'web_search'"},
		"tool schema":         {with(chatAsk, `{"type":"object",`, `{"type":"array",`), "Invalid schema for function"},
		"strict schema":       {with(chatAsk, `"name":"get_weather"`, `"strict":true,"name":"get_weather"`), "'additionalProperties' is required"},
		"choice":              {more(`"tool_choice":"any"`), "Invalid value: 'any'"},
		"choice of none":      {more(`"tool_choice":{"type":"function","function":{"name":"g"}}`), "Tool choice 'g' not found"},
		"choice, no tools":    {`{"model":"m","tool_choice":"required","messages":[{"role":"user","content":"x"}]}`, "only allowed when 'tools' are specified"},
		"two limits":          {more(`"max_tokens":1,"max_completion_tokens":1`), "at the same time"},
		"stream options":      {more(`"stream_options":{"include_usage":true}`), "only allowed when 'stream' is enabled"},
		"five stops":          {more(`"stop":["1","2","3","4","5"]`), "maximum length 4"},
		"penalty":             {more(`"presence_penalty":3`), "presence_penalty"},
		"effort":              {more(`"reasoning_effort":"max"`), "Invalid value: 'max'"},
		"logprobs":            {more(`"top_logprobs":2`), "only allowed when 'logprobs'"},
		"no name":             {more(`"response_format":{"type":"json_schema","json_schema":{"schema":{}}}`), "json_schema.name"},
		"schema, other shape": {more(`"response_format":{"type":"json_schema","schema":{}}`), "Missing required parameter"},
		"open schema":         {more(`"response_format":{"type":"json_schema","json_schema":{"name":"a","strict":true,"schema":{"type":"object"}}}`), "additionalProperties"},
		"not required":        {more(`"response_format":{"type":"json_schema","json_schema":{"name":"a","strict":true,"schema":{"type":"object","additionalProperties":false,"properties":{"b":{}},"required":[]}}}`), "Missing 'b'"},
		"old limit":           {`{"model":"gpt-reason","max_tokens":5,"messages":[{"role":"user","content":"x"}]}`, "Use 'max_completion_tokens' instead."},
	} {
		t.Run(name, func(t *testing.T) {
			rig{t: t, url: r.url}.refused(openAIChat, openAIHeader(), c.body, http.StatusBadRequest, c.words)
		})
	}
	r.refused(openAIChat, nil, chatAsk, 401, "Incorrect API key provided")
	r.refused(openAIChat, header("Api-Key", simulator.OpenAIKey), chatAsk, 401, "Incorrect API key")
	r.refused("/as-openai/chat/completions", openAIHeader(), chatAsk, 404, "Invalid URL")
	r.refused("/as-openai/v1/rerank", openAIHeader(), chatAsk, 404, "Invalid URL")
	resp, _ := r.do(http.MethodGet, openAIChat, openAIHeader(), "")
	require.Equal(t, http.StatusMethodNotAllowed, resp.StatusCode)
}

func TestNothingOfTheGatewayIsWelcomeAnywhere(t *testing.T) {
	r := start(t, simulator.Options{})
	ask := chat("m", "x", "")
	for name, value := range map[string]string{
		"Cookie": "a=b", "X-Forwarded-For": "1.2.3.4", "Forwarded": "for=1.2.3.4", "X-Signalbox-Metadata": "{}", "X-Session-Id": "s",
		"Proxy-Authorization": "Basic x", "Referer": "https://a", "Authorization": "Bearer sb_v1_abc_def", "X-Custom": "sb_mk_v1_abc",
	} {
		r.refused(chatPath, header(name, value), ask, 400, "error")
	}
	r.refused(chatPath, header("Authorization", "Bearer a", "X-Api-Key", "b"), ask, 400, "More than one credential")
	r.refused(chatPath+"?key=a", nil, ask, 400, "in the query")
	for _, member := range []string{"models", "provider", "routing", "session_id", "preset", "provider_options"} {
		r.refused(chatPath, nil, chat("m", "x", `,"`+member+`":null`), 400, "Unknown parameter: '"+member+"'")
	}
	r.good(http.MethodPost, chatPath, nil, chat("m", "x", `,"x_vendor":1`)) // a server in OpenAI's likeness takes it
	r.refused(openAIChat, header("Authorization", "Bearer "+simulator.OpenAIKey, "X-Stainless-Lang", "go"), chatAsk, 400, "Unexpected header: x-stainless-lang")
	r.refused(openAIChat, header("Authorization", "Bearer "+simulator.OpenAIKey, "Content-Type", "text/plain"), chatAsk, 400, "application/json")

	r.good(http.MethodPost, "/keyless"+openAIChat, nil, chatAsk)
	r.refused("/keyless"+openAIChat, openAIHeader(), chatAsk, 400, "none is needed")
	r.refused("/keyless"+openAIChat, nil, with(chatAsk, `"model"`, `"top_k":1,"model"`), 400, "Unknown parameter")
}

func TestQuirks(t *testing.T) {
	r := start(t, simulator.Options{})
	for name, c := range map[string]struct{ model, more, words string }{
		"new limit":      {"small-quirk-max_tokens", `,"max_completion_tokens":5`, "max_completion_tokens"},
		"old limit":      {"small-quirk-max_completion_tokens", `,"max_tokens":5`, "max_tokens"},
		"stream options": {"small-quirk-nostreamoptions", `,"stream":true,"stream_options":{"include_usage":true}`, "stream_options"},
	} {
		t.Run(name, func(t *testing.T) {
			rig{t: t, url: r.url}.refused(chatPath, nil, chat(c.model, "x", c.more), 400, c.words)
			r.post(chatPath, chat("small", "x", c.more))
		})
	}
	developer := `{"model":"small-quirk-nodeveloper-quirk-nosystem","messages":[{"role":"developer","content":"x"}]}`
	r.refused(chatPath, nil, developer, 400, "developer")
	r.refused(chatPath, nil, strings.Replace(developer, `"role":"developer"`, `"role":"system"`, 1), 400, "system")
	message := r.ask(chatPath, chat("reason-quirk-reasoning", "x", "")).Get("choices.0.message")
	require.NotEmpty(t, message.Get("reasoning").Str)
	require.NotEmpty(t, r.ask(chatPath, chat("reason", "x", "")).Get("choices.0.message.reasoning_content").Str)
	require.False(t, r.good(http.MethodPost, openAIChat, openAIHeader(), chat("gpt-reason", "x", "")).Get("choices.0.message.reasoning_content").Exists())
}

func TestOpenAIChatAnswersInFull(t *testing.T) {
	r := start(t, simulator.Options{})
	ask := func(body string) gjson.Result { return r.good(http.MethodPost, openAIChat, openAIHeader(), body) }
	refusal := ask(chat("m-refuse", "x", "")).Get("choices.0.message")
	require.NotEmpty(t, refusal.Get("refusal").Str)
	require.Equal(t, gjson.Null, refusal.Get("content").Type)
	logs := ask(chat("m", "x", `,"logprobs":true,"top_logprobs":2`)).Get("choices.0.logprobs.content.0")
	require.Len(t, logs.Get("top_logprobs").Array(), 2)
	require.NotEmpty(t, logs.Get("bytes").Array())
	spoken := chat("m", "x", `,"modalities":["text","audio"],"audio":{"voice":"alloy","format":"wav"}`)
	require.NotEmpty(t, ask(spoken).Get("choices.0.message.audio.transcript").Str)
	var transcript string
	for _, e := range r.streamed(openAIChat, openAIHeader(), with(spoken, `"modalities"`, `"stream":true,"modalities"`)) {
		transcript += e.Get("choices.0.delta.audio.transcript").Str
	}
	require.Equal(t, ask(spoken).Get("choices.0.message.audio.transcript").Str, transcript)
	require.Positive(t, ask(chat("m-cached", "one two three", "")).Get("usage.prompt_tokens_details.cached_tokens").Int())
	custom := ask(`{"model":"m","messages":[{"role":"user","content":"shell"}],"tools":[{"type":"custom","custom":{"name":"shell"}}]}`).Get("choices.0.message.tool_calls.0")
	require.Equal(t, "run shell", custom.Get("custom.input").Str)
	only := ask(with(chatAsk, `"tools":[`, `"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"get_time"}}]}},"tools":[{"type":"function","function":{"name":"get_time"}},`))
	require.Equal(t, "get_time", only.Get("choices.0.message.tool_calls.0.function.name").Str)
	for fault, want := range map[string]struct {
		status int
		words  string
	}{
		"quota": {429, "insufficient_quota"}, "context": {400, "context_length_exceeded"}, "policy": {400, "content_policy_violation"}, "auth": {401, "invalid_api_key"},
	} {
		r.refused(openAIChat, openAIHeader(), chat("fault-"+fault, "x", ""), want.status, want.words)
	}
}

func TestAzure(t *testing.T) {
	r := start(t, simulator.Options{})
	h := header("Api-Key", simulator.AzureKey)
	const classic = "/as-azure/openai/deployments/my-gpt/chat/completions"
	require.Equal(t, "gpt-sim", r.good(http.MethodPost, "/as-azure/openai/v1/chat/completions", h, chatAsk).Get("model").Str)
	require.Equal(t, "my-gpt", r.good(http.MethodPost, classic+"?api-version=2024-10-21", h, with(chatAsk, `"model":"gpt-sim",`, "")).Get("model").Str)
	r.good(http.MethodPost, "/as-azure/openai/deployments/e/embeddings?api-version=2024-10-21", h, `{"input":"x"}`)
	r.refused(classic, h, chatAsk, 404, `{"error":{"code":"404","message":"Resource not found"}}`)
	r.refused(classic+"?api-version=2024-10-21", nil, chatAsk, 401, `"code":"401","message":"Access denied`)
	r.refused("/as-azure/v1/chat/completions", h, chatAsk, 404, "Invalid URL")
	r.refused("/as-azure/openai/v1/chat/completions", h, chat("fault-policy", "x", ""), 400, "ResponsibleAIPolicyViolation")
	r.refused("/as-azure/openai/v1/chat/completions", h, chat("fault-quota", "x", ""), 429, "exceeded call rate limit")

	form := "grant_type=client_credentials&scope=https%3A%2F%2Fcognitiveservices.azure.com%2F.default&client_id=" + simulator.EntraClient + "&client_secret="
	kind := header("Content-Type", "application/x-www-form-urlencoded")
	token := r.good(http.MethodPost, "/as-azure/token", kind, form+simulator.EntraSecret).Get("access_token").Str
	r.good(http.MethodPost, "/as-azure/openai/v1/chat/completions", header("Authorization", "Bearer "+token), chatAsk)
	r.refused("/as-azure/token", kind, form+"x", 401, "invalid_client")
}
