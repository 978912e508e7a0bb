package chat_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/chat"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/dialecttest"
)

func text(s string) conversation.Part { return conversation.Part{Kind: conversation.Text, Text: s} }

func says(role conversation.Role, parts ...conversation.Part) conversation.Message {
	return conversation.Message{Role: role, Parts: parts}
}

func thought(t conversation.Thinking) conversation.Part {
	return conversation.Part{Kind: conversation.Thought, Thought: &t}
}

// encoded is the request's body without its model.
func encoded(t *testing.T, r *conversation.Request, q dialect.Quirks) (string, []string) {
	t.Helper()
	e, err := chat.New().EncodeRequest(r, dialect.Target{Model: "m", Quirks: q})
	require.NoError(t, err)
	require.True(t, json.Valid(e.Body), "%s", e.Body)
	return strings.Replace(string(e.Body), `"model":"m",`, "", 1), e.Degraded
}

func TestQuirks(t *testing.T) {
	r := &conversation.Request{
		Messages: []conversation.Message{
			says(conversation.Developer, text("Be brief.")),
			says(conversation.Assistant, thought(conversation.Thinking{Text: "Hm."}),
				thought(conversation.Thinking{Text: "Own.", Signature: "sig", Origin: conversation.Anthropic}), text("hi")),
		},
		MaxTokens: 7, Stream: true, Reasoning: conversation.Reasoning{Budget: 5000, Summary: "auto"},
	}
	for name, c := range map[string]struct {
		quirks   dialect.Quirks
		want     string
		degraded []string
	}{
		"none": {
			dialect.Quirks{},
			`{"messages":[{"role":"developer","content":"Be brief."},{"role":"assistant","content":"hi"}],"max_completion_tokens":7,"stream":true,"stream_options":{"include_usage":true},"reasoning_effort":"low"}`,
			[]string{"reasoning.summary"},
		},
		"older": {
			dialect.Quirks{TokenLimit: "max_tokens", SystemRole: "system", NoStreamUsage: true, ReasoningField: "reasoning_content"},
			`{"messages":[{"role":"system","content":"Be brief."},{"role":"assistant","reasoning_content":"Hm.","content":"hi"}],"max_tokens":7,"stream":true,"reasoning_effort":"low"}`,
			nil,
		},
		"with proofs": {
			dialect.Quirks{ReasoningField: "reasoning"},
			`{"messages":[{"role":"developer","content":"Be brief."},{"role":"assistant","reasoning":"Hm.Own.","reasoning_details":[{"type":"reasoning.text","text":"Hm.","format":"unknown","index":0},{"type":"reasoning.text","text":"Own.","signature":"sig","format":"anthropic-claude-v1","index":1}],"content":"hi"}],"max_completion_tokens":7,"stream":true,"stream_options":{"include_usage":true},"reasoning_effort":"low"}`,
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, degraded := encoded(t, r, c.quirks)
			require.Equal(t, c.want, got)
			require.Equal(t, c.degraded, degraded)
		})
	}
}

func TestWritten(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	user := says(conversation.User, text("hi"))
	for name, c := range map[string]struct {
		in       *conversation.Request
		want     string
		degraded []string
	}{
		"a turn of thoughts alone is left out": {
			in:   &conversation.Request{Messages: []conversation.Message{user, says(conversation.Assistant, thought(conversation.Thinking{Text: "x"})), user}},
			want: `{"messages":[{"role":"user","content":"hi"},{"role":"user","content":"hi"}]}`,
		},
		"an empty turn is not": {
			in:   &conversation.Request{Messages: []conversation.Message{user, says(conversation.Assistant, text("")), says(conversation.Assistant)}},
			want: `{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":""},{"role":"assistant","content":""}]}`,
		},
		"calls without text have null": {
			in:   &conversation.Request{Messages: []conversation.Message{says(conversation.Assistant, conversation.Part{Kind: conversation.Call, Call: &conversation.ToolCall{ID: "a", Name: "f"}})}},
			want: `{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}]}`,
		},
		"calls with empty text have it": {
			in:   &conversation.Request{Messages: []conversation.Message{says(conversation.Assistant, text(""), conversation.Part{Kind: conversation.Call, Call: &conversation.ToolCall{ID: "a", Name: "f"}})}},
			want: `{"messages":[{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}]}`,
		},
		"a document of text is a text": {
			in: &conversation.Request{Messages: []conversation.Message{says(conversation.User,
				conversation.Part{Kind: conversation.File, Media: &conversation.Media{Text: "rows", Name: "a.csv", MIME: "text/plain"}}, text("hi"))}},
			want: `{"messages":[{"role":"user","content":[{"type":"text","text":"a.csv\n\nrows"},{"type":"text","text":"hi"}]}]}`,
		},
		"a choice does not outlive its tools": {
			in: &conversation.Request{
				Messages: []conversation.Message{user}, ToolChoice: conversation.ToolChoice{Mode: conversation.Required}, ParallelTools: new(bool),
				Tools: []conversation.Tool{{Kind: conversation.Builtin, Name: "web_search", Raw: raw(`{"type":"web_search"}`), Origin: conversation.OpenAI}},
			},
			want:     `{"messages":[{"role":"user","content":"hi"}]}`,
			degraded: []string{"parallel_tool_calls", "tool_choice", "tools.0"},
		},
		"automatic choice is what happens anyway": {
			in:   &conversation.Request{Messages: []conversation.Message{user}, ToolChoice: conversation.ToolChoice{Mode: conversation.Auto}},
			want: `{"messages":[{"role":"user","content":"hi"}]}`,
		},
		"the grammar of Responses": {
			in: &conversation.Request{
				Messages: []conversation.Message{user}, ToolChoice: conversation.ToolChoice{Mode: conversation.One, Name: "sh"},
				Tools: []conversation.Tool{
					{Kind: conversation.Custom, Name: "sh", Raw: raw(`{"type":"grammar","syntax":"lark","definition":"x"}`), Origin: conversation.OpenAI},
					{Kind: conversation.Custom, Name: "other", Raw: raw(`{}`), Origin: conversation.Google},
				},
			},
			want:     `{"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"custom","custom":{"name":"sh","format":{"type":"grammar","grammar":{"definition":"x","syntax":"lark"}}}},{"type":"custom","custom":{"name":"other"}}],"tool_choice":{"type":"custom","custom":{"name":"sh"}}}`,
			degraded: []string{"tools.1.format"},
		},
		"a schema without a name gets one": {
			in:   &conversation.Request{Messages: []conversation.Message{user}, Output: &conversation.Output{Kind: conversation.JSONSchema, Schema: raw(`{"b":1,"a":2}`)}},
			want: `{"messages":[{"role":"user","content":"hi"}],"response_format":{"type":"json_schema","json_schema":{"name":"output","schema":{"b":1,"a":2}}}}`,
		},
		"cache marks": {
			in: &conversation.Request{
				Messages: []conversation.Message{says(conversation.ToolRole, conversation.Part{
					Kind: conversation.Result, Cache: conversation.Cache5m, Result: &conversation.ToolResult{CallID: "a", Parts: []conversation.Part{text("x")}},
				})},
			},
			want:     `{"messages":[{"role":"tool","tool_call_id":"a","content":"x"}]}`,
			degraded: []string{"cache_control"},
		},
		"cache marks on tools": {
			in: &conversation.Request{
				Messages: []conversation.Message{user}, Tools: []conversation.Tool{{Name: "f", Cache: conversation.Cache1h}},
			},
			want:     `{"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f"}}]}`,
			degraded: []string{"cache_control"},
		},
		"no reasoning": {
			in:   &conversation.Request{Messages: []conversation.Message{user}, Reasoning: conversation.Reasoning{Off: true}},
			want: `{"messages":[{"role":"user","content":"hi"}],"reasoning_effort":"none"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, degraded := encoded(t, c.in, dialect.Quirks{})
			got = strings.ReplaceAll(got, `\u000a`, `\n`) // which spelling is all the same
			require.Equal(t, c.want, got)
			require.Equal(t, c.degraded, degraded)
		})
	}
}

func TestUnable(t *testing.T) {
	media := func(kind conversation.Kind, m conversation.Media) conversation.Part {
		return conversation.Part{Kind: kind, Media: &m}
	}
	image := media(conversation.Image, conversation.Media{URL: "https://img.example/a.png"})
	for want, m := range map[string]conversation.Message{
		"an image by file id in messages.0":                 says(conversation.User, media(conversation.Image, conversation.Media{FileID: "f"})),
		"a file by URL in messages.0":                       says(conversation.User, media(conversation.File, conversation.Media{URL: "https://a.example"})),
		"a video in messages.0":                             says(conversation.User, media(conversation.Video, conversation.Media{URL: "https://a.example"})),
		"a sound that is not inline in messages.0":          says(conversation.User, media(conversation.Audio, conversation.Media{URL: "https://a.example"})),
		"a sound that is neither WAV nor MP3 in messages.0": says(conversation.User, media(conversation.Audio, conversation.Media{Data: "AA==", MIME: "audio/ogg"})),
		"an image in messages.0":                            says(conversation.Assistant, image),
		"a sound in messages.0":                             says(conversation.Assistant, media(conversation.Audio, conversation.Media{Data: "AA==", MIME: "audio/wav"})),
		"a text in messages.0":                              says(conversation.ToolRole, text("stray")),
		"a tool call in messages.0":                         says(conversation.User, conversation.Part{Kind: conversation.Call, Call: &conversation.ToolCall{}}),
	} {
		_, err := chat.New().EncodeRequest(&conversation.Request{Messages: []conversation.Message{m}}, dialect.Target{})
		require.Equal(t, &dialect.Unable{What: want}, err)
	}
}

func TestReplyWritten(t *testing.T) {
	reply := func(finish conversation.Finish, parts ...conversation.Part) string {
		body := chat.New().EncodeReply(&conversation.Reply{Choices: []conversation.Choice{{Parts: parts, Finish: finish}}}, dialecttest.Told)
		_, choices, ok := strings.Cut(string(body), `"choices":[{"index":0,"message":{"role":"assistant",`)
		require.True(t, ok)
		choices, ok = strings.CutSuffix(choices, `}],"system_fingerprint":null}`)
		require.True(t, ok, "OpenRouter's client wants the member")
		return choices
	}
	require.Equal(t, `"content":"No.","refusal":null},"logprobs":null,"finish_reason":"content_filter"`,
		reply(conversation.Refused, text("No.")), "refused without saying so in a part")
	require.Equal(t, `"content":null,"refusal":"No."},"logprobs":null,"finish_reason":"stop"`,
		reply(conversation.Refused, conversation.Part{Kind: conversation.Refusal, Text: "No."}))
	require.Equal(t, `"content":null,"refusal":null},"logprobs":null,"finish_reason":"stop"`, reply(conversation.Paused))
	require.Equal(t, `"content":null,"refusal":null,"audio":{"id":"audio_req_01","data":"AA==","expires_at":1700000000,"transcript":"Hi."}},"logprobs":null,"finish_reason":"stop"`,
		reply(conversation.Stop, conversation.Part{Kind: conversation.Audio, Text: "Hi.", Media: &conversation.Media{Data: "AA=="}}))

	cited := text("déf")
	cited.Citations = []conversation.Citation{{URL: "https://a.example"}, {URL: "https://b.example", Start: 1, End: 2}, {Title: "a book"}}
	require.Equal(t, `"content":"北京déf","refusal":null,"annotations":[`+
		`{"type":"url_citation","url_citation":{"start_index":2,"end_index":5,"url":"https://a.example","title":""}},`+
		`{"type":"url_citation","url_citation":{"start_index":3,"end_index":4,"url":"https://b.example","title":""}}]},"logprobs":null,"finish_reason":"stop"`,
		reply(conversation.Stop, text("北京"), cited), "offsets count from the start of the content")
}

// What a model proves of its thoughts comes back to it through a caller.
func TestProofsComeBackFromCallers(t *testing.T) {
	for _, want := range []conversation.Thinking{
		{Text: "Hm.", Signature: "sig==", Origin: conversation.Anthropic},
		{Data: "hidden==", Origin: conversation.Anthropic},
		{Data: "gsig==", Origin: conversation.Google},
		{ID: "rs_1", Text: "Short.", Summary: true, Data: "enc==", Origin: conversation.OpenAI},
	} {
		body := chat.New().EncodeReply(&conversation.Reply{Choices: []conversation.Choice{{
			Parts: []conversation.Part{thought(want), text("42")}, Finish: conversation.Stop,
		}}}, dialecttest.Told)
		var reply struct {
			Choices []struct{ Message json.RawMessage }
		}
		require.NoError(t, json.Unmarshal(body, &reply))
		r, violations := chat.New().DecodeRequest([]byte(`{"messages":[` + string(reply.Choices[0].Message) + `]}`))
		require.Empty(t, violations)
		require.Equal(t, []conversation.Part{thought(want), text("42")}, r.Messages[0].Parts)
	}
}

func TestUsageIsToldWhenAskedFor(t *testing.T) {
	for _, asked := range []bool{true, false} {
		as := dialecttest.Told
		as.Usage = asked
		encoder := chat.New().EncodeStream(as)
		var out []byte
		usage := conversation.Usage{Known: true}
		usage.Input, usage.CacheWrite1h = 3, 4
		for _, e := range []conversation.Event{
			{Kind: conversation.Began},
			{Kind: conversation.Opened},
			{Kind: conversation.Added, Text: "hi"},
			{Kind: conversation.Metered, Usage: usage},
			{Kind: conversation.Closed},
			{Kind: conversation.Stopped, Finish: conversation.Stop},
		} {
			out = encoder.Encode(out, &e)
		}
		out = encoder.End(out)
		require.Equal(t, asked, strings.Contains(string(out), `"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":0,"total_tokens":7,`))
		require.NotContains(t, string(out), `"usage":null`, "OpenRouter's client takes no null there")
		require.Equal(t, asked, strings.Contains(string(out), `"cache_write_tokens":4`))
		chunks := strings.Split(string(out), "\n\n")
		require.Contains(t, chunks[0], `"delta":{"role":"assistant","content":"","refusal":null}`, "the role comes first")
		require.True(t, strings.HasSuffix(string(out), "data: [DONE]\n\n"))
	}
}

func TestImagesAreCounted(t *testing.T) {
	encoder := chat.New().EncodeStream(dialecttest.Told)
	var out []byte
	for i := range 2 {
		image := conversation.Part{Kind: conversation.Image, Media: &conversation.Media{MIME: "image/png", Data: "AA=="}}
		out = encoder.Encode(out, &conversation.Event{Kind: conversation.Opened, Index: i, Part: image})
	}
	require.Contains(t, string(out), `"images":[{"type":"image_url","index":1,"image_url":{"url":"data:image/png;base64,AA=="}}]`)
}

// Providers that report the usage in every chunk do not make every chunk news.
func TestUsageIsNewsOnce(t *testing.T) {
	decoder := chat.New().DecodeStream()
	metered := 0
	for _, n := range []string{"1", "1", "2"} {
		events, failure, err := decoder.Decode(sse.Event{Data: []byte(`{"choices":[],"usage":{"prompt_tokens":` + n + `}}`)}, nil)
		require.Nil(t, failure)
		require.NoError(t, err)
		metered += len(events)
	}
	require.Equal(t, 2, metered)
}

// What of a result is no text and has no form for a user either excludes.
func TestUnableInResults(t *testing.T) {
	result := conversation.Part{Kind: conversation.Result, Result: &conversation.ToolResult{CallID: "a", Parts: []conversation.Part{
		text("x"), {Kind: conversation.Image, Media: &conversation.Media{FileID: "f"}},
	}}}
	r := &conversation.Request{Messages: []conversation.Message{{Role: conversation.ToolRole, Parts: []conversation.Part{result}}}}
	_, err := chat.New().EncodeRequest(r, dialect.Target{Model: "m"})
	require.Equal(t, &dialect.Unable{What: "an image by file id in messages.0"}, err)
}
