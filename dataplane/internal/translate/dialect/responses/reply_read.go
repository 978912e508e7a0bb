package responses

import (
	"encoding/json"
	"errors"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

var (
	errNoOutput   = errors.New("reply has no output")
	errUnfinished = errors.New("reply is not finished")
)

// response is a response object: its members as they are written.
type response struct {
	id, model, status, output, usage, problem, details, tier []byte

	isError bool // of an envelope that is no response
	sound   bool // one JSON object and nothing else
}

func (r *response) read(body []byte) {
	o := rawjson.NewObject(body)
	for o.Next() {
		v := o.Value()
		switch {
		case o.Is("id"):
			r.id = v
		case o.Is("model"):
			r.model = v
		case o.Is("status"):
			r.status = v
		case o.Is("output"):
			r.output = v
		case o.Is("usage"):
			r.usage = v
		case o.Is("error"):
			r.problem = v
		case o.Is("incomplete_details"):
			r.details = v
		case o.Is("service_tier"):
			r.tier = v
		case o.Is("message"), o.Is("detail"):
			r.isError = true
		}
	}
	r.sound = o.Whole()
}

// failure is the error that the response is, or nil. body is the whole of it.
func (r *response) failure(inBand upstream.Class, body []byte) *upstream.Failure {
	status := rawjson.String(r.status)
	switch {
	case openai.IsProblem(r.problem):
		return upstream.InBand(inBand, 0, r.problem)
	case status == failed, status == calledOff:
		return upstream.InBand(inBand, 0, nil)
	case r.isError && r.output == nil:
		return upstream.InBand(inBand, 0, body)
	}
	return nil
}

func (r *response) finish(parts []conversation.Part) conversation.Finish {
	calls, refused := found(parts)
	return r.ended(calls, refused)
}

func (r *response) ended(calls, refused bool) conversation.Finish {
	return finishOf(rawjson.String(r.status), rawjson.String(openai.Member(r.details, "reason")), calls, refused)
}

// DecodeReply implements dialect.Codec.
func (Codec) DecodeReply(body []byte) (*conversation.Reply, *upstream.Failure) {
	var r response
	r.read(body)
	if !r.sound {
		return nil, upstream.Fail(upstream.MalformedReply, dialect.ErrMalformed)
	}
	if failure := r.failure(upstream.ErrorInReply, body); failure != nil {
		return nil, failure
	}
	if len(r.output) == 0 || r.output[0] != '[' {
		return nil, upstream.Fail(upstream.MalformedReply, errNoOutput)
	}
	switch rawjson.String(r.status) {
	case inProgress, "queued":
		return nil, upstream.Fail(upstream.MalformedReply, errUnfinished)
	}
	choice := conversation.Choice{}
	var tokens tokens
	var read reader
	read.Each("output", r.output, func(path string, v []byte) {
		var i item
		i.read(&read, path, v)
		parts, _ := read.said(path, &i)
		choice.Parts = append(choice.Parts, parts...)
		tokens.item(&i)
	})
	choice.Finish, choice.Logprobs = r.finish(choice.Parts), tokens.logprobs()
	return &conversation.Reply{
		ID: rawjson.String(r.id), Model: rawjson.String(r.model), Choices: []conversation.Choice{choice},
		Usage: openai.ReadUsage(r.usage), ServiceTier: rawjson.String(r.tier),
	}, nil
}

// tokens are the elements of "logprobs", with commas between them. Those of
// this format are those of chat completions.
type tokens []byte

func (t *tokens) item(i *item) {
	if i.kind != typeMessage || openai.IsBlank(i.content) || i.content[0] != '[' {
		return
	}
	a := rawjson.NewArray(i.content)
	for a.Next() {
		t.add(openai.Member(a.Value(), "logprobs"), 0)
	}
}

// add takes the elements of a list in, but for those that it has, and returns
// how many the list holds.
func (t *tokens) add(list []byte, has int) int {
	if openai.IsBlank(list) || list[0] != '[' {
		return 0
	}
	n := 0
	a := rawjson.NewArray(list)
	for ; a.Next(); n++ {
		if n < has {
			continue
		}
		if len(*t) > 0 {
			*t = append(*t, ',')
		}
		*t = append(*t, a.Value()...)
	}
	return n
}

// logprobs returns them in the form of chat completions, nil when there are none.
func (t tokens) logprobs() json.RawMessage {
	if len(t) == 0 {
		return nil
	}
	out := make(json.RawMessage, 0, len(t)+len(`{"content":[]}`))
	out = append(append(out, `{"content":[`...), t...)
	return append(out, "]}"...)
}
