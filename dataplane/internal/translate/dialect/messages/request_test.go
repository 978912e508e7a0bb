package messages_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/messages"
)

// Each wrong member is told with its path and what is accepted, never with
// what was sent.
func TestViolations(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"no object":            {`[]`, ": wrong_type"},
		"nothing":              {`{}`, "messages: required"},
		"no messages":          {`{"max_tokens":1,"messages":[]}`, "messages: required"},
		"messages is text":     {`{"max_tokens":1,"messages":"SECRET"}`, "messages: wrong_type"},
		"message is text":      {`{"max_tokens":1,"messages":["SECRET"]}`, "messages.0: wrong_type"},
		"no role":              {`{"max_tokens":1,"messages":[{"content":"x"}]}`, "messages.0.role: required|messages.0.role: out_of_range"},
		"unknown role":         {`{"max_tokens":1,"messages":[{"role":"user","content":"x"},{"role":"SECRET","content":"x"}]}`, "messages.1.role: out_of_range"},
		"no content":           {`{"max_tokens":1,"messages":[{"role":"user"}]}`, "messages.0.content: required"},
		"content is a number":  {`{"max_tokens":1,"messages":[{"role":"user","content":5}]}`, "messages.0.content: wrong_type"},
		"block is text":        {in(`"SECRET"`), "messages.0.content.0: wrong_type"},
		"block without type":   {in(`{"text":"x"}`), "messages.0.content.0.type: required"},
		"unknown block":        {in(`{"type":"SECRET"}`), "messages.0.content.0.type: out_of_range"},
		"text without text":    {in(`{"type":"text"}`), "messages.0.content.0.text: required"},
		"text is a number":     {in(`{"type":"text","text":5}`), "messages.0.content.0.text: wrong_type"},
		"image without source": {in(`{"type":"image"}`), "messages.0.content.0.source: required"},
		"unknown source":       {in(`{"type":"text","text":"x"},{"type":"image","source":{"type":"SECRET"}}`), "messages.0.content.1.source.type: out_of_range"},
		"image without data":   {in(`{"type":"image","source":{"type":"base64","media_type":"image/png"}}`), "messages.0.content.0.source.data: required"},
		"document source":      {in(`{"type":"document","source":{"type":"x"}}`), "messages.0.content.0.source.type: out_of_range"},
		"document chunk":       {in(`{"type":"document","source":{"type":"content","content":[{"type":"document"}]}}`), "messages.0.content.0.source.content.0.type: out_of_range"},
		"user calls":           {in(`{"type":"tool_use","id":"a","name":"b","input":{}}`), "messages.0.content.0.type: out_of_range"},
		"assistant has result": {`{"max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"tool_result","tool_use_id":"a"}]}]}`, "messages.0.content.0.type: out_of_range"},
		"call without input":   {`{"max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b"}]}]}`, "messages.0.content.0.input: wrong_type"},
		"result without id":    {in(`{"type":"tool_result"}`), "messages.0.content.0.tool_use_id: required"},
		"block in a result":    {in(`{"type":"tool_result","tool_use_id":"a","content":[{"type":"tool_use"}]}`), "messages.0.content.0.content.0.type: out_of_range"},
		"mark":                 {in(`{"type":"text","text":"x","cache_control":{"type":"SECRET"}}`), "messages.0.content.0.cache_control.type: out_of_range"},
		"lifetime":             {in(`{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"2h"}}`), "messages.0.content.0.cache_control.ttl: out_of_range"},
		"system":               {with(`"system":5`), "system: wrong_type"},
		"image in system":      {with(`"system":[{"type":"image"}]`), "system.0.type: out_of_range"},
		"max_tokens is text":   {`{"max_tokens":"SECRET","messages":[{"role":"user","content":"x"}]}`, "max_tokens: wrong_type"},
		"max_tokens negative":  {`{"max_tokens":-1,"messages":[{"role":"user","content":"x"}]}`, "max_tokens: out_of_range"},
		"max_tokens fraction":  {`{"max_tokens":1.5,"messages":[{"role":"user","content":"x"}]}`, "max_tokens: out_of_range"},
		"temperature":          {with(`"temperature":"SECRET"`), "temperature: wrong_type"},
		"stop":                 {with(`"stop_sequences":["a",5]`), "stop_sequences.1: wrong_type"},
		"stream":               {with(`"stream":"yes"`), "stream: wrong_type"},
		"tier":                 {with(`"service_tier":"SECRET"`), "service_tier: out_of_range"},
		"metadata":             {with(`"metadata":{"user_id":5}`), "metadata.user_id: wrong_type"},
		"thinking":             {with(`"thinking":{"type":"SECRET"}`), "thinking.type: out_of_range"},
		"no budget":            {with(`"thinking":{"type":"enabled"}`), "thinking.budget_tokens: required"},
		"effort":               {with(`"output_config":{"effort":"SECRET"}`), "output_config.effort: out_of_range"},
		"format":               {with(`"output_config":{"format":{"type":"json_schema"}}`), "output_config.format.schema: required"},
		"tools":                {with(`"tools":{}`), "tools: wrong_type"},
		"tool without name":    {with(`"tools":[{"input_schema":{}}]`), "tools.0.name: required"},
		"tool without schema":  {with(`"tools":[{"name":"a"}]`), "tools.0.input_schema: required"},
		"choice":               {with(`"tool_choice":{"type":"SECRET"}`), "tool_choice.type: out_of_range"},
		"choice without name":  {with(`"tool_choice":{"type":"tool"}`), "tool_choice.name: required"},
	} {
		t.Run(name, func(t *testing.T) {
			r, violations := messages.New().DecodeRequest([]byte(c.body))
			require.Nil(t, r)
			var got []string
			for _, v := range violations {
				got = append(got, v.Path+": "+v.Code)
				require.NotContains(t, v.Message, "SECRET")
				require.NotEmpty(t, v.Message)
			}
			require.Equal(t, c.want, strings.Join(got, "|"))
		})
	}
}

func in(block string) string {
	return `{"max_tokens":1,"messages":[{"role":"user","content":[` + block + `]}]}`
}

func with(member string) string {
	return `{"max_tokens":1,"messages":[{"role":"user","content":"x"}],` + member + `}`
}

func user(text string) conversation.Message {
	return conversation.Message{Role: conversation.User, Parts: []conversation.Part{{Kind: conversation.Text, Text: text}}}
}

func called(id, name string) conversation.Message {
	return conversation.Message{Role: conversation.Assistant, Parts: []conversation.Part{
		{Kind: conversation.Call, Call: &conversation.ToolCall{ID: id, Name: name, Arguments: "{}"}},
	}}
}

func answered(id string) conversation.Message {
	return conversation.Message{Role: conversation.ToolRole, Parts: []conversation.Part{
		{Kind: conversation.Result, Result: &conversation.ToolResult{CallID: id, Parts: []conversation.Part{{Kind: conversation.Text, Text: "r"}}}},
	}}
}

var get = conversation.Tool{Name: "get", Parameters: json.RawMessage(`{"type":"object"}`)}

// What is written for an upstream: "path=value" of what counts, and what is
// degraded.
func TestEncodeRequest(t *testing.T) {
	yes, no := true, false
	proved := conversation.Part{Kind: conversation.Thought, Thought: &conversation.Thinking{Text: "t", Signature: "s", Origin: conversation.Anthropic}}
	thoughtful := called("a", "get")
	thoughtful.Parts = append([]conversation.Part{proved}, thoughtful.Parts...)
	high := conversation.Reasoning{Effort: "high"}
	for name, c := range map[string]struct {
		r        conversation.Request
		to       dialect.Target
		want     []string
		degraded string
	}{
		"no limit":              {want: []string{"max_tokens=8192"}},
		"the endpoint's limit":  {to: dialect.Target{MaxOutput: 64_000}, want: []string{"max_tokens=64000"}},
		"more than there is":    {r: conversation.Request{MaxTokens: 9_000}, to: dialect.Target{MaxOutput: 4_096}, want: []string{"max_tokens=4096"}, degraded: "max_tokens"},
		"no model in the path":  {want: []string{"model="}},
		"a model":               {to: dialect.Target{Model: "m"}, want: []string{"model=m"}},
		"room to think":         {r: conversation.Request{Reasoning: high}, want: []string{"thinking.budget_tokens=32768", "max_tokens=40960"}},
		"the endpoint's room":   {r: conversation.Request{Reasoning: high}, to: dialect.Target{MaxOutput: 64_000}, want: []string{"thinking.budget_tokens=32768", "max_tokens=64000"}},
		"little room":           {r: conversation.Request{Reasoning: high}, to: dialect.Target{MaxOutput: 16_000}, want: []string{"thinking.budget_tokens=8000", "max_tokens=16000"}},
		"a limit cuts thinking": {r: conversation.Request{Reasoning: high, MaxTokens: 5_000}, want: []string{"thinking.budget_tokens=2500", "max_tokens=5000"}},
		"no room to think":      {r: conversation.Request{Reasoning: high, MaxTokens: 1_500}, want: []string{"thinking=", "max_tokens=1500"}, degraded: "reasoning"},
		"a small budget":        {r: conversation.Request{Reasoning: conversation.Reasoning{Budget: 5}, MaxTokens: 9_000}, want: []string{"thinking.budget_tokens=1024"}},
		"no thinking":           {r: conversation.Request{Reasoning: conversation.Reasoning{Effort: "none"}}, want: []string{"thinking.type=disabled", "max_tokens=8192"}},
		"unknown effort":        {r: conversation.Request{Reasoning: conversation.Reasoning{Effort: "extreme"}}, want: []string{"thinking="}, degraded: "reasoning"},
		"adaptive":              {r: conversation.Request{Reasoning: high}, to: dialect.Target{Model: "claude-opus-4-7"}, want: []string{"thinking.type=adaptive", "output_config.effort=high", "max_tokens=8192"}},
		"adaptive by budget":    {r: conversation.Request{Reasoning: conversation.Reasoning{Budget: 5000}}, to: dialect.Target{Model: "claude-sonnet-5"}, want: []string{"thinking.type=adaptive", "output_config.effort=low"}},
		"thinking forbids": {
			r: conversation.Request{
				Reasoning: high, Temperature: "0.5", TopP: "0.5", TopK: "3", Tools: []conversation.Tool{get}, ToolChoice: conversation.ToolChoice{Mode: conversation.Required},
			},
			want: []string{"temperature=", "top_p=", "top_k=", "tool_choice.type=auto"}, degraded: "temperature tool_choice top_k top_p",
		},
		"thinking allows": {
			r:    conversation.Request{Reasoning: high, Temperature: "1", TopP: "0.97", Tools: []conversation.Tool{get}, ToolChoice: conversation.ToolChoice{Mode: conversation.None}},
			want: []string{"temperature=", "top_p=0.97", "tool_choice.type=none"},
		},
		"a turn without its thoughts": {
			r:    conversation.Request{Reasoning: high, Messages: []conversation.Message{user("x"), called("a", "get"), answered("a")}},
			want: []string{"thinking="}, degraded: "reasoning",
		},
		"a turn with its thoughts": {
			r:    conversation.Request{Reasoning: high, Messages: []conversation.Message{user("x"), thoughtful, answered("a")}},
			want: []string{"thinking.type=enabled", "messages.1.content.0.type=thinking", "messages.1.content.0.signature=s"},
		},
		"hot":            {r: conversation.Request{Temperature: "1.5"}, want: []string{"temperature=1"}, degraded: "temperature"},
		"stops of space": {r: conversation.Request{Stop: []string{"\n", "END"}}, want: []string{`stop_sequences=["END"]`}, degraded: "stop"},
		"tier":           {r: conversation.Request{ServiceTier: "flex"}, want: []string{"service_tier="}, degraded: "service_tier"},
		"long user":      {r: conversation.Request{User: strings.Repeat("u", 300)}, want: []string{"metadata="}, degraded: "user"},
		"json mode":      {r: conversation.Request{Output: &conversation.Output{Kind: conversation.JSONObject}}, want: []string{"output_config="}, degraded: "response_format"},
		"old schema": {
			r:  conversation.Request{Output: &conversation.Output{Kind: conversation.JSONSchema, Schema: json.RawMessage(`{}`)}},
			to: dialect.Target{Model: "claude-3-7-sonnet"}, want: []string{"output_config="}, degraded: "response_format",
		},
		"choice without tools": {r: conversation.Request{ToolChoice: conversation.ToolChoice{Mode: conversation.Required}, ParallelTools: &no}, want: []string{"tool_choice="}, degraded: "tool_choice"},
		"one call":             {r: conversation.Request{Tools: []conversation.Tool{get}, ParallelTools: &no}, want: []string{"tool_choice.type=auto", "tool_choice.disable_parallel_tool_use=true"}},
		"many calls":           {r: conversation.Request{Tools: []conversation.Tool{get}, ParallelTools: &yes}, want: []string{"tool_choice.disable_parallel_tool_use=false"}},
		"no calls":             {r: conversation.Request{Tools: []conversation.Tool{get}, ParallelTools: &no, ToolChoice: conversation.ToolChoice{Mode: conversation.None}}, want: []string{"tool_choice.type=none", "tool_choice.disable_parallel_tool_use="}},
		"a tool that is not sent": {
			r: conversation.Request{
				Tools: []conversation.Tool{get, {Kind: conversation.Custom, Name: "c"}}, ToolChoice: conversation.ToolChoice{Mode: conversation.One, Name: "c"},
			},
			want: []string{"tools.#=1", "tool_choice.type=auto"}, degraded: "tool_choice tools.1",
		},
		"allowed tools": {
			r: conversation.Request{
				Tools: []conversation.Tool{get, {Name: "b"}}, ToolChoice: conversation.ToolChoice{Mode: conversation.Required, Allowed: []string{"b"}},
			},
			want: []string{"tools.#=1", "tools.0.name=b", "tool_choice.type=any"}, degraded: "tool_choice.allowed tools.0",
		},
		"others' own tools": {
			r:    conversation.Request{Tools: []conversation.Tool{{Kind: conversation.Builtin, Name: "s", Raw: json.RawMessage(`{}`), Origin: conversation.OpenAI}}},
			want: []string{"tools="}, degraded: "tools.0",
		},
		"instructions alone": {
			r:    conversation.Request{Messages: []conversation.Message{{Role: conversation.Developer, Parts: []conversation.Part{{Kind: conversation.Text, Text: "do"}}}}},
			want: []string{"system=", "messages.0.role=user", "messages.0.content=do"},
		},
		"ids of other letters": {
			r:    conversation.Request{Messages: []conversation.Message{user("x"), called("functions.get:0", "get"), answered("functions.get:0")}},
			want: []string{"messages.1.content.0.id=functions_get_0", "messages.2.content.0.tool_use_id=functions_get_0"},
		},
		"text in a file": {
			r: conversation.Request{Messages: []conversation.Message{{Role: conversation.User, Parts: []conversation.Part{
				{Kind: conversation.File, Media: &conversation.Media{Name: "a.csv", Data: "YSxiCg=="}},
			}}}},
			want: []string{"messages.0.content.0.source.type=text", "messages.0.content.0.source.data=a,b\n", "messages.0.content.0.title=a.csv"},
		},
		"an image without a type": {
			r: conversation.Request{Messages: []conversation.Message{{Role: conversation.User, Parts: []conversation.Part{
				{Kind: conversation.Image, Media: &conversation.Media{Data: "/9j/AAAA", Detail: "low"}},
			}}}},
			want: []string{"messages.0.content.0.source.media_type=image/jpeg"}, degraded: "detail",
		},
		"no place": {
			r: conversation.Request{
				Seed: "1", FrequencyPenalty: "0", PresencePenalty: "0", Choices: 2, Logprobs: true, TopLogprobs: "1", Verbosity: "low", CacheKey: "k",
				Other: []string{"logit_bias"}, Messages: []conversation.Message{{Role: conversation.User, Name: "ada", Parts: []conversation.Part{{Kind: conversation.Text, Text: "x"}}}},
			},
			degraded: "frequency_penalty logit_bias logprobs messages.0.name n presence_penalty prompt_cache_key seed top_logprobs verbosity",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.r.Messages == nil {
				c.r.Messages = []conversation.Message{user("x")}
			}
			encoded, err := messages.New().EncodeRequest(&c.r, c.to)
			require.NoError(t, err)
			require.True(t, json.Valid(encoded.Body))
			for _, want := range c.want {
				path, value, _ := strings.Cut(want, "=")
				require.Equal(t, value, gjson.GetBytes(encoded.Body, path).String(), "%s of %s", path, encoded.Body)
			}
			require.Equal(t, c.degraded, strings.Join(encoded.Degraded, " "))
		})
	}
}

func TestUnable(t *testing.T) {
	for want, p := range map[string]conversation.Part{
		"audio in messages.1":                                  {Kind: conversation.Audio, Media: &conversation.Media{Data: "AAAA", MIME: "audio/wav"}},
		"video in messages.1":                                  {Kind: conversation.Video, Media: &conversation.Media{URL: "https://v.example"}},
		"an image of an unknown type in messages.1":            {Kind: conversation.Image, Media: &conversation.Media{Data: "AAAA"}},
		"an image without its data in messages.1":              {Kind: conversation.Image, Media: &conversation.Media{}},
		"a file without its content in messages.1":             {Kind: conversation.File, Media: &conversation.Media{Name: "x.pdf"}},
		"a file that is neither a PDF nor text in messages.1":  {Kind: conversation.File, Media: &conversation.Media{Data: "AAAA", MIME: "application/zip"}},
		"a file that is neither a PDF nor text in messages.1 ": {Kind: conversation.File, Media: &conversation.Media{Data: "/w==", MIME: "text/plain"}},
		"video in messages.1 ":                                 {Kind: conversation.Result, Result: &conversation.ToolResult{CallID: "a", Parts: []conversation.Part{{Kind: conversation.Video, Media: &conversation.Media{}}}}},
	} {
		r := &conversation.Request{Messages: []conversation.Message{user("x"), {Role: conversation.User, Parts: []conversation.Part{p}}}}
		_, err := messages.New().EncodeRequest(r, dialect.Target{})
		unable, ok := errors.AsType[*dialect.Unable](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, strings.TrimSpace(want), unable.What)
	}
}

// Members that say nothing, and those of the gateway, are not missed.
func TestOther(t *testing.T) {
	r, violations := messages.New().DecodeRequest([]byte(with(`"models":["a"],"provider":{"order":["x"]},"session_id":"s","preset":"p","routing":{"a":1},"provider_options":{"x":1},"mcp_servers":[],"container":null,"x":false,"speed":"fast","inference_geo":"us"`)))
	require.Empty(t, violations)
	require.Equal(t, []string{"speed", "inference_geo"}, r.Other)
}

// A request to count tokens has no limit; whether one has to be there is told
// by what is asked.
func TestNoLimit(t *testing.T) {
	r, violations := messages.New().DecodeRequest([]byte(`{"messages":[{"role":"user","content":"x"}]}`))
	require.Empty(t, violations)
	require.Zero(t, r.MaxTokens)
}
