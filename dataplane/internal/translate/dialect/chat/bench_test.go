package chat_test

import (
	"os"
	"testing"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/chat"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/dialecttest"
)

const (
	contentEvent = `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"small-v1","choices":[{"index":0,"delta":{"content":"hello there"},"finish_reason":null}]}`
	callEvent    = `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"small-v1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":"}}]},"finish_reason":null}]}`
	usageEvent   = `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"small-v1","choices":[],"usage":{"prompt_tokens":80,"completion_tokens":40,"total_tokens":120}}`
)

func input(b *testing.B, file string) []byte {
	b.Helper()
	in, err := os.ReadFile("../../testdata/conversations/" + file)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	return in
}

func BenchmarkDecodeRequest(b *testing.B) {
	in := input(b, "results/request.chat.json")
	for b.Loop() {
		if _, wrong := chat.New().DecodeRequest(in); wrong != nil {
			b.Fatal(wrong)
		}
	}
}

func BenchmarkEncodeRequest(b *testing.B) {
	r, _ := chat.New().DecodeRequest(input(b, "results/request.chat.json"))
	for b.Loop() {
		if _, err := chat.New().EncodeRequest(r, dialect.Target{Model: "m"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeReply(b *testing.B) {
	in := input(b, "tools/reply.chat.json")
	for b.Loop() {
		if _, failure := chat.New().DecodeReply(in); failure != nil {
			b.Fatal(failure)
		}
	}
}

func BenchmarkEncodeReply(b *testing.B) {
	r, _ := chat.New().DecodeReply(input(b, "tools/reply.chat.json"))
	for b.Loop() {
		_ = chat.New().EncodeReply(r, dialecttest.Told)
	}
}

// The cost of one event, read from an upstream and written for a caller.
func BenchmarkStream(b *testing.B) {
	for name, data := range map[string]string{"content": contentEvent, "call": callEvent, "usage": usageEvent} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			decoder, encoder := chat.New().DecodeStream(), chat.New().EncodeStream(dialecttest.Told)
			e := sse.Event{Data: []byte(data)}
			var events []conversation.Event
			var out []byte
			for b.Loop() {
				events, _, _ = decoder.Decode(e, events[:0])
				out = out[:0]
				for i := range events {
					out = encoder.Encode(out, &events[i])
				}
			}
		})
	}
}

func BenchmarkObserve(b *testing.B) {
	data := []byte(contentEvent)
	o := chat.New().Observe()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := o.Event(nil, data); err != nil {
			b.Fatal(err)
		}
	}
}
