package responses

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// streamWriter writes one stream. It keeps all of the reply: see output.
type streamWriter struct {
	b     jsonappend.Buffer // that is appended to, during a call
	as    dialect.Told
	out   output
	end   ending
	parts map[int]place // by the event's index
	next  int64         // sequence_number
	begun bool
	over  bool
}

// place is where a part stands.
type place struct {
	item *outItem
	at   int
}

func newStreamWriter(as dialect.Told) *streamWriter {
	return &streamWriter{as: as, out: output{id: as.ID}, parts: make(map[int]place)}
}

// Encode implements dialect.StreamEncoder. The format has one choice.
func (w *streamWriter) Encode(dst []byte, e *conversation.Event) []byte {
	if e.Choice != 0 || w.over {
		return dst
	}
	w.b = dst
	w.begin()
	switch e.Kind {
	case conversation.Opened:
		w.opened(e)
	case conversation.Rated:
		w.rated(tokensOf(e.Logprobs))
	case conversation.Stopped:
		w.end.finish = e.Finish
	case conversation.Metered:
		w.end.usage = e.Usage
	case conversation.Began:
	default:
		if p, ok := w.parts[e.Index]; ok && !p.item.pieces[p.at].done {
			w.extend(p.item, p.at, e)
		}
	}
	return w.taken()
}

// End implements dialect.StreamEncoder.
func (w *streamWriter) End(dst []byte) []byte {
	if w.over {
		return dst
	}
	w.b = dst
	w.begin()
	w.over = true
	status, _ := w.out.ended(w.end.finish)
	for _, i := range w.out.items {
		w.finish(i, w.out.status(i, status))
	}
	w.open("response." + status)
	w.b.Name("response")
	w.out.write(&w.b, w.as, &w.end)
	w.close()
	return w.taken()
}

func (w *streamWriter) taken() []byte {
	b := w.b
	w.b = nil
	return b
}

// open begins an event.
func (w *streamWriter) open(name string) {
	w.b = append(append(append(w.b, "event: "...), name...), "\ndata: "...)
	w.b.Open('{')
	w.b.String("type", name)
	w.b.Int("sequence_number", w.next)
	w.next++
}

func (w *streamWriter) close() { w.b = append(w.b, "}\n\n"...) }

// openAt begins an event about an item.
func (w *streamWriter) openAt(name string, i *outItem) {
	w.open(name)
	w.b.String("item_id", i.id)
	w.b.Int("output_index", int64(i.index))
}

func (w *streamWriter) begin() {
	if w.begun {
		return
	}
	w.begun = true
	w.end.begun = true
	for _, name := range [...]string{"response.created", "response.in_progress"} {
		w.open(name)
		w.b.Name("response")
		w.out.write(&w.b, w.as, &w.end)
		w.close()
	}
	w.end.begun = false
}

// opened begins a part. What came before it and is whole is told as such.
func (w *streamWriter) opened(e *conversation.Event) {
	part := e.Part
	text := textOf(&part)
	before := w.out.talk
	i, at, isNew := w.out.place(&part)
	i.pieces[at].text = nil
	w.parts[e.Index] = place{item: i, at: at}
	if isNew {
		for _, earlier := range w.out.items[:i.index] {
			if earlier.closed() {
				w.finish(earlier, completed)
			}
		}
		w.itemAdded(i)
	} else if before != nil && at > 0 && i.pieces[at-1].closed {
		w.pieceDone(i, at-1)
	}
	if i.kind == typeMessage {
		w.partAdded(i, at)
	}
	w.add(i, at, text)
	w.citedFrom(i, at, 0)
}

// textOf is the text that a part has when it opens.
func textOf(p *conversation.Part) string {
	switch {
	case p.Thought != nil:
		return p.Thought.Text
	case p.Call != nil:
		return p.Call.Arguments
	}
	return p.Text
}

func (w *streamWriter) extend(i *outItem, at int, e *conversation.Event) {
	p := &i.pieces[at]
	switch e.Kind {
	case conversation.Added:
		w.add(i, at, e.Text)
	case conversation.Signed:
		if t := e.Part.Thought; t != nil {
			w.add(i, at, t.Text)
			i.sign(t)
		}
	case conversation.Cited:
		first := len(p.citations)
		p.citations = append(p.citations, e.Part.Citations...)
		w.citedFrom(i, at, first)
	case conversation.Closed:
		if i.kind == typeCall && len(p.text) == 0 {
			w.add(i, at, string(argumentsOf(&i.call, nil)))
		}
		i.close(at)
		// What is last may yet turn out to be cut.
		if i != w.out.items[len(w.out.items)-1] && i.closed() {
			w.finish(i, completed)
		}
	default: // sound has no place in the format
	}
}

// sign takes in more of a proof.
func (i *outItem) sign(t *conversation.Thinking) {
	i.thought.Signature += t.Signature
	i.thought.Data += t.Data
	if t.Origin != "" {
		i.thought.Origin = t.Origin
	}
}

// finish tells that an item is whole, once.
func (w *streamWriter) finish(i *outItem, status string) {
	if i.done {
		return
	}
	i.done = true
	for at := range i.pieces {
		i.close(at)
		w.pieceDone(i, at)
	}
	w.open("response.output_item.done")
	w.b.Int("output_index", int64(i.index))
	w.b.Name("item")
	i.write(&w.b, status)
	w.close()
}
