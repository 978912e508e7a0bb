package converse

import (
	"errors"

	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

var errNotReply = errors.New("reply has no message")

// DecodeReply implements dialect.Codec. A reply names neither itself nor its
// model.
func (Codec) DecodeReply(body []byte) (*conversation.Reply, *upstream.Failure) {
	if !gjson.ValidBytes(body) {
		return nil, upstream.Fail(upstream.MalformedReply, errNotReply)
	}
	root := gjson.ParseBytes(body)
	content := root.Get("output.message.content")
	if !root.IsObject() || !content.IsArray() {
		if root.IsObject() && text(root.Get("message"))+text(root.Get("Message")) != "" {
			return nil, upstream.InBand(upstream.ErrorInReply, 0, body)
		}
		return nil, upstream.Fail(upstream.MalformedReply, errNotReply)
	}
	choice := conversation.Choice{
		Finish: finishOf(text(root.Get("stopReason"))),
		Stop:   text(root.Get("additionalModelResponseFields.stop_sequence")),
	}
	content.ForEach(func(_, v gjson.Result) bool {
		if p, ok := said(v); ok {
			choice.Parts = append(choice.Parts, p)
		}
		return true
	})
	return &conversation.Reply{
		Choices: []conversation.Choice{choice}, Usage: usageOf(root.Get("usage")), ServiceTier: text(root.Get("serviceTier.type")),
	}, nil
}

// text is a string value, and "" for any other.
func text(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	return v.Str
}

// finishOf reads a stopReason.
func finishOf(reason string) conversation.Finish {
	switch reason {
	case "":
		return ""
	case "max_tokens", "model_context_window_exceeded":
		return conversation.Length
	case "tool_use":
		return conversation.ToolCalls
	case "guardrail_intervened", "content_filtered":
		return conversation.ContentFilter
	case "refusal":
		return conversation.Refused
	case "pause_turn":
		return conversation.Paused
	case "malformed_model_output", "malformed_tool_use":
		return conversation.Failed
	default: // end_turn, stop_sequence, and what may be added
		return conversation.Stop
	}
}

// said is a block of an answer; those of tools that Bedrock runs are none.
func said(v gjson.Result) (conversation.Part, bool) {
	var p conversation.Part
	ok := false
	v.ForEach(func(key, v gjson.Result) bool {
		ok = true
		switch key.Str {
		case "text":
			p = conversation.Part{Kind: conversation.Text, Text: text(v)}
		case "citationsContent":
			p = cited(v)
		case "reasoningContent":
			p = thought(v)
		case "toolUse":
			if text(v.Get("type")) == "server_tool_use" {
				ok = false
				return true
			}
			p = conversation.Part{Kind: conversation.Call, Call: &conversation.ToolCall{
				ID: text(v.Get("toolUseId")), Name: text(v.Get("name")), Arguments: v.Get("input").Raw,
			}}
		case "image":
			p = media(conversation.Image, "image/", v)
		case "audio":
			p = media(conversation.Audio, "audio/", v)
		case "video":
			p = media(conversation.Video, "video/", v)
		default:
			ok = false
		}
		return !ok
	})
	return p, ok
}

func media(kind conversation.Kind, prefix string, v gjson.Result) conversation.Part {
	return conversation.Part{Kind: kind, Media: &conversation.Media{
		MIME: prefix + text(v.Get("format")), Data: text(v.Get("source.bytes")), URL: text(v.Get("source.s3Location.uri")),
	}}
}

func thought(v gjson.Result) conversation.Part {
	t := &conversation.Thinking{
		Text: text(v.Get("reasoningText.text")), Signature: text(v.Get("reasoningText.signature")), Data: text(v.Get("redactedContent")),
	}
	if t.Signature != "" || t.Data != "" {
		t.Origin = home
	}
	return conversation.Part{Kind: conversation.Thought, Thought: t}
}

// cited is a text with what it rests on.
func cited(v gjson.Result) conversation.Part {
	p := conversation.Part{Kind: conversation.Text}
	each(v.Get("content"), func(v gjson.Result) { p.Text += text(v.Get("text")) })
	each(v.Get("citations"), func(v gjson.Result) { p.Citations = append(p.Citations, citation(v)) })
	return p
}

func citation(v gjson.Result) conversation.Citation {
	c := conversation.Citation{Title: text(v.Get("title")), URL: text(v.Get("location.web.url"))}
	if c.URL == "" {
		c.URL = text(v.Get("source"))
	}
	each(v.Get("sourceContent"), func(v gjson.Result) { c.Quote += text(v.Get("text")) })
	return c
}

func each(v gjson.Result, do func(gjson.Result)) {
	if !v.IsArray() {
		return
	}
	v.ForEach(func(_, v gjson.Result) bool {
		do(v)
		return true
	})
}
