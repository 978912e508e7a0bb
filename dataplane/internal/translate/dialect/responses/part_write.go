package responses

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
)

// content writes the member of that name: one text as a string, anything else
// as parts.
func (w *requestWriter) content(name string, parts []conversation.Part) error {
	switch {
	case len(parts) == 0:
		w.String(name, "")
		return nil
	case len(parts) == 1 && parts[0].Kind == conversation.Text:
		w.String(name, parts[0].Text)
		return nil
	}
	w.Name(name)
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
		w.textPart(p.Text)
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

func (w *requestWriter) openPart(kind string) {
	w.Next()
	w.Open('{')
	w.String("type", kind)
}

func (w *requestWriter) textPart(text string) {
	w.openPart(inputText)
	w.String("text", text)
	w.Close('}')
}

func (w *requestWriter) image(m *conversation.Media) error {
	w.openPart(inputImage)
	switch {
	case m.Data != "":
		w.String("image_url", openai.DataURL(m))
	case m.URL != "":
		w.String("image_url", m.URL)
	case m.FileID != "":
		w.String("file_id", m.FileID)
	default:
		return w.unable(conversation.Image)
	}
	w.StringIf("detail", m.Detail)
	w.Close('}')
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
	w.openPart(inputAudio)
	w.Name("input_audio")
	w.Open('{')
	w.String("data", m.Data)
	w.String("format", format)
	w.Close('}')
	w.Close('}')
	return nil
}

// file writes a document. One that is plain text is a text, under its name.
func (w *requestWriter) file(m *conversation.Media) error {
	if m.Text != "" {
		text := m.Text
		if m.Name != "" {
			text = m.Name + paragraph + text
		}
		w.textPart(text)
		return nil
	}
	w.openPart(inputFile)
	switch {
	case m.Data != "":
		w.String("filename", openai.FileName(m))
		w.String("file_data", openai.DataURL(m))
	case m.URL != "":
		w.StringIf("filename", m.Name)
		w.String("file_url", m.URL)
	case m.FileID != "":
		w.StringIf("filename", m.Name)
		w.String("file_id", m.FileID)
	default:
		return w.unable(conversation.File)
	}
	w.StringIf("detail", m.Detail)
	w.Close('}')
	return nil
}
