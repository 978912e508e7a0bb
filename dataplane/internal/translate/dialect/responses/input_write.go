package responses

import (
	"strconv"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
)

// input writes "instructions" and "input". Instructions are one text: those of
// several parts are an item, and so are all that there is.
func (w *requestWriter) input() error {
	messages := w.in.Messages
	first := 0
	if len(messages) > 1 && w.quirks.SystemRole == "" {
		if m := &messages[0]; m.Role == conversation.System && len(m.Parts) == 1 && m.Parts[0].Kind == conversation.Text {
			w.marked(m.Parts)
			w.String("instructions", m.Parts[0].Text)
			first = 1
		}
	}
	w.Name("input")
	w.Open('[')
	for i := first; i < len(messages); i++ {
		w.path = "messages." + strconv.Itoa(i)
		if err := w.message(&messages[i]); err != nil {
			return err
		}
	}
	w.Close(']')
	return nil
}

func (w *requestWriter) message(m *conversation.Message) error {
	w.marked(m.Parts)
	switch m.Role {
	case conversation.Assistant:
		return w.said(m.Parts)
	case conversation.ToolRole:
		for i := range m.Parts {
			if err := w.result(&m.Parts[i]); err != nil {
				return err
			}
		}
		return nil
	default:
	}
	w.Next()
	w.Open('{')
	w.String("type", typeMessage)
	w.String("role", w.role(m.Role))
	if err := w.content("content", m.Parts); err != nil {
		return err
	}
	w.Close('}')
	return nil
}

func (w *requestWriter) role(r conversation.Role) string {
	if w.quirks.SystemRole != "" && (r == conversation.System || r == conversation.Developer) {
		return w.quirks.SystemRole
	}
	return string(r)
}

// said writes the items of a turn of the model's.
func (w *requestWriter) said(parts []conversation.Part) error {
	for i := 0; i < len(parts); i++ {
		p := &parts[i]
		switch p.Kind {
		case conversation.Text, conversation.Refusal:
			last := i
			for last+1 < len(parts) && isSaid(parts[last+1].Kind) {
				last++
			}
			w.spoken(parts[i : last+1])
			i = last
		case conversation.Call:
			w.call(p.Call)
		case conversation.Thought:
			w.thought(p.Thought)
		default:
			return w.unable(p.Kind)
		}
	}
	return nil
}

func isSaid(k conversation.Kind) bool { return k == conversation.Text || k == conversation.Refusal }

func (w *requestWriter) spoken(parts []conversation.Part) {
	w.Next()
	w.Open('{')
	w.String("type", typeMessage)
	w.String("role", string(conversation.Assistant))
	w.Name("content")
	w.Open('[')
	for i := range parts {
		piece := pieceOf(&parts[i])
		w.Next()
		piece.write(&w.Buffer)
	}
	w.Close(']')
	w.Close('}')
}

func (w *requestWriter) call(c *conversation.ToolCall) {
	w.Next()
	w.Open('{')
	writeCall(&w.Buffer, c, argumentsOf(c, []byte(c.Arguments)))
	w.Close('}')
}

// thought writes what a model of this family made and proved. Any other thought
// is no content for one.
func (w *requestWriter) thought(t *conversation.Thinking) {
	if t == nil || t.Origin != home || t.Data == "" {
		return
	}
	w.proofs = true
	w.Next()
	w.Open('{')
	w.String("type", typeReasoning)
	w.StringIf("id", t.ID)
	// What is shown is a summary: "content" must be empty in the input ("array too
	// long. Expected an array with maximum length 0").
	writeTexts(&w.Buffer, "summary", summaryText, t.Text)
	w.String("encrypted_content", t.Data)
	w.Close('}')
}

func (w *requestWriter) result(p *conversation.Part) error {
	if p.Result == nil {
		return w.unable(p.Kind)
	}
	w.Next()
	w.Open('{')
	kind := typeCallOutput
	if p.Result.Custom {
		kind = typeCustomOutput
	}
	w.String("type", kind)
	w.String("call_id", p.Result.CallID)
	w.marked(p.Result.Parts)
	if err := w.content("output", p.Result.Parts); err != nil {
		return err
	}
	w.Close('}')
	return nil
}

// marked notes cache marks, which only the newest models of this format take.
func (w *requestWriter) marked(parts []conversation.Part) {
	for i := range parts {
		if parts[i].Cache != "" {
			w.degrade("cache_control")
		}
	}
}

func (w *requestWriter) unable(kind conversation.Kind) error {
	return &dialect.Unable{What: openai.KindName(kind) + " in " + w.path}
}
