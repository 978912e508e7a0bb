package chat

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

const (
	doneData  = "[DONE]"
	doneEvent = "data: [DONE]\n\n"
)

// streamReader reads one stream. What ends a choice is held back to the end of
// the stream, since some providers send content, and many the usage, after the
// finish reason.
type streamReader struct {
	began, done, ended bool
	id                 string // of the reply
	usage              conversation.Usage
	lanes              []*lane // in the order in which they began
}

// Done implements dialect.StreamDecoder.
func (s *streamReader) Done() bool { return s.done }

// Decode implements dialect.StreamDecoder.
func (s *streamReader) Decode(e sse.Event, out []conversation.Event) ([]conversation.Event, *upstream.Failure, error) {
	data := bytes.TrimSpace(e.Data)
	switch {
	case string(e.Name) == "error":
		return out, upstream.InBand(upstream.ErrorInStream, 0, data), nil
	case len(data) == 0 || s.done:
		return out, nil, nil
	case string(data) == doneData:
		s.done = true
		return out, nil, nil
	}
	var chunk envelope
	if !chunk.read(data) {
		return out, nil, dialect.ErrMalformed
	}
	if chunk.isError() {
		return out, upstream.InBand(upstream.ErrorInStream, 0, data), nil
	}
	// Azure sends the filters' results first, in a chunk that names no model.
	if !s.began && (!openai.IsBlank(chunk.model) || !openai.IsBlank(chunk.choices)) {
		s.began, s.id = true, rawjson.String(chunk.id)
		out = append(out, conversation.Event{Kind: conversation.Began, ID: s.id, Model: rawjson.String(chunk.model)})
	}
	out, failure := s.choices(chunk.choices, out)
	if failure != nil {
		return out, failure, nil
	}
	if u := openai.ReadUsage(chunk.usage); u.Known && u != s.usage {
		s.usage = u
		out = append(out, conversation.Event{Kind: conversation.Metered, Usage: s.usage})
	}
	return out, nil, nil
}

func (s *streamReader) choices(v []byte, out []conversation.Event) ([]conversation.Event, *upstream.Failure) {
	if openai.IsBlank(v) || v[0] != '[' {
		return out, nil
	}
	a := rawjson.NewArray(v)
	for a.Next() {
		var c choice
		c.read(a.Value())
		if c.isError() {
			return out, upstream.InBand(upstream.ErrorInStream, 0, c.problem)
		}
		l := s.lane(c.index)
		if l == nil {
			continue
		}
		out = l.delta(&c, out)
	}
	return out, nil
}

// lane returns the choice of an index, nil beyond what there can be.
func (s *streamReader) lane(index int64) *lane {
	for _, l := range s.lanes {
		if int64(l.choice) == index {
			return l
		}
	}
	if index >= dialect.MaxChoices {
		return nil
	}
	l := &lane{reply: s.id, choice: int(index), text: closed, refusal: closed, thought: closed, audio: closed}
	s.lanes = append(s.lanes, l)
	return l
}

// End implements dialect.StreamDecoder.
func (s *streamReader) End(out []conversation.Event) ([]conversation.Event, *upstream.Failure) {
	if s.ended {
		return out, nil
	}
	s.ended = true
	if len(s.lanes) == 0 || !s.done && slices.ContainsFunc(s.lanes, func(l *lane) bool { return l.finish == "" }) {
		return out, upstream.Fail(upstream.StreamCut, nil)
	}
	for _, l := range s.lanes {
		out = l.end(out)
	}
	return out, nil
}

// lane is one choice of a stream. Its fields are the event indexes of the
// parts that are open.
type lane struct {
	reply                         string // id of
	choice                        int
	next                          int // index of the next part
	text, refusal, thought, audio int
	calls                         []call
	before                        detail // the last of the thought that is open
	hidden                        bool   // the open thought has its Data
	finish                        conversation.Finish
	stop                          string
	refused                       bool
}

// closed is the index of a part that is not open.
const closed = -1

func (l *lane) delta(c *choice, out []conversation.Event) []conversation.Event {
	var said body
	o := rawjson.NewObject(c.message)
	for o.Next() {
		said.member(&o)
	}
	out = l.thinks(&said, out)
	out = l.says(said.content, out)
	if !openai.IsBlank(said.annotations) {
		if citations := readCitations(said.annotations); len(citations) > 0 {
			out = l.openText(out)
			out = append(out, l.event(conversation.Cited, l.text, conversation.Part{Citations: citations}))
		}
	}
	if refusal := rawjson.String(said.refusal); refusal != "" {
		l.refused = true
		out = l.open(&l.refusal, conversation.Part{Kind: conversation.Refusal}, out)
		out = l.added(l.refusal, refusal, out)
	}
	out = l.shows(&said, out)
	out = l.allCalls(&said, out)
	if !openai.IsBlank(c.logprobs) && c.logprobs[0] == '{' {
		rated := l.event(conversation.Rated, 0, conversation.Part{})
		rated.Logprobs = json.RawMessage(slices.Clone(c.logprobs))
		out = append(out, rated)
	}
	if c.finish != "" {
		l.finish, l.stop = c.ended(l.refused)
	}
	return out
}

func (l *lane) event(kind conversation.EventKind, index int, p conversation.Part) conversation.Event {
	return conversation.Event{Kind: kind, Choice: l.choice, Index: index, Part: p}
}

func (l *lane) added(index int, text string, out []conversation.Event) []conversation.Event {
	return append(out, conversation.Event{Kind: conversation.Added, Choice: l.choice, Index: index, Text: text})
}

// open begins a part unless it is open. Calls may overlap what follows them;
// of everything else one part is open at a time.
func (l *lane) open(which *int, p conversation.Part, out []conversation.Event) []conversation.Event {
	if *which != closed {
		return out
	}
	out = l.settle(out)
	*which = l.next
	l.next++
	return append(out, l.event(conversation.Opened, *which, p))
}

func (l *lane) openText(out []conversation.Event) []conversation.Event {
	return l.open(&l.text, conversation.Part{Kind: conversation.Text}, out)
}

// settle closes whatever is open but the calls.
func (l *lane) settle(out []conversation.Event) []conversation.Event {
	for _, which := range [...]*int{&l.text, &l.refusal, &l.thought, &l.audio} {
		if *which != closed {
			out = append(out, l.event(conversation.Closed, *which, conversation.Part{}))
			*which = closed
		}
	}
	return out
}

// end closes the choice.
func (l *lane) end(out []conversation.Event) []conversation.Event {
	out = l.settle(out)
	for i := range l.calls {
		c := &l.calls[i]
		out = l.openCall(c, out)
		out = append(out, l.event(conversation.Closed, c.part, conversation.Part{}))
	}
	if l.finish == "" { // the provider said only that it is done
		if l.finish = conversation.Stop; len(l.calls) > 0 {
			l.finish = conversation.ToolCalls
		}
	}
	stopped := l.event(conversation.Stopped, 0, conversation.Part{})
	stopped.Finish, stopped.Text = l.finish, l.stop
	return append(out, stopped)
}
