package chat

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

var errNoChoices = errors.New("reply has no choices")

// envelope is what stands around the choices of a reply or a chunk.
type envelope struct {
	id, model, tier, fingerprint []byte
	choices, usage               []byte
	problem, kind                []byte
	loose                        bool // members that errors have and replies have not
}

// read walks text; false when it is not one sound JSON object.
func (e *envelope) read(text []byte) bool {
	o := rawjson.NewObject(text)
	for o.Next() {
		v := o.Value()
		switch {
		case o.Is("id"):
			e.id = v
		case o.Is("model"):
			e.model = v
		case o.Is("choices"):
			e.choices = v
		case o.Is("usage"):
			e.usage = v
		case o.Is("error"):
			e.problem = v
		case o.Is("object"), o.Is("type"):
			e.kind = v
		case o.Is("service_tier"):
			e.tier = v
		case o.Is("system_fingerprint"):
			e.fingerprint = v
		case o.Is("message"), o.Is("detail"):
			e.loose = true
		}
	}
	return o.Whole()
}

// isError reports that text is an error in the place of an answer.
func (e *envelope) isError() bool { return isError(e.problem, e.choices, e.kind, e.loose) }

func isError(problem, choices, kind []byte, loose bool) bool {
	return openai.IsProblem(problem) || choices == nil && (loose || string(kind) == `"error"`)
}

// DecodeReply implements dialect.Codec.
func (Codec) DecodeReply(body []byte) (*conversation.Reply, *upstream.Failure) {
	var e envelope
	switch {
	case !e.read(body):
		return nil, upstream.Fail(upstream.MalformedReply, dialect.ErrMalformed)
	case e.isError():
		return nil, upstream.InBand(upstream.ErrorInReply, 0, body)
	case len(e.choices) == 0 || e.choices[0] != '[' || openai.IsBlank(e.choices):
		return nil, upstream.Fail(upstream.MalformedReply, errNoChoices)
	}
	out := &conversation.Reply{
		ID: rawjson.String(e.id), Model: rawjson.String(e.model),
		ServiceTier: rawjson.String(e.tier), Fingerprint: rawjson.String(e.fingerprint),
	}
	out.Usage = openai.ReadUsage(e.usage)
	a := rawjson.NewArray(e.choices)
	for a.Next() {
		var c choice
		c.read(a.Value())
		if c.isError() {
			return nil, upstream.InBand(upstream.ErrorInReply, 0, c.problem)
		}
		out.Choices = append(out.Choices, c.whole(out.ID, len(out.Choices)))
	}
	return out, nil
}

// choice is a choice as it is written, of a reply or a chunk.
type choice struct {
	index            int64
	indexed          bool
	finish           string
	stop             []byte // vLLM's stop_reason: which sequence it was
	logprobs         []byte
	problem, message []byte
}

func (c *choice) read(v []byte) {
	o := rawjson.NewObject(v)
	for o.Next() {
		v := o.Value()
		switch {
		case o.Is("index"):
			c.index, c.indexed = rawjson.Int(v), openai.IsNumber(v)
		case o.Is("delta"), o.Is("message"):
			c.message = v
		case o.Is("finish_reason"):
			c.finish = word(v)
		case o.Is("logprobs"):
			c.logprobs = v
		case o.Is("stop_reason"):
			c.stop = v
		case o.Is("error"):
			c.problem = v
		}
	}
}

// word returns a string's text; the common finish reasons cost nothing.
func word(v []byte) string {
	switch string(v) {
	case `"stop"`:
		return "stop"
	case `"tool_calls"`:
		return "tool_calls"
	case "null", "":
		return ""
	}
	return rawjson.String(v)
}

// isError reports a choice that is an error and no answer.
func (c *choice) isError() bool { return c.finish == failed || openai.IsProblem(c.problem) }

// whole reads the choice of a reply with an id; at is its place.
func (c *choice) whole(reply string, at int) conversation.Choice {
	out := conversation.Choice{Index: at}
	if c.indexed && c.index < dialect.MaxChoices {
		out.Index = int(c.index)
	}
	var said body
	o := rawjson.NewObject(c.message)
	for o.Next() {
		said.member(&o)
	}
	var tolerant reader
	out.Parts = said.parts(&tolerant, "")
	nameCalls(out.Parts, reply, out.Index)
	cite(out.Parts, said.annotations)
	out.Finish, out.Stop = c.ended(slices.ContainsFunc(out.Parts, isRefusal))
	if !openai.IsBlank(c.logprobs) && c.logprobs[0] == '{' {
		out.Logprobs = json.RawMessage(slices.Clone(c.logprobs))
	}
	return out
}

// ended says how the choice ended.
func (c *choice) ended(refusal bool) (conversation.Finish, string) {
	finish := finishOf(c.finish)
	if refusal && finish == conversation.Stop {
		finish = conversation.Refused
	}
	if finish != conversation.Stop {
		return finish, ""
	}
	return finish, rawjson.String(c.stop)
}

func isRefusal(p conversation.Part) bool { return p.Kind == conversation.Refusal }

// callID makes up the id of a call that has none. It is made from that of the
// reply, since the ids of all turns meet in the next request.
func callID(reply string, choice, position int) string {
	id := "call_"
	if reply = strings.TrimPrefix(reply, idPrefix); isWord(reply) {
		id += reply + "_"
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
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return len(id) > 0 && len(id) <= 30 // OpenAI's calls have ids of at most 40
}

// nameCalls gives calls that came without an id one from their place.
func nameCalls(parts []conversation.Part, reply string, choice int) {
	n := 0
	for i := range parts {
		if c := parts[i].Call; c != nil {
			if c.ID == "" {
				c.ID = callID(reply, choice, n)
			}
			n++
		}
	}
}
