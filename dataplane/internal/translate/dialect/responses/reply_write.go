package responses

import (
	"encoding/json"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// EncodeReply implements dialect.Codec. The format has one choice.
func (Codec) EncodeReply(r *conversation.Reply, as dialect.Told) []byte {
	end := ending{usage: r.Usage, tier: r.ServiceTier}
	out := output{id: as.ID}
	if len(r.Choices) > 0 {
		choice := &r.Choices[0]
		end.finish = choice.Finish
		for i := range choice.Parts {
			item, at, _ := out.place(&choice.Parts[i])
			item.close(at)
		}
		out.rate(tokensOf(choice.Logprobs))
	}
	b := make(jsonappend.Buffer, 0, 1024)
	out.write(&b, as, &end)
	return b
}

// tokensOf reads logprobs in the form of chat completions.
func tokensOf(logprobs []byte) tokens {
	var t tokens
	t.add(openai.Member(logprobs, "content"), 0)
	return t
}

// rate puts the logprobs on the last text, and returns its item and its place
// there. The first is nil when there is no text.
func (o *output) rate(t tokens) (*outItem, int) {
	if len(t) == 0 {
		return nil, 0
	}
	for n := len(o.items) - 1; n >= 0; n-- {
		i := o.items[n]
		for at := len(i.pieces) - 1; at >= 0 && i.kind == typeMessage; at-- {
			p := &i.pieces[at]
			if p.refusal {
				continue
			}
			if len(p.logprobs) > 0 {
				p.logprobs = append(p.logprobs, ',')
			}
			p.logprobs = append(p.logprobs, t...)
			return i, at
		}
	}
	return nil, 0
}

// close notes that a piece is whole.
func (i *outItem) close(at int) {
	p := &i.pieces[at]
	if !p.closed && i.kind == typeCall {
		p.text = argumentsOf(&i.call, p.text)
	}
	p.closed = true
}

// ending is how a response ended, and what it used.
type ending struct {
	finish conversation.Finish
	usage  conversation.Usage
	tier   string
	begun  bool // it has not ended yet
}

// write writes the response object. What it repeats of the request is not
// known here: it is null, or what holds when a request says nothing of it.
func (o *output) write(b *jsonappend.Buffer, as dialect.Told, end *ending) {
	status, reason := o.ended(end.finish)
	if end.begun {
		status = inProgress
	}
	b.Open('{')
	b.String("id", "resp_"+as.ID)
	b.String("object", "response")
	b.Int("created_at", as.Created.Unix())
	b.String("status", status)
	*b = append(*b, `,"completed_at":null,"background":false`...)
	if status == failed {
		*b = append(*b, `,"error":{"code":"server_error","message":"The model broke off in the middle of its answer."}`...)
	} else {
		*b = append(*b, `,"error":null`...)
	}
	if reason == "" {
		*b = append(*b, `,"incomplete_details":null`...)
	} else {
		b.Name("incomplete_details")
		b.Open('{')
		b.String("reason", reason)
		b.Close('}')
	}
	*b = append(*b, `,"instructions":null,"max_output_tokens":null,"max_tool_calls":null`...)
	b.String("model", as.Model)
	b.Name("output")
	b.Open('[')
	if !end.begun {
		for _, i := range o.items {
			b.Next()
			i.write(b, o.status(i, status))
		}
	}
	b.Close(']')
	*b = append(*b, untold...)
	writeFormat(b, as.Format)
	*b = append(*b, untoldToo...)
	if end.tier != "" {
		b.String("service_tier", end.tier)
	} else {
		*b = append(*b, `,"service_tier":null`...)
	}
	if end.begun {
		*b = append(*b, `,"usage":null`...)
	} else {
		writeUsage(b, &end.usage.Usage)
	}
	b.Close('}')
}

// writeFormat repeats the form in which the text was asked for.
func writeFormat(b *jsonappend.Buffer, format json.RawMessage) {
	b.Name("text")
	b.Open('{')
	if len(format) == 0 || format[0] != '{' {
		format = json.RawMessage(`{"type":"text"}`)
	}
	b.Raw("format", format)
	b.Close('}')
}

// untold are the members that repeat the request, but for the text's format.
const (
	untold = `,"parallel_tool_calls":true,"previous_response_id":null,"prompt_cache_key":null` +
		`,"reasoning":{"effort":null,"summary":null},"safety_identifier":null,"store":false,"temperature":null`
	untoldToo = `,"tool_choice":"auto","tools":[],"top_logprobs":0,"top_p":null,"truncation":"disabled"` +
		`,"presence_penalty":null,"frequency_penalty":null,"user":null,"metadata":{}`
)
