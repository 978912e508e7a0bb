package chat

import (
	"strconv"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
)

func (r *requestReader) messages(v []byte) {
	r.custom, r.legacy = make(map[string]bool), make(map[string]string)
	if rawjson.IsNull(v) || v[0] != '[' {
		r.Wrong("messages", openai.WrongType, "must be an array of messages")
		return
	}
	r.Each("messages", v, func(path string, v []byte) {
		var m message
		m.read(r, path, v)
		r.message(path, &m)
	})
}

// message is a message as it is written.
type message struct {
	role, name, callID string
	body
}

func (m *message) read(r *requestReader, path string, v []byte) {
	o := r.Object(path, v)
	for o.Next() {
		v := o.Value()
		switch {
		case o.Is("role"):
			m.role = r.Text(path+".role", v)
		case o.Is("name"):
			m.name = r.Text(path+".name", v)
		case o.Is("tool_call_id"):
			m.callID = r.Text(path+".tool_call_id", v)
		default:
			m.member(&o)
		}
	}
}

func (r *requestReader) message(path string, m *message) {
	out := conversation.Message{Role: conversation.Role(m.role), Name: m.name}
	switch out.Role {
	case conversation.System, conversation.Developer, conversation.User:
		out.Parts = r.content(path+".content", m.content)
	case conversation.Assistant:
		out.Parts = m.parts(&r.reader, path)
		r.remember(path, out.Parts)
	case conversation.ToolRole, "function":
		r.result(path, m)
		return
	default:
		r.Wrong(path+".role", openai.UnknownValue, "must be system, developer, user, assistant or tool")
		return
	}
	r.out.Messages = append(r.out.Messages, out)
}

// remember notes which calls were of custom tools, and gives calls without an
// id, which are those of the deprecated function_call, one from their place.
func (r *requestReader) remember(path string, parts []conversation.Part) {
	for i := range parts {
		c := parts[i].Call
		if c == nil {
			continue
		}
		if c.ID == "" {
			c.ID = "call_" + path[len("messages."):]
			if i > 0 && parts[i-1].Call != nil {
				c.ID += "_" + strconv.Itoa(i)
			}
			r.legacy[c.Name] = c.ID
		}
		if c.Custom {
			r.custom[c.ID] = true
		}
	}
}

// result adds a tool's answer to the turn's message.
func (r *requestReader) result(path string, m *message) {
	result := &conversation.ToolResult{CallID: m.callID, Name: m.name}
	if m.callID == "" {
		if result.CallID = r.legacy[m.name]; result.CallID == "" {
			r.Wrong(path+".tool_call_id", openai.Missing, "must name the call that is answered")
		}
	}
	result.Custom = r.custom[result.CallID]
	result.Parts = r.content(path+".content", m.content)
	part := conversation.Part{Kind: conversation.Result, Result: result}
	if len(result.Parts) > 0 {
		// A mark on the last block of a tool message stands behind the result.
		last := &result.Parts[len(result.Parts)-1]
		part.Cache, last.Cache = last.Cache, ""
	}
	if n := len(r.out.Messages); n > 0 && r.out.Messages[n-1].Role == conversation.ToolRole {
		r.out.Messages[n-1].Parts = append(r.out.Messages[n-1].Parts, part)
		return
	}
	r.out.Messages = append(r.out.Messages, conversation.Message{Role: conversation.ToolRole, Parts: []conversation.Part{part}})
}

// body is what a message says: of a request's assistant, of a reply, or a
// delta of one.
type body struct {
	content, refusal, audio, images, calls, call, annotations []byte
	thoughts                                                  [4][]byte // by thoughtMembers
}

// thoughtMembers are the names under which thoughts come, the fullest first.
var thoughtMembers = [4]string{"reasoning_details", "reasoning_content", "reasoning", "thinking"}

// member takes a member in.
func (b *body) member(o *rawjson.Object) {
	v := o.Value()
	switch {
	case o.Is("content"):
		b.content = v
	case o.Is("tool_calls"):
		b.calls = v
	case o.Is("refusal"):
		b.refusal = v
	case o.Is("function_call"):
		b.call = v
	case o.Is("audio"):
		b.audio = v
	case o.Is("images"):
		b.images = v
	case o.Is("annotations"):
		b.annotations = v
	default:
		for i, name := range thoughtMembers {
			if o.Is(name) {
				b.thoughts[i] = v
			}
		}
	}
}

// parts reads a whole message. They stand in one order: thoughts, content,
// refusal, sound, images, calls.
func (b *body) parts(r *reader, path string) []conversation.Part {
	parts := b.thinking(r, path)
	parts = append(parts, r.content(path+".content", b.content)...)
	if refusal := r.Text(path+".refusal", b.refusal); refusal != "" {
		parts = append(parts, conversation.Part{Kind: conversation.Refusal, Text: refusal})
	}
	if !openai.IsBlank(b.audio) {
		parts = append(parts, r.spoken(path+".audio", b.audio))
	}
	r.Each(path+".images", b.images, func(path string, v []byte) {
		if p, ok := r.part(path, v); ok {
			parts = append(parts, p)
		}
	})
	r.Each(path+".tool_calls", b.calls, func(path string, v []byte) {
		parts = append(parts, conversation.Part{Kind: conversation.Call, Call: r.call(path, v)})
	})
	if !openai.IsBlank(b.call) {
		call := &conversation.ToolCall{}
		r.callee(path+".function_call", b.call, call)
		parts = append(parts, conversation.Part{Kind: conversation.Call, Call: call})
	}
	return parts
}

func (r *reader) spoken(path string, v []byte) conversation.Part {
	p := conversation.Part{Kind: conversation.Audio, Media: &conversation.Media{}}
	o := r.Object(path, v)
	for o.Next() {
		switch {
		case o.Is("id"):
			p.Media.ID = r.Text(path+".id", o.Value())
		case o.Is("data"):
			p.Media.Data = r.Text(path+".data", o.Value())
		case o.Is("transcript"):
			p.Text = r.Text(path+".transcript", o.Value())
		}
	}
	return p
}

func (r *reader) call(path string, v []byte) *conversation.ToolCall {
	call := &conversation.ToolCall{}
	o := r.Object(path, v)
	for o.Next() {
		v := o.Value()
		switch {
		case o.Is("id"):
			call.ID = r.Text(path+".id", v)
		case o.Is("function"), o.Is("custom"):
			call.Custom = o.Is("custom")
			r.callee(path+"."+o.Name(), v, call)
		}
	}
	if call.Name == "" {
		r.Wrong(path+".function.name", openai.Missing, "must name the tool")
	}
	return call
}

// callee reads what is called, and with what. Arguments that are no text but
// an object, as some providers have them, are kept as they are written.
func (r *reader) callee(path string, v []byte, call *conversation.ToolCall) {
	o := r.Object(path, v)
	for o.Next() {
		switch v := o.Value(); {
		case o.Is("name"):
			call.Name = r.Text(path+".name", v)
		case o.Is("arguments"), o.Is("input"):
			call.Arguments = argumentsOf(v)
		}
	}
}

func argumentsOf(v []byte) string {
	switch {
	case rawjson.IsNull(v):
		return ""
	case rawjson.IsString(v):
		return rawjson.String(v)
	}
	return string(v)
}
