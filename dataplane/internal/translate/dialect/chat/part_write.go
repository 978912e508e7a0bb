package chat

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
)

func (w *requestWriter) unable(kind conversation.Kind) error {
	return &dialect.Unable{What: openai.KindName(kind) + " in " + w.path}
}

// content writes the member of that name: one text as a string, anything else
// as parts.
func (w *requestWriter) content(parts []conversation.Part) error {
	marked := false
	for i := range parts {
		if p := &parts[i]; p.Cache != "" {
			marks := w.quirks.CacheControl && p.Kind == conversation.Text
			if marked = marked || marks; !marks {
				w.degrade("cache_control")
			}
		}
	}
	switch {
	case len(parts) == 0:
		w.String("content", "")
		return nil
	case len(parts) == 1 && parts[0].Kind == conversation.Text && !marked:
		w.String("content", parts[0].Text)
		return nil
	}
	w.Name("content")
	w.Open('[')
	for i := range parts {
		if err := w.part(&parts[i]); err != nil {
			return err
		}
	}
	w.Close(']')
	return nil
}

func (w *requestWriter) part(p *conversation.Part) error {
	switch {
	case p.Kind == conversation.Text:
		w.textPart(p)
		return nil
	case p.Media == nil:
		return w.unable(p.Kind)
	case p.Kind == conversation.Image:
		return w.image(p.Media)
	case p.Kind == conversation.Audio:
		return w.sound(p.Media)
	case p.Kind == conversation.File:
		return w.file(p.Media)
	}
	return w.unable(p.Kind)
}

// textPart writes a text, with its cache mark where the provider takes
// Anthropic's (https://openrouter.ai/docs/features/prompt-caching).
func (w *requestWriter) textPart(p *conversation.Part) {
	w.Next()
	w.Open('{')
	w.String("type", "text")
	w.String("text", p.Text)
	if p.Cache != "" && w.quirks.CacheControl {
		w.Name("cache_control")
		w.Open('{')
		w.String("type", "ephemeral")
		if p.Cache == conversation.Cache1h {
			w.String("ttl", string(p.Cache))
		}
		w.Close('}')
	}
	w.Close('}')
}

func (w *requestWriter) image(m *conversation.Media) error {
	url := m.URL
	if m.Data != "" {
		url = openai.DataURL(m)
	}
	if url == "" {
		return &dialect.Unable{What: "an image by file id in " + w.path}
	}
	w.openPart("image_url")
	w.String("url", url)
	w.StringIf("detail", m.Detail)
	w.closePart()
	return nil
}

func (w *requestWriter) sound(m *conversation.Media) error {
	format := openai.SoundFormat(m.Type())
	switch {
	case m.Data == "":
		return &dialect.Unable{What: "a sound that is not inline in " + w.path}
	case format == "":
		return &dialect.Unable{What: "a sound that is neither WAV nor MP3 in " + w.path}
	}
	w.openPart("input_audio")
	w.String("data", m.Data)
	w.String("format", format)
	w.closePart()
	return nil
}

// file writes a document. One that is plain text is a text, under its name.
func (w *requestWriter) file(m *conversation.Media) error {
	switch {
	case m.Text != "" && m.Name != "":
		w.textPart(&conversation.Part{Text: m.Name + "\n\n" + m.Text})
	case m.Text != "":
		w.textPart(&conversation.Part{Text: m.Text})
	case m.Data != "" && strings.HasPrefix(m.Type(), "text/"):
		// OpenAI's chat reads PDFs alone.
		text, err := base64.StdEncoding.DecodeString(m.Data)
		if err != nil || !utf8.Valid(text) {
			return &dialect.Unable{What: "a text that is not UTF-8 in " + w.path}
		}
		return w.file(&conversation.Media{Name: m.Name, Text: string(text)})
	case m.Data != "":
		w.openPart("file")
		w.String("filename", openai.FileName(m))
		w.String("file_data", openai.DataURL(m))
		w.closePart()
	case m.FileID != "":
		w.openPart("file")
		w.StringIf("filename", m.Name)
		w.String("file_id", m.FileID)
		w.closePart()
	default:
		return &dialect.Unable{What: "a file by URL in " + w.path}
	}
	return nil
}

func (w *requestWriter) openPart(kind string) {
	w.Next()
	w.Open('{')
	w.String("type", kind)
	w.Name(kind)
	w.Open('{')
}

func (w *requestWriter) closePart() {
	w.Close('}')
	w.Close('}')
}
