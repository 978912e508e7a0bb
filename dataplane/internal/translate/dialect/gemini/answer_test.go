package gemini_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/gemini"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

func TestFinishes(t *testing.T) {
	for reason, want := range map[string]conversation.Finish{
		"STOP": conversation.Stop, "MAX_TOKENS": conversation.Length, "SAFETY": conversation.ContentFilter,
		"RECITATION": conversation.ContentFilter, "BLOCKLIST": conversation.ContentFilter,
		"PROHIBITED_CONTENT": conversation.ContentFilter, "SPII": conversation.ContentFilter,
		"IMAGE_SAFETY": conversation.ContentFilter, "LANGUAGE": conversation.Failed, "OTHER": conversation.Failed,
		"MALFORMED_FUNCTION_CALL": conversation.Failed, "UNEXPECTED_TOOL_CALL": conversation.Failed,
		"SOMETHING_NEW": conversation.Failed, "CONTINUATION": conversation.Paused,
	} {
		r, failure := gemini.New().DecodeReply([]byte(`{"candidates":[{"finishReason":"` + reason + `"}]}`))
		require.Nil(t, failure)
		require.Equal(t, want, r.Choices[0].Finish, reason)
	}
	call := conversation.Part{Kind: conversation.Call, Call: &conversation.ToolCall{ID: "a", Name: "f"}}
	refusal := conversation.Part{Kind: conversation.Refusal, Text: "No."}
	for _, c := range []struct {
		finish conversation.Finish
		part   conversation.Part
		reason string
		back   conversation.Finish
	}{
		{conversation.Stop, text("x"), "STOP", conversation.Stop},
		{conversation.ToolCalls, call, "STOP", conversation.ToolCalls},
		{conversation.Length, call, "MAX_TOKENS", conversation.Length},
		{conversation.Stop, refusal, "SAFETY", conversation.ContentFilter},
		{conversation.Refused, text("No."), "SAFETY", conversation.ContentFilter},
		{"", text("x"), "STOP", conversation.Stop},
	} {
		body := gemini.New().EncodeReply(&conversation.Reply{Choices: []conversation.Choice{{Finish: c.finish, Parts: []conversation.Part{c.part}}}}, told)
		require.Equal(t, c.reason, gjson.GetBytes(body, "candidates.0.finishReason").String())
		back, failure := gemini.New().DecodeReply(body)
		require.Nil(t, failure)
		require.Equal(t, c.back, back.Choices[0].Finish)
		stream := writeStream([]conversation.Event{
			{Kind: conversation.Opened, Part: conversation.Part{Kind: c.part.Kind, Call: c.part.Call}},
			{Kind: conversation.Added, Text: c.part.Text},
			{Kind: conversation.Closed},
			{Kind: conversation.Stopped, Finish: c.finish},
		})
		require.Contains(t, stream, `"finishReason":"`+c.reason+`"`)
	}
}

func writeStream(events []conversation.Event) string {
	encoder := gemini.New().EncodeStream(told)
	var out []byte
	for i := range events {
		out = encoder.Encode(out, &events[i])
	}
	return string(encoder.End(out))
}

func TestUsage(t *testing.T) {
	for in, want := range map[string]meter.Usage{
		`{"promptTokenCount":10,"candidatesTokenCount":5,"totalTokenCount":15}`:                         {Input: 10, Output: 5},
		`{"promptTokenCount":10,"cachedContentTokenCount":4,"candidatesTokenCount":5}`:                  {Input: 6, CachedRead: 4, Output: 5},
		`{"promptTokenCount":10,"candidatesTokenCount":5,"thoughtsTokenCount":7,"totalTokenCount":22}`:  {Input: 10, Output: 5, Reasoning: 7},
		`{"promptTokenCount":10,"candidatesTokenCount":12,"thoughtsTokenCount":7,"totalTokenCount":22}`: {Input: 10, Output: 5, Reasoning: 7}, // inside: only so it adds up
		`{"promptTokenCount":10,"thoughtsTokenCount":7,"totalTokenCount":17}`:                           {Input: 10, Reasoning: 7},
		`{"promptTokenCount":10,"toolUsePromptTokenCount":100,"candidatesTokenCount":5}`:                {Input: 110, Output: 5},
		`{"promptTokenCount":1300,"candidatesTokenCount":5,"promptTokensDetails":[{"modality":"TEXT","tokenCount":10},{"modality":"IMAGE","tokenCount":258},{"modality":"AUDIO","tokenCount":32},{"modality":"VIDEO","tokenCount":1000}]}`: {Input: 1010, Image: 258, AudioInput: 32, Output: 5},
		`{"promptTokenCount":300,"cachedContentTokenCount":290,"promptTokensDetails":[{"modality":"AUDIO","tokenCount":290}],"cacheTokensDetails":[{"modality":"AUDIO","tokenCount":280}]}`:                                                {CachedRead: 290, AudioInput: 10},
		`{"promptTokenCount":1,"candidatesTokenCount":30,"candidatesTokensDetails":[{"modality":"AUDIO","tokenCount":25}]}`:                                                                                                                {Input: 1, Output: 5, AudioOutput: 25},
		`{"promptTokenCount":1,"cachedContentTokenCount":9,"promptTokensDetails":[{"modality":"IMAGE","tokenCount":9}]}`:                                                                                                                   {CachedRead: 1},
		`{"promptTokenCount":0,"totalTokenCount":0}`:              {},
		`{"promptTokenCount":-5}`:                                 {},
		`{"promptTokenCount":200000000,"candidatesTokenCount":1}`: {},
		`5`: {},
	} {
		r, failure := gemini.New().DecodeReply([]byte(`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":` + in + `}`))
		require.Nil(t, failure)
		require.Equal(t, conversation.Usage{Usage: want, Known: want != meter.Usage{}}, r.Usage, in)
		o := gemini.New().Observe()
		_, err := o.Event(nil, []byte(`{"candidates":[],"usageMetadata":`+in+`}`))
		require.NoError(t, err)
		require.Equal(t, r.Usage, o.Seen().Usage, "the observer reads the same")
	}
}

func TestFailedReplies(t *testing.T) {
	for body, class := range map[string]upstream.Class{
		``: upstream.MalformedReply, `{}`: upstream.MalformedReply, `[]`: upstream.MalformedReply, `{"candidates":5}`: upstream.MalformedReply,
		`{"candidates":[]}`: upstream.MalformedReply, `{"candidates":[{}]} x`: upstream.MalformedReply,
		`{"promptFeedback":{}}`:                                upstream.MalformedReply,
		`{"choices":[{"message":{"content":"x"}}]}`:            upstream.MalformedReply,
		`{"error":{"code":500,"message":"x"}}`:                 upstream.ErrorInReply,
		`[{"error":{"code":500,"message":"x"}}]`:               upstream.ErrorInReply,
		`{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}`: upstream.RateLimited,
	} {
		_, failure := gemini.New().DecodeReply([]byte(body))
		require.NotNil(t, failure, body)
		require.Equal(t, class, failure.Class, body)
		sight, err := gemini.New().Observe().Whole([]byte(body))
		if class == upstream.MalformedReply {
			require.ErrorIs(t, err, dialect.ErrMalformed, body)
			continue
		}
		require.NoError(t, err, body)
		require.Equal(t, class, sight.Failure.Class, body)
	}
}

// What another family's model proved its thoughts with goes to a caller of
// this format as bytes, and comes back for that family alone.
func TestProofsOfOthers(t *testing.T) {
	parts := []conversation.Part{
		thought(conversation.Thinking{Text: "hm", Signature: "sig+/=", Origin: conversation.Anthropic}),
		thought(conversation.Thinking{Data: "redacted", Origin: conversation.Anthropic}),
		text("A"),
		thought(conversation.Thinking{Text: "summary", Data: "encrypted", Origin: conversation.OpenAI}),
		called("a", "f", "{}"),
		thought(conversation.Thinking{Data: "c2ln", Origin: conversation.Google}),
	}
	body := gemini.New().EncodeReply(&conversation.Reply{Choices: []conversation.Choice{{Parts: parts, Finish: conversation.ToolCalls}}}, told)
	for _, signature := range gjson.GetBytes(body, "candidates.0.content.parts.#.thoughtSignature").Array() {
		_, err := base64.StdEncoding.DecodeString(signature.String())
		require.NoError(t, err, "Google's clients read bytes")
	}
	check := func(content string) {
		r, violations := gemini.New().DecodeRequest([]byte(`{"contents":[` + content + `]}`))
		require.Empty(t, violations)
		require.Equal(t, []conversation.Message{said(conversation.Assistant, parts...)}, r.Messages)
	}
	check(gjson.GetBytes(body, "candidates.0.content").Raw)

	// Streamed, as a client keeps the pieces.
	var events []conversation.Event
	add := func(e conversation.Event) { events = append(events, e) }
	for i, p := range parts {
		add(conversation.Event{Kind: conversation.Opened, Index: i, Part: conversation.Part{Kind: p.Kind, Call: p.Call, Thought: &conversation.Thinking{}}})
		if p.Thought != nil {
			add(conversation.Event{Kind: conversation.Added, Index: i, Text: p.Thought.Text})
			half := len(p.Thought.Signature) / 2
			add(conversation.Event{Kind: conversation.Signed, Index: i, Part: thought(conversation.Thinking{Signature: p.Thought.Signature[:half], Origin: p.Thought.Origin})})
			add(conversation.Event{Kind: conversation.Signed, Index: i, Part: thought(conversation.Thinking{Signature: p.Thought.Signature[half:], Data: p.Thought.Data})})
		}
		add(conversation.Event{Kind: conversation.Added, Index: i, Text: p.Text})
		add(conversation.Event{Kind: conversation.Closed, Index: i})
	}
	add(conversation.Event{Kind: conversation.Stopped, Finish: conversation.ToolCalls})
	var contents []string
	for _, e := range eventsOf(t, writeStream(events)) {
		contents = append(contents, gjson.Get(e, "candidates.0.content").Raw)
	}
	check(strings.Join(contents, ","))
}

func eventsOf(t *testing.T, stream string) []string {
	var out []string
	for _, event := range strings.SplitAfter(stream, "\n\n") {
		if event == "" {
			continue
		}
		data, found := strings.CutPrefix(event, "data: ")
		require.True(t, found && strings.Count(event, "\n") == 2, "%q", event)
		require.True(t, json.Valid([]byte(data)), data)
		out = append(out, strings.TrimSpace(data))
	}
	return out
}

// A call waits for those that began before it, and its arguments are one line
// whatever the model wrote.
func TestOverlappingCalls(t *testing.T) {
	open := func(i int, name string) conversation.Event {
		return conversation.Event{Kind: conversation.Opened, Index: i, Part: called(name, name, "")}
	}
	add := func(i int, s string) conversation.Event {
		return conversation.Event{Kind: conversation.Added, Index: i, Text: s}
	}
	events := eventsOf(t, writeStream([]conversation.Event{
		open(0, "a"), open(1, "b"), add(1, "{}"),
		{Kind: conversation.Closed, Index: 1},
		add(0, "{\n \"x\" :"), add(0, " \"1 2\"\r\n}"),
		{Kind: conversation.Stopped, Finish: conversation.ToolCalls}, // and no end of the first
	}))
	require.Len(t, events, 3)
	require.JSONEq(t, `{"id":"a","name":"a","args":{"x":"1 2"}}`, gjson.Get(events[0], "candidates.0.content.parts.0.functionCall").Raw)
	require.JSONEq(t, `{"id":"b","name":"b","args":{}}`, gjson.Get(events[1], "candidates.0.content.parts.0.functionCall").Raw)
	require.Equal(t, "STOP", gjson.Get(events[2], "candidates.0.finishReason").String())
}

// Sound comes in pieces of base64 that end anywhere.
func TestStreamedAudio(t *testing.T) {
	sound := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("sound!?"), 9))
	events := []conversation.Event{{Kind: conversation.Opened, Part: media(conversation.Audio, conversation.Media{ID: "x"})}, {Kind: conversation.Added, Text: "Hi."}}
	for rest := sound; rest != ""; {
		n := min(7, len(rest))
		events = append(events, conversation.Event{Kind: conversation.Sounded, Text: rest[:n]})
		rest = rest[n:]
	}
	events = append(events, conversation.Event{Kind: conversation.Closed}, conversation.Event{Kind: conversation.Stopped, Finish: conversation.Stop})
	var heard strings.Builder
	for _, e := range eventsOf(t, writeStream(events)) {
		raw, err := base64.StdEncoding.DecodeString(gjson.Get(e, "candidates.0.content.parts.0.inlineData.data").String())
		require.NoError(t, err)
		heard.Write(raw)
	}
	require.Equal(t, strings.Repeat("sound!?", 9), heard.String())
}

// Ids that are made up for calls do not repeat from one answer to the next.
func TestMadeUpIDs(t *testing.T) {
	id := func(responseID string) string {
		r, failure := gemini.New().DecodeReply([]byte(`{"candidates":[{"index":0},{"index":1,"content":{"parts":[{"functionCall":{"name":"f"}},{"functionCall":{"name":"f"}}]}}],"responseId":"` + responseID + `"}`))
		require.Nil(t, failure)
		return r.Choices[1].Parts[1].Call.ID
	}
	require.Equal(t, "call_abc-_1_1_1", id("abc-_1"))
	require.Equal(t, "call_1_1", id(""))
	require.Equal(t, "call_1_1", id("not a word"))
	require.Equal(t, "call_1_1", id(strings.Repeat("x", 29)))
}

func TestStreamFailures(t *testing.T) {
	decode := func(e sse.Event) *upstream.Failure {
		_, failure, err := gemini.New().DecodeStream().Decode(e, nil)
		require.NoError(t, err)
		return failure
	}
	require.Equal(t, upstream.ErrorInStream, decode(sse.Event{Data: []byte(`{"error":{"code":500,"message":"x"}}`)}).Class)
	require.Equal(t, upstream.ErrorInStream, decode(sse.Event{Name: []byte("error"), Data: []byte(`broken`)}).Class)
	require.Nil(t, decode(sse.Event{Data: []byte(`{"error":{}}`)}))
	_, failure := gemini.New().DecodeStream().End(nil)
	require.Equal(t, upstream.StreamCut, failure.Class)
}
