package chat

import (
	"encoding/json"
	"slices"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
)

func (r *requestReader) tools(v []byte) {
	r.out.Tools = nil
	r.Each("tools", v, func(path string, v []byte) {
		var kind string
		var function, custom []byte
		tool := conversation.Tool{}
		o := r.Object(path, v)
		for o.Next() {
			switch {
			case o.Is("type"):
				kind = r.Text(path+".type", o.Value())
			case o.Is("function"):
				function = o.Value()
			case o.Is("custom"):
				custom = o.Value()
			case o.Is("cache_control"):
				tool.Cache = cacheOf(o.Value())
			}
		}
		switch {
		case kind == "function", kind == "" && function != nil:
			r.function(path+".function", function, tool)
		case kind == "custom":
			r.customTool(path+".custom", custom, tool)
		case kind == "":
			r.Wrong(path+".type", openai.Missing, "must name the kind of the tool")
		default:
			tool.Kind, tool.Name, tool.Raw, tool.Origin = conversation.Builtin, kind, slices.Clone(v), home
			r.out.Tools = append(r.out.Tools, tool)
		}
	})
}

func (r *requestReader) function(path string, v []byte, tool conversation.Tool) {
	o := r.Object(path, v)
	for o.Next() {
		v := o.Value()
		switch {
		case o.Is("name"):
			tool.Name = r.Text(path+".name", v)
		case o.Is("description"):
			tool.Description = r.Text(path+".description", v)
		case o.Is("parameters") && !rawjson.IsNull(v):
			if v[0] != '{' && v[0] != 't' && v[0] != 'f' { // a schema is an object, or true or false
				r.Wrong(path+".parameters", openai.WrongType, "must be a JSON schema")
			}
			tool.Parameters = json.RawMessage(slices.Clone(v))
		case o.Is("strict"):
			tool.Strict = r.Flag(path+".strict", v)
		case o.Is("cache_control"):
			tool.Cache = cacheOf(v)
		}
	}
	if tool.Name == "" {
		r.Wrong(path+".name", openai.Missing, "must name the function")
	}
	r.out.Tools = append(r.out.Tools, tool)
}

func (r *requestReader) customTool(path string, v []byte, tool conversation.Tool) {
	tool.Kind = conversation.Custom
	o := r.Object(path, v)
	for o.Next() {
		v := o.Value()
		switch {
		case o.Is("name"):
			tool.Name = r.Text(path+".name", v)
		case o.Is("description"):
			tool.Description = r.Text(path+".description", v)
		case o.Is("format") && !rawjson.IsNull(v):
			tool.Raw, tool.Origin = slices.Clone(v), home
		}
	}
	if tool.Name == "" {
		r.Wrong(path+".name", openai.Missing, "must name the tool")
	}
	r.out.Tools = append(r.out.Tools, tool)
}

// toolChoice reads "auto" and its like, a named tool, or allowed tools.
func (r *requestReader) toolChoice(v []byte) {
	if rawjson.IsString(v) {
		r.out.ToolChoice = conversation.ToolChoice{Mode: r.mode("tool_choice", v)}
		return
	}
	var choice conversation.ToolChoice
	o := r.Object("tool_choice", v)
	for o.Next() {
		v := o.Value()
		switch {
		case o.Is("function"), o.Is("custom"):
			choice.Mode, choice.Name = conversation.One, r.Text("tool_choice."+o.Name()+".name", openai.Member(v, "name"))
		case o.Is("allowed_tools"):
			choice = r.allowed(v)
		}
	}
	if choice.Mode == "" {
		r.Wrong("tool_choice", openai.UnknownValue, `must be "none", "auto", "required", or name tools`)
	}
	r.out.ToolChoice = choice
}

func (r *requestReader) mode(path string, v []byte) conversation.ToolMode {
	switch mode := conversation.ToolMode(rawjson.String(v)); mode {
	case conversation.Auto, conversation.None, conversation.Required:
		return mode
	case "any": // Mistral's word
		return conversation.Required
	default:
		r.Wrong(path, openai.UnknownValue, `must be "none", "auto" or "required"`)
		return ""
	}
}

func (r *requestReader) allowed(v []byte) conversation.ToolChoice {
	const path = "tool_choice.allowed_tools"
	choice := conversation.ToolChoice{Mode: conversation.Auto}
	o := r.Object(path, v)
	for o.Next() {
		switch {
		case o.Is("mode"):
			choice.Mode = r.mode(path+".mode", o.Value())
		case o.Is("tools"):
			r.Each(path+".tools", o.Value(), func(path string, v []byte) {
				name := r.Text(path+".function.name", openai.Member(openai.Member(v, "function"), "name"))
				if name == "" {
					name = r.Text(path+".custom.name", openai.Member(openai.Member(v, "custom"), "name"))
				}
				if name == "" {
					r.Wrong(path, openai.Missing, "must name a tool")
				}
				choice.Allowed = append(choice.Allowed, name)
			})
		}
	}
	return choice
}

// functionCall reads the deprecated choice between functions.
func (r *requestReader) functionCall(v []byte) {
	switch {
	case rawjson.IsNull(v):
	case rawjson.IsString(v):
		r.out.ToolChoice.Mode = r.mode("function_call", v)
	default:
		r.Object("function_call", v)
		r.out.ToolChoice = conversation.ToolChoice{Mode: conversation.One, Name: r.Text("function_call.name", openai.Member(v, "name"))}
	}
}

func (r *requestReader) output(v []byte) {
	out := &conversation.Output{}
	o := r.Object("response_format", v)
	for o.Next() {
		switch {
		case o.Is("type"):
			out.Kind = conversation.OutputKind(r.Text("response_format.type", o.Value()))
		case o.Is("json_schema"):
			r.schema(out, o.Value())
		}
	}
	switch out.Kind {
	case conversation.PlainText, conversation.JSONObject, conversation.JSONSchema:
		r.out.Output = out
	default:
		r.Wrong("response_format.type", openai.UnknownValue, `must be "text", "json_object" or "json_schema"`)
	}
}

func (r *requestReader) schema(out *conversation.Output, v []byte) {
	const path = "response_format.json_schema"
	o := r.Object(path, v)
	for o.Next() {
		v := o.Value()
		switch {
		case o.Is("name"):
			out.Name = r.Text(path+".name", v)
		case o.Is("description"):
			out.Description = r.Text(path+".description", v)
		case o.Is("schema") && !rawjson.IsNull(v):
			out.Schema = json.RawMessage(slices.Clone(v))
		case o.Is("strict"):
			out.Strict = r.Flag(path+".strict", v)
		}
	}
}
