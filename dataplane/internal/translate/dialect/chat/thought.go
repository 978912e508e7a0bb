package chat

import (
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// Thoughts have no place in OpenAI's own format. They stand here as OpenRouter
// writes them (https://openrouter.ai/docs/use-cases/reasoning-tokens): a list
// of reasoning.text {text, signature}, reasoning.summary {summary} and
// reasoning.encrypted {data}, each with the "format" of its maker, the "id" of
// the maker's item and an "index". Details of one index that follow each other
// are one thought. The format says whose a proof is, so that proofs need no
// seal here and a caller may give them to another gateway too.
const (
	textDetail      = "reasoning.text"
	summaryDetail   = "reasoning.summary"
	encryptedDetail = "reasoning.encrypted"
)

// The values of "format", by what they begin with. The first is the one that
// OpenRouter means when there is none.
var makers = []struct {
	prefix, name string
	origin       conversation.Origin
}{
	{"anthropic", "anthropic-claude-v1", conversation.Anthropic},
	{"google", "google-gemini-v1", conversation.Google},
	{"openai", "openai-responses-v1", conversation.OpenAI},
	{"azure-openai", "openai-responses-v1", conversation.OpenAI},
}

const unknownMaker = "unknown"

func makerOf(origin conversation.Origin) string {
	for _, m := range makers {
		if m.origin == origin {
			return m.name
		}
	}
	return unknownMaker
}

// detail is one of the list as it is written.
type detail struct {
	kind, id, format, text, signature, data string
	index                                   int64 // -1 for none
}

func (d *detail) read(r *reader, path string, v []byte) {
	d.index = -1
	o := r.Object(path, v)
	for o.Next() {
		v := o.Value()
		switch {
		case o.Is("type"):
			d.kind = r.Text(path+".type", v)
		case o.Is("id"):
			d.id = r.Text(path+".id", v)
		case o.Is("format"):
			d.format = r.Text(path+".format", v)
		case o.Is("text"), o.Is("summary"):
			d.text += r.Text(path+".text", v)
		case o.Is("signature"):
			d.signature = r.Text(path+".signature", v)
		case o.Is("data"):
			d.data = r.Text(path+".data", v)
		case o.Is("index") && openai.IsNumber(v):
			d.index = rawjson.Int(v)
		}
	}
}

// thought is what a detail means, false when it is none.
func (d *detail) thought() (conversation.Thinking, bool) {
	t := conversation.Thinking{ID: d.id, Text: d.text, Summary: d.kind == summaryDetail}
	switch d.kind {
	case textDetail, summaryDetail, encryptedDetail:
	default:
		return t, false
	}
	var origin conversation.Origin
	t.Signature, origin = conversation.Unseal(d.signature, "")
	if d.data != "" {
		t.Data, origin = conversation.Unseal(d.data, "")
	}
	if t.Signature == "" && t.Data == "" {
		return t, t.Text != "" || t.ID != ""
	}
	if t.Origin = origin; origin == "" {
		t.Origin = d.maker()
	}
	return t, true
}

func (d *detail) maker() conversation.Origin {
	for _, m := range makers {
		if d.format == "" || strings.HasPrefix(d.format, m.prefix) {
			return m.origin
		}
	}
	return ""
}

// continues reports whether the detail is more of the thought that the one
// before it is of. What is hidden comes last, and whole.
func (d *detail) continues(before *detail, hidden bool) bool {
	return before.index >= 0 && d.index == before.index && !hidden &&
		(d.kind == before.kind || d.kind == encryptedDetail)
}

// thinking reads the thoughts of a whole message: the fullest of the members
// that say something.
func (b *body) thinking(r *reader, path string) []conversation.Part {
	if v := b.thoughts[0]; !openai.IsBlank(v) {
		return details(r, path+"."+thoughtMembers[0], v)
	}
	for i, v := range b.thoughts[1:] {
		if openai.IsBlank(v) {
			continue
		}
		if text := r.Text(path+"."+thoughtMembers[i+1], v); text != "" {
			return []conversation.Part{{Kind: conversation.Thought, Thought: &conversation.Thinking{Text: text}}}
		}
	}
	return nil
}

func details(r *reader, path string, v []byte) []conversation.Part {
	var parts []conversation.Part
	var before detail
	r.Each(path, v, func(path string, v []byte) {
		var d detail
		d.read(r, path, v)
		t, ok := d.thought()
		if !ok {
			return
		}
		if n := len(parts); n > 0 && d.continues(&before, parts[n-1].Thought.Data != "") {
			join(parts[n-1].Thought, &t)
		} else {
			parts = append(parts, conversation.Part{Kind: conversation.Thought, Thought: &t})
		}
		before = d
	})
	return parts
}

func join(t, more *conversation.Thinking) {
	t.Text += more.Text
	t.Signature += more.Signature
	t.Data += more.Data
	if t.ID == "" {
		t.ID = more.ID
	}
	if more.Origin != "" {
		t.Origin = more.Origin
	}
}

// writeDetails writes what there is of a thought as details of one index. Of a
// part whose maker is not known yet nothing is said of it: clients keep the
// first format that they are told.
func writeDetails(b *jsonappend.Buffer, t *conversation.Thinking, index int, isPart bool) {
	if t.Text != "" || t.Signature != "" || t.Data == "" {
		kind, name := textDetail, "text"
		if t.Summary {
			kind, name = summaryDetail, "summary"
		}
		openDetail(b, kind)
		if t.Text != "" || t.Signature == "" {
			b.String(name, t.Text)
		}
		b.StringIf("signature", t.Signature)
		closeDetail(b, t, index, isPart)
	}
	if t.Data != "" {
		openDetail(b, encryptedDetail)
		b.String("data", t.Data)
		closeDetail(b, t, index, isPart)
	}
}

func openDetail(b *jsonappend.Buffer, kind string) {
	b.Next()
	b.Open('{')
	b.String("type", kind)
}

func closeDetail(b *jsonappend.Buffer, t *conversation.Thinking, index int, isPart bool) {
	b.StringIf("id", t.ID)
	if maker := makerOf(t.Origin); maker != unknownMaker || !isPart {
		b.String("format", maker)
	}
	b.Name("index")
	*b = strconv.AppendInt(*b, int64(index), 10)
	b.Close('}')
}

// saysAny reports whether there is anything to write of a thought.
func saysAny(t *conversation.Thinking) bool {
	return t != nil && (t.Text != "" || t.Signature != "" || t.Data != "" || t.ID != "")
}

// writeThoughts writes the members of a whole message: the text alone under
// name, for readers that know no more, and the details.
func writeThoughts(b *jsonappend.Buffer, parts []conversation.Part, name string) {
	var text strings.Builder
	index := 0
	for i := range parts {
		if t := parts[i].Thought; saysAny(t) {
			text.WriteString(t.Text)
			index++
		}
	}
	if index == 0 {
		return
	}
	b.StringIf(name, text.String())
	b.Name(thoughtMembers[0])
	b.Open('[')
	index = 0
	for i := range parts {
		if t := parts[i].Thought; saysAny(t) {
			writeDetails(b, t, index, false)
			index++
		}
	}
	b.Close(']')
}
