package translate_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate"
)

func BenchmarkRequest(b *testing.B) {
	for name, size := range map[string]int{"400B": 300, "100KB": 100 << 10} {
		b.Run(name, func(b *testing.B) {
			c := chat(`{"model":"acme/small","messages":[{"role":"user","content":"` + strings.Repeat("x", size) + `"}],"temperature":0.7,"stream":true}`)
			c.Request.Stream = true
			tr := translate.New(nil)
			b.SetBytes(int64(len(c.Body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, failure := tr.Request(c, north); failure != nil {
					b.Fatal(failure)
				}
			}
		})
	}
}

func BenchmarkWhole(b *testing.B) {
	body := []byte(`{"id":"c1","object":"chat.completion","created":1,"model":"small-v1","choices":[{"index":0,"message":{"role":"assistant","content":"` + strings.Repeat("x", 300) + `"},"finish_reason":"stop"}],"usage":{"prompt_tokens":19,"completion_tokens":10,"total_tokens":29}}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, failure := translate.New(nil).Codec(chat("{}"), canonical, north).Whole(body); failure != nil {
			b.Fatal(failure)
		}
	}
}

// The cost of one event of a stream, from its bytes to what the caller gets.
func BenchmarkStreamEvent(b *testing.B) {
	event := `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"small-v1","choices":[{"index":0,"delta":{"content":"hello there"},"finish_reason":null}]}` + "\n\n"
	stream := strings.Repeat(event, 1000)
	b.ReportAllocs()
	b.SetBytes(int64(len(event)))
	done := 0
	for done < b.N {
		c := chat("{}")
		c.Request.Stream = true
		codec := translate.New(nil).Codec(c, canonical, north)
		r := sse.NewReader(strings.NewReader(stream), sse.MaxEvent)
		for ; done < b.N; done++ {
			e, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if _, failure := codec.Event(e); failure != nil {
				b.Fatal(failure)
			}
		}
	}
}
