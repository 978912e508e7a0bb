package gemini

import (
	"bytes"
	"errors"
	"slices"
	"strconv"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// answer reads responses into events. A whole reply is one response, a stream
// several that continue each other, and both are read the same way: what a
// stream makes is what the whole reply would have been.
type answer struct {
	whole   bool // one response: parts may be cited after their end
	began   bool
	blocked bool // the prompt was refused, and there will be no candidates
	id      string
	choices []*candidate
	usage   conversation.Usage
	out     []conversation.Event
}

// response is a GenerateContentResponse
// (https://ai.google.dev/api/generate-content#generatecontentresponse) as it
// stands in a text.
type response struct {
	candidates, feedback, usage, model, id, problem []byte
}

var errNoResponse = errors.New("reply has no candidates and blames no prompt")

// scanResponse reads the members of a response. The error is
// dialect.ErrMalformed.
func scanResponse(data []byte) (response, error) {
	var r response
	o := rawjson.NewObject(data)
	for o.Next() {
		switch {
		case o.Is("candidates"):
			r.candidates = o.Value()
		case is(&o, "promptFeedback"):
			r.feedback = o.Value()
		case is(&o, "usageMetadata"):
			r.usage = o.Value()
		case is(&o, "modelVersion"):
			r.model = o.Value()
		case is(&o, "responseId"):
			r.id = o.Value()
		case o.Is("error"):
			r.problem = o.Value()
		}
	}
	if !o.Whole() {
		return response{}, dialect.ErrMalformed
	}
	return r, nil
}

// failed reports an error object, with the status that it names.
func (r *response) failed() (status int, failed bool) {
	if len(r.problem) <= 2 || r.problem[0] != '{' && r.problem[0] != '"' {
		return 0, false
	}
	for o := rawjson.NewObject(r.problem); o.Next(); {
		if o.Is("code") {
			status = int(rawjson.Int(o.Value()))
		}
	}
	if status < 400 || status > 599 {
		status = 0
	}
	return status, true
}

// blames is the reason for which the prompt was refused, "" when it was not.
func (r *response) blames() string {
	for o := rawjson.NewObject(r.feedback); o.Next(); {
		if is(&o, "blockReason") {
			if reason := rawjson.String(o.Value()); reason != "BLOCK_REASON_UNSPECIFIED" {
				return reason
			}
		}
	}
	return ""
}

// DecodeReply implements dialect.Codec.
func (Codec) DecodeReply(body []byte) (*conversation.Reply, *upstream.Failure) {
	if failure := listedFailure(body); failure != nil {
		return nil, failure
	}
	r, err := scanResponse(body)
	if err != nil {
		return nil, upstream.Fail(upstream.MalformedReply, err)
	}
	if status, failed := r.failed(); failed {
		return nil, upstream.InBand(upstream.ErrorInReply, status, bytes.TrimSpace(body))
	}
	a := &answer{whole: true}
	a.read(&r)
	if len(a.choices) == 0 {
		return nil, upstream.Fail(upstream.MalformedReply, errNoResponse)
	}
	a.end()
	var folder conversation.Folder
	for _, e := range a.out {
		folder.Add(e)
	}
	return folder.Reply(), nil
}

// listedFailure is the failure of a whole reply whose error stands in a list
// of one, which is how Google answers a stream without alt=sse.
func listedFailure(body []byte) *upstream.Failure {
	list := rawjson.NewArray(body)
	if !list.Next() {
		return nil
	}
	r, err := scanResponse(list.Value())
	if err != nil {
		return nil
	}
	if status, failed := r.failed(); failed {
		return upstream.InBand(upstream.ErrorInReply, status, list.Value())
	}
	return nil
}

// read appends what a response means.
func (a *answer) read(r *response) {
	if !a.began {
		a.began = true
		a.id = rawjson.String(r.id)
		a.out = append(a.out, conversation.Event{Kind: conversation.Began, ID: a.id, Model: rawjson.String(r.model)})
	}
	for list := rawjson.NewArray(r.candidates); list.Next(); {
		if list.Value()[0] == '{' {
			a.candidate(list.Value())
		}
	}
	if len(a.choices) == 0 && r.blames() != "" {
		a.blocked = true
		a.choice(0).finish = "PROHIBITED_CONTENT"
	}
	if u := readUsage(r.usage); u.Known && u != a.usage {
		a.usage = u
		a.out = append(a.out, conversation.Event{Kind: conversation.Metered, Usage: u})
	}
}

func (a *answer) candidate(v []byte) {
	var index, parts, finish, grounding, citations, logprobs []byte
	for o := rawjson.NewObject(v); o.Next(); {
		switch {
		case o.Is("index"):
			index = o.Value()
		case o.Is("content"):
			for content := rawjson.NewObject(o.Value()); content.Next(); {
				if content.Is("parts") {
					parts = content.Value()
				}
			}
		case is(&o, "finishReason"):
			finish = o.Value()
		case is(&o, "groundingMetadata"):
			grounding = o.Value()
		case is(&o, "citationMetadata"):
			citations = o.Value()
		case is(&o, "logprobsResult"):
			logprobs = o.Value()
		}
	}
	c := a.choice(int(rawjson.Int(index)))
	c.wire = c.wire[:0]
	for list := rawjson.NewArray(parts); list.Next(); {
		c.part(list.Value())
	}
	if grounding != nil || citations != nil {
		c.cite(append(readGrounding(grounding), readCitations(citations)...))
	}
	if rated := readLogprobs(logprobs); rated != nil {
		c.emit(conversation.Event{Kind: conversation.Rated, Logprobs: rated})
	}
	// Older models repeat STOP in every response: what holds is the last.
	if reason := rawjson.String(finish); finishOf(reason, false) != "" {
		c.finish = reason
	}
}

func (a *answer) choice(index int) *candidate {
	for _, c := range a.choices {
		if c.index == index {
			return c
		}
	}
	c := &candidate{answer: a, index: index, open: -1}
	a.choices = append(a.choices, c)
	return c
}

// complete reports that every candidate that began has a finish reason.
func (a *answer) complete() bool {
	return len(a.choices) > 0 && !slices.ContainsFunc(a.choices, func(c *candidate) bool { return c.finish == "" })
}

// end appends the end of every candidate.
func (a *answer) end() {
	for _, c := range a.choices {
		c.flush()
		c.close()
		finish := finishOf(c.finish, c.calls > 0)
		if finish == "" { // of a whole reply only
			finish = finishOf("STOP", c.calls > 0)
		}
		c.emit(conversation.Event{Kind: conversation.Stopped, Finish: finish})
	}
}

// callID makes up the id of a call that has none. It is made from that of the
// answer, since the ids of all turns meet in the next request.
func (a *answer) callID(choice, position int) string {
	id := "call_"
	if isWord(a.id) {
		id += a.id + "_"
	}
	if choice > 0 {
		id += strconv.Itoa(choice) + "_"
	}
	return id + strconv.Itoa(position)
}

// isWord reports an id that every format takes as a part of a call's.
func isWord(id string) bool {
	for i := 0; i < len(id); i++ {
		switch c := id[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', isDigit(c), c == '_', c == '-':
		default:
			return false
		}
	}
	return len(id) > 0 && len(id) <= 28 // OpenAI's calls have ids of at most 40
}
