package gemini

import (
	"slices"
	"strconv"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

// tools writes functions into one element, as Vertex demands, and each tool of
// Google's own into one beside it.
func (w *requestWriter) tools(tools []conversation.Tool) {
	start := len(w.b)
	w.b.Name("tools")
	w.b.Open('[')
	wrote, group := false, -1
	for i, t := range tools {
		if t.Cache != "" {
			w.degrade("cache_control")
		}
		path := "tools." + strconv.Itoa(i)
		switch {
		case t.Kind == conversation.Function:
			if t.Strict != nil && *t.Strict {
				w.degrade(path + ".strict")
			}
			if group < 0 {
				group = i
			}
			if group == i {
				w.functions(tools)
			}
			wrote = true
		case t.Kind == conversation.Builtin && t.Origin == conversation.Google && isObject(string(t.Raw)):
			w.b.Next()
			w.b = append(w.b, t.Raw...)
			wrote = true
		default:
			w.degrade(path)
		}
	}
	w.b.Close(']')
	if !wrote {
		w.b = w.b[:start]
	}
}

func (w *requestWriter) functions(tools []conversation.Tool) {
	w.b.Next()
	w.b.Open('{')
	w.b.Name("functionDeclarations")
	w.b.Open('[')
	for _, t := range tools {
		if t.Kind != conversation.Function {
			continue
		}
		w.b.Next()
		w.b.Open('{')
		w.b.String("name", t.Name)
		w.b.StringIf("description", t.Description)
		w.b.Raw("parametersJsonSchema", t.Parameters)
		w.b.Close('}')
	}
	w.b.Close(']')
	w.b.Close('}')
}

// toolChoice writes which functions are to be called. VALIDATED is AUTO with
// a list; AUTO itself takes none. Functions that are not there cannot be called
// for, and without any there is no choice.
func (w *requestWriter) toolChoice(r *conversation.Request) {
	c, mode := r.ToolChoice, ""
	declared := func(name string) bool {
		return slices.ContainsFunc(r.Tools, func(t conversation.Tool) bool { return t.Kind == conversation.Function && t.Name == name })
	}
	allowed := slices.DeleteFunc(slices.Clone(c.Allowed), func(name string) bool { return !declared(name) })
	none := !slices.ContainsFunc(r.Tools, func(t conversation.Tool) bool { return t.Kind == conversation.Function })
	switch {
	case len(allowed) < len(c.Allowed):
		w.degrade("tool_choice.allowed")
	case c.Mode == conversation.One && !declared(c.Name), c.Mode == conversation.Required && none:
		w.degrade("tool_choice")
		return
	}
	if none {
		return
	}
	switch c.Mode {
	case conversation.Auto:
		mode = "AUTO"
		if len(allowed) > 0 {
			mode = "VALIDATED"
		}
	case conversation.None:
		mode, allowed = "NONE", nil
	case conversation.Required:
		mode = "ANY"
	case conversation.One:
		mode, allowed = "ANY", []string{c.Name}
	}
	if mode == "" {
		return
	}
	w.b.Name("toolConfig")
	w.b.Open('{')
	w.b.Name("functionCallingConfig")
	w.b.Open('{')
	w.b.String("mode", mode)
	w.b.Strings("allowedFunctionNames", allowed)
	w.b.Close('}')
	w.b.Close('}')
}
