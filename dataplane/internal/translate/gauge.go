package translate

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/tokens"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

// gauge measures a reply on its way through.
type gauge struct {
	input     int64 // estimate of the request, in tokens
	usage     conversation.Usage
	served    string
	said      tokens.Counter
	ended     bool // a choice has a finish reason
	output    bool
	malformed int
}

func (g *gauge) event(e *conversation.Event) {
	switch e.Kind {
	case conversation.Began:
		g.served = dialect.Served(e.Model)
	case conversation.Metered:
		if e.Usage.Known {
			g.usage = e.Usage
		}
	case conversation.Opened:
		g.part(&e.Part)
	case conversation.Added:
		g.say(e.Text)
		g.output = g.output || e.Text != ""
	case conversation.Stopped:
		g.ended = true
	default:
	}
}

func (g *gauge) reply(r *conversation.Reply) {
	g.served = dialect.Served(r.Model)
	g.usage = r.Usage
	for i := range r.Choices {
		for j := range r.Choices[i].Parts {
			g.part(&r.Choices[i].Parts[j])
		}
		g.ended = g.ended || r.Choices[i].Finish != ""
	}
}

func (g *gauge) part(p *conversation.Part) {
	g.say(p.Text)
	switch p.Kind {
	case conversation.Text, conversation.Refusal:
		g.output = g.output || p.Text != ""
	case conversation.Thought:
		g.say(p.Thought.Text)
	case conversation.Call:
		g.say(p.Call.Arguments)
		g.output = true
	default:
		g.output = true
	}
}

func (g *gauge) say(text string) { g.said.AddString(text) }

// reported is the upstream's word on the usage, or an estimate, which callers
// are told as if it were one: their SDKs have no word for it.
func (g *gauge) reported() conversation.Usage {
	if g.usage.Known {
		return g.usage
	}
	return conversation.Usage{Known: true, Usage: meter.Usage{
		Input: g.input, Output: g.said.Tokens(), Estimated: true,
	}}
}

// Seen implements call.Meter.
func (g *gauge) Seen() call.Seen {
	return call.Seen{
		Usage: g.reported().Usage, ServedModel: g.served, Finished: g.ended,
		ZeroOutput: !g.output, Malformed: g.malformed,
	}
}
