package chat

import (
	"strconv"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// tools writes the tools and the choice between them. Providers refuse a
// choice without tools.
func (w *requestWriter) tools() {
	written := make(map[string]bool, len(w.in.Tools)) // names, and whether of a custom tool
	var list jsonappend.Buffer
	for i := range w.in.Tools {
		t := &w.in.Tools[i]
		path := "tools." + strconv.Itoa(i)
		if t.Cache != "" {
			w.degrade("cache_control")
		}
		if t.Kind == conversation.Builtin {
			w.degrade(path)
			continue
		}
		w.tool(&list, t, path)
		written[t.Name] = t.Kind == conversation.Custom
	}
	if len(written) > 0 {
		w.Name("tools")
		w.Buffer = append(append(append(w.Buffer, '['), list...), ']')
	}
	w.choice(written)
	switch {
	case w.in.ParallelTools == nil:
	case len(written) > 0:
		w.flag("parallel_tool_calls", w.in.ParallelTools)
	default:
		w.degrade("parallel_tool_calls")
	}
}

func (w *requestWriter) tool(b *jsonappend.Buffer, t *conversation.Tool, path string) {
	kind := "function"
	if t.Kind == conversation.Custom {
		kind = "custom"
	}
	b.Next()
	b.Open('{')
	b.String("type", kind)
	b.Name(kind)
	b.Open('{')
	b.String("name", t.Name)
	b.StringIf("description", t.Description)
	switch {
	case t.Kind != conversation.Custom:
		b.Raw("parameters", t.Parameters)
		if t.Strict != nil {
			b.Bool("strict", *t.Strict)
		}
	case t.Origin == home:
		b.Raw("format", formatOf(t.Raw))
	case len(t.Raw) > 0:
		w.degrade(path + ".format")
	}
	b.Close('}')
	b.Close('}')
}

// formatOf is a custom tool's format as this format has it. Responses writes
// the same without the level "grammar"
// (https://platform.openai.com/docs/api-reference/responses/create).
func formatOf(raw []byte) []byte {
	definition, syntax := openai.Member(raw, "definition"), openai.Member(raw, "syntax")
	if definition == nil || openai.Member(raw, "grammar") != nil {
		return raw
	}
	var b jsonappend.Buffer
	b.Open('{')
	b.String("type", "grammar")
	b.Name("grammar")
	b.Open('{')
	b.Raw("definition", definition)
	b.Raw("syntax", syntax)
	b.Close('}')
	b.Close('}')
	return b
}

func (w *requestWriter) choice(written map[string]bool) {
	c := w.in.ToolChoice
	if c.Mode == "" {
		return
	}
	if len(written) == 0 {
		if c.Mode != conversation.None && c.Mode != conversation.Auto { // both are what happens anyway
			w.degrade("tool_choice")
		}
		return
	}
	if c.Mode == conversation.One {
		custom, ok := written[c.Name]
		if !ok {
			w.degrade("tool_choice")
			return
		}
		w.Name("tool_choice")
		named(&w.Buffer, c.Name, custom)
		return
	}
	if len(c.Allowed) == 0 {
		w.String("tool_choice", string(c.Mode))
		return
	}
	w.Name("tool_choice")
	w.Open('{')
	w.String("type", "allowed_tools")
	w.Name("allowed_tools")
	w.Open('{')
	w.String("mode", string(c.Mode))
	w.Name("tools")
	w.Open('[')
	for _, name := range c.Allowed {
		w.Next()
		named(&w.Buffer, name, written[name])
	}
	w.Close(']')
	w.Close('}')
	w.Close('}')
}

// named writes a reference to a tool.
func named(b *jsonappend.Buffer, name string, custom bool) {
	kind := "function"
	if custom {
		kind = "custom"
	}
	b.Open('{')
	b.String("type", kind)
	b.Name(kind)
	b.Open('{')
	b.String("name", name)
	b.Close('}')
	b.Close('}')
}
