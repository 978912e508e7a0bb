package messages

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

// block reads a block of content; a document can be several parts. A cache
// mark stands behind the last of them.
func (r *reader) block(path string, v gjson.Result) []conversation.Part {
	if !v.IsObject() {
		r.wrong(path, wrongType, "must be an object")
		return nil
	}
	var parts []conversation.Part
	one := func(p conversation.Part) { parts = []conversation.Part{p} }
	switch kind := r.need(path+".type", v.Get("type")); kind {
	case typeText:
		one(conversation.Part{Kind: conversation.Text, Text: r.need(path+".text", v.Get("text")), Citations: citations(v.Get("citations"))})
	case "image":
		one(conversation.Part{Kind: conversation.Image, Media: r.image(path+".source", v.Get("source"))})
	case "document":
		parts = r.document(path, v)
	case "search_result":
		parts = r.searchResult(path, v)
	case "container_upload":
		one(conversation.Part{Kind: conversation.File, Media: &conversation.Media{FileID: r.need(path+".file_id", v.Get("file_id"))}})
	case typeThinking:
		one(thought(r.text(path+".thinking", v.Get("thinking")), r.text(path+".signature", v.Get("signature"))))
	case typeRedacted:
		one(hidden(r.need(path+".data", v.Get("data"))))
	case typeToolUse, "server_tool_use", "mcp_tool_use":
		one(r.call(path, v))
	case "":
	default:
		r.wrong(path+".type", outOfSet, "is not a known block: accepted are text, image, document, search_result, thinking, redacted_thinking, tool_use, tool_result, and those of Anthropic's own tools")
	}
	if mark := r.cache(path+".cache_control", v.Get("cache_control")); mark != "" && len(parts) > 0 {
		parts[len(parts)-1].Cache = mark
	}
	return parts
}

func (r *reader) call(path string, v gjson.Result) conversation.Part {
	input := v.Get("input")
	if !input.IsObject() {
		r.wrong(path+".input", wrongType, "must be an object")
	}
	return conversation.Part{Kind: conversation.Call, Call: &conversation.ToolCall{
		ID: r.need(path+".id", v.Get("id")), Name: r.need(path+".name", v.Get("name")), Arguments: input.Raw,
	}}
}

// result reads the result of one of the caller's tools.
func (r *reader) result(path string, v gjson.Result) conversation.Part {
	out := &conversation.ToolResult{CallID: r.need(path+".tool_use_id", v.Get("tool_use_id"))}
	if failed := r.flag(path+".is_error", v.Get("is_error")); failed != nil {
		out.IsError = *failed
	}
	if content := v.Get("content"); content.Type != gjson.Null {
		r.content(path+".content", content, func(path string, v gjson.Result) {
			switch v.Get("type").Str {
			case "tool_reference":
				out.Parts = append(out.Parts, conversation.Part{Kind: conversation.Text, Text: r.need(path+".tool_name", v.Get("tool_name"))})
			case "browser_state":
				out.Parts = append(out.Parts, conversation.Part{Kind: conversation.Text, Text: v.Raw})
			case typeText, "image", "document", "search_result":
				out.Parts = append(out.Parts, r.block(path, v)...)
			default:
				r.wrong(path+".type", outOfSet, "must be text, image, document or search_result")
			}
		})
	}
	return conversation.Part{Kind: conversation.Result, Result: out, Cache: r.cache(path+".cache_control", v.Get("cache_control"))}
}

// serverResult reads what a tool of Anthropic's found. Of a search only titles
// and addresses can be read: the rest is sealed.
func (r *reader) serverResult(path string, v gjson.Result) conversation.Part {
	out := &conversation.ToolResult{CallID: r.need(path+".tool_use_id", v.Get("tool_use_id"))}
	var text strings.Builder
	content := v.Get("content")
	switch {
	case content.Type == gjson.String:
		text.WriteString(content.Str)
	case content.IsArray():
		content.ForEach(func(_, found gjson.Result) bool {
			if text.Len() > 0 {
				text.WriteByte('\n')
			}
			switch found.Get("type").Str {
			case "web_search_result":
				text.WriteString(found.Get("title").String() + ": " + found.Get("url").String())
			case typeText:
				text.WriteString(found.Get("text").String())
			default:
				text.WriteString(found.Raw)
			}
			return true
		})
	default:
		text.WriteString(content.Raw)
		out.IsError = strings.HasSuffix(content.Get("type").Str, "_error")
	}
	if failed := v.Get("is_error"); failed.Type == gjson.True {
		out.IsError = true
	}
	if text.Len() > 0 {
		out.Parts = []conversation.Part{{Kind: conversation.Text, Text: text.String()}}
	}
	return conversation.Part{Kind: conversation.Result, Result: out, Cache: r.cache(path+".cache_control", v.Get("cache_control"))}
}

// thought is a thinking block. A proof of another family traveled in the
// place of a signature.
func thought(text, signature string) conversation.Part {
	t := &conversation.Thinking{Text: text}
	value, origin := conversation.Unseal(signature, home)
	switch {
	case value == "":
	case origin == home:
		t.Signature, t.Origin = value, origin
	default:
		t.Data, t.Origin = value, origin
	}
	return conversation.Part{Kind: conversation.Thought, Thought: t}
}

// hidden is a redacted_thinking block.
func hidden(data string) conversation.Part {
	t := &conversation.Thinking{}
	t.Data, t.Origin = conversation.Unseal(data, home)
	return conversation.Part{Kind: conversation.Thought, Thought: t}
}
