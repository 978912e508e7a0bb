package gemini

import (
	"slices"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// tool reads one element of "tools": functions, tools of Google's own, or both.
func (r *requestReader) tool(at string, v []byte) {
	if !r.element(at, v) {
		return
	}
	for o := rawjson.NewObject(v); o.Next(); {
		switch {
		case rawjson.IsNull(o.Value()):
		case is(&o, "functionDeclarations"):
			r.each(at+".functionDeclarations", o.Value(), r.function)
		default:
			name := nameOf(&o)
			var raw jsonappend.Buffer
			raw.Open('{')
			raw.Next()
			raw = append(jsonappend.AppendString(raw, name), ':')
			raw = append(append(raw, o.Value()...), '}')
			r.request.Tools = append(r.request.Tools, conversation.Tool{
				Kind: conversation.Builtin, Name: name, Raw: []byte(raw), Origin: conversation.Google,
			})
		}
	}
}

func (r *requestReader) function(at string, v []byte) {
	if !r.element(at, v) {
		return
	}
	var t conversation.Tool
	for o := rawjson.NewObject(v); o.Next(); {
		value := o.Value()
		switch {
		case rawjson.IsNull(value):
		case o.Is("name"):
			t.Name = r.text(at+".name", value)
		case o.Is("description"):
			t.Description = r.text(at+".description", value)
		case is(&o, "parametersJsonSchema"):
			if r.object(at+".parametersJsonSchema", value) {
				t.Parameters = slices.Clone(value)
			}
		case o.Is("parameters"):
			if r.object(at+".parameters", value) {
				t.Parameters = jsonSchema(value)
			}
		default:
			r.other(at + "." + nameOf(&o))
		}
	}
	if t.Name == "" {
		r.wrong(at+".name", required, "is required")
	}
	r.request.Tools = append(r.request.Tools, t)
}

func (r *requestReader) toolConfig(at string, v []byte) {
	if !r.object(at, v) {
		return
	}
	for o := rawjson.NewObject(v); o.Next(); {
		switch {
		case rawjson.IsNull(o.Value()):
		case is(&o, "functionCallingConfig"):
			r.calling(at+".functionCallingConfig", o.Value())
		default:
			r.other(at + "." + nameOf(&o))
		}
	}
}

func (r *requestReader) calling(at string, v []byte) {
	if !r.object(at, v) {
		return
	}
	var mode string
	var allowed []string
	for o := rawjson.NewObject(v); o.Next(); {
		switch {
		case rawjson.IsNull(o.Value()):
		case o.Is("mode"):
			mode = r.text(at+".mode", o.Value())
		case is(&o, "allowedFunctionNames"):
			allowed = r.texts(at+".allowedFunctionNames", o.Value())
		case is(&o, "streamFunctionCallArguments"): // how calls come, not which
		default:
			r.other(at + "." + nameOf(&o))
		}
	}
	choice := conversation.ToolChoice{Allowed: allowed}
	switch mode {
	case "", "MODE_UNSPECIFIED":
		if len(allowed) > 0 {
			choice.Mode = conversation.Auto
		}
	case "AUTO":
		choice.Mode = conversation.Auto
	case "VALIDATED":
		choice.Mode = conversation.Auto
		if len(allowed) == 0 { // what it says beyond AUTO, nobody else can
			r.other(at + ".mode")
		}
	case "NONE":
		choice = conversation.ToolChoice{Mode: conversation.None}
	case "ANY":
		choice.Mode = conversation.Required
		if len(allowed) == 1 {
			choice = conversation.ToolChoice{Mode: conversation.One, Name: allowed[0]}
		}
	default:
		r.wrong(at+".mode", outOfRange, "must be AUTO, ANY, NONE or VALIDATED")
	}
	r.request.ToolChoice = choice
}
