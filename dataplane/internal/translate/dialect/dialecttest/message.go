package dialecttest

import (
	"maps"
	"slices"

	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

func (d *drawer) user() conversation.Message {
	m := conversation.Message{Role: conversation.User}
	d.name(&m)
	kinds := append([]conversation.Kind{conversation.Text}, slices.Sorted(maps.Keys(d.s.Media))...)
	for range rapid.IntRange(1, 3).Draw(d.T, "parts") {
		kind := rapid.SampledFrom(kinds).Draw(d.T, "kind")
		if kind == conversation.Text {
			m.Parts = append(m.Parts, d.marked(conversation.User))
			continue
		}
		m.Parts = append(m.Parts, conversation.Part{Kind: kind, Media: d.media(d.s.Media[kind])})
	}
	return m
}

// media draws one of the forms.
func (d *drawer) media(f Forms) *conversation.Media {
	var forms []func(*conversation.Media)
	if f.Data {
		forms = append(forms, func(m *conversation.Media) {
			m.Data = anyBase64.Draw(d.T, "data")
			m.MIME = rapid.SampledFrom(f.MIMEs).Draw(d.T, "mime")
		})
	}
	if f.Text {
		forms = append(forms, func(m *conversation.Media) { m.Text, m.MIME = d.text(), "text/plain" })
	}
	if f.URL {
		forms = append(forms, func(m *conversation.Media) { m.URL = anyURL.Draw(d.T, "url") })
	}
	if f.FileID {
		forms = append(forms, func(m *conversation.Media) { m.FileID = d.unique("file") })
	}
	m := &conversation.Media{}
	rapid.SampledFrom(forms).Draw(d.T, "form")(m)
	if f.URLTyped && m.MIME == "" {
		m.MIME = rapid.SampledFrom(f.MIMEs).Draw(d.T, "mime")
	}
	if f.NeedName || f.Named && d.yes("named") {
		m.Name = d.unique("name") + ".pdf"
	}
	m.Detail = pick(d, "detail", f.Details)
	return m
}

// assistant draws a turn of the model: thoughts stand directly before another
// part, as a proof may belong to that.
func (d *drawer) assistant() conversation.Message {
	m := conversation.Message{Role: conversation.Assistant}
	d.name(&m)
	var parts []conversation.Part
	if d.s.Refusals && d.yes("refuses") {
		parts = append(parts, conversation.Part{Kind: conversation.Refusal, Text: d.text()})
	} else if d.s.SpokenID && d.yes("spoke") {
		parts = append(parts, conversation.Part{Kind: conversation.Audio, Media: &conversation.Media{ID: d.unique("audio")}})
	}
	calls := rapid.IntRange(0, 2).Draw(d.T, "calls")
	for range calls {
		parts = append(parts, conversation.Part{Kind: conversation.Call, Call: d.call(d.s.CustomTools)})
	}
	if len(parts) == 0 || d.yes("says") {
		parts = append([]conversation.Part{{Kind: conversation.Text, Text: d.text()}}, parts...)
	}
	if !d.s.Ordered {
		parts = rapid.Permutation(parts).Draw(d.T, "order")
	}
	m.Parts = d.thinking(parts)
	return m
}

func (d *drawer) call(custom bool) *conversation.ToolCall {
	c := &conversation.ToolCall{ID: d.unique("call"), Name: anyName.Draw(d.T, "tool")}
	switch {
	case custom && d.yes("custom"):
		c.Custom, c.Arguments = true, d.text()
	case d.s.ObjectArguments:
		c.Arguments = anyObject.Draw(d.T, "arguments")
	default:
		c.Arguments = anyArguments.Draw(d.T, "arguments")
	}
	return c
}

func (d *drawer) thinking(parts []conversation.Part) []conversation.Part {
	if d.s.Thought == nil {
		return parts
	}
	var out []conversation.Part
	for i, p := range parts {
		if (i == 0 || !d.s.Ordered) && d.yes("thinks") {
			thought := d.s.Thought(d.T)
			out = append(out, conversation.Part{Kind: conversation.Thought, Thought: &thought})
		}
		out = append(out, p)
	}
	return out
}

func (d *drawer) results(m conversation.Message) conversation.Message {
	out := conversation.Message{Role: conversation.ToolRole}
	for _, p := range m.Parts {
		if p.Call == nil {
			continue
		}
		r := &conversation.ToolResult{CallID: p.Call.ID, Custom: p.Call.Custom}
		if d.s.ResultNames {
			r.Name = p.Call.Name
		}
		r.IsError = d.s.ResultErrors && d.yes("error")
		for range rapid.IntRange(1, 2).Draw(d.T, "results") {
			r.Parts = append(r.Parts, d.resultPart())
		}
		out.Parts = append(out.Parts, conversation.Part{Kind: conversation.Result, Result: r})
	}
	return out
}

func (d *drawer) resultPart() conversation.Part {
	kinds := append([]conversation.Kind{conversation.Text}, slices.Sorted(maps.Keys(d.s.ResultMedia))...)
	kind := rapid.SampledFrom(kinds).Draw(d.T, "result")
	if kind == conversation.Text {
		return conversation.Part{Kind: kind, Text: d.text()}
	}
	return conversation.Part{Kind: kind, Media: d.media(d.s.ResultMedia[kind])}
}
