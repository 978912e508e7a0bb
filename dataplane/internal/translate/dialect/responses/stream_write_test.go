package responses_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/dialecttest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/responses"
)

// kinds are the types of a stream's events, those about an item with its index.
func kinds(t *testing.T, text string) []string {
	t.Helper()
	var out []string
	r := sse.NewReader(strings.NewReader(text), sse.MaxEvent)
	for e, err := r.Next(); err == nil; e, err = r.Next() {
		require.True(t, json.Valid(e.Data))
		kind := strings.TrimPrefix(string(e.Name), "response.")
		if index := gjson.GetBytes(e.Data, "output_index"); index.Exists() {
			kind += " " + index.Raw
		}
		out = append(out, kind)
	}
	return out
}

func opened(index int, part conversation.Part) conversation.Event {
	return conversation.Event{Kind: conversation.Opened, Index: index, Part: part}
}

func calling(id string) conversation.Part {
	return conversation.Part{Kind: conversation.Call, Call: &conversation.ToolCall{ID: id, Name: "f"}}
}

// A call that is whole while another goes on is told at once; the last item
// only when it is known that it was not cut.
func TestItemsAreToldWhenTheyAreWhole(t *testing.T) {
	text := stream([]conversation.Event{
		{Kind: conversation.Began},
		opened(0, conversation.Part{Kind: conversation.Text, Text: "Hi."}),
		{Kind: conversation.Closed, Index: 0},
		opened(1, calling("a")),
		opened(2, calling("b")),
		{Kind: conversation.Added, Index: 1, Text: `{"a":`},
		{Kind: conversation.Added, Index: 2, Text: `{"b":`},
		{Kind: conversation.Added, Index: 1, Text: `1}`},
		{Kind: conversation.Closed, Index: 1},
		{Kind: conversation.Added, Index: 2, Text: `2`},
		{Kind: conversation.Added, Index: 1, Text: `too late`},
		{Kind: conversation.Closed, Index: 2},
		{Kind: conversation.Stopped, Finish: conversation.Length},
	})
	require.Equal(t, []string{
		"created", "in_progress",
		"output_item.added 0", "content_part.added 0", "output_text.delta 0",
		"output_text.done 0", "content_part.done 0", "output_item.done 0",
		"output_item.added 1", "output_item.added 2",
		"function_call_arguments.delta 1", "function_call_arguments.delta 2", "function_call_arguments.delta 1",
		"function_call_arguments.done 1", "output_item.done 1",
		"function_call_arguments.delta 2", "function_call_arguments.done 2", "output_item.done 2",
		"incomplete",
	}, kinds(t, text))
	last := gjson.Parse(text[strings.LastIndex(text, "data: ")+len("data: "):]).Get("response")
	require.Equal(t, "max_output_tokens", last.Get("incomplete_details.reason").Str)
	require.Equal(t, `["completed","completed","incomplete"]`, last.Get("output.#.status").Raw)
	require.Equal(t, `{"a":1}`, last.Get("output.1.arguments").Str)
}

func TestOtherChoicesHaveNoPlace(t *testing.T) {
	text := stream([]conversation.Event{
		{Kind: conversation.Began},
		{Kind: conversation.Opened, Choice: 1},
		{Kind: conversation.Added, Choice: 1, Text: "x"},
		{Kind: conversation.Stopped, Choice: 1, Finish: conversation.Length},
	})
	require.Equal(t, []string{"created", "in_progress", "completed"}, kinds(t, text))
}

// A stream that breaks off inside the model says so.
func TestFailed(t *testing.T) {
	text := stream([]conversation.Event{{Kind: conversation.Stopped, Finish: conversation.Failed}})
	require.Equal(t, []string{"created", "in_progress", "failed"}, kinds(t, text))
	require.Contains(t, text, `"error":{"code":"server_error","message":"`)
	w := responses.New().EncodeStream(dialecttest.Told)
	w.End(nil)
	require.Empty(t, w.End(nil))
	require.Empty(t, w.Encode(nil, &conversation.Event{Kind: conversation.Began}))
}

func replied(t *testing.T, choice conversation.Choice) gjson.Result {
	t.Helper()
	body := responses.New().EncodeReply(&conversation.Reply{Choices: []conversation.Choice{choice}}, dialect.Told{ID: "req_1"})
	require.True(t, json.Valid(body))
	return gjson.ParseBytes(body)
}

func TestReplyDetails(t *testing.T) {
	thought := conversation.Part{Kind: conversation.Thought, Thought: &conversation.Thinking{ID: "rs_a", Text: "Hm."}}
	reply := replied(t, conversation.Choice{Parts: []conversation.Part{
		thought, thought,
		{Kind: conversation.Text, Text: "北京", Citations: []conversation.Citation{{URL: "https://a.example"}}},
		{Kind: conversation.Image, Media: &conversation.Media{URL: "https://img.example/a.png"}},
	}})
	require.Equal(t, `["rs_a","rs_req_1_1","msg_req_1_2","ig_req_1_3"]`, reply.Get("output.#.id").Raw, "no id stands twice")
	require.EqualValues(t, 2, reply.Get("output.2.content.0.annotations.0.end_index").Int(), "the whole text")
	require.Equal(t, "https://img.example/a.png", reply.Get("output.3.result").Str)
	require.Equal(t, "resp_req_1", reply.Get("id").Str)
}

// Logprobs are of the text, whichever items surround it; read back they are
// what they were.
func TestLogprobs(t *testing.T) {
	logprobs := json.RawMessage(`{"content":[{"token":"a","logprob":-0.10,"bytes":[97],"top_logprobs":[]},{"token":"b","logprob":-1e400,"bytes":null,"top_logprobs":[]}]}`)
	reply := &conversation.Reply{Choices: []conversation.Choice{{
		Finish: conversation.Stop, Logprobs: logprobs, Parts: []conversation.Part{{Kind: conversation.Text, Text: "ab"}},
	}}}
	back, failure := responses.New().DecodeReply(responses.New().EncodeReply(reply, dialecttest.Told))
	require.Nil(t, failure)
	require.Equal(t, string(logprobs), string(back.Choices[0].Logprobs))

	for name, after := range map[string]conversation.Event{
		"as they come": {Kind: conversation.Closed},
		"late":         opened(1, calling("a")),
	} {
		events := []conversation.Event{
			opened(0, conversation.Part{Kind: conversation.Text}),
			{Kind: conversation.Added, Text: "a"},
			{Kind: conversation.Rated, Logprobs: json.RawMessage(`{"content":[{"token":"a","logprob":-0.10,"bytes":[97],"top_logprobs":[]}]}`)},
			{Kind: conversation.Added, Text: "b"},
			{Kind: conversation.Closed},
			after,
			{Kind: conversation.Rated, Logprobs: json.RawMessage(`{"content":[{"token":"b","logprob":-1e400,"bytes":null,"top_logprobs":[]}]}`)},
			{Kind: conversation.Stopped},
		}
		read, failure, _ := decoded(t, stream(events))
		require.Nil(t, failure, name)
		require.JSONEq(t, strings.ReplaceAll(string(logprobs), "-1e400", "-1"), strings.ReplaceAll(string(folded(read).Choices[0].Logprobs), "-1e400", "-1"), name)
	}
}

// The two ways in which a function that takes nothing is called.
func TestCallsWithoutArguments(t *testing.T) {
	require.Equal(t, "{}", replied(t, conversation.Choice{Parts: []conversation.Part{calling("a")}}).Get("output.0.arguments").Str)
	text := stream([]conversation.Event{opened(0, calling("a")), {Kind: conversation.Closed}, {Kind: conversation.Stopped}})
	require.Equal(t, 4, strings.Count(text, `"{}"`), "the delta, its repetition, the item and the response")
	custom := conversation.Part{Kind: conversation.Call, Call: &conversation.ToolCall{Custom: true}}
	require.Empty(t, replied(t, conversation.Choice{Parts: []conversation.Part{custom}}).Get("output.0.input").Str)
}
