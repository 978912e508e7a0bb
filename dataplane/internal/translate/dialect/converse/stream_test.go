package converse_test

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"

	aws "github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/eventstream"
	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/converse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// named are events by name and data in turn.
func named(pairs ...string) []sse.Event {
	var out []sse.Event
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, sse.Event{Name: []byte(pairs[i]), Data: []byte(pairs[i+1])})
	}
	return out
}

// fold reads a stream to its end.
func fold(in []sse.Event) (*conversation.Reply, *upstream.Failure) {
	decoder := converse.New().DecodeStream()
	var folder conversation.Folder
	add := func(events []conversation.Event) {
		for i := range events {
			folder.Add(events[i])
		}
	}
	for _, e := range in {
		out, failure, _ := decoder.Decode(e, nil)
		add(out)
		if failure != nil {
			return folder.Reply(), failure
		}
	}
	out, failure := decoder.End(nil)
	add(out)
	return folder.Reply(), failure
}

const (
	begin = `{"p":"abc","role":"assistant"}`
	hello = `{"contentBlockIndex":0,"delta":{"text":"hello"},"p":"abcdefghijklmnopqrstuvwxyzABCDEFGHIJ"}`
	stop  = `{"stopReason":"end_turn"}`
)

func TestExceptions(t *testing.T) {
	for name, c := range map[string]struct {
		data  string
		class upstream.Class
	}{
		"throttlingException":         {`{"message":"Too many tokens, please wait before trying again."}`, upstream.RateLimited},
		"validationException":         {`{"message":"The value at messages.0 is wrong."}`, upstream.Rejected},
		"accessDeniedException":       {`{"message":"no"}`, upstream.CredentialRejected},
		"resourceNotFoundException":   {`{"message":"no"}`, upstream.NotFound},
		"modelTimeoutException":       {`{"message":"slow"}`, upstream.StatusTimeout},
		"internalServerException":     {`{"message":"it broke"}`, upstream.ServerError},
		"serviceUnavailableException": {`{"message":"try later"}`, upstream.Overloaded},
		"modelStreamErrorException":   {`{"message":"it broke","originalStatusCode":500}`, upstream.ErrorInStream},
		"newException":                {`{"message":"what"}`, upstream.ErrorInStream},
		"error":                       {`{"code":"InternalError","message":"it broke"}`, upstream.ErrorInStream},
	} {
		t.Run(name, func(t *testing.T) {
			r, failure := fold(named("messageStart", begin, "contentBlockDelta", hello, name, c.data))
			require.NotNil(t, failure)
			require.Equal(t, c.class, failure.Class)
			require.Equal(t, "hello", r.Choices[0].Parts[0].Text, "what came before it counts")
		})
	}
	_, failure := fold(named("validationException", `{"message":"Input is too long for requested model."}`))
	require.Equal(t, upstream.ContextLength, failure.Class)
	require.Equal(t, "Input is too long for requested model.", failure.Fault.Message)
}

func TestDecodeStream(t *testing.T) {
	text := func(s string) []conversation.Part { return []conversation.Part{{Kind: conversation.Text, Text: s}} }
	for name, c := range map[string]struct {
		in    []sse.Event
		parts []conversation.Part
		class upstream.Class
	}{
		"whole":             {named("messageStart", begin, "contentBlockDelta", hello, "messageStop", stop, "metadata", `{"usage":{"inputTokens":1,"outputTokens":1}}`), text("hello"), ""},
		"without metadata":  {named("contentBlockDelta", hello, "messageStop", stop), text("hello"), ""},
		"cut":               {named("messageStart", begin, "contentBlockDelta", hello, "metadata", `{}`), text("hello"), upstream.StreamCut},
		"unknown events":    {named("newThing", `{}`, "contentBlockDelta", hello, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"new":{}}}`, "messageStop", stop), text("hello"), ""},
		"a start for text":  {named("contentBlockStart", `{"contentBlockIndex":0,"start":{}}`, "contentBlockDelta", hello, "messageStop", stop), text("hello"), ""},
		"stopped twice":     {named("contentBlockDelta", hello, "messageStop", stop, "messageStop", `{"stopReason":"max_tokens"}`), text("hello"), ""},
		"tools of Amazon's": {named("contentBlockStart", `{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"a","name":"b","type":"server_tool_use"}}}`, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"toolUse":{"input":"{}"}}}`, "contentBlockStop", `{"contentBlockIndex":0}`, "contentBlockDelta", `{"contentBlockIndex":1,"delta":{"text":"hello"}}`, "messageStop", stop), text("hello"), ""},
		"hidden thoughts": {
			in: named("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"redactedContent":"ZA=="}}}`, "messageStop", stop),
			parts: []conversation.Part{
				{Kind: conversation.Thought, Thought: &conversation.Thinking{Data: "ZA==", Origin: conversation.Anthropic}},
			},
		},
		"unproved thoughts": {
			in:    named("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"t"}}}`, "messageStop", stop),
			parts: []conversation.Part{{Kind: conversation.Thought, Thought: &conversation.Thinking{Text: "t"}}},
		},
		"citations": {
			in: named("contentBlockDelta", hello, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"citation":{"title":"T","sourceContent":[{"text":"quo"},{"text":"te"}],"location":{"web":{"url":"https://a.example","domain":"a.example"}}}}}`, "messageStop", stop),
			parts: []conversation.Part{{
				Kind: conversation.Text, Text: "hello", Citations: []conversation.Citation{{URL: "https://a.example", Title: "T", Quote: "quote"}},
			}},
		},
		"a picture": {
			in:    named("contentBlockStart", `{"contentBlockIndex":0,"start":{"image":{"format":"png"}}}`, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"image":{"source":{"bytes":"AAAA"}}}}`, "messageStop", stop),
			parts: []conversation.Part{{Kind: conversation.Image, Media: &conversation.Media{MIME: "image/png", Data: "AAAA"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, failure := fold(c.in)
			if c.class != "" {
				require.NotNil(t, failure)
				require.Equal(t, c.class, failure.Class)
			} else {
				require.Nil(t, failure)
				require.Equal(t, conversation.Stop, r.Choices[0].Finish)
			}
			require.Equal(t, c.parts, r.Choices[0].Parts)
		})
	}
}

func TestMalformedEvents(t *testing.T) {
	for _, data := range []string{"{", "[]", "x"} {
		_, failure, err := converse.New().DecodeStream().Decode(sse.Event{Name: []byte("contentBlockDelta"), Data: []byte(data)}, nil)
		require.Nil(t, failure)
		require.ErrorIs(t, err, dialect.ErrMalformed)
	}
}

func TestReplies(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		parts  []conversation.Part
		finish conversation.Finish
	}{
		"no content":     {`{"output":{"message":{"content":[]}},"stopReason":"malformed_tool_use"}`, nil, conversation.Failed},
		"window is full": {`{"output":{"message":{"content":[{"text":"a"}]}},"stopReason":"model_context_window_exceeded"}`, []conversation.Part{say("a")}, conversation.Length},
		"guarded":        {`{"output":{"message":{"content":[{"text":"a"},{"new":{}}]}},"stopReason":"guardrail_intervened"}`, []conversation.Part{say("a")}, conversation.ContentFilter},
		"hidden": {
			body: `{"output":{"message":{"content":[{"reasoningContent":{"redactedContent":"ZA=="}},{"reasoningContent":{"reasoningText":{"text":"t"}}}]}},"stopReason":"end_turn"}`,
			parts: []conversation.Part{
				{Kind: conversation.Thought, Thought: &conversation.Thinking{Data: "ZA==", Origin: conversation.Anthropic}},
				{Kind: conversation.Thought, Thought: &conversation.Thinking{Text: "t"}},
			},
			finish: conversation.Stop,
		},
		"cited": {
			body: `{"output":{"message":{"content":[{"citationsContent":{"content":[{"text":"a"},{"text":"b"}],"citations":[{"title":"T","source":"S","sourceContent":[{"text":"q"}]}]}}]}},"stopReason":"end_turn"}`,
			parts: []conversation.Part{{
				Kind: conversation.Text, Text: "ab", Citations: []conversation.Citation{{URL: "S", Title: "T", Quote: "q"}},
			}},
			finish: conversation.Stop,
		},
		"media": {
			body: `{"output":{"message":{"content":[{"image":{"format":"png","source":{"bytes":"AAAA"}}},{"audio":{"format":"wav","source":{"bytes":"BBBB"}}},{"video":{"format":"mp4","source":{"s3Location":{"uri":"s3://b/v"}}}}]}},"stopReason":"end_turn"}`,
			parts: []conversation.Part{
				{Kind: conversation.Image, Media: &conversation.Media{MIME: "image/png", Data: "AAAA"}},
				{Kind: conversation.Audio, Media: &conversation.Media{MIME: "audio/wav", Data: "BBBB"}},
				{Kind: conversation.Video, Media: &conversation.Media{MIME: "video/mp4", URL: "s3://b/v"}},
			},
			finish: conversation.Stop,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, failure := converse.New().DecodeReply([]byte(c.body))
			require.Nil(t, failure)
			require.Equal(t, c.parts, r.Choices[0].Parts)
			require.Equal(t, c.finish, r.Choices[0].Finish)
		})
	}
	for body, class := range map[string]upstream.Class{
		`{"message":"Too many requests"}`:                           upstream.RateLimited,
		`{"__type":"InternalServerException","message":"it broke"}`: upstream.ErrorInReply,
		`{"Message":"it broke"}`:                                    upstream.ErrorInReply,
		`{"output":{}}`:                                             upstream.MalformedReply,
		`[]`:                                                        upstream.MalformedReply,
		`<html>`:                                                    upstream.MalformedReply,
	} {
		_, failure := converse.New().DecodeReply([]byte(body))
		require.NotNil(t, failure, body)
		require.Equal(t, class, failure.Class, body)
	}
}

func TestUnbelievableUsage(t *testing.T) {
	for _, usage := range []string{`{"inputTokens":-5,"outputTokens":1}`, `{"inputTokens":100000001}`, `{"inputTokens":0,"outputTokens":0}`, `null`, `[]`} {
		r, failure := converse.New().DecodeReply([]byte(`{"output":{"message":{"content":[]}},"usage":` + usage + `}`))
		require.Nil(t, failure)
		require.Equal(t, conversation.Usage{}, r.Usage, usage)
	}
	r, failure := converse.New().DecodeReply([]byte(`{"output":{"message":{"content":[]}},"usage":{"inputTokens":1,"outputTokens":2,"cacheReadInputTokens":3,"cacheWriteInputTokens":4}}`))
	require.Nil(t, failure)
	require.EqualValues(t, 4, r.Usage.CacheWrite5m, "a write that is not split is of five minutes")
}

// framed writes the golden events in Amazon's framing.
func framed(t testing.TB, in []sse.Event) []byte {
	var b bytes.Buffer
	for _, e := range in {
		m := aws.Message{Payload: e.Data}
		m.Headers.Set(":message-type", aws.StringValue("event"))
		m.Headers.Set(":event-type", aws.StringValue(e.Name))
		require.NoError(t, aws.NewEncoder().Encode(&b, m))
	}
	return b.Bytes()
}

// The events as Amazon frames them are those that the decoder is given here.
func TestFramedEvents(t *testing.T) {
	in := events(t, filepath.Join(conversations, "tools", "stream.converse.json"))
	want, failure := fold(in)
	require.Nil(t, failure)
	r := eventstream.NewReader(bytes.NewReader(framed(t, in)), sse.MaxEvent)
	var got []sse.Event
	for {
		e, err := r.Next()
		if err != nil {
			require.Equal(t, io.EOF, err)
			break
		}
		got = append(got, sse.Event{Name: bytes.Clone(e.Name), Data: bytes.Clone(e.Data)})
	}
	reply, failure := fold(got)
	require.Nil(t, failure)
	require.Equal(t, want, reply)
}

func FuzzReply(f *testing.F) {
	inputs, err := filepath.Glob(conversations + "/*/reply.converse.json")
	require.NoError(f, err)
	for _, input := range inputs {
		f.Add(read(f, input))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, failure := converse.New().DecodeReply(body)
		require.Equal(t, r == nil, failure != nil)
	})
}

// names are those of events that mean something.
var names = []string{
	"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata", "throttlingException", "error", "",
}

// FuzzStream decodes lines of data, each with a name that its first byte tells.
// A part is opened before it is added to, and closed once.
func FuzzStream(f *testing.F) {
	inputs, err := filepath.Glob(conversations + "/*/stream.converse.json")
	require.NoError(f, err)
	for _, input := range inputs {
		var text []byte
		for _, e := range events(f, input) {
			for i, name := range names {
				if name == string(e.Name) {
					text = append(append(append(text, byte('0'+i)), e.Data...), '\n')
				}
			}
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		decoder := converse.New().DecodeStream()
		var all []conversation.Event
		for line := range bytes.Lines(text) {
			e := sse.Event{Name: []byte(names[int(line[0])%len(names)]), Data: line[1:]}
			if line[0] >= '0' {
				e.Name = []byte(names[int(line[0]-'0')%len(names)])
			}
			out, _, _ := decoder.Decode(e, nil)
			all = append(all, out...)
		}
		all, _ = decoder.End(all)
		open := map[int]bool{}
		next := 0
		for _, e := range all {
			switch e.Kind {
			case conversation.Opened:
				require.Equal(t, next, e.Index)
				next++
				open[e.Index] = true
			case conversation.Added, conversation.Signed, conversation.Cited, conversation.Sounded:
				require.True(t, open[e.Index])
			case conversation.Closed:
				require.True(t, open[e.Index])
				open[e.Index] = false
			default:
			}
		}
		for _, still := range open {
			require.False(t, still)
		}
	})
}

// The cost of one event of a stream, from its frame to what it means.
func BenchmarkStream(b *testing.B) {
	stream := bytes.Repeat(framed(b, named("contentBlockDelta", hello)), 1000)
	b.ReportAllocs()
	var events []conversation.Event
	done := 0
	for done < b.N {
		decoder := converse.New().DecodeStream()
		r := eventstream.NewReader(bytes.NewReader(stream), sse.MaxEvent)
		for ; done < b.N; done++ {
			e, err := r.Next()
			if err != nil {
				break
			}
			events, _, err = decoder.Decode(e, events[:0])
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	if len(events) == 0 {
		b.Fatal("nothing was read")
	}
}

func BenchmarkRequest(b *testing.B) {
	r := &conversation.Request{Messages: []conversation.Message{user(say("hello there"))}, Tools: []conversation.Tool{get}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := converse.New().EncodeRequest(r, dialect.Target{Model: sonnet}); err != nil {
			b.Fatal(err)
		}
	}
}
