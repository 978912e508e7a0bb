package responses

import (
	"slices"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

func (r *requestReader) tools(v []byte) {
	r.out.Tools = nil
	r.each("tools", v, func(path string, v []byte) {
		kind := ""
		if v[0] == '{' {
			kind = r.text(path+".type", member(v, "type"))
		}
		switch kind {
		case "function", "custom":
			r.tool(path, kind, v)
		case "":
			r.wrong(path+".type", missing, "must name the kind of the tool")
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
	o := r.object(path, v)
	for o.Next() {
		v := o.Value()
		switch name := o.Name(); {
		case name == "type", rawjson.IsNull(v):
		case name == "name":
			tool.Name = r.text(path+".name", v)
		case name == "description":
			tool.Description = r.text(path+".description", v)
		case name == "parameters":
			if v[0] != '{' && v[0] != 't' && v[0] != 'f' { // a schema is an object, or true or false
				r.wrong(path+".parameters", wrongType, "must be a JSON schema")
			}
			tool.Parameters = slices.Clone(v)
		case name == "strict":
			tool.Strict = r.flag(path+".strict", v)
		case name == "format" && tool.Kind == conversation.Custom:
			tool.Raw, tool.Origin = slices.Clone(v), home
		default:
			r.other(path+"."+name, v)
		}
	}
	if tool.Name == "" {
		r.wrong(path+".name", missing, "must name the tool")
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
		kind = r.text(path+".type", member(v, "type"))
	}
	switch kind {
	case "":
		r.wrong(path, unknownValue, `must be "none", "auto", "required", or name tools`)
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
		r.wrong(path, unknownValue, `must be "none", "auto" or "required"`)
		return ""
	}
}

func (r *requestReader) allowed(path string, v []byte) {
	choice := conversation.ToolChoice{Mode: conversation.Auto}
	o := r.object(path, v)
	for o.Next() {
		switch {
		case o.Is("mode"):
			choice.Mode = r.mode(path+".mode", o.Value())
		case o.Is("tools"):
			r.each(path+".tools", o.Value(), func(path string, v []byte) {
				choice.Allowed = append(choice.Allowed, r.named(path, v))
			})
		}
	}
	if len(choice.Allowed) == 0 {
		r.wrong(path+".tools", missing, "must name tools")
	}
	r.out.ToolChoice = choice
}

// named reads a reference to a tool.
func (r *requestReader) named(path string, v []byte) string {
	var kind, name string
	o := r.object(path, v)
	for o.Next() {
		switch {
		case o.Is("type"):
			kind = r.text(path+".type", o.Value())
		case o.Is("name"):
			name = r.text(path+".name", o.Value())
		}
	}
	switch {
	case kind == "":
		r.wrong(path+".type", missing, "must name the kind of the tool")
	case kind != "function" && kind != "custom":
		return kind
	case name == "":
		r.wrong(path+".name", missing, "must name a tool")
	}
	return name
}
