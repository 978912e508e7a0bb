package chat

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// call writes the first chunk of a call: the one with its id and name.
func (s *streamWriter) call(b *jsonappend.Buffer, l *writerLane, at int, c *conversation.ToolCall) {
	s.openCall(b, l, at)
	b.String("id", c.ID)
	writeCallee(b, c)
	s.closeCall(b)
}

func (s *streamWriter) arguments(b *jsonappend.Buffer, l *writerLane, p *writerPart, text string) {
	kind, name := "function", "arguments"
	if p.custom {
		kind, name = "custom", "input"
	}
	s.openCall(b, l, p.at)
	b.Name(kind)
	b.Open('{')
	b.String(name, text)
	b.Close('}')
	s.closeCall(b)
}

func (s *streamWriter) openCall(b *jsonappend.Buffer, l *writerLane, at int) {
	s.open(b, l.choice)
	b.Name("tool_calls")
	b.Open('[')
	b.Open('{')
	b.Int("index", int64(at))
}

func (s *streamWriter) closeCall(b *jsonappend.Buffer) {
	b.Close('}')
	b.Close(']')
	s.close(b, nil, "")
}

// thought writes text, for readers that know no more, and details. One that
// says nothing yet waits for what it will say.
func (s *streamWriter) thought(b *jsonappend.Buffer, l *writerLane, at int, t *conversation.Thinking) {
	if t.Text == "" && t.Signature == "" && t.Data == "" {
		return
	}
	s.open(b, l.choice)
	b.StringIf("reasoning_content", t.Text)
	b.Name(thoughtMembers[0])
	b.Open('[')
	writeDetails(b, t, at, true)
	b.Close(']')
	s.close(b, nil, "")
}

func (s *streamWriter) audio(b *jsonappend.Buffer, l *writerLane, id, transcript, data string) {
	s.open(b, l.choice)
	b.Name("audio")
	b.Open('{')
	b.StringIf("id", id)
	b.StringIf("transcript", transcript)
	b.StringIf("data", data)
	b.Close('}')
	s.close(b, nil, "")
}

func (s *streamWriter) image(b *jsonappend.Buffer, l *writerLane, m *conversation.Media) {
	if m == nil {
		return
	}
	s.open(b, l.choice)
	b.Name("images")
	b.Open('[')
	writeImage(b, m, l.images)
	b.Close(']')
	s.close(b, nil, "")
	l.images++
}

// citations writes those of a passage, and keeps those of the whole text, whose
// length is not known before its end: Anthropic cites first and speaks then.
func (s *streamWriter) citations(b *jsonappend.Buffer, l *writerLane, p *writerPart, citations []conversation.Citation) {
	var placed []conversation.Citation
	for i := range citations {
		if citations[i].End == 0 {
			p.cited = append(p.cited, citations[i])
		} else {
			placed = append(placed, citations[i])
		}
	}
	s.annotate(b, l, p, placed)
}

func (s *streamWriter) annotate(b *jsonappend.Buffer, l *writerLane, p *writerPart, citations []conversation.Citation) {
	if !hasURL(citations) {
		return
	}
	s.open(b, l.choice)
	b.Name("annotations")
	b.Open('[')
	writeCitations(b, citations, p.from, l.length-p.from)
	b.Close(']')
	s.close(b, nil, "")
}
