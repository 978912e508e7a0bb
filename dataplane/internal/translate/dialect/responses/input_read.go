package responses

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
)

// providers are the types of items that only their own provider understands:
// what its tools did, what a caller is to do for them, and what it keeps of a
// conversation.
var providers = map[string]bool{
	"computer_call": true, "computer_call_output": true, "code_interpreter_call": true,
	"local_shell_call": true, "local_shell_call_output": true, "shell_call": true, "shell_call_output": true,
	"apply_patch_call": true, "apply_patch_call_output": true,
	"mcp_list_tools": true, "mcp_approval_request": true, "mcp_approval_response": true, "mcp_call": true,
	"tool_search_call": true, "tool_search_output": true, "additional_tools": true, "configuration_update": true,
	"compaction": true, "compaction_trigger": true, "program": true, "program_output": true,
}

// input reads a text, which is the user's, or items.
func (r *requestReader) input(v []byte) {
	r.out.Messages = nil
	switch {
	case rawjson.IsString(v):
		r.say(conversation.User, conversation.Part{Kind: conversation.Text, Text: r.Text("input", v)})
	case v[0] != '[':
		r.Wrong("input", openai.WrongType, "must be a string or an array of items")
	default:
		r.Each("input", v, r.item)
	}
}

// say adds parts of a turn as a message of their own.
func (r *requestReader) say(role conversation.Role, parts ...conversation.Part) {
	r.out.Messages = append(r.out.Messages, conversation.Message{Role: role, Parts: parts})
}

// join adds parts to the turn that goes on.
func (r *requestReader) join(role conversation.Role, parts ...conversation.Part) {
	if n := len(r.out.Messages); n > 0 && r.out.Messages[n-1].Role == role {
		r.out.Messages[n-1].Parts = append(r.out.Messages[n-1].Parts, parts...)
		return
	}
	r.say(role, parts...)
}

func (r *requestReader) item(path string, v []byte) {
	var i item
	i.read(&r.reader, path, v)
	if i.kind == "" { // a message may leave it out, and so may a reference
		switch {
		case !rawjson.IsNull(i.role):
			i.kind = typeMessage
		case !openai.IsBlank(i.id):
			i.kind = typeReference
		}
	}
	switch {
	case i.kind == typeMessage:
		r.message(path, &i)
	case i.kind == typeCallOutput, i.kind == typeCustomOutput:
		r.result(path, &i)
	case i.kind == "web_search_call", i.kind == "file_search_call":
		if !openai.IsBlank(i.results) {
			r.out.State = append(r.out.State, path)
		}
	case i.kind == typeReference, providers[i.kind]:
		r.out.State = append(r.out.State, path)
	default:
		parts, ok := r.said(path, &i)
		if !ok {
			r.Wrong(path+".type", openai.UnknownValue, "must be message, function_call, function_call_output, custom_tool_call, "+
				"custom_tool_call_output, reasoning, item_reference, or the call of a tool that the provider runs")
			return
		}
		if len(parts) > 0 {
			r.join(conversation.Assistant, parts...)
		}
	}
}

func (r *requestReader) message(path string, i *item) {
	switch role := conversation.Role(r.Text(path+".role", i.role)); role {
	case conversation.System, conversation.Developer, conversation.User:
		r.say(role, r.content(path+".content", i.content)...)
	case conversation.Assistant:
		r.join(role, r.content(path+".content", i.content)...)
	default:
		r.Wrong(path+".role", openai.UnknownValue, "must be user, assistant, system or developer")
	}
}

func (r *requestReader) result(path string, i *item) {
	result := &conversation.ToolResult{Custom: i.kind == typeCustomOutput}
	result.CallID = r.Need(path+".call_id", i.callID, "must be the id of the call that is answered")
	result.Parts = r.content(path+".output", i.output)
	r.join(conversation.ToolRole, conversation.Part{Kind: conversation.Result, Result: result})
}
