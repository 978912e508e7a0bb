package messages

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/turns"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// block writes a part as a block of content.
func (w *writer) block(p turns.Part) error {
	b := &w.b
	switch p.Kind {
	case conversation.Text, conversation.Refusal:
		openBlock(b, typeText)
		b.String("text", p.Text)
	case conversation.Thought:
		appendThought(b, p.Thought)
		return nil // a mark cannot stand behind it
	case conversation.Call:
		openBlock(b, typeToolUse)
		b.String("id", callID(p.Call.ID))
		b.String("name", p.Call.Name)
		b.Raw("input", turns.Object(p.Call.Arguments))
	case conversation.Result:
		return w.result(p)
	case conversation.Image:
		return w.image(p)
	case conversation.File:
		return w.document(p)
	case conversation.Audio:
		return p.Unable("audio")
	default:
		return p.Unable("video")
	}
	appendCache(b, p.Cache)
	b.Close('}')
	return nil
}

func openBlock(b *jsonappend.Buffer, kind string) {
	b.Next()
	b.Open('{')
	b.String("type", kind)
}

func (w *writer) result(p turns.Part) error {
	openBlock(&w.b, "tool_result")
	w.b.String("tool_use_id", callID(p.Result.CallID))
	if inner := p.Inner(); len(inner) > 0 {
		w.b.Name("content")
		if err := w.blocks(inner); err != nil {
			return err
		}
	}
	if p.Result.IsError {
		w.b.Bool("is_error", true)
	}
	appendCache(&w.b, p.Cache)
	w.b.Close('}')
	return nil
}

func (w *writer) image(p turns.Part) error {
	m := p.Media
	if m.Detail != "" && m.Detail != "auto" {
		w.lose("detail")
	}
	if m.Data != "" && m.Type() == "" {
		return p.Unable("an image of an unknown type")
	}
	if m.Data == "" && m.URL == "" && m.FileID == "" {
		return p.Unable("an image without its data")
	}
	openBlock(&w.b, "image")
	appendSource(&w.b, m, m.Type())
	appendCache(&w.b, p.Cache)
	w.b.Close('}')
	return nil
}

const pdf = "application/pdf"

// document writes a file: a PDF, or a text in whatever type it is written.
func (w *writer) document(p turns.Part) error {
	m := *p.Media
	switch {
	case m.Data == "" && m.Text == "" && m.URL == "" && m.FileID == "":
		return p.Unable("a file without its content")
	case m.Data != "" && m.Type() != pdf:
		decoded, err := base64.StdEncoding.DecodeString(m.Data)
		if err != nil || !isText(m.Type()) || !utf8.Valid(decoded) || len(decoded) == 0 {
			return p.Unable("a file that is neither a PDF nor text")
		}
		m.Data, m.Text = "", string(decoded)
	}
	openBlock(&w.b, "document")
	if m.Text != "" {
		w.b.Name("source")
		w.b.Open('{')
		w.b.String("type", "text")
		w.b.String("media_type", "text/plain")
		w.b.String("data", m.Text)
		w.b.Close('}')
	} else {
		appendSource(&w.b, &m, pdf)
	}
	w.b.StringIf("title", m.Name)
	appendCache(&w.b, p.Cache)
	w.b.Close('}')
	return nil
}

func isText(mime string) bool {
	switch mime {
	case "application/json", "application/xml", "application/x-ndjson", "application/yaml":
		return true
	}
	return strings.HasPrefix(mime, "text/")
}

func appendSource(b *jsonappend.Buffer, m *conversation.Media, mime string) {
	b.Name("source")
	b.Open('{')
	switch {
	case m.Data != "":
		b.String("type", "base64")
		b.String("media_type", mime)
		b.String("data", m.Data)
	case m.URL != "":
		b.String("type", "url")
		b.String("url", m.URL)
	default:
		b.String("type", "file")
		b.String("file_id", m.FileID)
	}
	b.Close('}')
}

// callID keeps an id in the letters that the API takes; what other providers
// make is not always of them. A call and its result change alike.
func callID(id string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, id)
}

// appendThought writes a thought as what is shown, what is not, or both. What
// another family proves goes sealed: as the signature of the text that it
// belongs to.
func appendThought(b *jsonappend.Buffer, t *conversation.Thinking) {
	text, signature, data := thoughtBlocks(t)
	if text != "" || signature != "" {
		openBlock(b, typeThinking)
		b.String("thinking", text)
		b.String("signature", signature)
		b.Close('}')
	}
	if data != "" {
		openBlock(b, typeRedacted)
		b.String("data", data)
		b.Close('}')
	}
}

func thoughtBlocks(t *conversation.Thinking) (text, signature, data string) {
	signature = conversation.Seal(t.Signature, t.Origin, home)
	data = conversation.Seal(t.Data, t.Origin, home)
	if t.Text != "" && signature == "" && t.Origin != home {
		signature, data = data, ""
	}
	return t.Text, signature, data
}
