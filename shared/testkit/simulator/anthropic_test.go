package simulator_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
)

const anthropicPath = "/as-anthropic/v1/messages"

func anthropicHeader() http.Header {
	return header("X-Api-Key", simulator.AnthropicKey, "Anthropic-Version", "2023-06-01")
}

const anthropicAsk = `{"model":"claude-sim","max_tokens":4096,"messages":[{"role":"user","content":"get_weather for Paris"}],
	"tools":[{"name":"get_weather","description":"d","input_schema":{"type":"object","properties":{"city":{"type":"string"}}}}]}`

func TestAnthropicRefuses(t *testing.T) {
	r := start(t, simulator.Options{})
	r.good(http.MethodPost, anthropicPath, anthropicHeader(), anthropicAsk)
	turns := func(messages string) string {
		return `{"model":"m","max_tokens":100,"messages":[` + messages + `]}`
	}
	const call = `{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{}}]}`
	thinking := func(more string) string {
		return with(anthropicAsk, `"max_tokens":4096`, `"max_tokens":4096,"thinking":{"type":"enabled","budget_tokens":2048}`+more)
	}
	for name, c := range map[string]struct{ body, words string }{
		"no max_tokens":     {with(anthropicAsk, `"max_tokens":4096,`, ""), "max_tokens: Field required"},
		"no model":          {with(anthropicAsk, `"model":"claude-sim",`, ""), "model: Field required"},
		"unknown member":    {with(anthropicAsk, `"max_tokens"`, `"n":1,"max_tokens"`), "n: Extra inputs are not permitted"},
		"gateway's member":  {with(anthropicAsk, `"max_tokens"`, `"session_id":"s","max_tokens"`), "session_id: Extra inputs are not permitted"},
		"metadata":          {with(anthropicAsk, `"max_tokens"`, `"metadata":{"team":"a"},"max_tokens"`), "metadata.team: Extra inputs"},
		"temperature":       {with(anthropicAsk, `"max_tokens"`, `"temperature":1.5,"max_tokens"`), "temperature: range: 0..1"},
		"system role":       {turns(`{"role":"system","content":"x"}`), "Unexpected role"},
		"assistant first":   {turns(`{"role":"assistant","content":"x"}`), "first message must use the"},
		"empty text":        {turns(`{"role":"user","content":[{"type":"text","text":""}]}`), "text content blocks must be non-empty"},
		"empty content":     {turns(`{"role":"user","content":""}`), "must have non-empty content"},
		"openai's image":    {turns(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x"}}]}`), "Input tag 'image_url'"},
		"bad base64":        {turns(`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"!"}}]}`), "Invalid base64"},
		"image kind":        {turns(`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/tiff","data":"AAAA"}}]}`), "media_type"},
		"nested member":     {turns(`{"role":"user","content":[{"type":"text","text":"a","id":"1"}]}`), "messages.0.content.0.text.id: Extra inputs"},
		"message member":    {turns(`{"role":"user","content":"a","name":"n"}`), "messages.0.name: Extra inputs"},
		"open call":         {turns(call), "`tool_use` ids were found without `tool_result` blocks immediately after: toolu_1"},
		"other result":      {turns(call + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_2"}]}`), "unexpected `tool_use_id`"},
		"text before":       {turns(call + `,{"role":"user","content":[{"type":"text","text":"a"},{"type":"tool_result","tool_use_id":"toolu_1"}]}`), "immediately after"},
		"input as text":     {turns(with(call, `"input":{}`, `"input":"{}"`)), "Input should be a valid dictionary"},
		"call id":           {turns(with(call, `toolu_1`, `call.1`)), "String should match pattern"},
		"trailing space":    {turns(`{"role":"user","content":"x"},{"role":"assistant","content":"so "}`), "trailing whitespace"},
		"no input_schema":   {with(anthropicAsk, `"input_schema":{"type":"object"`, `"parameters":{"type":"object"`), "tools.0.custom.parameters: Extra inputs"},
		"schema's type":     {with(anthropicAsk, `{"type":"object",`, `{`), "input_schema.type"},
		"unknown choice":    {with(anthropicAsk, `"tools"`, `"tool_choice":{"type":"required"},"tools"`), "Input tag 'required'"},
		"choice, no tools":  {turnsWith(`"tool_choice":{"type":"auto"}`), "only be specified while providing tools"},
		"choice, other":     {with(anthropicAsk, `"tools"`, `"tool_choice":{"type":"tool","name":"g"},"tools"`), "not found in provided tools"},
		"small budget":      {with(thinking(""), "2048", "100"), "greater than or equal to 1024"},
		"large budget":      {with(thinking(""), "2048", "4096"), "`max_tokens` must be greater than `thinking.budget_tokens`"},
		"hot thoughts":      {thinking(`,"temperature":0.5`), "`temperature` may only be set to 1"},
		"forced thoughts":   {thinking(`,"tool_choice":{"type":"any"}`), "Thinking may not be enabled when tool_choice forces tool use"},
		"top_k":             {thinking(`,"top_k":5`), "`top_k` must be unset"},
		"open schema":       {with(anthropicAsk, `"max_tokens"`, `"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}},"max_tokens"`), "additionalProperties"},
		"effort":            {with(anthropicAsk, `"max_tokens"`, `"output_config":{"effort":"minimal"},"max_tokens"`), "output_config.effort"},
		"ttl":               {turns(`{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"2h"}}]}`), "ttl"},
		"ttls out of order": {turns(mark("a", "5m") + `,` + mark("b", "1h")), "must not come after a ttl='5m'"},
		"five marks":        {turns(strings.Repeat(mark("a", "5m")+",", 4) + mark("a", "5m")), "A maximum of 4 blocks"},
	} {
		t.Run(name, func(t *testing.T) {
			rig{t: t, url: r.url}.refused(anthropicPath, anthropicHeader(), c.body, http.StatusBadRequest, c.words)
		})
	}
	r.refused(anthropicPath, header("X-Api-Key", "sk-other", "Anthropic-Version", "2023-06-01"), anthropicAsk, 401, "invalid x-api-key")
	r.refused(anthropicPath, header("X-Api-Key", simulator.AnthropicKey), anthropicAsk, 400, "anthropic-version")
	r.refused(anthropicPath+"?beta=x", header("Authorization", "Bearer "+simulator.AnthropicKey, "Anthropic-Version", "2023-06-01"), anthropicAsk, 401, "authentication_error")
	r.refused("/as-anthropic/v1/v1/messages", anthropicHeader(), anthropicAsk, 404, "not_found_error")
}

func turnsWith(more string) string {
	return `{"model":"m","max_tokens":100,` + more + `,"messages":[{"role":"user","content":"x"}]}`
}

func mark(text, ttl string) string {
	return `{"role":"user","content":[{"type":"text","text":"` + text + `","cache_control":{"type":"ephemeral","ttl":"` + ttl + `"}}]}`
}

func TestAnthropicVerifiesThoughts(t *testing.T) {
	r := start(t, simulator.Options{})
	const ask = `{"model":"m","max_tokens":4096,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[{"role":"user","content":"hi"}]}`
	first := r.good(http.MethodPost, anthropicPath, anthropicHeader(), ask)
	thought := first.Get("content.0")
	require.Equal(t, "thinking", thought.Get("type").Str)
	require.Equal(t, "text", first.Get("content.1.type").Str)
	var signature, text string
	for _, e := range r.streamed(anthropicPath, anthropicHeader(), with(ask, `"max_tokens"`, `"stream":true,"max_tokens"`)) {
		signature += e.Get("delta.signature").Str
		text += e.Get("delta.thinking").Str
	}
	require.Equal(t, thought.Get("signature").Str, signature)
	require.Equal(t, thought.Get("thinking").Str, text)

	back := func(thought string) string {
		return with(ask, `"content":"hi"}`, `"content":"hi"},{"role":"assistant","content":[`+thought+`,{"type":"text","text":"so"}]},{"role":"user","content":"and?"}`)
	}
	r.good(http.MethodPost, anthropicPath, anthropicHeader(), back(thought.Raw))
	r.refused(anthropicPath, anthropicHeader(), back(with(thought.Raw, "The caller", "A caller")), 400, "Invalid `signature` in `thinking` block")
	r.refused(anthropicPath, anthropicHeader(), back(`{"type":"thinking","thinking":"x","signature":"c2lnLTE="}`), 400, "Invalid `signature`")
	r.refused(anthropicPath, anthropicHeader(), back(`{"type":"redacted_thinking","data":"x"}`), 400, "Invalid `data`")

	hidden := r.good(http.MethodPost, anthropicPath, anthropicHeader(), with(ask, `"m"`, `"m-redacted"`)).Get("content.0")
	require.Equal(t, "redacted_thinking", hidden.Get("type").Str)
	r.good(http.MethodPost, anthropicPath, anthropicHeader(), back(hidden.Raw))

	called := with(ask, `"content":"hi"}`, `"content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"r"}]}`)
	r.refused(anthropicPath, anthropicHeader(), called, 400, "Expected `thinking` or `redacted_thinking`, but found `tool_use`")
}

func TestAnthropicCaches(t *testing.T) {
	r := start(t, simulator.Options{})
	const ask = `{"model":"m","max_tokens":50,"system":[{"type":"text","text":"be brief and kind","cache_control":{"type":"ephemeral","ttl":"1h"}}],
		"messages":[{"role":"user","content":[{"type":"text","text":"one two three","cache_control":{"type":"ephemeral"}}]},
		{"role":"assistant","content":"four"},{"role":"user","content":"five"}]}`
	usage := func(body string) gjson.Result {
		return r.good(http.MethodPost, anthropicPath, anthropicHeader(), body).Get("usage")
	}
	one := usage(ask)
	require.Equal(t, int64(4), one.Get("cache_creation.ephemeral_1h_input_tokens").Int())
	require.Equal(t, int64(6), one.Get("cache_creation.ephemeral_5m_input_tokens").Int())
	require.Equal(t, int64(10), one.Get("cache_creation_input_tokens").Int())
	require.Zero(t, one.Get("cache_read_input_tokens").Int())
	two := usage(ask)
	require.Equal(t, int64(10), two.Get("cache_read_input_tokens").Int())
	require.Zero(t, two.Get("cache_creation_input_tokens").Int())
	require.Equal(t, one.Get("input_tokens").Int(), two.Get("input_tokens").Int())
	part := usage(with(ask, "one two", "won two"))
	require.Equal(t, int64(4), part.Get("cache_read_input_tokens").Int())
	require.Equal(t, int64(6), part.Get("cache_creation_input_tokens").Int())

	events := r.streamed(anthropicPath, anthropicHeader(), with(ask, `"max_tokens"`, `"stream":true,"max_tokens"`))
	require.Equal(t, int64(10), events[0].Get("message.usage.cache_read_input_tokens").Int())

	other := header("X-Api-Key", simulator.AnthropicKey+"-two", "Anthropic-Version", "2023-06-01")
	require.Zero(t, r.good(http.MethodPost, anthropicPath, other, ask).Get("usage.cache_read_input_tokens").Int(), "another customer's cache")
}

func TestAnthropicAnswersInFull(t *testing.T) {
	r := start(t, simulator.Options{})
	ask := func(model, more string) gjson.Result {
		return r.good(http.MethodPost, anthropicPath, anthropicHeader(), `{"model":"`+model+`","max_tokens":100,"messages":[{"role":"user","content":[
			{"type":"text","text":"what is it"},{"type":"image","source":{"type":"url","url":"https://img.example/a.png"}},
			{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0xLjQ="},"title":"a.pdf"}]}]`+more+`}`)
	}
	require.Contains(t, ask("m", "").Get("content.0.text").Str, "1 image. I read 1 document")
	require.Equal(t, "refusal", ask("m-refuse", "").Get("stop_reason").Str)
	stopped := ask("m", `,"stop_sequences":["You wrote"]`)
	require.Equal(t, "stop_sequence", stopped.Get("stop_reason").Str)
	require.Equal(t, "You wrote", stopped.Get("stop_sequence").Str)
	shaped := ask("m", `,"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"a":{"const":1}},"additionalProperties":false}}}`)
	require.JSONEq(t, `{"a":1}`, shaped.Get("content.0.text").Str)
	count := r.good(http.MethodPost, anthropicPath+"/count_tokens", anthropicHeader(), `{"model":"m","messages":[{"role":"user","content":"one two"}]}`)
	require.Equal(t, int64(5), count.Get("input_tokens").Int())
	r.refused(anthropicPath+"/count_tokens", anthropicHeader(), `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"one two"}]}`, 400, "max_tokens: Extra inputs")
	merged := r.good(http.MethodPost, anthropicPath, anthropicHeader(), `{"model":"m","max_tokens":100,"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}`)
	require.Equal(t, "end_turn", merged.Get("stop_reason").Str, "turns of one role are one, as at Anthropic")

	for fault, want := range map[string]struct {
		status int
		words  string
	}{
		"status-529": {529, "overloaded_error"}, "quota": {400, "credit balance is too low"}, "context": {400, "prompt is too long"},
		"policy": {400, "content filtering policy"}, "auth": {401, "invalid x-api-key"},
	} {
		r.refused(anthropicPath, anthropicHeader(), with(anthropicAsk, "claude-sim", "fault-"+fault), want.status, want.words)
	}
}
