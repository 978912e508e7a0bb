package responses_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/responses"
)

const textDelta = `{"type":"response.output_text.delta","sequence_number":17,"item_id":"msg_68e1b2c3d4e5f60718293a4b5c6d7e8f","output_index":0,"content_index":0,"delta":" hello there","logprobs":[],"obfuscation":"x8Fj2"}`

// BenchmarkStream is the cost of one event, the way in and the way out.
func BenchmarkStream(b *testing.B) {
	b.Run("decode", func(b *testing.B) {
		d := responses.New().DecodeStream()
		e := sse.Event{Name: []byte("response.output_text.delta"), Data: []byte(textDelta)}
		var out []conversation.Event
		b.ReportAllocs()
		for b.Loop() {
			var err error
			if out, _, err = d.Decode(e, out[:0]); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encode", func(b *testing.B) {
		w := responses.New().EncodeStream(dialect.Told{Model: "acme/small", ID: "req_1"})
		var out []byte
		out = w.Encode(out, &conversation.Event{Kind: conversation.Opened})
		e := &conversation.Event{Kind: conversation.Added, Text: " hello there"}
		b.ReportAllocs()
		for b.Loop() {
			out = w.Encode(out[:0], e)
		}
	})
	b.Run("observe", func(b *testing.B) {
		o := responses.New().Observe()
		name, data := []byte("response.output_text.delta"), []byte(textDelta)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := o.Event(name, data); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRequest(b *testing.B) {
	body, err := os.ReadFile("../../testdata/conversations/results/request.responses.json")
	require.NoError(b, err)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		r, _ := responses.New().DecodeRequest(body)
		if _, err := responses.New().EncodeRequest(r, dialect.Target{Model: "m"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReply(b *testing.B) {
	body, err := os.ReadFile("../../testdata/conversations/tools/reply.responses.json")
	require.NoError(b, err)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		r, failure := responses.New().DecodeReply(body)
		if failure != nil {
			b.Fatal(failure)
		}
		responses.New().EncodeReply(r, dialect.Told{Model: "m", ID: "req_1"})
	}
}
