package responses

import (
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// output is what a reply puts out: items, each of one or more parts. It holds
// all of the reply, because a stream of this format repeats every text when it
// is whole and the whole response at its end: memory grows as the reply does.
type output struct {
	id    string // of the request, from which those of the items are made
	items []*outItem
	talk  *outItem // the message that takes more texts, nil when there is none
}

// outItem is one item. A message has pieces; a thought, a call and an image
// have one.
type outItem struct {
	kind   string
	id     string
	index  int
	pieces []piece

	call    conversation.ToolCall
	thought conversation.Thinking // but for its text
	media   *conversation.Media
	done    bool // told as complete
}

// piece is a text of any kind, as far as it has come.
type piece struct {
	refusal   bool
	text      []byte
	citations []conversation.Citation
	logprobs  tokens
	begun     bool // a thought's text was begun
	closed    bool // no text follows
	done      bool // told as complete
}

func pieceOf(p *conversation.Part) piece {
	return piece{refusal: p.Kind == conversation.Refusal, text: []byte(p.Text), citations: p.Citations}
}

// place finds or makes the item for a part, and returns it with the part's
// place in it and whether the item is new. Texts that follow each other are one
// message. A sound has no place in the format but for what is said in it.
func (o *output) place(p *conversation.Part) (i *outItem, at int, isNew bool) {
	switch p.Kind {
	case conversation.Thought:
		i = o.add(typeReasoning, "rs_")
		if p.Thought != nil {
			i.thought = *p.Thought
			i.thought.Text = ""
			i.pieces = []piece{{text: []byte(p.Thought.Text)}}
			if id := p.Thought.ID; id != "" && !o.has(id) {
				i.id = id // which a proof may be bound to
			}
		}
	case conversation.Call:
		i = o.call(p.Call)
	case conversation.Image:
		i = o.add(typeImage, "ig_")
		i.media = p.Media
	default:
		if isNew = o.talk == nil; isNew {
			o.talk = o.add(typeMessage, "msg_")
		}
		o.talk.pieces = append(o.talk.pieces, pieceOf(p))
		return o.talk, len(o.talk.pieces) - 1, isNew
	}
	if len(i.pieces) == 0 {
		i.pieces = make([]piece, 1)
	}
	return i, 0, true
}

func (o *output) has(id string) bool {
	return slices.ContainsFunc(o.items, func(i *outItem) bool { return i.id == id })
}

func (o *output) call(c *conversation.ToolCall) *outItem {
	if c == nil {
		c = &conversation.ToolCall{}
	}
	kind, prefix := typeCall, "fc_"
	if c.Custom {
		kind, prefix = typeCustom, "ctc_"
	}
	i := o.add(kind, prefix)
	i.call = *c
	i.pieces = []piece{{text: []byte(c.Arguments)}}
	return i
}

func (o *output) add(kind, prefix string) *outItem {
	i := &outItem{kind: kind, index: len(o.items)}
	i.id = prefix + o.id + "_" + strconv.Itoa(i.index)
	o.items = append(o.items, i)
	o.talk = nil
	return i
}

// closed reports that nothing more comes of the item.
func (i *outItem) closed() bool {
	for n := range i.pieces {
		if !i.pieces[n].closed {
			return false
		}
	}
	return true
}

// status is that of the item in a response of a status: where that was cut, so
// was its last item.
func (o *output) status(i *outItem, of string) string {
	if of == incomplete && i.index == len(o.items)-1 {
		return incomplete
	}
	return completed
}

// write writes the item as a value.
func (i *outItem) write(b *jsonappend.Buffer, status string) {
	b.Open('{')
	b.String("id", i.id)
	switch i.kind {
	case typeMessage:
		b.String("type", typeMessage)
		b.String("status", status)
		b.String("role", string(conversation.Assistant))
		b.Name("content")
		b.Open('[')
		for n := range i.pieces {
			b.Next()
			i.pieces[n].write(b)
		}
		b.Close(']')
	case typeReasoning:
		// Thoughts are told as a summary, whatever they are: of this format's
		// clients most show nothing else (the AI SDK and LangChain among them).
		// There is no status: OpenAI has none, and refuses one that comes back.
		b.String("type", typeReasoning)
		writeTexts(b, "summary", summaryText, string(i.pieces[0].text))
		b.StringIf("encrypted_content", proofOf(&i.thought))
	case typeImage:
		b.String("type", typeImage)
		b.String("status", status)
		i.writeImage(b)
	default:
		b.String("status", status)
		writeCall(b, &i.call, i.pieces[0].text)
	}
	b.Close('}')
}

func (i *outItem) writeImage(b *jsonappend.Buffer) {
	result := ""
	if i.media != nil {
		if form, ok := strings.CutPrefix(i.media.MIME, "image/"); ok {
			b.String("output_format", form)
		}
		if result = i.media.Data; result == "" {
			result = i.media.URL // better seen than lost
		}
	}
	if result == "" {
		b.Raw("result", []byte("null"))
		return
	}
	b.String("result", result)
}

// write writes the piece as a content part of a message.
func (p *piece) write(b *jsonappend.Buffer) {
	b.Open('{')
	if p.refusal {
		b.String("type", refusal)
		b.Name("refusal")
		*b = jsonappend.AppendString(*b, string(p.text))
		b.Close('}')
		return
	}
	b.String("type", outputText)
	b.Name("annotations")
	b.Open('[')
	for n := range p.citations {
		b.Next()
		writeCitation(b, &p.citations[n], p.text)
	}
	b.Close(']')
	b.Name("logprobs")
	*b = append(append(append(*b, '['), p.logprobs...), ']')
	b.Name("text")
	*b = jsonappend.AppendString(*b, string(p.text))
	b.Close('}')
}

// writeCall writes the members of a call but for its id and status.
func writeCall(b *jsonappend.Buffer, c *conversation.ToolCall, arguments []byte) {
	kind, name := typeCall, "arguments"
	if c.Custom {
		kind, name = typeCustom, "input"
	}
	b.String("type", kind)
	b.String("call_id", c.ID)
	b.String("name", c.Name)
	b.Name(name)
	*b = jsonappend.AppendString(*b, string(arguments))
}

// argumentsOf are a call's arguments when they are whole: clients read them as
// JSON, also of a function that takes none.
func argumentsOf(c *conversation.ToolCall, text []byte) []byte {
	if len(text) == 0 && !c.Custom {
		return []byte("{}")
	}
	return text
}

// writeTexts writes a list of one text, of none when it is empty.
func writeTexts(b *jsonappend.Buffer, name, kind, text string) {
	b.Name(name)
	b.Open('[')
	if text != "" {
		b.Open('{')
		b.String("type", kind)
		b.String("text", text)
		b.Close('}')
	}
	b.Close(']')
}
