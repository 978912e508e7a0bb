package chat

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// streamWriter writes one stream. The usage comes last, in a chunk of its own.
type streamWriter struct {
	as      dialect.Told
	head    []byte // of every chunk, up to the choice's index
	lanes   []*writerLane
	metered conversation.Usage
}

// writerLane is one choice.
type writerLane struct {
	choice   int
	parts    []writerPart // by event index
	calls    int
	thoughts int
	images   int
	length   int // of the content, in characters
	refused  bool
}

// writerPart is what later events of a part are written with.
type writerPart struct {
	kind    conversation.Kind
	at      int // among those of its kind in the choice
	custom  bool
	thought conversation.Thinking   // ID, Summary, Origin, and Data that was not written yet
	from    int                     // of a text: where it begins in the content
	cited   []conversation.Citation // of all of a text, which is told when it is whole
}

func newStreamWriter(as dialect.Told) *streamWriter {
	var b jsonappend.Buffer
	b = append(b, "data: "...)
	b.Open('{')
	b.String("id", idPrefix+as.ID)
	b.String("object", "chat.completion.chunk")
	b.Int("created", as.Created.Unix())
	b.String("model", as.Model)
	return &streamWriter{as: as, head: b}
}

// Encode implements dialect.StreamEncoder.
func (s *streamWriter) Encode(dst []byte, e *conversation.Event) []byte {
	switch e.Kind {
	case conversation.Began:
		return dst
	case conversation.Metered:
		s.metered = e.Usage
		return dst
	default:
	}
	l, dst := s.lane(dst, e.Choice)
	b := jsonappend.Buffer(dst)
	switch e.Kind {
	case conversation.Stopped:
		s.open(&b, l.choice)
		s.close(&b, nil, finishWord(e.Finish, l.refused))
	case conversation.Rated:
		s.open(&b, l.choice)
		s.close(&b, e.Logprobs, "")
	case conversation.Opened:
		s.part(&b, l, e)
	default:
		if e.Index >= 0 && e.Index < len(l.parts) {
			s.more(&b, l, &l.parts[e.Index], e)
		}
	}
	return b
}

// lane returns the choice's state. The first chunk of a choice says the role.
func (s *streamWriter) lane(dst []byte, index int) (*writerLane, []byte) {
	for _, l := range s.lanes {
		if l.choice == index {
			return l, dst
		}
	}
	l := &writerLane{choice: index}
	s.lanes = append(s.lanes, l)
	b := jsonappend.Buffer(dst)
	s.open(&b, index)
	b.String("role", "assistant")
	b.String("content", "")
	b.Raw("refusal", []byte("null"))
	s.close(&b, nil, "")
	return l, b
}

// open begins a chunk of one choice, up to the members of its delta.
func (s *streamWriter) open(b *jsonappend.Buffer, choice int) {
	*b = append(*b, s.head...)
	*b = append(*b, `,"choices":[{"index":`...)
	*b = strconv.AppendInt(*b, int64(choice), 10)
	*b = append(*b, `,"delta":{`...)
}

func (s *streamWriter) close(b *jsonappend.Buffer, logprobs []byte, finish string) {
	*b = append(*b, `},"logprobs":`...)
	if len(logprobs) > 0 {
		*b = append(*b, oneLine(logprobs)...)
	} else {
		*b = append(*b, "null"...)
	}
	if finish == "" {
		*b = append(*b, `,"finish_reason":null}]`...)
	} else {
		*b = append(*b, `,"finish_reason":`...)
		*b = append(jsonappend.AppendString(*b, finish), "}]"...)
	}
	*b = append(*b, "}\n\n"...)
}

// oneLine is raw JSON without line ends, which would end the event's data.
func oneLine(raw []byte) []byte {
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		return raw
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return []byte("null")
	}
	return b.Bytes()
}

// text writes a chunk whose delta is one text.
func (s *streamWriter) text(b *jsonappend.Buffer, l *writerLane, name, text string) {
	if text == "" {
		return
	}
	s.open(b, l.choice)
	b.String(name, text)
	s.close(b, nil, "")
}

// part writes what there is of a part when it opens.
func (s *streamWriter) part(b *jsonappend.Buffer, l *writerLane, e *conversation.Event) {
	p := writerPart{kind: e.Part.Kind, from: l.length}
	switch {
	case e.Part.Call != nil:
		p.at, p.custom = l.calls, e.Part.Call.Custom
		l.calls++
		s.call(b, l, p.at, e.Part.Call)
	case e.Part.Thought != nil:
		// What is hidden comes after the text.
		opened := *e.Part.Thought
		p.at, p.thought, opened.Data = l.thoughts, opened, ""
		l.thoughts++
		s.thought(b, l, p.at, &opened)
	case p.kind == conversation.Image:
		s.image(b, l, e.Part.Media)
	case p.kind == conversation.Audio && e.Part.Media != nil:
		s.audio(b, l, audioID(e.Part.Media, s.as), e.Part.Text, e.Part.Media.Data)
	case p.kind == conversation.Refusal:
		l.refused = true
		s.text(b, l, "refusal", e.Part.Text)
	case p.kind == conversation.Text:
		s.content(b, l, e.Part.Text)
		s.citations(b, l, &p, e.Part.Citations)
	}
	for len(l.parts) <= e.Index {
		l.parts = append(l.parts, writerPart{})
	}
	l.parts[e.Index] = p
}

func (s *streamWriter) content(b *jsonappend.Buffer, l *writerLane, text string) {
	l.length += utf8.RuneCountInString(text)
	s.text(b, l, "content", text)
}

// more writes what comes of a part after it opened.
func (s *streamWriter) more(b *jsonappend.Buffer, l *writerLane, p *writerPart, e *conversation.Event) {
	switch {
	case e.Kind == conversation.Closed:
		if p.thought.Data != "" {
			hidden := p.thought
			hidden.Text, hidden.Signature, p.thought.Data = "", "", ""
			s.thought(b, l, p.at, &hidden)
		}
		s.annotate(b, l, p, p.cited)
	case e.Kind == conversation.Cited:
		s.citations(b, l, p, e.Part.Citations)
	case e.Kind == conversation.Sounded:
		s.audio(b, l, "", "", e.Text)
	case e.Kind == conversation.Signed:
		if e.Part.Thought != nil {
			proof := *e.Part.Thought
			proof.Summary = p.thought.Summary
			s.thought(b, l, p.at, &proof)
		}
	case p.kind == conversation.Call:
		s.arguments(b, l, p, e.Text)
	case p.kind == conversation.Thought:
		thought := p.thought
		thought.Text, thought.Signature, thought.Data = e.Text, "", ""
		s.thought(b, l, p.at, &thought)
	case p.kind == conversation.Audio:
		s.audio(b, l, "", e.Text, "")
	case p.kind == conversation.Refusal:
		s.text(b, l, "refusal", e.Text)
	default:
		s.content(b, l, e.Text)
	}
}

// End implements dialect.StreamEncoder.
func (s *streamWriter) End(dst []byte) []byte {
	if s.as.Usage && s.metered.Known {
		b := jsonappend.Buffer(append(dst, s.head...))
		b.Raw("choices", []byte("[]"))
		writeUsage(&b, &s.metered.Usage)
		b.Close('}')
		dst = append(b, "\n\n"...)
	}
	return append(dst, doneEvent...)
}
