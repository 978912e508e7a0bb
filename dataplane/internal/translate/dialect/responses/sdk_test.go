package responses_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	sdk "github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/dialecttest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/responses"
)

// everything is a reply with all that the format has a place for.
func everything() *conversation.Reply {
	return &conversation.Reply{
		ServiceTier: "priority",
		Usage:       usage(10, 20),
		Choices: []conversation.Choice{{
			Finish: conversation.ToolCalls,
			Parts: []conversation.Part{
				{Kind: conversation.Thought, Thought: &conversation.Thinking{Text: "Hm.", Signature: "sig", Origin: conversation.Anthropic}},
				{Kind: conversation.Thought, Thought: &conversation.Thinking{Data: "hidden", Origin: conversation.Google}},
				{Kind: conversation.Text, Text: "See <b>.", Citations: []conversation.Citation{
					{URL: "https://a.example", Title: "A", Start: 4, End: 7}, {Title: "a.pdf", Quote: "q"},
				}},
				{Kind: conversation.Text, Text: "More."},
				{Kind: conversation.Refusal, Text: "No."},
				{Kind: conversation.Image, Media: &conversation.Media{MIME: "image/webp", Data: "UklGRg=="}},
				{Kind: conversation.Audio, Text: "Said.", Media: &conversation.Media{ID: "a", Data: "UklGRg=="}},
				{Kind: conversation.Call, Call: &conversation.ToolCall{ID: "call_a", Name: "get", Arguments: `{"a":1}`}},
				{Kind: conversation.Call, Call: &conversation.ToolCall{ID: "call_b", Name: "now"}},
				{Kind: conversation.Call, Call: &conversation.ToolCall{ID: "call_c", Name: "run", Arguments: "ls", Custom: true}},
			},
			Logprobs: json.RawMessage(`{"content":[{"token":"x","logprob":-0.5,"bytes":[120],"top_logprobs":[]}]}`),
		}},
	}
}

// unspoken are the members that the SDK calls required and that say something
// of an account at OpenAI.
var unspoken = []string{"AccessPrograms"}

// complete demands every member that the SDK's types require, however deep.
func complete(t *testing.T, v reflect.Value, path string) {
	if as := v.MethodByName("AsAny"); as.IsValid() {
		variant := as.Call(nil)[0]
		require.False(t, variant.IsNil(), "%s is nothing that the SDK knows", path)
		complete(t, variant.Elem(), path)
		return
	}
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			complete(t, v.Index(i), path+"."+strconv.Itoa(i))
		}
	case reflect.Struct:
		meta := v.FieldByName("JSON")
		if !meta.IsValid() {
			return
		}
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if field.Name == "JSON" || slices.Contains(unspoken, field.Name) {
				continue
			}
			raw := meta.FieldByName(field.Name).MethodByName("Raw").Call(nil)[0].String()
			at := path + "." + field.Tag.Get("json")
			required := field.Tag.Get("api") == "required" || field.Tag.Get("default") != ""
			if required {
				require.NotEmpty(t, raw, "%s is missing", at)
			}
			if raw != "" && raw != "null" {
				complete(t, v.Field(i), at)
			}
		}
	default:
	}
}

func TestRepliesSuitTheSDK(t *testing.T) {
	for _, finish := range []conversation.Finish{
		conversation.Stop, conversation.Length, conversation.ToolCalls, conversation.ContentFilter, conversation.Refused, conversation.Paused, conversation.Failed,
	} {
		r := everything()
		r.Choices[0].Finish = finish
		var got sdk.Response
		require.NoError(t, json.Unmarshal(responses.New().EncodeReply(r, dialecttest.Told), &got))
		complete(t, reflect.ValueOf(got), "response")
		require.Equal(t, "See <b>.More.Said.", got.OutputText())
		require.Equal(t, "acme/small", got.Model)
		require.EqualValues(t, 30, got.Usage.TotalTokens)
		require.Len(t, got.Output, 8)
	}
	var empty sdk.Response
	require.NoError(t, json.Unmarshal(responses.New().EncodeReply(&conversation.Reply{}, dialecttest.Told), &empty))
	complete(t, reflect.ValueOf(empty), "response")
}

// The SDK's own accumulator checks the order of events, their indexes, and
// that what is repeated is what came.
func TestStreamsSuitTheSDK(t *testing.T) {
	text := stream(eventsOf(everything()))
	var all sdk.ResponseAccumulator
	r := sse.NewReader(strings.NewReader(text), sse.MaxEvent)
	next, kinds := int64(0), map[string]bool{}
	for e, err := r.Next(); err == nil; e, err = r.Next() {
		var event sdk.ResponseStreamEventUnion
		require.NoError(t, json.Unmarshal(e.Data, &event))
		require.Equal(t, string(e.Name), event.Type)
		require.Equal(t, next, event.SequenceNumber)
		complete(t, reflect.ValueOf(event), event.Type)
		var server sdk.ResponsesServerEventUnion
		require.NoError(t, json.Unmarshal(e.Data, &server))
		require.NoError(t, all.AddEvent(server), "%s", e.Data)
		kinds[event.Type] = true
		next++
	}
	got, err := all.ReconstructedResponse()
	require.NoError(t, err)
	require.Equal(t, "See <b>.More.Said.", got.OutputText())
	var names []string
	for kind := range kinds {
		names = append(names, strings.TrimPrefix(kind, "response."))
	}
	slices.Sort(names)
	require.Equal(t, []string{
		"completed", "content_part.added", "content_part.done", "created", "custom_tool_call_input.delta", "custom_tool_call_input.done",
		"function_call_arguments.delta", "function_call_arguments.done", "in_progress", "output_item.added", "output_item.done",
		"output_text.annotation.added", "output_text.delta", "output_text.done", "reasoning_summary_part.added", "reasoning_summary_part.done",
		"reasoning_summary_text.delta", "reasoning_summary_text.done", "refusal.delta", "refusal.done",
	}, names)
	plain := responses.New().EncodeReply(everything(), dialecttest.Told)
	var whole sdk.Response
	require.NoError(t, json.Unmarshal(plain, &whole))
	require.Len(t, got.Output, len(whole.Output))
	for i := range whole.Output {
		require.JSONEq(t, whole.Output[i].RawJSON(), got.Output[i].RawJSON())
	}
}
