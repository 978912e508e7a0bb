package gemini_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/gemini"
)

// delta is an event as Google streams text.
var delta = []byte(`{"candidates": [{"content": {"parts": [{"text": "hello there, and more of it"}],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 80,"candidatesTokenCount": 12,"totalTokenCount": 92,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 80}]},"modelVersion": "gemini-3-flash-preview","responseId": "g7YqadTkJ5KW-8YPkLbT2QM"}`)

// The cost of one event of a stream: read, written, both, and only watched.
func BenchmarkStream(b *testing.B) {
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		decoder := gemini.New().DecodeStream()
		var events []conversation.Event
		for b.Loop() {
			events, _, _ = decoder.Decode(sse.Event{Data: delta}, events[:0])
		}
	})
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		encoder := gemini.New().EncodeStream(told)
		var out []byte
		out = encoder.Encode(out, &conversation.Event{Kind: conversation.Opened})
		for b.Loop() {
			out = encoder.Encode(out[:0], &conversation.Event{Kind: conversation.Added, Text: "hello there, and more of it"})
		}
	})
	b.Run("both", func(b *testing.B) {
		b.ReportAllocs()
		decoder, encoder := gemini.New().DecodeStream(), gemini.New().EncodeStream(told)
		var events []conversation.Event
		var out []byte
		for b.Loop() {
			events, _, _ = decoder.Decode(sse.Event{Data: delta}, events[:0])
			out = out[:0]
			for i := range events {
				out = encoder.Encode(out, &events[i])
			}
		}
	})
	b.Run("observe", func(b *testing.B) {
		b.ReportAllocs()
		observer := gemini.New().Observe()
		for b.Loop() {
			_, _ = observer.Event(nil, delta)
		}
	})
}

func BenchmarkRequest(b *testing.B) {
	for _, turns := range []int{1, 10, 100} {
		turn := `{"role":"user","parts":[{"text":"` + strings.Repeat("x", 400) + `"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a":1}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"result":"y"}}}]}`
		body := []byte(`{"contents":[` + turn + strings.Repeat(","+turn, turns-1) + `]}`)
		b.Run(fmt.Sprintf("turns=%d", turns), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				r, violations := gemini.New().DecodeRequest(body)
				if len(violations) > 0 {
					b.Fatal(violations)
				}
				if _, err := gemini.New().EncodeRequest(r, dialect.Target{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkReply(b *testing.B) {
	body, err := os.ReadFile("../../testdata/conversations/tools/reply.gemini.json")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		r, failure := gemini.New().DecodeReply(body)
		if failure != nil {
			b.Fatal(failure)
		}
		_ = gemini.New().EncodeReply(r, told)
	}
}
