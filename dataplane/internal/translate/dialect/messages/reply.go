package messages

import (
	"errors"

	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/turns"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

var errNotMessage = errors.New("reply is no message")

// DecodeReply implements dialect.Codec. Blocks of Anthropic's own tools are
// left out: the text that was made of them stands beside them.
func (Codec) DecodeReply(body []byte) (*conversation.Reply, *upstream.Failure) {
	root, failure := replyOf(body)
	switch {
	case failure != nil:
		return nil, failure
	case !root.Get("content").IsArray():
		return nil, upstream.Fail(upstream.MalformedReply, errNotMessage)
	}
	r := &conversation.Reply{ID: text(root.Get("id")), Model: text(root.Get("model"))}
	choice := conversation.Choice{Finish: finishOf(text(root.Get("stop_reason"))), Stop: text(root.Get("stop_sequence"))}
	root.Get("content").ForEach(func(_, v gjson.Result) bool {
		if p, ok := said(v); ok {
			choice.Parts = append(choice.Parts, p)
		}
		return true
	})
	if why := explanation(root.Get("stop_details")); len(choice.Parts) == 0 && why != "" {
		choice.Parts = []conversation.Part{{Kind: conversation.Refusal, Text: why}}
	}
	r.Choices = []conversation.Choice{choice}
	var c counts
	c.read([]byte(root.Get("usage").Raw))
	r.Usage, r.ServiceTier = c.usage(), c.tier
	return r, nil
}

// replyOf parses a reply that is no error.
func replyOf(body []byte) (gjson.Result, *upstream.Failure) {
	if !gjson.ValidBytes(body) {
		return gjson.Result{}, upstream.Fail(upstream.MalformedReply, errNotMessage)
	}
	root := gjson.ParseBytes(body)
	if !root.IsObject() {
		return root, upstream.Fail(upstream.MalformedReply, errNotMessage)
	}
	if text(root.Get("type")) == "error" || isProblem(root.Get("error")) {
		return root, upstream.InBand(upstream.ErrorInReply, 0, body)
	}
	return root, nil
}

// isProblem reports an "error" member that says something.
func isProblem(v gjson.Result) bool {
	return v.IsObject() || v.IsArray() || v.Type == gjson.String && v.Str != ""
}

// explanation is why a model refused, when that is told.
func explanation(details gjson.Result) string { return text(details.Get("explanation")) }

// said is a block of an answer; those of Anthropic's own tools are none.
func said(v gjson.Result) (conversation.Part, bool) {
	switch text(v.Get("type")) {
	case typeText:
		return conversation.Part{Kind: conversation.Text, Text: text(v.Get("text")), Citations: citations(v.Get("citations"))}, true
	case typeThinking:
		return thought(text(v.Get("thinking")), text(v.Get("signature"))), true
	case typeRedacted:
		return hidden(text(v.Get("data"))), true
	case typeToolUse:
		call := &conversation.ToolCall{ID: text(v.Get("id")), Name: text(v.Get("name")), Arguments: v.Get("input").Raw}
		return conversation.Part{Kind: conversation.Call, Call: call}, true
	}
	return conversation.Part{}, false
}

// EncodeReply implements dialect.Codec. The format has one choice: of several
// it is the first.
func (Codec) EncodeReply(r *conversation.Reply, as dialect.Told) []byte {
	var b jsonappend.Buffer
	var choice conversation.Choice
	if len(r.Choices) > 0 {
		choice = r.Choices[0]
	}
	b.Open('{')
	appendHead(&b, as)
	b.Name("content")
	b.Open('[')
	end := ending{finish: choice.Finish, sequence: choice.Stop}
	for i := range choice.Parts {
		appendSaid(&b, &choice.Parts[i])
		end.saw(choice.Parts[i].Kind)
	}
	b.Close(']')
	appendStop(&b, end.reason(), choice.Stop)
	appendUsage(&b, r.Usage.Usage, r.ServiceTier)
	b.Close('}')
	return b
}

// appendHead writes what stands at the start of every message.
func appendHead(b *jsonappend.Buffer, as dialect.Told) {
	b.String("id", "msg_"+as.ID)
	b.String("type", "message")
	b.String("role", "assistant")
	b.String("model", as.Model)
	b.Raw("container", null)
	b.Raw("diagnostics", null)
}

func appendStop(b *jsonappend.Buffer, reason, sequence string) {
	if reason == "" {
		b.Raw("stop_reason", null)
	} else {
		b.String("stop_reason", reason)
	}
	if reason == "stop_sequence" {
		b.String("stop_sequence", sequence)
	} else {
		b.Raw("stop_sequence", null)
	}
	b.Raw("stop_details", null)
}

// appendSaid writes a part of an answer as the SDKs read it.
func appendSaid(b *jsonappend.Buffer, p *conversation.Part) {
	switch p.Kind {
	case conversation.Thought:
		appendThought(b, p.Thought)
	case conversation.Call:
		openBlock(b, typeToolUse)
		b.String("id", p.Call.ID)
		b.String("name", p.Call.Name)
		b.Raw("input", turns.Object(p.Call.Arguments))
		b.Raw("caller", directly)
		b.Close('}')
	case conversation.Result:
	default:
		said := spoken(p)
		if said == "" {
			return
		}
		openBlock(b, typeText)
		b.String("text", said)
		b.Name("citations")
		appendCitations(b, p.Citations)
		b.Close('}')
	}
}

// directly: a call by the model itself, not by code that it runs.
var directly = []byte(`{"type":"direct"}`)

// spoken is a part as text. The format has no block for what a model draws or
// makes otherwise: it is a link that holds it. Of sound there is the transcript.
func spoken(p *conversation.Part) string {
	if p.Text != "" || p.Media == nil || p.Kind == conversation.Audio {
		return p.Text
	}
	switch {
	case p.Media.Data != "":
		return "![](data:" + p.Media.Type() + ";base64," + p.Media.Data + ")"
	case p.Media.URL != "":
		return "![](" + p.Media.URL + ")"
	}
	return p.Media.Text
}

// appendCitations writes an array even of none: Anthropic's types allow null
// there, and the readers of the AI SDK do not.
func appendCitations(b *jsonappend.Buffer, cited []conversation.Citation) {
	b.Open('[')
	for i := range cited {
		b.Next()
		appendCitation(b, &cited[i])
	}
	b.Close(']')
}
