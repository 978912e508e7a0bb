package messages

import (
	"strconv"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
)

// turn is what the API takes for one: everything that one side says until the
// other does.
type turn struct {
	role   string
	blocks []placed
}

// placed is a part with the place that it came from, for Unable.
type placed struct {
	part *conversation.Part
	at   int // of the message
}

// conversation writes "system" and "messages".
func (w *writer) conversation(messages []conversation.Message) error {
	var system []placed
	var turns []turn
	for i := range messages {
		m := &messages[i]
		if m.Name != "" {
			w.lose("messages." + strconv.Itoa(i) + ".name")
		}
		switch m.Role {
		case conversation.System, conversation.Developer:
			system = append(system, parts(m, i)...)
		case conversation.Assistant:
			turns = join(turns, "assistant", parts(m, i))
		default:
			turns = join(turns, "user", parts(m, i))
		}
	}
	if len(turns) == 0 {
		system, turns = nil, []turn{{role: "user", blocks: system}}
	}
	if len(system) > 0 {
		w.b.Name("system")
		if err := w.blocks(system); err != nil {
			return err
		}
	}
	w.b.Name("messages")
	w.b.Open('[')
	for _, t := range turns {
		w.b.Next()
		w.b.Open('{')
		w.b.String("role", t.role)
		w.b.Name("content")
		if err := w.blocks(t.blocks); err != nil {
			return err
		}
		w.b.Close('}')
	}
	w.b.Close(']')
	return nil
}

// parts are those of a message that an upstream gets: empty texts are refused,
// and thoughts that this family did not prove are not for its models.
func parts(m *conversation.Message, at int) []placed {
	var out []placed
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case (p.Kind == conversation.Text || p.Kind == conversation.Refusal) && p.Text == "":
		case p.Kind == conversation.Thought && !isOurs(p.Thought):
		default:
			out = append(out, placed{p, at})
		}
	}
	return out
}

// join adds to the last turn when the role is the same. Results come before
// everything else of a turn.
func join(turns []turn, role string, blocks []placed) []turn {
	if len(blocks) == 0 {
		return turns
	}
	n := len(turns)
	if n == 0 || turns[n-1].role != role {
		turns = append(turns, turn{role: role})
		n++
	}
	last := &turns[n-1]
	results := 0
	for results < len(last.blocks) && last.blocks[results].part.Kind == conversation.Result {
		results++
	}
	var ahead, behind []placed
	for _, b := range blocks {
		if b.part.Kind == conversation.Result {
			ahead = append(ahead, b)
		} else {
			behind = append(behind, b)
		}
	}
	all := append(append([]placed{}, last.blocks[:results]...), ahead...)
	last.blocks = append(append(all, last.blocks[results:]...), behind...)
	return turns
}

// blocks writes the content of a turn: one plain text as a string.
func (w *writer) blocks(blocks []placed) error {
	if len(blocks) == 1 && blocks[0].part.Kind == conversation.Text && blocks[0].part.Cache == "" {
		w.b = appendText(w.b, blocks[0].part.Text)
		return nil
	}
	w.b.Open('[')
	for _, b := range blocks {
		if err := w.block(b.part, "messages."+strconv.Itoa(b.at)); err != nil {
			return err
		}
	}
	w.b.Close(']')
	return nil
}

func unable(what, where string) error { return &dialect.Unable{What: what + " in " + where} }
