package responses

import (
	"slices"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
)

func (r *requestReader) tools(v []byte) {
	r.out.Tools = nil
	r.Each("tools", v, func(path string, v []byte) {
		kind := ""
		if v[0] == '{' {
			kind = r.Text(path+".type", openai.Member(v, "type"))
		}
		switch kind {
		case "function", "custom":
			r.tool(path, kind, v)
		case "":
			r.Wrong(path+".type", openai.Missing, "must name the kind of the tool")
		default:
			r.out.Tools = append(r.out.Tools, conversation.Tool{
				Kind: conversation.Builtin, Name: kind, Raw: slices.Clone(v), Origin: home,
			})
		}
	})
}

func (r *requestReader) tool(path, kind string, v []byte) {
	tool := conversation.Tool{}
	if kind == "custom" {
		tool.Kind = conversation.Custom
	}
	o := r.Object(path, v)
	for o.Next() {
		v := o.Value()
		switch name := o.Name(); {
		case name == "type", rawjson.IsNull(v):
		case name == "name":
			tool.Name = r.Text(path+".name", v)
		case name == "description":
			tool.Description = r.Text(path+".description", v)
		case name == "parameters":
			if v[0] != '{' && v[0] != 't' && v[0] != 'f' { // a schema is an object, or true or false
				r.Wrong(path+".parameters", openai.WrongType, "must be a JSON schema")
			}
			tool.Parameters = slices.Clone(v)
		case name == "strict":
			tool.Strict = r.Flag(path+".strict", v)
		case name == "format" && tool.Kind == conversation.Custom:
			tool.Raw, tool.Origin = slices.Clone(v), home
		default:
			r.other(path+"."+name, v)
		}
	}
	if tool.Name == "" {
		r.Wrong(path+".name", openai.Missing, "must name the tool")
	}
	r.out.Tools = append(r.out.Tools, tool)
}

// toolChoice reads "auto" and its like, one tool, or those that are allowed. A
// tool that the provider runs is named by its type.
func (r *requestReader) toolChoice(v []byte) {
	const path = "tool_choice"
	if rawjson.IsString(v) {
		r.out.ToolChoice = conversation.ToolChoice{Mode: r.mode(path, v)}
		return
	}
	kind := ""
	if v[0] == '{' {
		kind = r.Text(path+".type", openai.Member(v, "type"))
	}
	switch kind {
	case "":
		r.Wrong(path, openai.UnknownValue, `must be "none", "auto", "required", or name tools`)
	case "allowed_tools":
		r.allowed(path, v)
	default:
		r.out.ToolChoice = conversation.ToolChoice{Mode: conversation.One, Name: r.named(path, v)}
	}
}

func (r *requestReader) mode(path string, v []byte) conversation.ToolMode {
	switch mode := conversation.ToolMode(rawjson.String(v)); mode {
	case conversation.Auto, conversation.None, conversation.Required:
		return mode
	default:
		r.Wrong(path, openai.UnknownValue, `must be "none", "auto" or "required"`)
		return ""
	}
}

func (r *requestReader) allowed(path string, v []byte) {
	choice := conversation.ToolChoice{Mode: conversation.Auto}
	o := r.Object(path, v)
	for o.Next() {
		switch {
		case o.Is("mode"):
			choice.Mode = r.mode(path+".mode", o.Value())
		case o.Is("tools"):
			r.Each(path+".tools", o.Value(), func(path string, v []byte) {
				choice.Allowed = append(choice.Allowed, r.named(path, v))
			})
		}
	}
	if len(choice.Allowed) == 0 {
		r.Wrong(path+".tools", openai.Missing, "must name tools")
	}
	r.out.ToolChoice = choice
}

// named reads a reference to a tool.
func (r *requestReader) named(path string, v []byte) string {
	var kind, name string
	o := r.Object(path, v)
	for o.Next() {
		switch {
		case o.Is("type"):
			kind = r.Text(path+".type", o.Value())
		case o.Is("name"):
			name = r.Text(path+".name", o.Value())
		}
	}
	switch {
	case kind == "":
		r.Wrong(path+".type", openai.Missing, "must name the kind of the tool")
	case kind != "function" && kind != "custom":
		return kind
	case name == "":
		r.Wrong(path+".name", openai.Missing, "must name a tool")
	}
	return name
}
