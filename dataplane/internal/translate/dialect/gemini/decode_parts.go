package gemini

import (
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

// part reads one part: the proof on it, when there is one, is a part before it.
func (r *requestReader) part(at string, v []byte) []conversation.Part {
	if !r.element(at, v) {
		return nil
	}
	p := scanPart(v)
	if p.more {
		r.moreOfPart(at, v)
	}
	signature := r.text(at+".thoughtSignature", p.signature)
	if p.held > 1 {
		r.wrong(at, outOfRange, "must hold only one of text, inlineData, fileData, functionCall, functionResponse")
		return nil
	}
	if p.text != nil && p.thought {
		proof, of := unsealProof(signature)
		return []conversation.Part{{Kind: conversation.Thought, Thought: proven(r.text(at+".text", p.text), proof, of)}}
	}
	var out []conversation.Part
	if signature != "" {
		proof, of := unsealProof(signature)
		out = append(out, conversation.Part{Kind: conversation.Thought, Thought: &conversation.Thinking{Data: proof, Origin: of}})
	}
	switch held, ok := r.held(at, &p); {
	case ok:
		if held.Media != nil {
			held.Media.Detail = r.detail(at+".mediaResolution", p.resolution)
		}
		out = append(out, held)
	case p.held == 0 && signature == "":
		r.wrong(at, required, "must hold text, inlineData, fileData, functionCall or functionResponse")
	}
	return out
}

// partMembers are those that scanPart knows.
var partMembers = []string{
	"text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode", "codeExecutionResult",
	"thought", "thoughtSignature", "mediaResolution",
}

func (r *requestReader) moreOfPart(at string, v []byte) {
	for o := rawjson.NewObject(v); o.Next(); {
		switch {
		case isAny(&o, partMembers), rawjson.IsNull(o.Value()):
		case is(&o, "toolCall"), is(&o, "toolResponse"):
			r.wrong(at+"."+nameOf(&o), notSupported, "calls of Google's own tools can only be sent to Google")
		default:
			r.other(at + "." + nameOf(&o))
		}
	}
}

// held reads the one thing that a part is; false when there is none, or it
// was wrong.
func (r *requestReader) held(at string, p *wirePart) (conversation.Part, bool) {
	before := len(r.violations)
	var part conversation.Part
	switch {
	case p.text != nil:
		part.Text = r.text(at+".text", p.text)
		if part.Text == "" && p.signature != nil {
			return part, false // the part is there for its signature
		}
	case p.inline != nil:
		part = r.inline(at+".inlineData", p.inline)
	case p.file != nil:
		part = r.file(at+".fileData", p.file)
	case p.call != nil:
		part = r.call(at+".functionCall", p.call)
	case p.response != nil:
		part = r.result(at+".functionResponse", p.response)
	case p.code != nil:
		part.Text = codeText(p.code)
	case p.output != nil:
		part.Text = outputText(p.output)
	default:
		return part, false
	}
	return part, len(r.violations) == before
}

func (r *requestReader) inline(at string, v []byte) conversation.Part {
	if !r.object(at, v) {
		return conversation.Part{}
	}
	b := scanBlob(v)
	m := &conversation.Media{
		MIME: r.text(at+".mimeType", b.mime), Data: r.text(at+".data", b.data), Name: r.text(at+".displayName", b.name),
	}
	if m.MIME == "" {
		r.wrong(at+".mimeType", required, "is required")
	}
	data, ok := standardBase64(m.Data)
	switch {
	case m.Data == "":
		r.wrong(at+".data", required, "is required")
	case !ok:
		r.wrong(at+".data", "malformed", "must be base64")
	}
	m.Data = data
	return conversation.Part{Kind: kindOf(m.MIME), Media: m}
}

func (r *requestReader) file(at string, v []byte) conversation.Part {
	if !r.object(at, v) {
		return conversation.Part{}
	}
	b := scanBlob(v)
	m := &conversation.Media{
		MIME: r.text(at+".mimeType", b.mime), URL: r.text(at+".fileUri", b.uri), Name: r.text(at+".displayName", b.name),
	}
	if m.URL == "" {
		r.wrong(at+".fileUri", required, "is required")
	}
	if m.MIME == "" {
		m.MIME = typeOfURL(m.URL)
	}
	return conversation.Part{Kind: kindOf(m.MIME), Media: m}
}

// detail is how closely an image is looked at; Google has four levels.
func (r *requestReader) detail(at string, v []byte) string {
	if !r.object(at, v) {
		return ""
	}
	for o := rawjson.NewObject(v); o.Next(); {
		if !o.Is("level") {
			continue
		}
		level := strings.TrimPrefix(r.text(at+".level", o.Value()), "MEDIA_RESOLUTION_")
		switch level {
		case "LOW":
			return "low"
		case "MEDIUM":
			return "auto"
		case "HIGH", "ULTRA_HIGH":
			return "high"
		}
	}
	return ""
}

func (r *requestReader) call(at string, v []byte) conversation.Part {
	if !r.object(at, v) {
		return conversation.Part{}
	}
	c := scanCall(v)
	call := &conversation.ToolCall{ID: r.text(at+".id", c.id), Name: r.text(at+".name", c.name), Arguments: "{}"}
	if call.Name == "" {
		r.wrong(at+".name", required, "is required")
	}
	if r.object(at+".args", c.args) {
		call.Arguments = c.arguments()
	}
	call.ID = r.calls.made(call.ID, call.Name)
	return conversation.Part{Kind: conversation.Call, Call: call}
}

func (r *requestReader) result(at string, v []byte) conversation.Part {
	if !r.object(at, v) {
		return conversation.Part{}
	}
	result := &conversation.ToolResult{}
	var response, parts []byte
	for o := rawjson.NewObject(v); o.Next(); {
		switch {
		case o.Is("id"):
			result.CallID = r.text(at+".id", o.Value())
		case o.Is("name"):
			result.Name = r.text(at+".name", o.Value())
		case o.Is("response"):
			response = o.Value()
		case o.Is("parts"):
			parts = o.Value()
		}
	}
	result.CallID, result.Name = r.calls.answered(result.CallID, result.Name)
	if result.Name == "" {
		r.wrong(at+".name", required, "is required")
	}
	if r.object(at+".response", response) && (string(response) != "{}" || rawjson.IsNull(parts)) {
		out := readOutcome(response)
		result.IsError = out.isError
		for _, text := range out.texts {
			result.Parts = append(result.Parts, conversation.Part{Text: text})
		}
	}
	r.each(at+".parts", parts, func(at string, v []byte) {
		if p := scanPart(v); p.inline != nil || p.file != nil {
			result.Parts = append(result.Parts, r.part(at, v)...)
			return
		}
		r.wrong(at, required, "must hold inlineData or fileData")
	})
	return conversation.Part{Kind: conversation.Result, Result: result}
}

// calls are the calls of a conversation so far: this format may leave their
// ids out, and then results answer by name and order.
type calls struct{ list []madeCall }

type madeCall struct {
	id, name string
	answered bool
}

// made notes a call and returns its id, made up from its position when it has
// none.
func (c *calls) made(id, name string) string {
	if id == "" {
		id = "call_" + strconv.Itoa(len(c.list))
	}
	c.list = append(c.list, madeCall{id: id, name: name})
	return id
}

// answered returns the id and name of the call that a result belongs to. A
// result of no known call keeps what it says.
func (c *calls) answered(id, name string) (string, string) {
	for i := len(c.list) - 1; i >= 0 && id != ""; i-- {
		if made := &c.list[i]; made.id == id {
			made.answered = true
			if name == "" {
				name = made.name
			}
			return id, name
		}
	}
	for i := range c.list {
		if made := &c.list[i]; made.name == name && !made.answered {
			made.answered = true
			return made.id, name
		}
	}
	if id == "" {
		id = c.made("", name)
		c.list[len(c.list)-1].answered = true
	}
	return id, name
}
