package chat

import (
	"strings"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// idPrefix begins the id of every reply.
const idPrefix = "chatcmpl-"

// EncodeReply implements dialect.Codec.
func (Codec) EncodeReply(r *conversation.Reply, as dialect.Told) []byte {
	b := make(jsonappend.Buffer, 0, 1024)
	b.Open('{')
	b.String("id", idPrefix+as.ID)
	b.String("object", "chat.completion")
	b.Int("created", as.Created.Unix())
	b.String("model", as.Model)
	b.Name("choices")
	b.Open('[')
	for i := range r.Choices {
		writeChoice(&b, &r.Choices[i], as)
	}
	b.Close(']')
	if r.Usage.Known {
		writeUsage(&b, &r.Usage.Usage)
	}
	b.StringIf("service_tier", r.ServiceTier)
	if r.Fingerprint != "" {
		b.String("system_fingerprint", r.Fingerprint)
	} else { // OpenRouter's client wants the member
		b.Raw("system_fingerprint", []byte("null"))
	}
	b.Close('}')
	return b
}

func writeChoice(b *jsonappend.Buffer, c *conversation.Choice, as dialect.Told) {
	b.Next()
	b.Open('{')
	b.Int("index", int64(c.Index))
	b.Name("message")
	refusal := writeMessage(b, c.Parts, as)
	b.Name("logprobs")
	if len(c.Logprobs) > 0 {
		*b = append(*b, c.Logprobs...)
	} else {
		*b = append(*b, "null"...)
	}
	b.String("finish_reason", finishWord(c.Finish, refusal))
	b.Close('}')
}

// writeMessage writes the answer, and reports whether it is a refusal.
func writeMessage(b *jsonappend.Buffer, parts []conversation.Part, as dialect.Told) bool {
	var calls []*conversation.ToolCall
	var content, refusal strings.Builder
	said, refused := false, false
	for i := range parts {
		switch p := &parts[i]; p.Kind {
		case conversation.Text:
			content.WriteString(p.Text)
			said = true
		case conversation.Refusal:
			refusal.WriteString(p.Text)
			refused = true
		case conversation.Call:
			calls = append(calls, p.Call)
		default:
		}
	}
	b.Open('{')
	b.String("role", "assistant")
	textOrNull(b, "content", content.String(), said)
	textOrNull(b, "refusal", refusal.String(), refused)
	writeThoughts(b, parts, "reasoning_content")
	writeCalls(b, calls)
	writeMedia(b, parts, as)
	writeAnnotations(b, parts)
	b.Close('}')
	return refused
}

func textOrNull(b *jsonappend.Buffer, name, text string, said bool) {
	if said {
		b.String(name, text)
		return
	}
	b.Name(name)
	*b = append(*b, "null"...)
}

// writeMedia writes what is heard and seen. Images are no part of OpenAI's
// format; OpenRouter and others have them as "images".
func writeMedia(b *jsonappend.Buffer, parts []conversation.Part, as dialect.Told) {
	images := 0
	for i := range parts {
		switch p := &parts[i]; p.Kind {
		case conversation.Audio:
			b.Name("audio")
			writeAudio(b, p, as)
		case conversation.Image:
			images++
		default:
		}
	}
	if images == 0 {
		return
	}
	b.Name("images")
	b.Open('[')
	images = 0
	for i := range parts {
		if p := &parts[i]; p.Kind == conversation.Image {
			writeImage(b, p.Media, images)
			images++
		}
	}
	b.Close(']')
}

func writeImage(b *jsonappend.Buffer, m *conversation.Media, index int) {
	url := m.URL
	if m.Data != "" {
		url = openai.DataURL(m)
	}
	b.Next()
	b.Open('{')
	b.String("type", "image_url")
	b.Int("index", int64(index))
	b.Name("image_url")
	b.Open('{')
	b.String("url", url)
	b.Close('}')
	b.Close('}')
}

// writeAudio writes a spoken answer. One without an id cannot be referred to,
// which is what an expired one is like.
func writeAudio(b *jsonappend.Buffer, p *conversation.Part, as dialect.Told) {
	b.Open('{')
	b.String("id", audioID(p.Media, as))
	b.String("data", p.Media.Data)
	b.Int("expires_at", as.Created.Unix())
	b.String("transcript", p.Text)
	b.Close('}')
}

func audioID(m *conversation.Media, as dialect.Told) string {
	if m.ID == "" {
		return "audio_" + as.ID
	}
	return m.ID
}

func writeAnnotations(b *jsonappend.Buffer, parts []conversation.Part) {
	open, from := false, 0
	for i := range parts {
		p := &parts[i]
		if p.Kind != conversation.Text {
			continue
		}
		length := utf8.RuneCountInString(p.Text)
		if hasURL(p.Citations) {
			if !open {
				b.Name("annotations")
				b.Open('[')
				open = true
			}
			writeCitations(b, p.Citations, from, length)
		}
		from += length
	}
	if open {
		b.Close(']')
	}
}
