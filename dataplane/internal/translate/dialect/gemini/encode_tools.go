package gemini

import (
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
// a list; AUTO itself takes none.
func (w *requestWriter) toolChoice(c conversation.ToolChoice) {
	mode := ""
	allowed := c.Allowed
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
