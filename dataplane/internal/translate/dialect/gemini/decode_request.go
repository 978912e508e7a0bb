package gemini

import (
	"bytes"
	"slices"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// elsewhere are members of a body that say what stands in this format's path,
// and what is for the gateway's rules alone.
var elsewhere = []string{"model", "metadata", "stream"}

// requestReader reads one request.
type requestReader struct {
	reader
	request conversation.Request
	system  []conversation.Part
	calls   calls
}

// DecodeRequest implements dialect.Codec. Members may have either spelling of
// their names, "generationConfig" or "generation_config", as with Google.
func (Codec) DecodeRequest(body []byte) (*conversation.Request, []fault.Violation) {
	r := &requestReader{}
	if body = bytes.TrimSpace(body); len(body) == 0 || body[0] != '{' {
		r.wrong("", wrongType, "must be an object")
	} else {
		r.body(body)
	}
	return &r.request, r.violations
}

func (r *requestReader) body(body []byte) {
	var contents []byte
	o := rawjson.NewObject(body)
	for o.Next() {
		value := o.Value()
		if rawjson.IsNull(value) {
			continue
		}
		switch {
		case o.Is("contents"):
			contents = value
		case is(&o, "systemInstruction"):
			r.instructions("systemInstruction", value)
		case o.Is("tools"):
			r.request.Tools = nil
			r.each("tools", value, r.tool)
		case is(&o, "toolConfig"):
			r.toolConfig("toolConfig", value)
		case is(&o, "generationConfig"):
			r.generation("generationConfig", value)
		case is(&o, "cachedContent"):
			r.request.State = append(r.request.State, "cachedContent")
		case !isAny(&o, elsewhere) && !dialect.IsGatewayOnly(o.Name()):
			r.other(nameOf(&o))
		}
	}
	if !o.OK() {
		r.wrong("", wrongType, "must be one sound JSON object")
		return
	}
	if len(r.system) > 0 {
		r.request.Messages = append(r.request.Messages, conversation.Message{Role: conversation.System, Parts: r.system})
	}
	r.each("contents", contents, r.content)
	if contents == nil || string(contents) == "[]" {
		r.wrong("contents", required, "must have at least one content")
	}
}

// other notes a member that has no neutral form.
func (r *requestReader) other(path string) { r.request.Other = append(r.request.Other, path) }

func (r *requestReader) instructions(at string, v []byte) {
	if !r.object(at, v) {
		return
	}
	_, parts := r.split(v)
	r.system = nil
	r.each(at+".parts", parts, func(at string, v []byte) {
		for _, p := range r.part(at, v) {
			if p.Call != nil || p.Result != nil || p.Thought != nil {
				r.wrong(at, notSupported, "instructions hold no calls, results or thoughts")
				continue
			}
			r.system = append(r.system, p)
		}
	})
}

// split returns the members of a content.
func (r *requestReader) split(v []byte) (role, parts []byte) {
	o := rawjson.NewObject(v)
	for o.Next() {
		switch {
		case o.Is("role"):
			role = o.Value()
		case o.Is("parts"):
			parts = o.Value()
		}
	}
	return role, parts
}

func (r *requestReader) content(at string, v []byte) {
	if !r.element(at, v) {
		return
	}
	role, parts := r.split(v)
	name := r.text(at+".role", role)
	switch name {
	case "", "user", "model", "function", "tool":
	default:
		r.wrong(at+".role", outOfRange, "must be user, model or function")
		return
	}
	if rawjson.IsNull(parts) || string(parts) == "[]" {
		if name != "model" { // a model's silence is left out; Google's own clients send it
			r.wrong(at+".parts", required, "must have at least one part")
		}
		return
	}
	var read []conversation.Part
	r.each(at+".parts", parts, func(at string, v []byte) { read = append(read, r.part(at, v)...) })
	if name == "model" {
		r.append(conversation.Assistant, joinThoughts(spoken(read)))
		return
	}
	r.user(read)
}

// spoken leaves out texts that say nothing, with which Google ends streams.
func spoken(parts []conversation.Part) []conversation.Part {
	return slices.DeleteFunc(parts, func(p conversation.Part) bool { return isPlainText(&p) && p.Text == "" })
}

// user appends what is not the model's: results are a message of their own,
// and come first.
func (r *requestReader) user(parts []conversation.Part) {
	var results, rest []conversation.Part
	for _, p := range parts {
		if p.Result != nil {
			results = append(results, p)
		} else {
			rest = append(rest, p)
		}
	}
	r.append(conversation.ToolRole, results)
	if len(rest) > 0 {
		r.request.Messages = append(r.request.Messages, conversation.Message{Role: conversation.User, Parts: rest})
	}
}

// append adds parts to the last message when it is of the same role: the
// results of one turn are one message, and clients keep each piece of a
// streamed answer as a content of its own.
func (r *requestReader) append(role conversation.Role, parts []conversation.Part) {
	if len(parts) == 0 {
		return
	}
	all := r.request.Messages
	if n := len(all); n > 0 && all[n-1].Role == role {
		before := all[n-1].Parts
		if last := &before[len(before)-1]; role == conversation.Assistant && isPlainText(last) && isPlainText(&parts[0]) {
			last.Text += parts[0].Text
			parts = parts[1:]
		}
		all[n-1].Parts = joinThoughts(append(before, parts...))
		return
	}
	r.request.Messages = append(all, conversation.Message{Role: role, Parts: parts})
}

// joinThoughts makes one thought of pieces up to the one that carries the
// proof: other families prove the whole text.
func joinThoughts(parts []conversation.Part) []conversation.Part {
	out := parts[:0]
	for _, p := range parts {
		if n := len(out); n > 0 && isOpenThought(&out[n-1]) && continuesThought(p.Thought) {
			joined := *p.Thought
			joined.Text = out[n-1].Thought.Text + joined.Text
			out[n-1].Thought = &joined
			continue
		}
		out = append(out, p)
	}
	return out
}

// continuesThought tells the rest of a thought from the proof that belongs to
// the next part. OpenAI's proofs are always of thoughts.
func continuesThought(t *conversation.Thinking) bool {
	return t != nil && (t.Text != "" || t.Signature != "" || t.Origin == conversation.OpenAI)
}

func isPlainText(p *conversation.Part) bool { return p.Kind == conversation.Text }

func isOpenThought(p *conversation.Part) bool {
	return p.Thought != nil && p.Thought.Text != "" && p.Thought.Signature == "" && p.Thought.Data == ""
}
