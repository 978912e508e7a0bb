// Package merge owns what a preset makes of a request's body: parameters that
// are missing are filled in, and the preset's prompt goes before the caller's own
// system text, where the surface has it. Nothing that the caller wrote changes,
// and no byte that is not edited. It is pure, and knows nothing of where presets
// come from or of upstreams.
package merge

import (
	"errors"
	"slices"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// ErrNotObject says that a body is not one sound JSON object.
var ErrNotObject = errors.New("body is not one sound JSON object")

// Into is what a request sends.
type Into struct {
	Surface catalog.Surface
	Count   bool // tokens are to be counted: what has no part in that stays out
	Form    bool // the body is no JSON: nothing can be added
}

// promptName is how the prompt is called among what was left out.
const promptName = "system_prompt"

// Apply returns body with what a preset adds to it, and the names of what the
// surface has no place for: parameters, and "system_prompt". body itself stays as
// it is; it is what comes back where there is nothing to add.
func Apply(to Into, body []byte, c *policy.PresetConfig) (out []byte, lost []string, err error) {
	m := merger{to: to, body: body}
	m.params, lost = sorted(to.Surface, c)
	if to.Form {
		for _, p := range m.params {
			lost = append(lost, p.name)
		}
		m.params = nil
	}
	prompted := false
	if c.SystemPrompt != "" {
		if prompted = !to.Form && to.Surface.TakesInstructions(); prompted {
			m.prompt = rawjson.Quote(c.SystemPrompt)
		} else {
			lost = append(lost, promptName)
		}
	}
	if len(m.params) == 0 && !prompted {
		return body, lost, nil
	}
	if err := m.read(); err != nil {
		return nil, nil, err
	}
	out = m.write()
	if m.unprompted {
		lost = append(lost, promptName)
	}
	return out, lost, nil
}

// merger adds to one body.
type merger struct {
	to     Into
	body   []byte
	params []placed
	prompt []byte // as a JSON string; nil: there is none

	edits      rawjson.Splices
	at         int  // where the request's object stands in body
	within     bool // that is inside another
	empty      bool // it has no members
	top        present
	inner      present // of the generation config
	configs    []span  // values of it
	spoken     bool    // the prompt stands somewhere
	unprompted bool    // the body has the prompt's place, and it takes none
}

type span struct{ start, end int }

// read walks the body once: it notes which parameters are there, and puts the
// prompt where its place is.
func (m *merger) read() error {
	root, base := m.body, 0
	if m.to.Count && m.to.Surface == catalog.Gemini {
		root, base = counting(m.body)
		m.within = base > 0
	}
	m.top, m.inner = make(present), make(present)
	o := rawjson.NewObject(root)
	m.at, m.empty = base+o.Start(), true
	for o.Next() {
		m.empty = false
		m.top.note(&o)
		start, end := o.ValueSpan()
		at := base + start
		if m.to.Surface == catalog.Gemini && conceptOf(o.Name()) == policy.GenerationConfig {
			m.configs = append(m.configs, span{at, base + end})
			for config := rawjson.NewObject(o.Value()); config.Next(); {
				m.inner.note(&config)
			}
		}
		if m.prompt != nil {
			m.speak(&o, at)
		}
	}
	if !o.OK() || !m.within && !o.Whole() {
		return ErrNotObject
	}
	return nil
}

// write returns the body with the edits made.
func (m *merger) write() []byte {
	var front, config []byte
	foreign := m.top["tools"] && slices.ContainsFunc(m.params, ofTools) // the caller's tools
	for _, p := range m.params {
		switch {
		case foreign && choices[p.concept]:
		case m.to.Count && m.to.Surface == catalog.Messages && !counted[p.concept]:
		case p.config:
			if m.inner.take(p.concept) {
				config = appendMember(config, p.name, p.value)
			}
		case m.top.take(p.concept):
			front = appendMember(front, p.name, p.value)
		}
	}
	front = m.configure(front, config)
	if m.prompt != nil && !m.spoken && !m.unprompted {
		front = m.alone(front)
	}
	if len(front) > 0 && !m.empty {
		front = append(front, ',')
	}
	if len(front) > 0 {
		m.edits.Insert(m.at+1, front)
	}
	if m.edits.None() {
		return m.body
	}
	m.edits.Sort()
	return m.wrapped(m.edits.Apply(m.body, nil, 0))
}

// configure adds to the generation config: to the last one, which parsers
// believe, or as a member of its own.
func (m *merger) configure(front, members []byte) []byte {
	if len(members) == 0 {
		return front
	}
	if len(m.configs) == 0 {
		return appendMember(front, "generationConfig", braced(members))
	}
	last := m.configs[len(m.configs)-1]
	switch m.body[last.start] {
	case '{':
		inside := rawjson.NewObject(m.body[last.start:last.end])
		if inside.Next() {
			members = append(members, ',')
		}
		m.edits.Insert(last.start+1, members)
	case 'n':
		m.edits.Replace(last.start, last.end, braced(members))
	}
	return front
}

func braced(members []byte) []byte {
	return append(append([]byte{'{'}, members...), '}')
}
