package dialecttest

import (
	"encoding/json"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

// Events draws a stream that makes the reply: texts split anywhere between
// characters, the calls of a choice overlapping, the choices interleaved.
func Events(t *rapid.T, r *conversation.Reply) []conversation.Event {
	d := &drawer{T: t}
	out := []conversation.Event{{Kind: conversation.Began, ID: r.ID, Model: r.Model}}
	var lanes [][]conversation.Event
	for i := range r.Choices {
		lanes = append(lanes, d.lane(&r.Choices[i]))
	}
	out = append(out, d.merged(lanes)...)
	if r.Usage.Known {
		out = append(out, conversation.Event{Kind: conversation.Metered, Usage: r.Usage})
	}
	return out
}

// lane draws the events of one choice.
func (d *drawer) lane(c *conversation.Choice) []conversation.Event {
	var out []conversation.Event
	for at := 0; at < len(c.Parts); {
		end := at + 1
		for c.Parts[at].Kind == conversation.Call && end < len(c.Parts) && c.Parts[end].Kind == conversation.Call {
			end++
		}
		var open []conversation.Event
		var lanes [][]conversation.Event
		for i := at; i < end; i++ {
			steps := d.steps(c.Index, i, &c.Parts[i])
			open, lanes = append(open, steps[0]), append(lanes, steps[1:])
		}
		// Parts open in the order of their index.
		for i, step := range open {
			out = append(out, step)
			if n := len(lanes[i]); i+1 < len(open) && n > 0 {
				early := rapid.IntRange(0, n).Draw(d.T, "early")
				out = append(out, lanes[i][:early]...)
				lanes[i] = lanes[i][early:]
			}
		}
		out = append(out, d.merged(lanes)...)
		at = end
	}
	out = append(out, d.ratings(c)...)
	return append(out, conversation.Event{Kind: conversation.Stopped, Choice: c.Index, Finish: c.Finish, Text: c.Stop})
}

func (d *drawer) ratings(c *conversation.Choice) []conversation.Event {
	var read struct {
		Content []json.RawMessage `json:"content"`
	}
	if json.Unmarshal(c.Logprobs, &read) != nil {
		return nil
	}
	var out []conversation.Event
	for _, token := range read.Content {
		raw := json.RawMessage("{\"content\":\r\n[" + string(token) + "]}") // as a provider may have spread it over lines
		out = append(out, conversation.Event{Kind: conversation.Rated, Choice: c.Index, Logprobs: raw})
	}
	return out
}

// steps draws how one part comes to be.
func (d *drawer) steps(choice, index int, p *conversation.Part) []conversation.Event {
	at := conversation.Event{Choice: choice, Index: index}
	open := at
	open.Kind, open.Part = conversation.Opened, conversation.Part{Kind: p.Kind}
	out := []conversation.Event{open}
	add := func(kind conversation.EventKind, text string) {
		for _, piece := range d.split(text) {
			e := at
			e.Kind, e.Text = kind, piece
			out = append(out, e)
		}
	}
	switch {
	case p.Call != nil:
		call := *p.Call
		call.Arguments = ""
		out[0].Part.Call = &call
		add(conversation.Added, p.Call.Arguments)
	case p.Thought != nil:
		out = append(out[:0], d.thought(out[0], p.Thought)...)
	case p.Kind == conversation.Image:
		out[0].Part.Media = p.Media
	case p.Media != nil:
		out[0].Part.Media = &conversation.Media{ID: p.Media.ID, MIME: p.Media.MIME}
		add(conversation.Added, p.Text)
		add(conversation.Sounded, p.Media.Data)
	default:
		add(conversation.Added, p.Text)
	}
	if len(p.Citations) > 0 {
		e := at
		e.Kind, e.Part.Citations = conversation.Cited, p.Citations
		out = append(out, e)
	}
	at.Kind = conversation.Closed
	return append(out, at)
}

// thought draws a thought's steps: what is hidden is there when it opens, or
// comes last; a proof follows the text that it proves.
func (d *drawer) thought(open conversation.Event, t *conversation.Thinking) []conversation.Event {
	last := conversation.Thinking{Signature: t.Signature, Origin: t.Origin}
	open.Part.Thought = &conversation.Thinking{ID: t.ID, Summary: t.Summary, Origin: t.Origin}
	if t.Text != "" && d.yes("hidden last") {
		last.Data = t.Data
	} else {
		open.Part.Thought.Data = t.Data
	}
	out := []conversation.Event{open}
	for _, piece := range d.split(t.Text) {
		out = append(out, conversation.Event{Kind: conversation.Added, Choice: open.Choice, Index: open.Index, Text: piece})
	}
	if last.Signature != "" || last.Data != "" {
		out = append(out, conversation.Event{
			Kind: conversation.Signed, Choice: open.Choice, Index: open.Index,
			Part: conversation.Part{Kind: conversation.Thought, Thought: &last},
		})
	}
	return out
}

// split cuts a text between characters; the pieces are not empty.
func (d *drawer) split(text string) []string {
	var out []string
	for text != "" {
		n := min(rapid.IntRange(1, 12).Draw(d.T, "piece"), len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		out, text = append(out, text[:n]), text[n:]
	}
	return out
}

// merged interleaves lanes, each in its own order.
func (d *drawer) merged(lanes [][]conversation.Event) []conversation.Event {
	var out []conversation.Event
	for {
		var left []int
		for i := range lanes {
			if len(lanes[i]) > 0 {
				left = append(left, i)
			}
		}
		if len(left) == 0 {
			return out
		}
		i := rapid.SampledFrom(left).Draw(d.T, "lane")
		out = append(out, lanes[i][0])
		lanes[i] = lanes[i][1:]
	}
}
