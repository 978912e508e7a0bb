package translate

import (
	"slices"
	"strconv"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/gemini"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// countable are the members of a request in Anthropic's format that its
// counting takes (https://docs.anthropic.com/en/api/messages-count-tokens).
var countable = []string{"model", "messages", "system", "tools", "tool_choice", "thinking", "output_config", "mcp_servers", "context_management"}

// countableAtVertex are those of Vertex
// (https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/count-tokens).
var countableAtVertex = []string{
	"contents", "systemInstruction", "system_instruction", "tools", "generationConfig", "generation_config",
}

// countRequest asks a candidate to count the tokens of a request. Where it
// cannot, the estimate that routing goes by is the answer.
func (t *Translator) countRequest(c *call.Call, to decide.Candidate, own, spoken format) (upstream.Request, *upstream.Failure) {
	at, counts := countPlace(to, spoken)
	if !counts {
		return upstream.Request{Provider: to.Provider, Answer: writeCount(own, inputOf(c))}, nil
	}
	request := upstream.Request{
		Provider: to.Provider, Region: to.Endpoint.Region, Path: at.path, Query: at.query, Set: demanded(spoken, to, nil),
	}
	within := false
	if own == geminiFormat {
		var wrong []fault.Violation
		if c.Body, within, wrong = gemini.Counted(c.Body); len(wrong) > 0 {
			return upstream.Request{}, invalid(wrong)
		}
	}
	if own == spoken {
		body, err := edit(c.Body, passEdits(c, to, own))
		if err != nil {
			return upstream.Request{}, notAnObject(err)
		}
		if within {
			body = countBody(body, to, spoken)
		}
		request.Header, request.Set, request.Body = carried(to, c.Header), demanded(spoken, to, c.Header), upstream.Bytes(body)
		return request, nil
	}
	encoded, failure := t.encode(c, to, own, spoken)
	if failure != nil {
		return upstream.Request{}, placed(failure, within)
	}
	request.Body = upstream.Bytes(countBody(encoded.Body, to, spoken))
	return request, nil
}

func invalid(violations []fault.Violation) *upstream.Failure {
	f := upstream.Fail(upstream.Rejected, nil)
	f.Fault = fault.Invalid(violations...)
	return f
}

// placed tells where in the caller's body a request is wrong that stood within
// another member.
func placed(failure *upstream.Failure, within bool) *upstream.Failure {
	if !within || len(failure.Fault.Violations) == 0 {
		return failure
	}
	violations := slices.Clone(failure.Fault.Violations)
	for i, v := range violations {
		violations[i].Path = gemini.CountedMember + "." + v.Path
	}
	return invalid(violations)
}

// countBody is a request for an answer as one for a count.
func countBody(body []byte, to decide.Candidate, spoken format) []byte {
	countable := countable
	switch {
	case spoken == geminiFormat && to.Provider.Type == catalog.Vertex:
		countable = countableAtVertex
	case spoken == geminiFormat:
		out := append([]byte(`{"`+gemini.CountedMember+`":{"model":`), rawjson.Quote("models/"+to.Endpoint.UpstreamModel)...)
		o := rawjson.NewObject(body)
		for o.Next() {
			out = appendMember(append(out, ','), &o)
		}
		return append(out, "}}"...)
	}
	out := []byte{'{'}
	o := rawjson.NewObject(body)
	for o.Next() {
		if !isOne(&o, countable) {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = appendMember(out, &o)
	}
	return append(out, '}')
}

func appendMember(dst []byte, o *rawjson.Object) []byte {
	dst = append(append(append(dst, '"'), o.Key()...), `":`...)
	return append(dst, o.Value()...)
}

// writeCount is a count in the caller's format.
func writeCount(own format, tokens int64) []byte {
	name := `{"input_tokens":`
	if own == geminiFormat {
		name = `{"totalTokens":`
	}
	return append(strconv.AppendInt([]byte(name), tokens, 10), '}')
}

// counted reads the answer to a count. It implements upstream.Codec.
type counted struct {
	own, spoken format
	done        bool
}

// Whole implements upstream.Codec.
func (c *counted) Whole(body []byte) ([]byte, *upstream.Failure) {
	o := rawjson.NewObject(body)
	var tokens, problem []byte
	for o.Next() {
		switch {
		case o.Is("input_tokens"), o.Is("totalTokens"):
			tokens = o.Value()
		case o.Is("error"):
			problem = o.Value()
		}
	}
	switch {
	case !o.Whole():
		return nil, upstream.Fail(upstream.MalformedReply, errNotJSON)
	case isProblem(problem):
		return nil, upstream.InBand(upstream.ErrorInReply, 0, body)
	case tokens == nil:
		return nil, upstream.Fail(upstream.MalformedReply, errNoCount)
	}
	c.done = true
	if c.own == c.spoken {
		return body, nil
	}
	return writeCount(c.own, rawjson.Int(tokens)), nil
}

// Event implements upstream.Codec. Counts are not streamed.
func (c *counted) Event(sse.Event) (upstream.Piece, *upstream.Failure) {
	return upstream.Piece{}, upstream.Fail(upstream.WrongType, nil)
}

// End implements upstream.Codec.
func (c *counted) End() ([]byte, *upstream.Failure) {
	return nil, upstream.Fail(upstream.WrongType, nil)
}

// Seen implements call.Meter. Counting uses nothing.
func (c *counted) Seen() call.Seen { return call.Seen{Finished: c.done} }
