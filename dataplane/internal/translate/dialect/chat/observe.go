package chat

import (
	"bytes"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// Observer watches an answer of chat completions, or of the legacy
// completions. It implements dialect.Observer. An event costs no allocation.
type Observer struct {
	wantUsage bool

	front   front
	models  [1]dialect.Span // of the last object, with room for what is usual
	usage   conversation.Usage
	served  string
	lanes   dialect.Choices
	done    bool // [DONE] came
	said    dialect.Said
	uncount bool // a whole reply that tells its usage needs no estimate
	output  bool // text or a tool call came
}

// NewObserver returns an Observer. usage says that the caller asked for the
// chunk that holds only the usage.
func NewObserver(usage bool) *Observer { return &Observer{wantUsage: usage} }

// Event implements dialect.Observer.
func (o *Observer) Event(name, data []byte) (dialect.Sight, error) {
	trimmed := bytes.TrimSpace(data)
	switch {
	case string(name) == "error":
		return dialect.Sight{Failure: upstream.InBand(upstream.ErrorInStream, 0, trimmed)}, nil
	case string(trimmed) == doneData:
		o.done = true
		return dialect.Sight{Last: true}, nil
	}
	sight, choices, hasUsage, err := o.look(data, upstream.ErrorInStream)
	sight.Drop = err == nil && sight.Failure == nil && hasUsage && !o.wantUsage && openai.IsBlank(choices)
	return sight, err
}

// Whole implements dialect.Observer.
func (o *Observer) Whole(body []byte) (dialect.Sight, error) {
	o.uncount = true
	sight, choices, _, err := o.look(body, upstream.ErrorInReply)
	if o.uncount = false; err == nil && sight.Failure == nil && !o.usage.Known {
		again := dialect.Sight{}
		o.choices(choices, &again, upstream.ErrorInReply)
	}
	if err == nil && sight.Failure == nil && (len(choices) == 0 || choices[0] != '[') {
		err = errNoChoices
	}
	return sight, err
}

// Seen implements dialect.Observer.
func (o *Observer) Seen() dialect.Seen {
	return dialect.Seen{
		Usage: o.usage, ServedModel: o.served, Finished: o.complete(), Output: o.output, Tokens: o.said.Tokens(),
	}
}

// Terminal implements dialect.Observer.
func (o *Observer) Terminal() ([]byte, bool) {
	switch {
	case o.done:
		return nil, true
	case o.complete():
		return []byte(doneEvent), true
	}
	return nil, false
}

// complete reports that every choice that began has its finish reason.
func (o *Observer) complete() bool { return o.lanes.Complete() }

// look walks a chunk or a reply.
func (o *Observer) look(text []byte, inBand upstream.Class) (sight dialect.Sight, choices []byte, hasUsage bool, err error) {
	var problem, kind []byte
	loose := false
	sight.Models = o.models[:0]
	members, begun := o.front.pass(text)
	if begun {
		sight.Models = append(sight.Models, o.front.models...)
	}
	before := members
	for members.Next() {
		switch {
		case members.Is("model") && rawjson.IsString(members.Value()):
			start, end := members.ValueSpan()
			sight.Models = append(sight.Models, dialect.Span{Start: start, End: end})
		case members.Is("choices"):
			choices = members.Value()
			if !begun && !hasUsage && sight.Cut.End == 0 && problem == nil {
				o.front.keep(text, before, &members, sight.Models)
			}
		case members.Is("usage"):
			hasUsage = o.count(members.Value())
			if !hasUsage && !o.wantUsage && members.Comma() >= 0 {
				_, end := members.ValueSpan()
				sight.Cut = dialect.Span{Start: members.Comma(), End: end}
			}
		case members.Is("error"):
			problem = members.Value()
		case members.Is("object"), members.Is("type"):
			kind = members.Value()
		case members.Is("message"), members.Is("detail"):
			loose = true
		}
		if !begun {
			before = members
		}
	}
	if !members.Whole() {
		return dialect.Sight{}, nil, false, dialect.ErrMalformed
	}
	if isError(problem, choices, kind, loose) {
		sight.Failure = upstream.InBand(inBand, 0, text)
	} else {
		o.choices(choices, &sight, inBand)
	}
	if n := len(sight.Models); n > 0 && o.served == "" {
		last := sight.Models[n-1]
		o.served = dialect.Served(rawjson.String(text[last.Start:last.End]))
	}
	return sight, choices, hasUsage, nil
}

// count takes a usage value in and reports whether there was one.
func (o *Observer) count(value []byte) bool {
	if u := openai.ReadUsage(value); u.Known {
		o.usage = u
	}
	return !rawjson.IsNull(value)
}
