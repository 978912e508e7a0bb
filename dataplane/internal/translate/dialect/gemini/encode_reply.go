package gemini

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// EncodeReply implements dialect.Codec.
func (Codec) EncodeReply(r *conversation.Reply, as dialect.Told) []byte {
	w := &partWriter{}
	w.b.Open('{')
	w.b.Name("candidates")
	w.b.Open('[')
	for i := range r.Choices {
		w.candidate(&r.Choices[i])
	}
	w.b.Close(']')
	writeUsage(&w.b, r.Usage)
	writeTold(&w.b, as)
	w.b.Close('}')
	return w.b
}

// writeTold writes what every response says of itself.
func writeTold(b *jsonappend.Buffer, as dialect.Told) {
	b.String("modelVersion", as.Model)
	b.String("responseId", as.ID)
}

func (w *partWriter) candidate(c *conversation.Choice) {
	w.b.Next()
	w.b.Open('{')
	w.b.Name("content")
	w.b.Open('{')
	w.b.Name("parts")
	w.b.Open('[')
	var cited []placed
	refuses, written := false, 0
	for i := range c.Parts {
		p := &c.Parts[i]
		refuses = refuses || p.Kind == conversation.Refusal
		before := len(w.b)
		w.replyPart(p)
		if len(p.Citations) > 0 {
			one := placed{part: written, citations: p.Citations}
			one.text.add(p.Text)
			cited = append(cited, one)
		}
		if len(w.b) > before {
			written++
		}
	}
	w.loneProof()
	w.b.Close(']')
	w.b.String("role", "model")
	w.b.Close('}')
	w.b.String("finishReason", reasonOf(c.Finish, refuses))
	w.b.Int("index", int64(c.Index))
	if len(cited) > 0 {
		writeGrounding(&w.b, cited)
	}
	writeLogprobs(&w.b, c.Logprobs)
	w.b.Close('}')
}

// replyPart writes a part for a caller, who gets every family's thoughts.
func (w *partWriter) replyPart(p *conversation.Part) {
	switch {
	case p.Thought != nil:
		w.thought(p.Thought)
	case p.Call != nil:
		w.call(p.Call)
	case p.Media != nil && (p.Media.Data != "" || p.Media.URL != "" || p.Media.Text != ""):
		w.media(p)
		if p.Text != "" { // what was spoken
			w.text(p.Text)
		}
	case p.Text != "":
		w.text(p.Text)
	}
}
