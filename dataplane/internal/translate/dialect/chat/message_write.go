package chat

import (
	"strconv"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

func (w *requestWriter) messages() error {
	w.Name("messages")
	w.Open('[')
	for i := range w.in.Messages {
		w.path = "messages." + strconv.Itoa(i)
		if err := w.message(&w.in.Messages[i]); err != nil {
			return err
		}
	}
	w.Close(']')
	return nil
}

func (w *requestWriter) message(m *conversation.Message) error {
	switch m.Role {
	case conversation.ToolRole:
		return w.results(m)
	case conversation.Assistant:
		return w.assistant(m)
	default:
	}
	w.begin(w.role(m.Role))
	w.StringIf("name", m.Name)
	if err := w.content(m.Parts); err != nil {
		return err
	}
	w.Close('}')
	return nil
}

func (w *requestWriter) begin(role string) {
	w.Next()
	w.Open('{')
	w.String("role", role)
}

// role is what the provider calls a role.
func (w *requestWriter) role(r conversation.Role) string {
	if (r == conversation.System || r == conversation.Developer) && w.quirks.SystemRole != "" {
		return w.quirks.SystemRole
	}
	return string(r)
}

// results writes one message for each result. A tool's message holds text
// alone: what else the results hold, a picture of the screen most often, is said
// by the user behind them, under the id of its call.
func (w *requestWriter) results(m *conversation.Message) error {
	var beside []conversation.Part
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Result == nil {
			return w.unable(p.Kind)
		}
		texts, media := split(p.Result.Parts)
		if err := w.result(p, texts); err != nil {
			return err
		}
		if len(media) > 0 {
			label := conversation.Part{Kind: conversation.Text, Text: "Result of " + p.Result.CallID + ":"}
			beside = append(append(beside, label), media...)
		}
	}
	if len(beside) == 0 {
		return nil
	}
	w.begin("user")
	if err := w.content(beside); err != nil {
		return err
	}
	w.Close('}')
	return nil
}

func split(parts []conversation.Part) (texts, media []conversation.Part) {
	for _, p := range parts {
		if p.Media == nil || p.Media.Text != "" {
			texts = append(texts, p)
		} else {
			media = append(media, p)
		}
	}
	return texts, media
}

// result writes a tool's answer. The format has no mark for one that failed:
// the text says it.
func (w *requestWriter) result(p *conversation.Part, texts []conversation.Part) error {
	if p.Cache != "" {
		w.degrade("cache_control")
	}
	w.begin("tool")
	w.String("tool_call_id", p.Result.CallID)
	if err := w.content(texts); err != nil {
		return err
	}
	w.Close('}')
	return nil
}

// assistant writes a turn of the model's: what it said in content, its
// refusal, the sound that it is referred to by, and its calls. A turn of
// thoughts that the provider has no place for is left out.
func (w *requestWriter) assistant(m *conversation.Message) error {
	var said, thoughts []conversation.Part
	var calls []*conversation.ToolCall
	var refusal, audio string
	for i := range m.Parts {
		p := &m.Parts[i]
		switch p.Kind {
		case conversation.Text:
			said = append(said, *p)
		case conversation.Refusal:
			refusal += p.Text
		case conversation.Thought:
			thoughts = append(thoughts, *p)
		case conversation.Call:
			calls = append(calls, p.Call)
		case conversation.Audio:
			if audio = p.Media.ID; audio == "" {
				return w.unable(p.Kind)
			}
		default:
			return w.unable(p.Kind)
		}
	}
	if thoughts = w.sendable(thoughts); len(m.Parts) > 0 && len(thoughts) == 0 && len(said) == 0 && len(calls) == 0 && refusal == "" && audio == "" {
		return nil
	}
	w.begin("assistant")
	w.StringIf("name", m.Name)
	w.thoughts(thoughts)
	if len(said) == 0 && (len(calls) > 0 || refusal != "" || audio != "") {
		w.Raw("content", []byte("null"))
	} else if err := w.content(said); err != nil {
		return err
	}
	w.StringIf("refusal", refusal)
	if audio != "" {
		w.Name("audio")
		w.Open('{')
		w.String("id", audio)
		w.Close('}')
	}
	writeCalls(&w.Buffer, calls)
	w.Close('}')
	return nil
}

// sendable are the thoughts that the provider takes back: all with their
// proofs where it speaks of "reasoning", which comes with reasoning_details;
// text without a proof where it speaks of reasoning_content, since the proof
// makes it another family's; none at the format's inventor, who refuses
// members that he does not know.
func (w *requestWriter) sendable(thoughts []conversation.Part) []conversation.Part {
	switch w.quirks.ReasoningField {
	case "":
		return nil
	case "reasoning":
		return thoughts
	}
	var own []conversation.Part
	for _, p := range thoughts {
		if p.Thought.Signature == "" && p.Thought.Data == "" && p.Thought.Text != "" {
			own = append(own, p)
		}
	}
	return own
}

func (w *requestWriter) thoughts(parts []conversation.Part) {
	name := w.quirks.ReasoningField
	if name == "reasoning" {
		writeThoughts(&w.Buffer, parts, name)
		return
	}
	text := ""
	for i := range parts {
		text += parts[i].Thought.Text
	}
	w.StringIf(name, text)
}

// writeCalls writes the member tool_calls. A call without arguments has those of
// a function that takes none: readers parse them as JSON.
func writeCalls(b *jsonappend.Buffer, calls []*conversation.ToolCall) {
	if len(calls) == 0 {
		return
	}
	b.Name("tool_calls")
	b.Open('[')
	for _, c := range calls {
		if c.Arguments == "" && !c.Custom {
			c = &conversation.ToolCall{ID: c.ID, Name: c.Name, Arguments: "{}"}
		}
		b.Next()
		b.Open('{')
		b.String("id", c.ID)
		writeCallee(b, c)
		b.Close('}')
	}
	b.Close(']')
}

func writeCallee(b *jsonappend.Buffer, c *conversation.ToolCall) {
	kind, arguments := "function", "arguments"
	if c.Custom {
		kind, arguments = "custom", "input"
	}
	b.String("type", kind)
	b.Name(kind)
	b.Open('{')
	b.String("name", c.Name)
	b.String(arguments, c.Arguments)
	b.Close('}')
}
