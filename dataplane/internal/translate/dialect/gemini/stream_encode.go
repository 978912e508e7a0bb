package gemini

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// encoder implements dialect.StreamEncoder. Every event is a response with
// what is new: text as it comes, a call when it is whole. Finish reasons and
// usage are in the last one, since a stream ends with them and has no other
// end.
type encoder struct {
	w       partWriter        // of the event that is being written
	told    jsonappend.Buffer // the last members of every event, and its end
	choices []*choiceWriter
	usage   conversation.Usage
}

// EncodeStream implements dialect.Codec.
func (Codec) EncodeStream(as dialect.Told) dialect.StreamEncoder {
	s := &encoder{}
	writeTold(&s.told, as)
	s.told = append(s.told, "}\n\n"...)
	return s
}

// Encode implements dialect.StreamEncoder.
func (s *encoder) Encode(dst []byte, e *conversation.Event) []byte {
	switch e.Kind {
	case conversation.Began:
		return dst
	case conversation.Metered:
		if e.Usage.Known {
			s.usage = e.Usage
		}
		return dst
	default:
	}
	return s.choice(e.Choice).encode(dst, e)
}

// End implements dialect.StreamEncoder.
func (s *encoder) End(dst []byte) []byte {
	w := s.begin(dst)
	for _, c := range s.choices {
		if !c.stopped {
			continue
		}
		w.b.Next()
		w.b.Open('{')
		w.b.Name("content")
		w.b.Open('{')
		w.b.Name("parts")
		w.b.Open('[')
		if c.proof != "" || c.said {
			w.proof = c.proof
			w.text("") // Google's clients forget a turn of which a piece has no parts
		}
		w.b.Close(']')
		w.b.String("role", "model")
		w.b.Close('}')
		w.b.String("finishReason", reasonOf(c.finish, c.refuses))
		w.b.Int("index", int64(c.index))
		w.b.Close('}')
	}
	w.b.Close(']')
	writeUsage(&w.b, s.usage)
	return s.end(w)
}

// begin opens an event and its list of candidates.
func (s *encoder) begin(dst []byte) *partWriter {
	s.w = partWriter{b: append(dst, `data: {"candidates":[`...)}
	return &s.w
}

// end ends an event.
func (s *encoder) end(w *partWriter) []byte {
	w.b = append(w.b, ',')
	return append(w.b, s.told...)
}

func (s *encoder) choice(index int) *choiceWriter {
	for _, c := range s.choices {
		if c.index == index {
			return c
		}
	}
	c := &choiceWriter{encoder: s, index: index}
	s.choices = append(s.choices, c)
	return c
}
