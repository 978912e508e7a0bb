package conversation

import (
	"encoding/json"
	"slices"
)

// Folder joins the events of a stream into the reply that they make. The zero
// value is ready.
type Folder struct {
	reply   Reply
	choices map[int]*folded
	order   []int
}

type folded struct {
	choice Choice
	at     map[int]int // by event index, into choice.Parts
	tokens []json.RawMessage
}

// Add takes the next event.
func (f *Folder) Add(e Event) {
	switch e.Kind {
	case Began:
		f.reply.ID, f.reply.Model = e.ID, e.Model
	case Metered:
		f.reply.Usage = e.Usage
	case Opened:
		c := f.choice(e.Choice)
		c.at[e.Index] = len(c.choice.Parts)
		c.choice.Parts = append(c.choice.Parts, owned(e.Part))
	case Stopped:
		c := f.choice(e.Choice)
		c.choice.Finish, c.choice.Stop = e.Finish, e.Text
	case Rated:
		f.choice(e.Choice).rate(e.Logprobs)
	case Closed:
	default:
		f.choice(e.Choice).extend(e)
	}
}

// Reply returns what the events so far make.
func (f *Folder) Reply() *Reply {
	r := f.reply
	for _, index := range slices.Sorted(slices.Values(f.order)) {
		c := f.choices[index]
		choice := c.choice
		if len(c.tokens) > 0 {
			// It was read from JSON, so it is JSON.
			choice.Logprobs, _ = json.Marshal(struct {
				Content []json.RawMessage `json:"content"`
			}{c.tokens})
		}
		r.Choices = append(r.Choices, choice)
	}
	return &r
}

func (f *Folder) choice(index int) *folded {
	c, ok := f.choices[index]
	if !ok {
		if f.choices == nil {
			f.choices = make(map[int]*folded)
		}
		c = &folded{choice: Choice{Index: index}, at: make(map[int]int)}
		f.choices[index] = c
		f.order = append(f.order, index)
	}
	return c
}

func (c *folded) extend(e Event) {
	at, ok := c.at[e.Index]
	if !ok {
		return
	}
	p := &c.choice.Parts[at]
	switch e.Kind {
	case Added:
		switch {
		case p.Call != nil:
			p.Call.Arguments += e.Text
		case p.Thought != nil:
			p.Thought.Text += e.Text
		default:
			p.Text += e.Text
		}
	case Sounded:
		if p.Media != nil {
			p.Media.Data += e.Text
		}
	case Signed:
		if p.Thought != nil && e.Part.Thought != nil {
			p.Thought.join(e.Part.Thought)
		}
	case Cited:
		p.Citations = append(p.Citations, e.Part.Citations...)
	default:
	}
}

func (t *Thinking) join(more *Thinking) {
	t.Text += more.Text
	t.Signature += more.Signature
	t.Data += more.Data
	if more.ID != "" {
		t.ID = more.ID
	}
	if more.Origin != "" {
		t.Origin = more.Origin
	}
}

func (c *folded) rate(logprobs json.RawMessage) {
	var read struct {
		Content []json.RawMessage `json:"content"`
	}
	if json.Unmarshal(logprobs, &read) == nil {
		c.tokens = append(c.tokens, read.Content...)
	}
}

// owned copies what later events are written to.
func owned(p Part) Part {
	if p.Call != nil {
		call := *p.Call
		p.Call = &call
	}
	if p.Thought != nil {
		thought := *p.Thought
		p.Thought = &thought
	}
	if p.Media != nil {
		media := *p.Media
		p.Media = &media
	}
	return p
}
