package gemini

import (
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// AnyProof is what Google says to send with a call that another model made,
// where it demands a proof
// (https://ai.google.dev/gemini-api/docs/thought-signatures).
const AnyProof = "skip_thought_signature_validator"

// partWriter writes parts of requests and replies.
type partWriter struct {
	b           jsonappend.Buffer
	proof       string // belongs to the next part; as it is written
	demandProof bool   // the next call needs a proof
	noIDs       bool   // calls and results have no ids
}

func (w *partWriter) open() {
	w.b.Next()
	w.b.Open('{')
}

// close ends a part, with the proof that belongs to it.
func (w *partWriter) close() {
	w.b.StringIf("thoughtSignature", w.proof)
	w.proof = ""
	w.b.Close('}')
}

func (w *partWriter) text(text string) {
	w.open()
	w.b.String("text", text)
	w.close()
}

// loneProof writes a proof that no part came for.
func (w *partWriter) loneProof() {
	if w.proof != "" {
		w.text("")
	}
}

// thought writes thoughts. A proof that proves no text is kept for the next
// part.
func (w *partWriter) thought(t *conversation.Thinking) {
	signature, data := proofs(t, t.Text != "")
	if t.Text != "" || signature != "" {
		w.thoughtText(t.Text, sealProof(signature, t.Origin))
	}
	w.keepProof(data, t.Origin)
}

func (w *partWriter) thoughtText(text, signature string) {
	w.loneProof()
	w.open()
	w.b.String("text", text)
	w.b.Bool("thought", true)
	w.proof = signature
	w.close()
}

func (w *partWriter) keepProof(data string, of conversation.Origin) {
	if data != "" {
		w.loneProof()
		w.proof = sealProof(data, of)
	}
}

func (w *partWriter) call(c *conversation.ToolCall) {
	if w.demandProof && w.proof == "" {
		w.proof = AnyProof
	}
	w.demandProof = false // of calls made at once only the first carries one
	w.open()
	w.b.Name("functionCall")
	w.b.Open('{')
	w.id(c.ID)
	w.b.String("name", c.Name)
	w.b.Name("args")
	w.arguments(c.Arguments)
	w.b.Close('}')
	w.close()
}

func (w *partWriter) id(id string) {
	if !w.noIDs {
		w.b.StringIf("id", id)
	}
}

// arguments writes what the model wrote as the object that it has to be.
func (w *partWriter) arguments(text string) {
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed == "":
		w.b = append(w.b, "{}"...)
	case isObject(trimmed):
		w.b = append(w.b, trimmed...)
	default:
		w.b.Open('{')
		w.b.String("arguments", text)
		w.b.Close('}')
	}
}

// media writes media that is given as data, address or text.
func (w *partWriter) media(p *conversation.Part) {
	m := p.Media
	switch {
	case m.Text != "":
		w.text(documentText(m))
	case m.URL != "":
		w.open()
		w.b.Name("fileData")
		w.b.Open('{')
		w.b.StringIf("mimeType", typeOf(p.Kind, m))
		w.b.String("fileUri", m.URL)
		w.b.Close('}')
		w.close()
	default:
		w.open()
		w.blob(typeOf(p.Kind, m), m.Data)
		w.close()
	}
}

func (w *partWriter) blob(mimeType, data string) {
	w.b.Name("inlineData")
	w.b.Open('{')
	w.b.String("mimeType", mimeType)
	w.b.String("data", data)
	w.b.Close('}')
}

// documentText is a document of text, which is read as text.
func documentText(m *conversation.Media) string {
	if m.Name == "" {
		return m.Text
	}
	return m.Name + ":\n" + m.Text
}
