package messages

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/turns"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// conversation writes "system" and "messages".
func (w *writer) conversation(messages []conversation.Message) error {
	system, all, names := turns.Of(messages, home)
	w.lose(names...)
	if len(system) > 0 {
		w.b.Name("system")
		if err := w.blocks(system); err != nil {
			return err
		}
	}
	w.b.Name("messages")
	w.b.Open('[')
	for _, t := range all {
		w.b.Next()
		w.b.Open('{')
		w.b.String("role", t.Role)
		w.b.Name("content")
		if err := w.blocks(t.Parts); err != nil {
			return err
		}
		w.b.Close('}')
	}
	w.b.Close(']')
	return nil
}

// blocks writes the content of a turn or a result: one plain text as a string.
func (w *writer) blocks(parts []turns.Part) error {
	if len(parts) == 1 && parts[0].Kind == conversation.Text && parts[0].Cache == "" {
		w.b = jsonappend.AppendString(w.b, parts[0].Text)
		return nil
	}
	w.b.Open('[')
	for _, p := range parts {
		if err := w.block(p); err != nil {
			return err
		}
	}
	w.b.Close(']')
	return nil
}
