package facts_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/facts"
)

func TestWhatAsksForCaching(t *testing.T) {
	const mark = `"cache_control":{"type":"ephemeral"}`
	for name, c := range map[string]struct {
		format facts.Format
		body   string
		want   bool
		kept   time.Duration
	}{
		"nothing":            {facts.Messages, `{"max_tokens":1,"messages":[{"role":"user","content":"x"}]}`, false, 0},
		"top level":          {facts.Messages, `{"max_tokens":1,"messages":[],` + mark + `}`, true, 0},
		"an instruction":     {facts.Messages, `{"max_tokens":1,"messages":[],"system":[{"type":"text","text":"x",` + mark + `}]}`, true, 0},
		"a part":             {facts.Messages, `{"max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"x",` + mark + `}]}]}`, true, 0},
		"a part of a result": {facts.Messages, `{"max_tokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"x",` + mark + `}]}]}]}`, true, 0},
		"a tool":             {facts.Messages, `{"max_tokens":1,"messages":[],"tools":[{"name":"f",` + mark + `}]}`, true, 0},
		"for an hour":        {facts.Messages, `{"max_tokens":1,"messages":[],"tools":[{"name":"f","cache_control":{"type":"ephemeral","ttl":"1h"}}]}`, true, time.Hour},
		"counted":            {facts.MessagesCount, `{"messages":[],` + mark + `}`, true, 0},
		"chat, a part":       {facts.Chat, `{"messages":[{"role":"user","content":[{"type":"text","text":"x",` + mark + `}]}]}`, true, 0},
		"chat, a function":   {facts.Chat, `{"messages":[],"tools":[{"type":"function","function":{"name":"f",` + mark + `}}]}`, true, 0},
		"chat, a breakpoint": {facts.Chat, `{"messages":[{"role":"user","content":[{"type":"text","text":"x","prompt_cache_breakpoint":{"mode":"explicit"}}]}]}`, true, 0},
		"responses":          {facts.Responses, `{"input":[{"role":"user","content":[{"type":"input_text","text":"x","prompt_cache_breakpoint":{"mode":"explicit"}}]}]}`, true, 0},
		"responses, a day":   {facts.Responses, `{"input":"x","prompt_cache_retention":"24h"}`, false, 24 * time.Hour},
		"chat, in memory":    {facts.Chat, `{"messages":[],"prompt_cache_retention":"in_memory"}`, false, 0},
		"gemini, a part":     {facts.Gemini, `{"contents":[{"parts":[{"text":"x",` + mark + `}]}]}`, true, 0},
		"an option":          {facts.Gemini, `{"contents":[],"provider_options":{"anthropic":{` + mark + `}}}`, true, 0},
		"another's option":   {facts.Chat, `{"messages":[],"provider_options":{"other":{` + mark + `}}}`, false, 0},
		"behind a near miss": {facts.Chat, `{"messages":[{"role":"system","content":"cache_controls, cache_"},{"role":"user","content":[{"type":"text","text":"x","prompt_cache_breakpoint":{}}]}]}`, true, 0},
		"completions":        {facts.Completions, `{"prompt":"x",` + mark + `}`, true, 0},
		"null":               {facts.Messages, `{"max_tokens":1,"messages":[],"cache_control":null}`, false, 0},
		"false":              {facts.Messages, `{"max_tokens":1,"messages":[],"cache_control":false}`, false, 0},
		"spoken of":          {facts.Chat, `{"messages":[{"role":"user","content":"what is cache_control?"},{"role":"user","content":[{"type":"text","text":"cache_control"}]}]}`, false, 0},
		"a tool's parameter": {facts.Chat, `{"messages":[],"tools":[{"type":"function","function":{"name":"f","parameters":{"properties":{` + mark + `}}}}]}`, false, 0},
		"escaped":            {facts.Messages, `{"max_tokens":1,"messages":[],"\u0063ache_control":{}}`, true, 0},
	} {
		got := parse(t, c.format, c.body, options).Caching
		require.Equal(t, c.want, got.Marked, name)
		require.Equal(t, c.kept, got.Retention, name)
	}
}

func TestThePromptCacheKey(t *testing.T) {
	for body, want := range map[string]call.Caching{
		`{}`:                            {},
		`{"prompt_cache_key":"k"}`:      {Key: "k", Stated: true},
		`{"prompt_cache_key":"\u006b"}`: {Key: "k", Stated: true},
		`{"prompt_cache_key":null}`:     {Stated: true},
		`{"prompt_cache_key":7}`:        {Stated: true},
		`{"prompt_cache_key":"` + strings.Repeat("k", facts.MaxIDBytes+1) + `"}`: {Stated: true},
	} {
		got := parse(t, facts.Chat, `{"messages":[],"x":1`+strings.Replace(body[1:], `"prompt`, `,"prompt`, 1), options).Caching
		got.Opening = call.Opening{}
		require.Equal(t, want, got, body)
	}
}

func TestWhereTheOpeningIs(t *testing.T) {
	type opening struct {
		system, tools, turns string
		prompt               bool
	}
	for name, c := range map[string]struct {
		format facts.Format
		body   string
		want   opening
	}{
		"chat":            {facts.Chat, `{"messages":[{"role":"user"}],"tools":[{}]}`, opening{tools: `[{}]`, turns: `[{"role":"user"}]`}},
		"chat, old":       {facts.Chat, `{"messages":[],"functions":[{}]}`, opening{tools: `[{}]`, turns: `[]`}},
		"responses":       {facts.Responses, `{"input":"x","instructions":"i","tools":[{}]}`, opening{`"i"`, `[{}]`, `"x"`, false}},
		"a conversation":  {facts.Responses, `{"conversation":"conv_1","input":"x"}`, opening{turns: `"conv_1"`}},
		"after the input": {facts.Responses, `{"input":"x","conversation":{"id":"conv_1"}}`, opening{turns: `{"id":"conv_1"}`}},
		"no conversation": {facts.Responses, `{"conversation":null,"input":"x"}`, opening{turns: `"x"`}},
		"messages":        {facts.Messages, `{"max_tokens":1,"system":"s","messages":[1],"tools":[2]}`, opening{`"s"`, `[2]`, `[1]`, false}},
		"gemini":          {facts.Gemini, `{"systemInstruction":{"parts":[]},"contents":[1],"tools":[2]}`, opening{`{"parts":[]}`, `[2]`, `[1]`, false}},
		"gemini, snakes":  {facts.Gemini, `{"system_instruction":{},"contents":[1]}`, opening{`{}`, ``, `[1]`, false}},
		"completions":     {facts.Completions, `{"prompt":"x"}`, opening{turns: `"x"`, prompt: true}},
		"nulls":           {facts.Messages, `{"max_tokens":1,"system":null,"messages":[],"tools":null}`, opening{turns: `[]`}},
		"embeddings":      {facts.Embeddings, `{"input":"x"}`, opening{}},
	} {
		o := parse(t, c.format, c.body, options).Caching.Opening
		require.Equal(t, c.want, opening{string(o.System), string(o.Tools), string(o.Turns), o.Prompt}, name)
	}
}
