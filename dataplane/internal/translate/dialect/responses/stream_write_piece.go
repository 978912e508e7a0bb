package responses

import "github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"

func (w *streamWriter) itemAdded(i *outItem) {
	empty := *i
	if i.kind == typeMessage {
		empty.pieces = nil
	}
	empty.media, empty.thought = nil, conversation.Thinking{} // they come when they are whole
	w.open("response.output_item.added")
	w.b.Int("output_index", int64(i.index))
	w.b.Name("item")
	empty.write(&w.b, inProgress)
	w.close()
}

func (w *streamWriter) partAdded(i *outItem, at int) {
	empty := piece{refusal: i.pieces[at].refusal}
	w.openAt("response.content_part.added", i)
	w.b.Int("content_index", int64(at))
	w.b.Name("part")
	empty.write(&w.b)
	w.close()
}

// names are those of the events about a text that grows.
type names struct {
	delta, done string
	whole       string // the member of the second that has all of it
	index       string // the member that has its place in the item, "" for none
}

func namesOf(i *outItem, p *piece) names {
	switch {
	case p.refusal:
		return names{"response.refusal.delta", "response.refusal.done", "refusal", "content_index"}
	case i.kind == typeMessage:
		return names{"response.output_text.delta", "response.output_text.done", "text", "content_index"}
	case i.kind == typeReasoning:
		return names{"response.reasoning_summary_text.delta", "response.reasoning_summary_text.done", "text", "summary_index"}
	case i.kind == typeCustom:
		return names{"response.custom_tool_call_input.delta", "response.custom_tool_call_input.done", "input", ""}
	}
	return names{"response.function_call_arguments.delta", "response.function_call_arguments.done", "arguments", ""}
}

// add tells more of a text.
func (w *streamWriter) add(i *outItem, at int, text string) {
	p := &i.pieces[at]
	if text == "" || i.kind == typeImage {
		return
	}
	if i.kind == typeReasoning && !p.begun {
		p.begun = true
		w.summary("response.reasoning_summary_part.added", i, "")
	}
	p.text = append(p.text, text...)
	n := namesOf(i, p)
	w.openAt(n.delta, i)
	if n.index != "" {
		w.b.Int(n.index, int64(at))
	}
	w.b.String("delta", text)
	if i.kind == typeMessage && !p.refusal {
		w.b.Raw("logprobs", []byte("[]"))
	}
	w.close()
}

// rated tells the logprobs of what was said: they come behind the text here,
// and so with no text. Of a text that was told as whole they are in the
// response at the end.
func (w *streamWriter) rated(t tokens) {
	i, at := w.out.rate(t)
	if i == nil || i.pieces[at].done {
		return
	}
	w.openAt("response.output_text.delta", i)
	w.b.Int("content_index", int64(at))
	w.b.String("delta", "")
	w.b.Name("logprobs")
	w.b = append(append(append(w.b, '['), t...), ']')
	w.close()
}

// pieceDone tells that a text is whole, once.
func (w *streamWriter) pieceDone(i *outItem, at int) {
	p := &i.pieces[at]
	if p.done {
		return
	}
	p.done = true
	if i.kind == typeImage || i.kind == typeReasoning && !p.begun {
		return
	}
	for n := range p.citations {
		if i.kind == typeMessage && !isPlaced(&p.citations[n]) {
			w.cited(i, at, n)
		}
	}
	n := namesOf(i, p)
	w.openAt(n.done, i)
	if n.index != "" {
		w.b.Int(n.index, int64(at))
	}
	w.b.String(n.whole, string(p.text))
	switch {
	case i.kind == typeCall:
		w.b.String("name", i.call.Name)
	case i.kind == typeMessage && !p.refusal:
		w.b.Name("logprobs")
		w.b = append(append(append(w.b, '['), p.logprobs...), ']')
	}
	w.close()
	switch i.kind {
	case typeReasoning:
		w.summary("response.reasoning_summary_part.done", i, string(p.text))
	case typeMessage:
		w.openAt("response.content_part.done", i)
		w.b.Int("content_index", int64(at))
		w.b.Name("part")
		p.write(&w.b)
		w.close()
	}
}

// summary tells of the one part that a summary has.
func (w *streamWriter) summary(name string, i *outItem, text string) {
	w.openAt(name, i)
	w.b.Int("summary_index", 0)
	w.b.Name("part")
	w.b.Open('{')
	w.b.String("type", summaryText)
	w.b.String("text", text)
	w.b.Close('}')
	w.close()
}

// citedFrom tells of the annotations from the first that is new. One of the
// whole text, whose length is not known before its end, is told there: Anthropic
// cites first and speaks then.
func (w *streamWriter) citedFrom(i *outItem, at, first int) {
	p := &i.pieces[at]
	for n := first; n < len(p.citations) && i.kind == typeMessage; n++ {
		if isPlaced(&p.citations[n]) {
			w.cited(i, at, n)
		}
	}
}

// isPlaced reports a citation that says where the cited text ends.
func isPlaced(c *conversation.Citation) bool { return c.End > 0 || c.URL == "" }

// cited tells of an annotation.
func (w *streamWriter) cited(i *outItem, at, n int) {
	p := &i.pieces[at]
	w.openAt("response.output_text.annotation.added", i)
	w.b.Int("content_index", int64(at))
	w.b.Int("annotation_index", int64(n))
	w.b.Name("annotation")
	writeCitation(&w.b, &p.citations[n], p.text)
	w.close()
}
