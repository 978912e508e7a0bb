package dialecttest

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

// What "equal" means, in one place. Two conversations are the same when they
// differ only in this:
//
//   - nil and empty slices;
//   - white space between the tokens of raw JSON (schemas, logprobs): the order
//     of keys, and the spelling of numbers and strings, do count;
//   - text parts that are empty and carry nothing else;
//   - where a message ends, when the next one has the same role and name;
//   - in a reply, where a text or refusal ends, when the next part is of the same kind;
//   - a call's arguments: "" is "{}" where the format has an object there;
//   - a thought's Origin, when there is neither Signature nor Data;
//   - of logprobs only "content" counts, of a reply neither ID nor Model;
//   - "none" as Effort and Off;
//   - Required with one tool allowed, and One;
//   - the Finish Stop and Refused of an answer with a refusal in it.

// NormalRequest returns the request in the form that two equal ones share.
func NormalRequest(r *conversation.Request, s *Supports) *conversation.Request {
	out := *r
	out.Messages = nil
	for _, m := range r.Messages {
		m.Parts = normalParts(m.Parts, s)
		if n := len(out.Messages); n > 0 && out.Messages[n-1].Role == m.Role && out.Messages[n-1].Name == m.Name {
			out.Messages[n-1].Parts = append(out.Messages[n-1].Parts, m.Parts...)
			continue
		}
		out.Messages = append(out.Messages, m)
	}
	out.Tools = nil
	for _, t := range r.Tools {
		t.Parameters, t.Raw = compact(t.Parameters), compact(t.Raw)
		out.Tools = append(out.Tools, t)
	}
	if r.Output != nil {
		o := *r.Output
		o.Schema = compact(o.Schema)
		out.Output = &o
	}
	if len(r.Stop) == 0 {
		out.Stop = nil
	}
	if len(r.Other) == 0 {
		out.Other = nil
	}
	if len(r.ToolChoice.Allowed) == 0 {
		out.ToolChoice.Allowed = nil
	}
	if c := r.ToolChoice; c.Mode == conversation.Required && len(c.Allowed) == 1 {
		out.ToolChoice = conversation.ToolChoice{Mode: conversation.One, Name: c.Allowed[0]}
	}
	if r.Reasoning.Effort == "none" {
		out.Reasoning.Effort, out.Reasoning.Off = "", true
	}
	return &out
}

// NormalReply returns the reply in the form that two equal ones share.
func NormalReply(r *conversation.Reply, s *Supports) *conversation.Reply {
	out := *r
	out.ID, out.Model, out.Choices = "", "", nil
	for _, c := range r.Choices {
		c.Parts = joined(normalParts(c.Parts, s))
		c.Logprobs = rated(c.Logprobs)
		if c.Finish == conversation.Stop && slices.ContainsFunc(c.Parts, isRefusal) {
			c.Finish = conversation.Refused
		}
		out.Choices = append(out.Choices, c)
	}
	return &out
}

func normalParts(parts []conversation.Part, s *Supports) []conversation.Part {
	var out []conversation.Part
	for _, p := range parts {
		if len(p.Citations) == 0 {
			p.Citations = nil
		}
		if p.Kind == conversation.Text && p.Text == "" && p.Cache == "" && p.Citations == nil {
			continue
		}
		if p.Thought != nil && p.Thought.Signature == "" && p.Thought.Data == "" {
			thought := *p.Thought
			thought.Origin = ""
			p.Thought = &thought
		}
		if p.Call != nil && !p.Call.Custom {
			call := *p.Call
			if s.ObjectArguments {
				call.Arguments = string(compact(json.RawMessage(call.Arguments)))
			}
			if call.Arguments == "" { // those of a function that takes none
				call.Arguments = "{}"
			}
			p.Call = &call
		}
		if p.Result != nil {
			result := *p.Result
			result.Parts = normalParts(result.Parts, s)
			p.Result = &result
		}
		out = append(out, p)
	}
	return out
}

func isRefusal(p conversation.Part) bool { return p.Kind == conversation.Refusal }

// joined makes one part of texts that follow each other.
func joined(parts []conversation.Part) []conversation.Part {
	var out []conversation.Part
	for _, p := range parts {
		n := len(out)
		if n > 0 && (p.Kind == conversation.Text || p.Kind == conversation.Refusal) && out[n-1].Kind == p.Kind && out[n-1].Cache == "" {
			out[n-1].Text += p.Text
			out[n-1].Citations = append(out[n-1].Citations, p.Citations...)
			continue
		}
		out = append(out, p)
	}
	return out
}

func rated(logprobs json.RawMessage) json.RawMessage {
	var read struct {
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(logprobs, &read) != nil {
		return nil
	}
	return compact(read.Content)
}

func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if len(raw) == 0 || json.Compact(&b, raw) != nil {
		if len(raw) == 0 {
			return nil
		}
		return raw
	}
	return b.Bytes()
}
