package responses_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/dialecttest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/responses"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

const recorded = "../../testdata/conversations/*/"

// What an upstream streams is what it says when it is asked for it at once; so
// is what a caller gets of it.
func TestConversations(t *testing.T) {
	streams, err := filepath.Glob(recorded + "stream.responses.sse")
	require.NoError(t, err)
	require.NotEmpty(t, streams)
	for _, path := range streams {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			body, err := os.ReadFile(filepath.Join(dir, "request.responses.json"))
			require.NoError(t, err)
			decode(t, string(body))

			text, err := os.ReadFile(path)
			require.NoError(t, err)
			events, failure, malformed := decoded(t, string(text))
			require.Nil(t, failure)
			require.Zero(t, malformed)
			whole, err := os.ReadFile(filepath.Join(dir, "reply.responses.json"))
			require.NoError(t, err)
			reply, failure := responses.New().DecodeReply(whole)
			require.Nil(t, failure)
			require.NotEmpty(t, reply.Choices[0].Parts)
			require.True(t, reply.Usage.Known)
			same(t, reply, folded(events))

			golden(t, filepath.Join("testdata", "conversations", filepath.Base(dir)+".sse"), stream(events))
			golden(t, filepath.Join("testdata", "conversations", filepath.Base(dir)+".json"), string(responses.New().EncodeReply(reply, dialecttest.Told))+"\n")
		})
	}
}

// same demands that two replies differ in nothing but what no event has.
func same(t *testing.T, want, got *conversation.Reply) {
	t.Helper()
	s := supports()
	plain := *want
	plain.ServiceTier = ""
	require.Equal(t, dialecttest.NormalReply(&plain, &s), dialecttest.NormalReply(got, &s))
}

// sseOf makes a stream of events, each with its type.
func sseOf(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("data: " + e + "\n\n")
	}
	return b.String()
}

const (
	created = `{"type":"response.created","response":{"id":"resp_1","model":"m","status":"in_progress","output":[]}}`
	whole   = `{"type":"response.completed","response":{"id":"resp_1","model":"m","status":"completed","usage":{"input_tokens":3,"output_tokens":4,"total_tokens":7},"output":[` +
		`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"One."},{"type":"summary_text","text":"Two."}],"encrypted_content":"proof"},` +
		`{"type":"web_search_call","id":"ws_1","status":"completed"},` +
		`{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Hello.","annotations":[{"type":"url_citation","url":"https://a.example","title":"A","start_index":0,"end_index":5}],"logprobs":[{"token":"Hello."}]},{"type":"refusal","refusal":"No."}]},` +
		`{"type":"image_generation_call","id":"ig_1","result":"AA=="},` +
		`{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{\"a\":1}"},` +
		`{"type":"custom_tool_call","id":"ctc_1","call_id":"call_2","name":"g","input":"ls"}]}}`
)

func wholeReply(t *testing.T) *conversation.Reply {
	t.Helper()
	body := strings.TrimSuffix(strings.TrimPrefix(whole, `{"type":"response.completed","response":`), "}")
	reply, failure := responses.New().DecodeReply([]byte(body))
	require.Nil(t, failure)
	require.Len(t, reply.Choices[0].Parts, 6)
	return reply
}

// Whatever an upstream leaves out, the last event has it.
func TestStreamsThatLeaveThingsOut(t *testing.T) {
	reply := wholeReply(t)
	for name, lines := range map[string][]string{
		"only the end":    {whole},
		"no done events":  {created, `{"type":"response.output_item.added","output_index":2,"item":{"type":"message","content":[]}}`, `{"type":"response.output_text.delta","output_index":2,"delta":"Hel"}`, whole},
		"no added events": {created, `{"type":"response.output_text.delta","output_index":2,"content_index":0,"delta":"Hello."}`, `{"type":"response.refusal.delta","output_index":2,"content_index":1,"delta":"N"}`, whole},
		"no item events":  {created, `{"type":"response.function_call_arguments.delta","output_index":4,"delta":"{\"a\""}`, `{"type":"response.function_call_arguments.done","output_index":4,"arguments":"{\"a\":1}"}`, whole},
		"calls that come whole": {
			`{"type":"response.output_item.added","output_index":4,"item":{"type":"function_call","call_id":"call_1","name":"f","arguments":"{\"a\":1}"}}`,
			`{"type":"response.output_item.added","output_index":5,"item":{"type":"custom_tool_call","call_id":"call_2","name":"g","input":""}}`,
			`{"type":"response.custom_tool_call_input.done","output_index":5,"input":"ls"}`, whole,
		},
		"paragraphs": {
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[]}}`,
			`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"On"}`,
			`{"type":"response.reasoning_summary_text.done","output_index":0,"summary_index":0,"text":"One."}`,
			`{"type":"response.reasoning_summary_text.done","output_index":0,"summary_index":1,"text":"Two."}`, whole,
		},
		"annotations and logprobs": {
			`{"type":"response.output_text.delta","output_index":2,"delta":"Hello.","logprobs":[{"token":"Hello."}]}`,
			`{"type":"response.output_text.annotation.added","output_index":2,"annotation":{"type":"url_citation","url":"https://a.example","title":"A","start_index":0,"end_index":5}}`,
			`{"type":"response.output_text.done","output_index":2,"text":"Hello.","logprobs":[{"token":"Hello."}]}`, whole,
		},
		"items that come whole": {
			`{"type":"response.output_item.done","output_index":2,"item":{"type":"message","content":[{"type":"output_text","text":"Hello.","logprobs":[]}]}}`, whole,
		},
		"proofs that come early": {
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"pro"}}`, whole,
		},
		"a marker behind the end": {whole, `[DONE]`},
		"markers before it":       {`[DONE]`, `{"type":"keepalive","sequence_number":3}`, whole, created},
	} {
		t.Run(name, func(t *testing.T) {
			events, failure, malformed := decoded(t, sseOf(lines...))
			require.Nil(t, failure)
			require.Zero(t, malformed)
			got := folded(events)
			require.ElementsMatch(t, partsOf(reply, name), partsOf(got, name))
			require.Equal(t, reply.Choices[0].Finish, got.Choices[0].Finish)
			require.Equal(t, reply.Usage, got.Usage)
			require.JSONEq(t, string(reply.Choices[0].Logprobs), string(got.Choices[0].Logprobs))
			if lines[0] == created {
				require.Equal(t, "m", got.Model)
			}
		})
	}
}

// partsOf are the parts; an item that was told as whole without its annotations
// stays so.
func partsOf(r *conversation.Reply, name string) []string {
	var out []string
	for _, p := range r.Choices[0].Parts {
		if name == "items that come whole" {
			p.Citations = nil
		}
		text := fmt.Sprintf("%d %q %v", p.Kind, p.Text, p.Citations)
		switch {
		case p.Thought != nil:
			text += fmt.Sprintf("%+v", *p.Thought)
		case p.Call != nil:
			text += fmt.Sprintf("%+v", *p.Call)
		case p.Media != nil:
			text += fmt.Sprintf("%+v", *p.Media)
		}
		out = append(out, text)
	}
	return out
}

// Open models show the thoughts themselves.
func TestThoughtsThemselves(t *testing.T) {
	events, failure, _ := decoded(t, sseOf(
		`{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[]}}`,
		`{"type":"response.reasoning_text.delta","output_index":0,"content_index":0,"delta":"H"}`,
		`{"type":"response.reasoning_text.delta","output_index":0,"content_index":0,"delta":"m."}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"Hm."}]}}`,
		`{"type":"response.completed","response":{"status":"completed","output":[]}}`,
	))
	require.Nil(t, failure)
	require.Equal(t, []conversation.Part{{Kind: conversation.Thought, Thought: &conversation.Thinking{ID: "rs_1", Text: "Hm."}}}, folded(events).Choices[0].Parts)
}

// The last event may repeat nothing.
func TestParagraphsOfASummary(t *testing.T) {
	events, failure, _ := decoded(t, sseOf(
		`{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[]}}`,
		`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"First."}`,
		`{"type":"response.reasoning_summary_text.done","output_index":0,"summary_index":0,"text":"First."}`,
		`{"type":"response.reasoning_summary_text.done","output_index":0,"summary_index":1,"text":"Two."}`,
		`{"type":"response.completed","response":{"status":"completed","output":null}}`,
	))
	require.Nil(t, failure)
	require.Equal(t, "First.\n\nTwo.", folded(events).Choices[0].Parts[0].Thought.Text)
}

func TestStreamsThatFail(t *testing.T) {
	const delta = `{"type":"response.output_text.delta","output_index":0,"delta":"x"}`
	for name, c := range map[string]struct {
		text  string
		class upstream.Class
	}{
		"cut":                {sseOf(created, delta), upstream.StreamCut},
		"cut with a marker":  {sseOf(created, delta, "[DONE]"), upstream.StreamCut},
		"empty":              {"", upstream.StreamCut},
		"failed":             {sseOf(created, `{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"x"}}}`), upstream.ErrorInStream},
		"failed for nothing": {sseOf(`{"type":"response.failed","response":{"status":"failed","error":null}}`), upstream.ErrorInStream},
		"rate limit":         {sseOf(created, delta, `{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"x"}}}`), upstream.RateLimited},
		"context":            {sseOf(created, `{"type":"error","code":"context_length_exceeded","message":"x","param":null,"sequence_number":2}`), upstream.ContextLength},
		"nested":             {sseOf(`{"type":"error","error":{"type":"too_many_requests","code":"rate_limit_exceeded","message":"x"}}`), upstream.RateLimited},
		"by name":            {"event: error\ndata: exploded\n\n", upstream.ErrorInStream},
		"by name, as JSON":   {"event: error\ndata: {\"message\":\"x\",\"code\":\"rate_limit_exceeded\"}\n\n", upstream.RateLimited},
		"without a type":     {sseOf(`{"error":{"code":"rate_limit_exceeded","message":"x"}}`), upstream.RateLimited},
		"canceled":           {sseOf(created, `{"type":"response.completed","response":{"status":"cancelled"}}`), upstream.ErrorInStream}, //nolint:misspell // OpenAI's spelling
	} {
		t.Run(name, func(t *testing.T) {
			_, failure, _ := decoded(t, c.text)
			require.NotNil(t, failure)
			require.Equal(t, c.class, failure.Class)
		})
	}
	events, failure, malformed := decoded(t, sseOf(created, `{"type":"response.output_text`, `"x"`, delta, `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}`))
	require.Nil(t, failure)
	require.Equal(t, 2, malformed)
	require.Equal(t, conversation.Length, folded(events).Choices[0].Finish)
}

// Some providers name events in the stream alone.
func TestTypesByName(t *testing.T) {
	events, failure, _ := decoded(t, "event: response.output_text.delta\ndata: {\"delta\":\"x\"}\n\nevent: response.completed\ndata: {\"response\":{\"status\":\"completed\"}}\n\n")
	require.Nil(t, failure)
	require.Equal(t, "x", folded(events).Choices[0].Parts[0].Text)
}

func TestFinishFollowsFromTheOutput(t *testing.T) {
	const (
		call  = `{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`
		no    = `{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"No."}]}`
		hello = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello."}]}`
	)
	for _, c := range []struct {
		response string
		want     conversation.Finish
	}{
		{`{"status":"completed","output":[` + hello + `]}`, conversation.Stop},
		{`{"output":[` + hello + `]}`, conversation.Stop},
		{`{"status":"completed","output":[]}`, conversation.Stop},
		{`{"status":"completed","output":[` + hello + `,` + call + `]}`, conversation.ToolCalls},
		{`{"status":"completed","output":[` + no + `,` + call + `]}`, conversation.ToolCalls},
		{`{"status":"completed","output":[` + no + `]}`, conversation.Refused},
		{`{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[` + call + `]}`, conversation.Length},
		{`{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}`, conversation.ContentFilter},
		{`{"status":"incomplete","incomplete_details":null,"output":[]}`, conversation.Length},
	} {
		reply, failure := responses.New().DecodeReply([]byte(c.response))
		require.Nil(t, failure)
		require.Equal(t, c.want, reply.Choices[0].Finish, c.response)
		events, failure, _ := decoded(t, sseOf(`{"type":"response.completed","response":`+c.response+`}`))
		require.Nil(t, failure)
		require.Equal(t, c.want, folded(events).Choices[0].Finish, c.response)
	}
}

func TestRepliesThatAreNone(t *testing.T) {
	for body, class := range map[string]upstream.Class{
		`{"id":"resp_1","status":"failed","error":{"code":"server_error","message":"x"},"output":[]}`: upstream.ErrorInReply,
		`{"status":"failed","error":null,"output":[]}`:                                                upstream.ErrorInReply,
		`{"status":"cancelled","output":[]}`:                                                          upstream.ErrorInReply, //nolint:misspell // OpenAI's spelling
		`{"error":{"code":"rate_limit_exceeded","message":"x"}}`:                                      upstream.RateLimited,
		`{"error":"context_length_exceeded"}`:                                                         upstream.ContextLength,
		`{"detail":"x"}`:                                                                              upstream.ErrorInReply,
		`{"status":"queued","output":[]}`:                                                             upstream.MalformedReply,
		`{"choices":[]}`:                                                                              upstream.MalformedReply,
		`{"output":"x"}`:                                                                              upstream.MalformedReply,
		`{"output":[]} x`:                                                                             upstream.MalformedReply,
		`[]`:                                                                                          upstream.MalformedReply,
		``:                                                                                            upstream.MalformedReply,
	} {
		_, failure := responses.New().DecodeReply([]byte(body))
		require.NotNil(t, failure, body)
		require.Equal(t, class, failure.Class, body)
		sight, err := responses.New().Observe().Whole([]byte(body))
		switch {
		case class != upstream.MalformedReply:
			require.NotNil(t, sight.Failure, body)
			require.Equal(t, class, sight.Failure.Class, body)
		case strings.Contains(body, "queued"): // whoever asked for it, gets it
			require.NoError(t, err)
		default:
			require.ErrorIs(t, err, dialect.ErrMalformed, body)
		}
	}
}
