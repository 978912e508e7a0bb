package merge

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// blank parts the preset's prompt from the caller's text, inside a string.
const blank = `\n\n`

// speak puts the prompt before the system text of a member, if it has any. A
// member that stands twice is edited twice, since the upstream may believe
// either.
func (m *merger) speak(o *rawjson.Object, at int) {
	switch m.to.Surface {
	case catalog.Chat:
		if o.Is("messages") {
			m.messages(o.Value(), at)
		}
	case catalog.Completions:
		if o.Is("prompt") && !m.before(o.Value(), at, "") && !m.each(o.Value(), at) {
			m.unprompted = true
		}
	case catalog.Responses:
		if o.Is("instructions") && !m.before(o.Value(), at, `{"type":"message","role":"developer","content":[{"type":"input_text","text":`, `}]}`) {
			m.unprompted = true
		}
	case catalog.Messages:
		if o.Is("system") && !m.before(o.Value(), at, `{"type":"text","text":`, `}`) {
			m.unprompted = true
		}
	case catalog.Gemini:
		if conceptOf(o.Name()) == "systeminstruction" {
			m.instruction(o.Value(), at)
		}
	default:
	}
}

// before puts the prompt before a text, or as a part of its own before parts; in
// the place of null it stands alone. part is what stands before and behind the
// prompt in a part; "" has no parts. It reports whether there was a place.
func (m *merger) before(value []byte, at int, part ...string) bool {
	switch {
	case value[0] == '"':
		inside := m.prompt[1 : len(m.prompt)-1]
		if len(value) > len(`""`) {
			inside = append(append(make([]byte, 0, len(m.prompt)+len(blank)), inside...), blank...)
		}
		m.edits.Insert(at+1, inside)
	case value[0] == 'n':
		m.edits.Replace(at, at+len(value), m.prompt)
	case value[0] == '[' && part[0] != "":
		m.first(value, at, m.part(part...))
	default:
		return false
	}
	m.spoken = true
	return true
}

// part is the prompt as a part.
func (m *merger) part(around ...string) []byte {
	return append(append([]byte(around[0]), m.prompt...), around[1]...)
}

// first puts an element before all others of a list.
func (m *merger) first(list []byte, at int, element []byte) {
	if a := rawjson.NewArray(list); a.Next() {
		element = append(element, ',')
	}
	m.edits.Insert(at+1, element)
	m.spoken = true
}

// messages puts the prompt before the text of the system message that a
// conversation begins with, or in a message of its own before all others.
func (m *merger) messages(list []byte, at int) {
	if list[0] != '[' {
		return
	}
	a := rawjson.NewArray(list)
	if a.Next() {
		start, _ := a.ValueSpan()
		if m.leading(a.Value(), at+start) {
			return
		}
	}
	m.first(list, at, m.part(`{"role":"system","content":`, `}`))
}

// leading edits the first message, if it is a system message with text.
func (m *merger) leading(message []byte, at int) bool {
	var role string
	var texts []span
	o := rawjson.NewObject(message)
	for o.Next() {
		start, end := o.ValueSpan()
		switch {
		case o.Is("role"):
			role = rawjson.String(o.Value())
		case o.Is("content"):
			if first := o.Value()[0]; first != '"' && first != '[' && first != 'n' {
				return false
			}
			texts = append(texts, span{start, end})
		}
	}
	if role != "system" && role != "developer" {
		return false
	}
	for _, t := range texts {
		m.before(message[t.start:t.end], at+t.start, `{"type":"text","text":`, `}`)
	}
	return len(texts) > 0
}

// each puts the prompt before every text of a list that has nothing else: a
// legacy completion may have several prompts. One in tokens takes no text.
func (m *merger) each(value []byte, at int) bool {
	if value[0] != '[' {
		return false
	}
	var texts []span
	for a := rawjson.NewArray(value); a.Next(); {
		if !rawjson.IsString(a.Value()) {
			return false
		}
		start, end := a.ValueSpan()
		texts = append(texts, span{start, end})
	}
	for _, t := range texts {
		m.before(value[t.start:t.end], at+t.start, "")
	}
	return len(texts) > 0
}

// instruction puts the prompt before the parts of a Gemini content.
func (m *merger) instruction(content []byte, at int) {
	part := m.part(`{"text":`, `}`)
	switch content[0] {
	case 'n':
		m.edits.Replace(at, at+len(content), m.instructed())
		m.spoken = true
		return
	case '{':
	default:
		m.unprompted = true
		return
	}
	there, members := false, false
	o := rawjson.NewObject(content)
	for o.Next() {
		members = true
		if !o.Is("parts") {
			continue
		}
		there = true
		start, end := o.ValueSpan()
		switch o.Value()[0] {
		case '[':
			m.first(o.Value(), at+start, part)
		case '{': // one part may stand for a list of one
			m.edits.Insert(at+start, append(append([]byte{'['}, part...), ','))
			m.edits.Insert(at+end, []byte{']'})
		case 'n':
			m.edits.Replace(at+start, at+end, append(append([]byte{'['}, part...), ']'))
		default:
			m.unprompted = true
		}
	}
	m.spoken = true
	if there {
		return
	}
	parts := append(append([]byte(`"parts":[`), part...), ']')
	if members {
		parts = append(parts, ',')
	}
	m.edits.Insert(at+1, parts)
}

func (m *merger) instructed() []byte { return m.part(`{"parts":[{"text":`, `}]}`) }

// alone adds the prompt where the body has no place for it yet.
func (m *merger) alone(front []byte) []byte {
	switch m.to.Surface {
	case catalog.Responses:
		return appendMember(front, "instructions", m.prompt)
	case catalog.Messages:
		return appendMember(front, "system", m.prompt)
	case catalog.Gemini:
		return appendMember(front, "systemInstruction", m.instructed())
	default: // without messages or a prompt there is no request
		return front
	}
}
