package messages

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

// instructions reads what "system" or a message of that role says.
func (r *reader) instructions(path string, v gjson.Result) {
	m := conversation.Message{Role: conversation.System}
	if v.Type == gjson.String {
		if v.Str != "" {
			m.Parts = []conversation.Part{{Kind: conversation.Text, Text: v.Str}}
		}
	} else {
		if !v.IsArray() {
			r.wrong(path, wrongType, "must be a string or an array of text blocks")
			return
		}
		r.elements(path, v, func(path string, v gjson.Result) {
			if v.Get("type").Str != typeText {
				r.wrong(path+".type", outOfSet, "must be text")
				return
			}
			m.Parts = append(m.Parts, r.block(path, v)...)
		})
	}
	if len(m.Parts) > 0 {
		r.request.Messages = append(r.request.Messages, m)
	}
}

// message reads one turn. A user's results become a message of their own, in
// front of what else the turn says; so do those of tools that Anthropic ran in
// the middle of an answer.
func (r *reader) message(path string, v gjson.Result) {
	if !v.IsObject() {
		r.wrong(path, wrongType, "must be an object")
		return
	}
	content := v.Get("content")
	switch role := r.need(path+".role", v.Get("role")); role {
	case "system":
		r.instructions(path+".content", content)
	case "user":
		r.user(path+".content", content)
	case "assistant":
		r.assistant(path+".content", content)
	default:
		r.wrong(path+".role", outOfSet, "must be user, assistant or system")
	}
}

func (r *reader) user(path string, content gjson.Result) {
	m := conversation.Message{Role: conversation.User}
	results := conversation.Message{Role: conversation.ToolRole}
	r.content(path, content, func(path string, v gjson.Result) {
		switch v.Get("type").Str {
		case "tool_result":
			results.Parts = append(results.Parts, r.result(path, v))
		case typeToolUse, typeThinking, typeRedacted:
			r.wrong(path+".type", outOfSet, "stands in messages of the assistant only")
		default:
			m.Parts = append(m.Parts, r.block(path, v)...)
		}
	})
	r.add(results)
	r.add(m)
}

func (r *reader) assistant(path string, content gjson.Result) {
	m := conversation.Message{Role: conversation.Assistant}
	answered := make(map[string]bool)
	if content.IsArray() {
		content.ForEach(func(_, v gjson.Result) bool {
			if isServerResult(v.Get("type").Str) {
				answered[v.Get("tool_use_id").Str] = true
			}
			return true
		})
	}
	r.content(path, content, func(path string, v gjson.Result) {
		kind := v.Get("type").Str
		switch {
		case kind == "tool_result":
			r.wrong(path+".type", outOfSet, "stands in messages of the user only")
		case isServerResult(kind):
			r.add(m)
			r.add(conversation.Message{Role: conversation.ToolRole, Parts: []conversation.Part{r.serverResult(path, v)}})
			m.Parts = nil
		case isServerCall(kind) && !answered[v.Get("id").Str]:
			text := v.Get("name").String() + " " + v.Get("input").Raw
			m.Parts = append(m.Parts, conversation.Part{Kind: conversation.Text, Text: text})
		default:
			m.Parts = append(m.Parts, r.block(path, v)...)
		}
	})
	r.add(m)
}

// add keeps a message that says anything, and joins results that follow each
// other, since they are of one turn.
func (r *reader) add(m conversation.Message) {
	if len(m.Parts) == 0 {
		return
	}
	if n := len(r.request.Messages); n > 0 && m.Role == conversation.ToolRole && r.request.Messages[n-1].Role == m.Role {
		last := &r.request.Messages[n-1]
		last.Parts = append(last.Parts, m.Parts...)
		return
	}
	r.request.Messages = append(r.request.Messages, m)
}

// content reads a string, or calls each for every block.
func (r *reader) content(path string, v gjson.Result, each func(path string, v gjson.Result)) {
	switch {
	case v.Type == gjson.Null:
		r.wrong(path, required, "is required")
	case v.Type == gjson.String:
		each(path, gjson.Result{Type: gjson.JSON, Raw: `{"type":"text","text":` + v.Raw + `}`})
	case v.IsArray():
		r.elements(path, v, each)
	default:
		r.wrong(path, wrongType, "must be a string or an array of blocks")
	}
}

func isServerCall(kind string) bool { return kind == "server_tool_use" || kind == "mcp_tool_use" }

func isServerResult(kind string) bool {
	return kind != "tool_result" && strings.HasSuffix(kind, "tool_result")
}
