package messages_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/dialecttest"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/messages"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

func event(kind, data string) string { return "event: " + kind + "\ndata: " + data + "\n\n" }

// written shows the events that a stream of neutral ones becomes, one a line.
func written(t *testing.T, events ...conversation.Event) []string {
	t.Helper()
	encoder := messages.New().EncodeStream(told)
	var out []byte
	for i := range events {
		out = encoder.Encode(out, &events[i])
	}
	return lines(t, encoder.End(out))
}

func lines(t *testing.T, stream []byte) []string {
	t.Helper()
	var out []string
	r := sse.NewReader(bytes.NewReader(stream), sse.MaxEvent)
	for {
		e, err := r.Next()
		if err != nil {
			return out
		}
		v := gjson.ParseBytes(e.Data)
		require.Equal(t, string(e.Name), v.Get("type").String())
		line := strings.TrimPrefix(string(e.Name), "content_block_")
		if v.Get("index").Exists() {
			line += " " + v.Get("index").Raw
		}
		for _, path := range []string{"content_block.type", "content_block.name", "content_block.data", "delta.type", "delta.stop_reason"} {
			if v.Get(path).Exists() {
				line += " " + v.Get(path).String()
			}
		}
		for _, path := range []string{"delta.text", "delta.thinking", "delta.signature", "delta.partial_json", "delta.citation.url"} {
			if v.Get(path).Exists() {
				line += " " + v.Get(path).String()
			}
		}
		out = append(out, line)
	}
}

func opened(index int, p conversation.Part) conversation.Event {
	return conversation.Event{Kind: conversation.Opened, Index: index, Part: p}
}

func added(index int, text string) conversation.Event {
	return conversation.Event{Kind: conversation.Added, Index: index, Text: text}
}

func over(index int) conversation.Event {
	return conversation.Event{Kind: conversation.Closed, Index: index}
}

func call(name string) conversation.Part {
	return conversation.Part{Kind: conversation.Call, Call: &conversation.ToolCall{ID: "id_" + name, Name: name}}
}

// T3: two calls whose deltas interleave come out one after the other, each
// with its own id and arguments. The first streams through.
func TestOverlappingPartsAreSequenced(t *testing.T) {
	encoder := messages.New().EncodeStream(told)
	var at [][]string
	for _, e := range []conversation.Event{
		{Kind: conversation.Began},
		opened(0, call("a")), added(0, `{"x":`), opened(1, call("b")), added(1, `{}`), added(0, `1}`), over(1), over(0),
		opened(2, call("c")), added(2, "{}"), over(2),
		{Kind: conversation.Stopped, Finish: conversation.Stop},
	} {
		at = append(at, lines(t, encoder.Encode(nil, &e)))
	}
	require.Equal(t, [][]string{
		{"message_start"},
		{"start 0 tool_use a"},
		{`delta 0 input_json_delta {"x":`},
		nil, nil,
		{`delta 0 input_json_delta 1}`},
		nil,
		{"stop 0", "start 1 tool_use b", "delta 1 input_json_delta {}", "stop 1"},
		{"start 2 tool_use c"},
		{"delta 2 input_json_delta {}"},
		{"stop 2"},
		nil,
	}, at)
	require.Equal(t, []string{"message_delta tool_use", "message_stop"}, lines(t, encoder.End(nil)))
}

// What is held has a bound; then the blocks go out beside each other.
func TestHeldPartsAreBounded(t *testing.T) {
	encoder := messages.New().EncodeStream(told)
	events := []conversation.Event{opened(0, call("a")), opened(1, call("b")), opened(2, call("c")), added(2, "{}")}
	piece := strings.Repeat("x", 64<<10)
	for range 4 {
		events = append(events, added(1, piece))
	}
	var out []byte
	for i := range events {
		out = encoder.Encode(out, &events[i])
	}
	require.Equal(t, []string{"message_start", "start 0 tool_use a", "start 1 tool_use b"}, lines(t, out)[:3])
	require.Contains(t, string(out), `"index":2`, "beyond the bound everything goes out")
	rest := []conversation.Event{added(1, "y"), over(1), over(0), over(2)}
	out = nil
	for i := range rest {
		out = encoder.Encode(out, &rest[i])
	}
	require.Equal(t, []string{"delta 1 input_json_delta y", "stop 0", "stop 1", "stop 2"}, lines(t, out))
}

func TestWrittenThoughts(t *testing.T) {
	thinking := func(t conversation.Thinking) conversation.Part {
		return conversation.Part{Kind: conversation.Thought, Thought: &t}
	}
	signed := func(t conversation.Thinking) conversation.Event {
		return conversation.Event{Kind: conversation.Signed, Part: thinking(t)}
	}
	for name, c := range map[string]struct {
		events []conversation.Event
		want   []string
	}{
		"signed": {
			[]conversation.Event{opened(0, thinking(conversation.Thinking{})), added(0, "t"), signed(conversation.Thinking{Signature: "s", Origin: conversation.Anthropic}), over(0)},
			[]string{"start 0 thinking", "delta 0 thinking_delta t", "delta 0 signature_delta s", "stop 0"},
		},
		"hidden": {
			[]conversation.Event{opened(0, thinking(conversation.Thinking{Data: "d", Origin: conversation.Anthropic})), over(0)},
			[]string{"start 0 redacted_thinking d", "stop 0"},
		},
		"another family's, hidden": {
			[]conversation.Event{opened(0, thinking(conversation.Thinking{Data: "d", Origin: conversation.Google})), over(0)},
			[]string{"start 0 redacted_thinking sb1.google.d", "stop 0"},
		},
		"another family's proof, after its text": {
			[]conversation.Event{opened(0, thinking(conversation.Thinking{ID: "rs"})), added(0, "t"), signed(conversation.Thinking{Data: "d", Origin: conversation.OpenAI}), over(0)},
			[]string{"start 0 thinking", "delta 0 thinking_delta t", "delta 0 signature_delta sb1.openai.d", "stop 0"},
		},
		"hidden, then shown": {
			[]conversation.Event{opened(0, thinking(conversation.Thinking{Data: "d", Origin: conversation.OpenAI})), added(0, "t"), over(0)},
			[]string{"start 0 thinking", "delta 0 thinking_delta t", "delta 0 signature_delta sb1.openai.d", "stop 0"},
		},
		"shown and hidden": {
			[]conversation.Event{opened(0, thinking(conversation.Thinking{})), added(0, "t"), signed(conversation.Thinking{Data: "d", Signature: "s", Origin: conversation.Anthropic}), over(0)},
			[]string{"start 0 thinking", "delta 0 thinking_delta t", "delta 0 signature_delta s", "stop 0", "start 1 redacted_thinking d", "stop 1"},
		},
		"nothing is known of it": {
			[]conversation.Event{opened(0, thinking(conversation.Thinking{})), over(0)},
			[]string{"start 0 thinking", "stop 0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := written(t, c.events...)
			require.Equal(t, c.want, got[1:len(got)-2])
		})
	}
}

func TestWrittenParts(t *testing.T) {
	image := conversation.Part{Kind: conversation.Image, Media: &conversation.Media{MIME: "image/png", Data: "AAAA"}}
	got := written(t,
		opened(0, image), over(0),
		opened(1, conversation.Part{Kind: conversation.Audio, Media: &conversation.Media{}}), added(1, "spoken"),
		conversation.Event{Kind: conversation.Sounded, Index: 1, Text: "AAAA"}, over(1),
		opened(2, conversation.Part{Kind: conversation.Refusal}), added(2, "no"), over(2),
		opened(3, conversation.Part{}), added(3, "x"),
		conversation.Event{Kind: conversation.Cited, Index: 3, Part: conversation.Part{Citations: []conversation.Citation{{URL: "https://a"}}}},
		conversation.Event{Kind: conversation.Opened, Choice: 1, Index: 4}, added(9, "of no part"),
		conversation.Event{Kind: conversation.Stopped, Finish: conversation.Stop},
	)
	require.Equal(t, []string{
		"message_start",
		"start 0 text", "delta 0 text_delta ![](data:image/png;base64,AAAA)", "stop 0",
		"start 1 text", "delta 1 text_delta spoken", "stop 1",
		"start 2 text", "delta 2 text_delta no", "stop 2",
		"start 3 text", "delta 3 text_delta x", "delta 3 citations_delta https://a", "stop 3",
		"message_delta refusal", "message_stop",
	}, got)
}

// A finish reason that other providers give belongs to what the answer holds.
func TestStopReason(t *testing.T) {
	for want, c := range map[string]conversation.Choice{
		"end_turn":      {Finish: conversation.Stop},
		"end_turn ":     {Finish: conversation.Failed},
		"end_turn  ":    {},
		"stop_sequence": {Finish: conversation.Stop, Stop: "END"},
		"max_tokens":    {Finish: conversation.Length},
		"tool_use":      {Finish: conversation.Stop, Parts: []conversation.Part{call("a")}},
		"tool_use ":     {Finish: conversation.ToolCalls},
		"refusal":       {Finish: conversation.ContentFilter},
		"refusal ":      {Finish: conversation.Stop, Parts: []conversation.Part{{Kind: conversation.Refusal, Text: "no"}}},
		"pause_turn":    {Finish: conversation.Paused},
	} {
		body := messages.New().EncodeReply(&conversation.Reply{Choices: []conversation.Choice{c}}, told)
		require.Equal(t, strings.TrimSpace(want), gjson.GetBytes(body, "stop_reason").String())
		require.Equal(t, c.Stop, gjson.GetBytes(body, "stop_sequence").String())
		if c.Finish == conversation.Stop && c.Stop != "" || c.Finish == conversation.Length || c.Finish == conversation.Paused {
			back, failure := messages.New().DecodeReply(body)
			require.Nil(t, failure)
			require.Equal(t, c.Finish, back.Choices[0].Finish)
		}
	}
}

const (
	start = `{"type":"message_start","message":{"id":"msg_1","model":"claude","usage":{"input_tokens":3,"cache_creation_input_tokens":12304,"output_tokens":1}}}`
	hello = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hello"}}`
	ended = `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":550}}`
)

// C1 and C2: what was read and written comes with message_start, the output
// with message_delta, whose numbers are totals.
func TestStreamUsage(t *testing.T) {
	r, failure := dialecttest.Fold(messages.New(), strings.NewReader(event("message_start", start)+event("message_delta", ended)))
	require.Nil(t, failure)
	require.True(t, r.Usage.Known)
	require.EqualValues(t, 3, r.Usage.Input)
	require.EqualValues(t, 12_304, r.Usage.CacheWrite5m)
	require.EqualValues(t, 550, r.Usage.Output)
}

func TestUnbelievableUsage(t *testing.T) {
	for _, usage := range []string{`{"input_tokens":-5,"output_tokens":1}`, `{"input_tokens":100000001}`, `{"input_tokens":0,"output_tokens":0}`, `null`, `[]`} {
		r, failure := messages.New().DecodeReply([]byte(`{"type":"message","content":[],"usage":` + usage + `}`))
		require.Nil(t, failure)
		require.Equal(t, conversation.Usage{}, r.Usage, usage)
	}
}

func TestDecodeStream(t *testing.T) {
	for name, c := range map[string]struct {
		stream string
		text   string
		class  upstream.Class // "" is none
	}{
		"whole":                  {event("message_start", start) + event("content_block_delta", hello) + event("message_delta", ended) + event("message_stop", `{"type":"message_stop"}`), "hello", ""},
		"without message_stop":   {event("message_delta", ended), "", ""},
		"without a block start":  {event("content_block_delta", hello) + event("message_delta", ended), "hello", ""},
		"types in the data only": {"data: " + hello + "\n\ndata: " + ended + "\n\n", "hello", ""},
		"types in the name only": {event("content_block_delta", `{"index":0,"delta":{"type":"text_delta","text":"hello"}}`) + event("message_delta", ended), "hello", ""},
		"unknown events":         {event("new_thing", `{"type":"new_thing"}`) + event("content_block_delta", hello) + event("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"new_delta"}}`) + event("message_delta", ended), "hello", ""},
		"tools of its own": {
			event("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}`) +
				event("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}`) +
				event("content_block_stop", `{"type":"content_block_stop","index":0}`) +
				event("content_block_delta", strings.Replace(hello, `"index":0`, `"index":1`, 1)) + event("message_delta", ended), "hello", "",
		},
		"cut":               {event("message_start", start) + event("content_block_delta", hello), "hello", upstream.StreamCut},
		"cut without usage": {event("message_delta", `{"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":5}}`), "", upstream.StreamCut},
		"error event":       {event("content_block_delta", hello) + event("error", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), "hello", upstream.Overloaded},
		"error by type":     {"data: {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow down\"}}\n\n", "", upstream.RateLimited},
		"error object":      {"data: {\"error\":{\"message\":\"prompt is too long: 210000 tokens\"}}\n\n", "", upstream.ContextLength},
		"error as text":     {event("error", "it broke"), "", upstream.ErrorInStream},
	} {
		t.Run(name, func(t *testing.T) {
			r, failure := dialecttest.Fold(messages.New(), strings.NewReader(c.stream))
			if c.class == "" {
				require.Nil(t, failure)
				require.Equal(t, conversation.Stop, r.Choices[0].Finish)
			} else {
				require.NotNil(t, failure)
				require.Equal(t, c.class, failure.Class)
			}
			var text string
			if len(r.Choices) > 0 {
				for _, p := range r.Choices[0].Parts {
					text += p.Text
				}
			}
			require.Equal(t, c.text, text)
		})
	}
}

func TestMalformedEvents(t *testing.T) {
	for _, data := range []string{"[DONE]", "{", "[]", "5", `{"type":"ping"} x`} {
		out, failure, err := messages.New().DecodeStream().Decode(sse.Event{Data: []byte(data)}, nil)
		require.ErrorIs(t, err, dialect.ErrMalformed, data)
		require.Nil(t, failure)
		require.Empty(t, out)
	}
}

func TestRepliesThatAreErrors(t *testing.T) {
	for body, class := range map[string]upstream.Class{
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`: upstream.Overloaded,
		`{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}`:       upstream.RateLimited,
		`{"error":"it broke"}`: upstream.ErrorInReply,
		`{"id":"x"}`:           upstream.MalformedReply,
		`{"content":"text"}`:   upstream.MalformedReply,
		`[]`:                   upstream.MalformedReply,
		`<html>`:               upstream.MalformedReply,
		``:                     upstream.MalformedReply,
	} {
		_, failure := messages.New().DecodeReply([]byte(body))
		require.NotNil(t, failure, body)
		require.Equal(t, class, failure.Class, body)
	}
}

// The cost of one event of a stream, read and written.
func BenchmarkStream(b *testing.B) {
	e := sse.Event{Name: []byte("content_block_delta"), Data: []byte(hello)}
	decoder, encoder := messages.New().DecodeStream(), messages.New().EncodeStream(told)
	var events []conversation.Event
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if events, _, err = decoder.Decode(e, events[:0]); err != nil {
			b.Fatal(err)
		}
		out = out[:0]
		for i := range events {
			out = encoder.Encode(out, &events[i])
		}
	}
	if len(out) == 0 {
		b.Fatal("nothing was written")
	}
}

func BenchmarkRequest(b *testing.B) {
	body := []byte(fmt.Sprintf(`{"model":"m","max_tokens":100,"messages":[{"role":"user","content":%q}]}`, strings.Repeat("x", 400)))
	b.ReportAllocs()
	for b.Loop() {
		r, _ := messages.New().DecodeRequest(body)
		if _, err := messages.New().EncodeRequest(r, dialect.Target{Model: "m"}); err != nil {
			b.Fatal(err)
		}
	}
}
