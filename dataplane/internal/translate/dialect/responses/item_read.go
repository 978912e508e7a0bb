package responses

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
)

// item is an element of "input" or "output": its members as they are written.
type item struct {
	kind                               string
	id, role, callID, name             []byte
	content, summary, encrypted        []byte
	arguments, output, result, results []byte
	form                               []byte // output_format of an image
}

func (i *item) read(r *reader, path string, v []byte) {
	o := r.Object(path, v)
	for o.Next() {
		v := o.Value()
		switch {
		case o.Is("type"):
			i.kind = r.Text(path+".type", v)
		case o.Is("id"):
			i.id = v
		case o.Is("role"):
			i.role = v
		case o.Is("content"):
			i.content = v
		case o.Is("summary"):
			i.summary = v
		case o.Is("encrypted_content"):
			i.encrypted = v
		case o.Is("call_id"):
			i.callID = v
		case o.Is("name"):
			i.name = v
		case o.Is("arguments"), o.Is("input"):
			i.arguments = v
		case o.Is("output"):
			i.output = v
		case o.Is("result"):
			i.result = v
		case o.Is("results"):
			i.results = v
		case o.Is("output_format"):
			i.form = v
		}
	}
}

// said returns the parts that an item of the model's means. The second result
// is false when it is of another kind.
func (r *reader) said(path string, i *item) ([]conversation.Part, bool) {
	switch i.kind {
	case typeMessage:
		return r.content(path+".content", i.content), true
	case typeReasoning:
		return r.thoughts(path, i), true
	case typeCall, typeCustom:
		return []conversation.Part{{Kind: conversation.Call, Call: r.call(path, i)}}, true
	case typeImage:
		if openai.IsBlank(i.result) {
			return nil, true
		}
		return []conversation.Part{{Kind: conversation.Image, Media: r.image(path, i)}}, true
	}
	return nil, false
}

func (r *reader) call(path string, i *item) *conversation.ToolCall {
	c := &conversation.ToolCall{Custom: i.kind == typeCustom}
	arguments := path + ".arguments"
	if c.Custom {
		arguments = path + ".input"
	}
	c.ID = r.Need(path+".call_id", i.callID, "must be the id of the call")
	c.Name = r.Need(path+".name", i.name, "must name the tool")
	c.Arguments = r.Text(arguments, i.arguments)
	return c
}

// image is what the provider's own tool made.
func (r *reader) image(path string, i *item) *conversation.Media {
	form := rawjson.String(i.form)
	if form == "" {
		form = "png"
	}
	return &conversation.Media{MIME: "image/" + form, Data: r.Text(path+".result", i.result)}
}

// thoughts reads a reasoning item. What it shows as a summary and the thoughts
// themselves are two parts; the proof is of the last.
func (r *reader) thoughts(path string, i *item) []conversation.Part {
	id := r.Text(path+".id", i.id)
	var parts []conversation.Part
	add := func(name string, v []byte, isSummary bool) {
		if text := r.paragraphs(path+"."+name, v); text != "" {
			thought := &conversation.Thinking{ID: id, Text: text, Summary: isSummary}
			parts = append(parts, conversation.Part{Kind: conversation.Thought, Thought: thought})
		}
	}
	add("summary", i.summary, true)
	add("content", i.content, false)
	proof := r.Text(path+".encrypted_content", i.encrypted)
	if proof != "" && len(parts) == 0 {
		parts = append(parts, conversation.Part{Kind: conversation.Thought, Thought: &conversation.Thinking{ID: id}})
	}
	if n := len(parts); n > 0 {
		readProof(proof, parts[n-1].Thought)
	}
	return parts
}

// paragraph stands between the parts of a summary, which are paragraphs of
// their own.
const paragraph = "\n\n"

func (r *reader) paragraphs(path string, v []byte) string {
	var text string
	r.Each(path, v, func(path string, v []byte) {
		if text != "" {
			text += paragraph
		}
		text += r.Text(path+".text", openai.Member(v, "text"))
	})
	return text
}
