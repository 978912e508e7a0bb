package converse_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/converse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/dialecttest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/messages"
)

var update = flag.Bool("update", false, "write the golden files")

const (
	conversations = "../../testdata/conversations"
	sonnet        = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
	nova          = "amazon.nova-pro-v1:0"
	llama         = "meta.llama3-3-70b-instruct-v1:0"
)

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, json.Indent(&b, got, "", "  "), "%s", got)
	b.WriteByte('\n')
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o750))
		require.NoError(t, os.WriteFile(file, b.Bytes(), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String(), file)
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	body, err := os.ReadFile(file)
	require.NoError(t, err)
	return body
}

// The shared requests, read as Anthropic's format has them, are written for a
// model of each kind. A case that a model cannot carry says so.
func TestRequests(t *testing.T) {
	inputs, err := filepath.Glob(conversations + "/*/request.messages.json")
	require.NoError(t, err)
	require.NotEmpty(t, inputs)
	for _, input := range inputs {
		name := filepath.Base(filepath.Dir(input))
		t.Run(name, func(t *testing.T) {
			for kind, model := range map[string]string{"claude": sonnet, "nova": nova, "llama": llama} {
				r, violations := messages.New().DecodeRequest(read(t, input))
				require.Empty(t, violations)
				var got []byte
				encoded, err := converse.New().EncodeRequest(r, dialect.Target{Model: model})
				if err != nil {
					unable, ok := errors.AsType[*dialect.Unable](err)
					require.True(t, ok)
					got = []byte(`{"unable":"` + unable.What + `"}`)
				} else {
					degraded, err := json.Marshal(encoded.Degraded)
					require.NoError(t, err)
					got = []byte(`{"body":` + string(encoded.Body) + `,"degraded":` + string(degraded) + `}`)
				}
				golden(t, filepath.Join("testdata", "request", name, kind+".json"), got)
			}
		})
	}
}

// What the format has no place for is degraded or excludes the endpoint,
// whatever is drawn.
func TestUnsupported(t *testing.T) {
	dialecttest.RunUnsupported(t, converse.New(), dialecttest.Supports{
		Target: dialect.Target{Model: "anthropic.claude-sonnet-4-20250514-v1:0"},
		Params: []string{
			"max_tokens", "temperature", "top_p", "top_k", "stop", "reasoning", "service_tier", "parallel_tool_calls", "tool_choice",
			"cache_control", "tools.0.strict",
		},
	})
	dialecttest.RunUnsupported(t, converse.New(), dialecttest.Supports{
		Target: dialect.Target{Model: llama},
		Params: []string{
			"max_tokens", "temperature", "top_p", "stop", "response_format", "service_tier", "tool_choice", "tools.0.strict",
		},
	})
}

// events are the events of a golden stream.
func events(t testing.TB, file string) []sse.Event {
	t.Helper()
	var out []sse.Event
	gjson.ParseBytes(read(t, file)).ForEach(func(_, v gjson.Result) bool {
		out = append(out, sse.Event{Name: []byte(v.Get("event").Str), Data: []byte(v.Get("data").Raw)})
		return true
	})
	require.NotEmpty(t, out)
	return out
}

// The shared replies: a stream folded is the plain reply, and what comes out
// is what Anthropic's own format says of the same.
func TestConversations(t *testing.T) {
	inputs, err := filepath.Glob(conversations + "/*/reply.converse.json")
	require.NoError(t, err)
	require.NotEmpty(t, inputs)
	for _, input := range inputs {
		dir := filepath.Dir(input)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			plain, failure := converse.New().DecodeReply(read(t, input))
			require.Nil(t, failure)
			decoder := converse.New().DecodeStream()
			var folder conversation.Folder
			for _, e := range events(t, filepath.Join(dir, "stream.converse.json")) {
				require.False(t, decoder.Done())
				out, failure, err := decoder.Decode(e, nil)
				require.NoError(t, err)
				require.Nil(t, failure)
				for i := range out {
					folder.Add(out[i])
				}
			}
			require.True(t, decoder.Done())
			rest, failure := decoder.End(nil)
			require.Nil(t, failure)
			require.Empty(t, rest)
			require.Equal(t, plain, folder.Reply())

			if strings.HasPrefix(filepath.Base(dir), "refus") {
				require.Equal(t, conversation.ContentFilter, plain.Choices[0].Finish)
				return
			}
			same, failure := messages.New().DecodeReply(read(t, filepath.Join(dir, "reply.messages.json")))
			require.Nil(t, failure)
			same.ID, same.Model, same.ServiceTier = "", "", ""
			// Thoughts are counted as output here.
			same.Usage.Output, same.Usage.Reasoning = same.Usage.OutputTotal(), 0
			require.Equal(t, same, plain)
		})
	}
}

func user(parts ...conversation.Part) conversation.Message {
	return conversation.Message{Role: conversation.User, Parts: parts}
}

func say(text string) conversation.Part {
	return conversation.Part{Kind: conversation.Text, Text: text}
}

func file(m conversation.Media) conversation.Part {
	return conversation.Part{Kind: conversation.File, Media: &m}
}

func called(id string) conversation.Message {
	return conversation.Message{Role: conversation.Assistant, Parts: []conversation.Part{
		{Kind: conversation.Call, Call: &conversation.ToolCall{ID: id, Name: "get", Arguments: "broken"}},
	}}
}

func answered(id string, parts ...conversation.Part) conversation.Message {
	return conversation.Message{Role: conversation.ToolRole, Parts: []conversation.Part{
		{Kind: conversation.Result, Result: &conversation.ToolResult{CallID: id, Parts: parts}},
	}}
}

var get = conversation.Tool{Name: "get", Parameters: json.RawMessage(`{"type":"object"}`)}

// What is written: "path=value" of what counts, and what is degraded.
func TestEncodeRequest(t *testing.T) {
	yes, no := true, false
	none := conversation.ToolChoice{Mode: conversation.None}
	history := []conversation.Message{user(say("x")), called("a"), answered("a", say("r"))}
	long := "call_" + strings.Repeat("x", 70)
	for name, c := range map[string]struct {
		r        conversation.Request
		to       dialect.Target
		want     []string
		degraded string
	}{
		"no model in the body": {to: dialect.Target{Model: sonnet}, want: []string{"model=", "modelId=", "inferenceConfig="}},
		"more than there is":   {r: conversation.Request{MaxTokens: 9000}, to: dialect.Target{MaxOutput: 4096}, want: []string{"inferenceConfig.maxTokens=4096"}, degraded: "max_tokens"},
		"hot":                  {r: conversation.Request{Temperature: "1.5"}, want: []string{"inferenceConfig.temperature=1"}, degraded: "temperature"},
		"Claude thinks": {
			r: conversation.Request{Reasoning: conversation.Reasoning{Effort: "low"}}, to: dialect.Target{Model: sonnet},
			want: []string{"additionalModelRequestFields.thinking.budget_tokens=4096", "inferenceConfig.maxTokens=12288"},
		},
		"Claude adapts": {
			r: conversation.Request{Reasoning: conversation.Reasoning{Effort: "low"}}, to: dialect.Target{Model: "anthropic.claude-opus-4-7"},
			want: []string{"additionalModelRequestFields.thinking.type=adaptive", "outputConfig.effort=low"},
		},
		"a turn without its thoughts": {
			r: conversation.Request{Reasoning: conversation.Reasoning{Effort: "low"}, Messages: history}, to: dialect.Target{Model: sonnet},
			want: []string{"additionalModelRequestFields="}, degraded: "reasoning",
		},
		"others do not":       {r: conversation.Request{Reasoning: conversation.Reasoning{Effort: "low"}}, to: dialect.Target{Model: nova}, degraded: "reasoning"},
		"top_k of Claude":     {r: conversation.Request{TopK: "5"}, to: dialect.Target{Model: sonnet}, want: []string{"additionalModelRequestFields.top_k=5"}},
		"top_k of Nova":       {r: conversation.Request{TopK: "5"}, to: dialect.Target{Model: nova}, want: []string{"additionalModelRequestFields.inferenceConfig.topK=5"}},
		"top_k of others":     {r: conversation.Request{TopK: "5"}, to: dialect.Target{Model: llama}, degraded: "top_k"},
		"which stop":          {r: conversation.Request{Stop: []string{"END", " "}}, to: dialect.Target{Model: sonnet}, want: []string{`inferenceConfig.stopSequences=["END"]`, "additionalModelResponseFieldPaths.0=/stop_sequence"}, degraded: "stop"},
		"tier":                {r: conversation.Request{ServiceTier: "flex"}, want: []string{"serviceTier.type=flex"}},
		"unknown tier":        {r: conversation.Request{ServiceTier: "scale"}, want: []string{"serviceTier="}, degraded: "service_tier"},
		"any tool":            {r: conversation.Request{Tools: []conversation.Tool{get}, ToolChoice: conversation.ToolChoice{Mode: conversation.Required}}, want: []string{"toolConfig.toolChoice={\"any\":{}}"}},
		"one tool":            {r: conversation.Request{Tools: []conversation.Tool{get}, ToolChoice: conversation.ToolChoice{Mode: conversation.One, Name: "get"}}, want: []string{"toolConfig.toolChoice.tool.name=get"}},
		"choice without tool": {r: conversation.Request{ToolChoice: conversation.ToolChoice{Mode: conversation.Required}, ParallelTools: &no}, want: []string{"toolConfig="}, degraded: "tool_choice"},
		"one call of Claude": {
			r:    conversation.Request{Tools: []conversation.Tool{get}, ParallelTools: &no, ToolChoice: conversation.ToolChoice{Mode: conversation.Required}},
			to:   dialect.Target{Model: sonnet},
			want: []string{"toolConfig.toolChoice=", "additionalModelRequestFields.tool_choice.type=any", "additionalModelRequestFields.tool_choice.disable_parallel_tool_use=true"},
		},
		"one call of others": {r: conversation.Request{Tools: []conversation.Tool{get}, ParallelTools: &no}, to: dialect.Target{Model: nova}, want: []string{"toolConfig.tools.#=1"}, degraded: "parallel_tool_calls"},
		"no call of Claude": {
			r: conversation.Request{Tools: []conversation.Tool{get}, ToolChoice: none}, to: dialect.Target{Model: sonnet},
			want: []string{"toolConfig.tools.#=1", "additionalModelRequestFields.tool_choice.type=none"},
		},
		"no call of others":               {r: conversation.Request{Tools: []conversation.Tool{get}, ToolChoice: none}, to: dialect.Target{Model: llama}, want: []string{"toolConfig="}, degraded: "tools.0"},
		"no call of others, with history": {r: conversation.Request{Tools: []conversation.Tool{get}, ToolChoice: none, Messages: history}, to: dialect.Target{Model: llama}, want: []string{"toolConfig.tools.#=1", "toolConfig.toolChoice="}, degraded: "tool_choice"},
		"a history of calls": {
			r: conversation.Request{Messages: history}, to: dialect.Target{Model: sonnet},
			want: []string{"toolConfig.tools.#=1", "toolConfig.tools.0.toolSpec.name=get", "toolConfig.tools.0.toolSpec.inputSchema.json.type=object", "messages.1.content.0.toolUse.input.arguments=broken"},
		},
		"a long id": {
			r:    conversation.Request{Tools: []conversation.Tool{get}, Messages: []conversation.Message{user(say("x")), called(long), answered(long)}},
			want: []string{"messages.1.content.0.toolUse.toolUseId=call_" + strings.Repeat("x", 42) + "_4cde1f50deb98742", "messages.2.content.0.toolResult.toolUseId=call_" + strings.Repeat("x", 42) + "_4cde1f50deb98742", "messages.2.content.0.toolResult.content=[]"},
		},
		"an id of other letters": {r: conversation.Request{Tools: []conversation.Tool{get}, Messages: []conversation.Message{user(say("x")), called("f.g:0")}}, want: []string{"messages.1.content.0.toolUse.toolUseId=f_g_0"}},
		"marks": {
			r:    conversation.Request{Messages: []conversation.Message{user(conversation.Part{Text: "x", Cache: conversation.Cache1h}, say("y"))}, Tools: []conversation.Tool{{Name: "a", Cache: conversation.Cache5m}}},
			to:   dialect.Target{Model: nova},
			want: []string{"messages.0.content.1.cachePoint.ttl=1h", "messages.0.content.2.text=y", `toolConfig.tools.1={"cachePoint":{"type":"default"}}`},
		},
		"marks of others": {r: conversation.Request{Messages: []conversation.Message{user(conversation.Part{Text: "x", Cache: conversation.Cache1h})}}, to: dialect.Target{Model: llama}, want: []string{"messages.0.content.#=1"}, degraded: "cache_control"},
		"a mark in a result": {
			r:  conversation.Request{Tools: []conversation.Tool{get}, Messages: []conversation.Message{user(say("x")), called("a"), answered("a", conversation.Part{Text: "r", Cache: conversation.Cache5m})}},
			to: dialect.Target{Model: sonnet}, want: []string{"messages.2.content.0.toolResult.content.#=1", "messages.2.content.1.cachePoint.type=default"},
		},
		"names of documents": {
			r: conversation.Request{Messages: []conversation.Message{user(
				file(conversation.Media{Data: "JVBERi0xLjQ=", Name: "a.pdf"}), file(conversation.Media{Data: "JVBERi0xLjQ=", Name: "A.B_c  é\n(1).PDF"}),
				file(conversation.Media{Data: "JVBERi0xLjQ=", Name: "a.pdf"}), file(conversation.Media{Text: "t"}), file(conversation.Media{Text: "t", MIME: "text/markdown"}), file(conversation.Media{Data: "YQ==", Name: "x.csv"}),
			)}},
			want: []string{
				"messages.0.content.0.text=a.pdf", "messages.0.content.1.document.name=a", "messages.0.content.1.document.format=pdf",
				"messages.0.content.2.document.name=A-B-c - (1)", "messages.0.content.3.document.name=a (2)", "messages.0.content.4.document.name=document",
				"messages.0.content.4.document.format=txt", "messages.0.content.4.document.source.text=t", "messages.0.content.5.document.name=document (2)",
				"messages.0.content.5.document.format=md", "messages.0.content.6.document.format=csv",
			},
		},
		"media in Amazon's store": {
			r:    conversation.Request{Messages: []conversation.Message{user(conversation.Part{Kind: conversation.Video, Media: &conversation.Media{URL: "s3://b/v.mp4", MIME: "video/mp4"}})}},
			to:   dialect.Target{Model: nova},
			want: []string{"messages.0.content.0.video.format=mp4", "messages.0.content.0.video.source.s3Location.uri=s3://b/v.mp4"},
		},
		"sound": {
			r:  conversation.Request{Messages: []conversation.Message{user(conversation.Part{Kind: conversation.Audio, Media: &conversation.Media{Data: "UklGRg==", MIME: "audio/wav"}})}},
			to: dialect.Target{Model: nova}, want: []string{"messages.0.content.0.audio.format=wav", "messages.0.content.0.audio.source.bytes=UklGRg=="},
		},
		"detail": {r: conversation.Request{Messages: []conversation.Message{user(conversation.Part{Kind: conversation.Image, Media: &conversation.Media{Data: "/9j/", Detail: "low"}})}}, want: []string{"messages.0.content.0.image.format=jpeg"}, degraded: "detail"},
		"thoughts": {
			r: conversation.Request{Messages: []conversation.Message{user(say("x")), {Role: conversation.Assistant, Parts: []conversation.Part{
				{Kind: conversation.Thought, Thought: &conversation.Thinking{Text: "t", Signature: "s", Origin: conversation.Anthropic}},
				{Kind: conversation.Thought, Thought: &conversation.Thinking{Data: "ZA==", Origin: conversation.Anthropic}},
				{Kind: conversation.Thought, Thought: &conversation.Thinking{Data: "not base64", Origin: conversation.Anthropic}},
				{Kind: conversation.Thought, Thought: &conversation.Thinking{Text: "theirs", Data: "ZA==", Origin: conversation.OpenAI}},
				say("y"),
			}}}},
			want: []string{
				"messages.1.content.#=3", "messages.1.content.0.reasoningContent.reasoningText.text=t", "messages.1.content.0.reasoningContent.reasoningText.signature=s",
				"messages.1.content.1.reasoningContent.redactedContent=ZA==", "messages.1.content.2.text=y",
			},
		},
		"schema": {
			r:  conversation.Request{Output: &conversation.Output{Kind: conversation.JSONSchema, Name: "n", Schema: json.RawMessage(`{"type": "object"}`)}},
			to: dialect.Target{Model: llama}, want: []string{"outputConfig.textFormat.type=json_schema", `outputConfig.textFormat.structure.jsonSchema.schema={"type": "object","additionalProperties":false}`, "outputConfig.textFormat.structure.jsonSchema.name=n"},
		},
		"an old model is not strict": {
			r:  conversation.Request{Tools: []conversation.Tool{{Name: "a", Strict: &yes}, {Name: "b", Strict: &no}}},
			to: dialect.Target{Model: "anthropic.claude-3-5-sonnet-20241022-v2:0"}, want: []string{"toolConfig.tools.#=2", "toolConfig.tools.0.toolSpec.strict="}, degraded: "tools.0.strict",
		},
		"json mode": {r: conversation.Request{Output: &conversation.Output{Kind: conversation.JSONObject}}, degraded: "response_format"},
		"no place":  {r: conversation.Request{Seed: "1", User: "u", Other: []string{"logit_bias"}}, degraded: "logit_bias seed user"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.r.Messages == nil {
				c.r.Messages = []conversation.Message{user(say("x"))}
			}
			encoded, err := converse.New().EncodeRequest(&c.r, c.to)
			require.NoError(t, err)
			require.True(t, json.Valid(encoded.Body), "%s", encoded.Body)
			for _, want := range c.want {
				path, value, _ := strings.Cut(want, "=")
				require.Equal(t, value, gjson.GetBytes(encoded.Body, path).String(), "%s of %s", path, encoded.Body)
			}
			require.Equal(t, c.degraded, strings.Join(encoded.Degraded, " "))
		})
	}
}

func TestUnable(t *testing.T) {
	part := func(kind conversation.Kind, m conversation.Media) conversation.Part {
		return conversation.Part{Kind: kind, Media: &m}
	}
	for name, c := range map[string]struct {
		p     conversation.Part
		model string
		want  string
	}{
		"image by URL":      {part(conversation.Image, conversation.Media{URL: "https://img.example/a.png"}), sonnet, "image by URL or file id in messages.0"},
		"image by id":       {part(conversation.Image, conversation.Media{FileID: "f"}), sonnet, "image by URL or file id in messages.0"},
		"image of tiff":     {part(conversation.Image, conversation.Media{Data: "AAAA", MIME: "image/tiff"}), sonnet, "image of a type that the format does not have in messages.0"},
		"stored, unknown":   {part(conversation.Image, conversation.Media{URL: "s3://b/x"}), sonnet, "image of an unknown type in messages.0"},
		"video for Claude":  {part(conversation.Video, conversation.Media{Data: "AAAA", MIME: "video/mp4"}), sonnet, "video in messages.0"},
		"sound for Claude":  {part(conversation.Audio, conversation.Media{Data: "AAAA", MIME: "audio/wav"}), sonnet, "audio in messages.0"},
		"file by URL":       {part(conversation.File, conversation.Media{URL: "https://a.example/a.pdf", MIME: "application/pdf"}), nova, "a file by URL or file id in messages.0"},
		"file of a strange": {part(conversation.File, conversation.Media{Data: "AAAA", MIME: "application/zip"}), nova, "a file of a type that the format does not have in messages.0"},
		"in a result": {
			conversation.Part{Kind: conversation.Result, Result: &conversation.ToolResult{CallID: "a", Parts: []conversation.Part{part(conversation.Image, conversation.Media{URL: "https://a.example"})}}},
			sonnet, "image by URL or file id in messages.0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := converse.New().EncodeRequest(&conversation.Request{Messages: []conversation.Message{user(c.p)}}, dialect.Target{Model: c.model})
			unable, ok := errors.AsType[*dialect.Unable](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, c.want, unable.What)
		})
	}
}
