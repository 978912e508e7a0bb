// Package turns owns what the formats have in common in which two sides
// strictly take turns and tools take JSON objects: Anthropic's Messages and
// Bedrock's Converse. It knows no wire format.
package turns

import (
	"strconv"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
)

// The two sides.
const (
	User      = "user"
	Assistant = "assistant"
)

// Turn is everything that one side says until the other does.
type Turn struct {
	Role  string
	Parts []Part
}

// Part is a part of a turn, and the message that it comes from.
type Part struct {
	*conversation.Part
	Message int
}

// Unable says that the part has no form.
func (p Part) Unable(what string) error {
	return &dialect.Unable{What: what + " in messages." + strconv.Itoa(p.Message)}
}

// Of parts a conversation into the instructions, which stand in front wherever
// they stood, and the turns. In a turn results come first. Empty texts are left
// out, since they are refused, and so are thoughts that the family of origin
// did not prove: they are not for its models. No two calls have one id. A conversation of instructions
// alone is what the user says. names are the places of participants' names,
// which have none.
func Of(messages []conversation.Message, origin conversation.Origin) (instructions []Part, turns []Turn, names []string) {
	for i := range messages {
		m := &messages[i]
		if m.Name != "" {
			names = append(names, "messages."+strconv.Itoa(i)+".name")
		}
		switch m.Role {
		case conversation.System, conversation.Developer:
			instructions = append(instructions, parts(m, i, origin)...)
		case conversation.Assistant:
			turns = join(turns, Assistant, parts(m, i, origin))
		default:
			turns = join(turns, User, parts(m, i, origin))
		}
	}
	if len(turns) == 0 && len(instructions) > 0 {
		return nil, []Turn{{Role: User, Parts: instructions}}, names
	}
	distinct(turns)
	return instructions, turns, names
}

func parts(m *conversation.Message, at int, origin conversation.Origin) []Part {
	var out []Part
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case isEmpty(p):
		case p.Kind == conversation.Thought && !Proved(p.Thought, origin):
		default:
			out = append(out, Part{p, at})
		}
	}
	return out
}

func isEmpty(p *conversation.Part) bool {
	return (p.Kind == conversation.Text || p.Kind == conversation.Refusal) && p.Text == ""
}

// Inner are the parts of a result, without empty texts.
func (p Part) Inner() []Part {
	var out []Part
	for i := range p.Result.Parts {
		if q := &p.Result.Parts[i]; !isEmpty(q) {
			out = append(out, Part{q, p.Message})
		}
	}
	return out
}

// Proved reports a thought that the family of origin proves.
func Proved(t *conversation.Thinking, origin conversation.Origin) bool {
	return t != nil && t.Origin == origin && (t.Signature != "" || t.Data != "")
}

// join adds to the last turn when the role is the same.
func join(turns []Turn, role string, parts []Part) []Turn {
	if len(parts) == 0 {
		return turns
	}
	n := len(turns)
	if n == 0 || turns[n-1].Role != role {
		turns = append(turns, Turn{Role: role})
		n++
	}
	last := &turns[n-1]
	oldResults, oldRest := split(last.Parts)
	results, rest := split(parts)
	last.Parts = append(append(append(oldResults, results...), oldRest...), rest...)
	return turns
}

// split takes the results apart from what else there is.
func split(parts []Part) (results, rest []Part) {
	for _, p := range parts {
		if p.Kind == conversation.Result {
			results = append(results, p)
		} else {
			rest = append(rest, p)
		}
	}
	return results, rest
}

// GoesOnUnproved reports that the model is to go on with a turn in which it
// called tools, and that the thoughts with which a model of the family that
// thinks on a budget has to begin such a turn are not there: another model made
// it, or the caller left them out.
func GoesOnUnproved(messages []conversation.Message, origin conversation.Origin) bool {
	results := false
	for i := len(messages) - 1; i >= 0; i-- {
		switch m := &messages[i]; m.Role {
		case conversation.ToolRole:
			results = true
		case conversation.Assistant:
			return results && (len(m.Parts) == 0 || !Proved(m.Parts[0].Thought, origin))
		default:
		}
	}
	return false
}
