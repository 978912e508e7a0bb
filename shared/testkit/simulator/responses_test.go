package simulator_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
)

const (
	responsesPath = "/as-openai/v1/responses"
	responsesAsk  = `{"model":"gpt-sim","input":"get_weather","tools":[{"type":"function","name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}]}`
)

func TestResponsesRefuses(t *testing.T) {
	r := start(t, simulator.Options{})
	r.good(http.MethodPost, responsesPath, openAIHeader(), responsesAsk)
	items := func(all string) string { return `{"model":"m","input":[` + all + `]}` }
	more := func(members string) string { return with(responsesAsk, `"input"`, members+`,"input"`) }
	const call = `{"role":"user","content":"x"},{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`
	for name, c := range map[string]struct{ body, words string }{
		"chat's member":     {more(`"messages":[]`), "Unknown parameter: 'messages'."},
		"chat's limit":      {more(`"max_tokens":5`), "Unknown parameter: 'max_tokens'."},
		"chat's format":     {more(`"response_format":{}`), "Unknown parameter: 'response_format'."},
		"chat's tool":       {with(responsesAsk, `"name":"get_weather"`, `"function":{},"name":"get_weather"`), "tools[0].function"},
		"chat's choice":     {more(`"tool_choice":{"type":"function","function":{"name":"get_weather"}}`), "tool_choice.function"},
		"chat's part":       {items(`{"role":"user","content":[{"type":"text","text":"x"}]}`), "Invalid value: 'text'"},
		"chat's effort":     {more(`"reasoning_effort":"low"`), "reasoning_effort"},
		"input_text spoken": {items(`{"role":"assistant","content":[{"type":"input_text","text":"x"}]}`), "'output_text', 'refusal'"},
		"nested schema":     {more(`"text":{"format":{"type":"json_schema","json_schema":{}}}`), "text.format.json_schema"},
		"no name":           {more(`"text":{"format":{"type":"json_schema","schema":{}}}`), "text.format.name"},
		"verbosity":         {more(`"text":{"verbosity":"max"}`), "text.verbosity"},
		"small limit":       {more(`"max_output_tokens":5`), "Expected a value >= 16"},
		"include":           {more(`"include":["reasoning"]`), "Invalid value: 'reasoning'"},
		"stream options":    {more(`"stream_options":{"include_usage":true}`), "stream_options.include_usage"},
		"item kind":         {items(`{"type":"tool_result"}`), "Invalid value: 'tool_result'"},
		"open call":         {items(call), "No tool output found for function call c1."},
		"other output":      {items(call + `,{"type":"function_call_output","call_id":"c2","output":"r"}`), "No tool call found for function call output with call_id c2."},
		"output as object":  {items(call + `,{"type":"function_call_output","call_id":"c1","output":{}}`), "input[2].output"},
		"unknown response":  {more(`"previous_response_id":"resp_1"`), "previous_response_not_found"},
		"unknown item":      {items(`{"type":"reasoning","id":"rs_1","summary":[]},{"type":"message","role":"assistant","content":"a"}`), "not found. Items are not persisted"},
		"foreign thought":   {items(`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x.y"},{"type":"message","role":"assistant","content":"a"}`), "invalid_encrypted_content"},
	} {
		t.Run(name, func(t *testing.T) {
			status := http.StatusBadRequest
			if name == "unknown item" {
				status = http.StatusNotFound
			}
			rig{t: t, url: r.url}.refused(responsesPath, openAIHeader(), c.body, status, c.words)
		})
	}
}

func TestResponsesThoughtsComeBack(t *testing.T) {
	r := start(t, simulator.Options{})
	const ask = `{"model":"m","store":false,"input":"hi","reasoning":{"effort":"low","summary":"auto"},"include":["reasoning.encrypted_content"]}`
	first := r.good(http.MethodPost, responsesPath, openAIHeader(), ask)
	thought, message := first.Get("output.0"), first.Get("output.1")
	require.NotEmpty(t, thought.Get("encrypted_content").Str)
	require.NotEmpty(t, thought.Get("summary.0.text").Str)
	back := func(items string) string { return with(ask, `"hi"`, `[`+items+`,{"role":"user","content":"and?"}]`) }
	r.good(http.MethodPost, responsesPath, openAIHeader(), back(thought.Raw+","+message.Raw))
	r.refused(responsesPath, openAIHeader(), back(thought.Raw), 400, "without its required following item")
	r.refused(responsesPath, openAIHeader(), back(with(thought.Raw, `"encrypted_content":"`, `"encrypted_content":"A`)+","+message.Raw), 400, "could not be verified")
	bare := `{"type":"reasoning","id":"` + thought.Get("id").Str + `","summary":[]}`
	r.refused(responsesPath, openAIHeader(), back(bare+","+message.Raw), 404, "not found")
	r.good(http.MethodPost, responsesPath, openAIHeader(), with(ask, `"store":false,`, ""))

	stored := r.good(http.MethodPost, responsesPath, openAIHeader(), with(ask, `"store":false,`, ""))
	require.Empty(t, r.good(http.MethodPost, responsesPath, openAIHeader(), with(ask, `,"summary":"auto"`, "")).Get("output.0.summary").Array(), "nobody asked for one")
	r.good(http.MethodPost, responsesPath, openAIHeader(), back(`{"type":"reasoning","id":"`+stored.Get("output.0.id").Str+`","summary":[]},`+message.Raw))

	called := r.good(http.MethodPost, responsesPath, openAIHeader(), responsesAsk)
	next := `{"model":"m","previous_response_id":"` + called.Get("id").Str + `","input":[{"type":"function_call_output","call_id":"` + called.Get("output.0.call_id").Str + `","output":"21 degrees"}]}`
	require.Contains(t, r.good(http.MethodPost, responsesPath, openAIHeader(), next).Get("output.0.content.0.text").Str, "get_weather returned: 21 degrees")
	r.refused(responsesPath, header("Authorization", "Bearer "+simulator.OpenAIKey+"-two"), next, 400, "previous_response_not_found")
}

func TestResponsesAnswersInFull(t *testing.T) {
	r := start(t, simulator.Options{})
	refusal := r.good(http.MethodPost, responsesPath, openAIHeader(), `{"model":"m-refuse","input":"x"}`)
	require.NotEmpty(t, refusal.Get("output.0.content.0.refusal").Str)
	var said string
	for _, e := range r.streamed(responsesPath, openAIHeader(), `{"model":"m-refuse","input":"x","stream":true}`) {
		if e.Get("type").Str == "response.refusal.delta" {
			said += e.Get("delta").Str
		}
	}
	require.Equal(t, refusal.Get("output.0.content.0.refusal").Str, said)
	logs := r.good(http.MethodPost, responsesPath, openAIHeader(), `{"model":"m","input":"x","include":["message.output_text.logprobs"],"top_logprobs":1}`)
	require.Len(t, logs.Get("output.0.content.0.logprobs.0.top_logprobs").Array(), 1)
	custom := r.good(http.MethodPost, responsesPath, openAIHeader(), `{"model":"m","input":"shell","tools":[{"type":"custom","name":"shell"}]}`).Get("output.0")
	require.Equal(t, "custom_tool_call", custom.Get("type").Str)
	require.Equal(t, "run shell", custom.Get("input").Str)

	two := strings.Replace(responsesAsk, `"input":"get_weather"`, `"stream":true,"input":"get_weather in parallel"`, 1)
	var order []int64
	args := map[int64]string{}
	var last gjson.Result
	for _, e := range r.streamed(responsesPath, openAIHeader(), two) {
		if e.Get("type").Str == "response.function_call_arguments.delta" {
			order = append(order, e.Get("output_index").Int())
			args[e.Get("output_index").Int()] += e.Get("delta").Str
		}
		last = e
	}
	require.Equal(t, []int64{0, 1, 0, 1}, order[:4], "the calls take turns")
	for i, item := range last.Get("response.output").Array() {
		require.Equal(t, item.Get("arguments").Str, args[int64(i)])
	}
	echoed := r.good(http.MethodPost, responsesPath, openAIHeader(), `{"model":"m","input":"x","metadata":{"a":"b"},"max_output_tokens":20}`)
	require.Equal(t, "b", echoed.Get("metadata.a").Str)
	require.Equal(t, "incomplete", echoed.Get("status").Str)
	require.Equal(t, "max_output_tokens", echoed.Get("incomplete_details.reason").Str)
}
