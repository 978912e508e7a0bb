package responses

import (
	"strconv"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// tools writes the tools and the choice between them.
func (w *requestWriter) tools() {
	written := make(map[string]conversation.ToolKind, len(w.in.Tools))
	var list jsonappend.Buffer
	for i := range w.in.Tools {
		t := &w.in.Tools[i]
		path := "tools." + strconv.Itoa(i)
		if t.Cache != "" {
			w.degrade("cache_control")
		}
		switch {
		case t.Kind != conversation.Builtin:
			w.tool(&list, t, path)
		case t.Origin == home:
			list.Next()
			list = append(list, t.Raw...)
		default:
			w.degrade(path)
			continue
		}
		written[t.Name] = t.Kind
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

// tool writes a function or a custom tool. Functions are strict here unless
// they say otherwise, and nowhere else: what a caller did not say is said.
func (w *requestWriter) tool(b *jsonappend.Buffer, t *conversation.Tool, path string) {
	b.Next()
	b.Open('{')
	b.String("type", kindWord(t.Kind))
	b.String("name", t.Name)
	b.StringIf("description", t.Description)
	switch {
	case t.Kind != conversation.Custom:
		parameters := []byte(t.Parameters)
		if len(parameters) == 0 {
			parameters = []byte(`{"type":"object","properties":{}}`)
		}
		b.Raw("parameters", parameters)
		b.Bool("strict", t.Strict != nil && *t.Strict)
	case t.Origin == home:
		b.Raw("format", formatOf(t.Raw))
	case len(t.Raw) > 0:
		w.degrade(path + ".format")
	}
	b.Close('}')
}

// formatOf is a custom tool's format as this format has it. Chat completions
// write the same with one more level, "grammar"
// (https://platform.openai.com/docs/api-reference/chat/create).
func formatOf(raw []byte) []byte {
	grammar := openai.Member(raw, "grammar")
	definition, syntax := openai.Member(grammar, "definition"), openai.Member(grammar, "syntax")
	if definition == nil {
		return raw
	}
	var b jsonappend.Buffer
	b.Open('{')
	b.String("type", "grammar")
	b.Raw("definition", definition)
	b.Raw("syntax", syntax)
	b.Close('}')
	return b
}

func kindWord(k conversation.ToolKind) string {
	if k == conversation.Custom {
		return "custom"
	}
	return "function"
}

func (w *requestWriter) choice(written map[string]conversation.ToolKind) {
	c := w.in.ToolChoice
	switch {
	case c.Mode == "":
	case len(written) == 0:
		if c.Mode != conversation.None && c.Mode != conversation.Auto { // both are what happens anyway
			w.degrade("tool_choice")
		}
	case c.Mode == conversation.One:
		kind, ok := written[c.Name]
		if !ok {
			w.degrade("tool_choice")
			return
		}
		w.Name("tool_choice")
		named(&w.Buffer, c.Name, kind)
	case len(c.Allowed) == 0:
		w.String("tool_choice", string(c.Mode))
	default:
		w.allowed(&c, written)
	}
}

func (w *requestWriter) allowed(c *conversation.ToolChoice, written map[string]conversation.ToolKind) {
	var list jsonappend.Buffer
	for _, name := range c.Allowed {
		kind, ok := written[name]
		if !ok {
			w.degrade("tool_choice.allowed")
			continue
		}
		list.Next()
		named(&list, name, kind)
	}
	if len(list) == 0 {
		return
	}
	w.Name("tool_choice")
	w.Open('{')
	w.String("type", "allowed_tools")
	w.String("mode", string(c.Mode))
	w.Name("tools")
	w.Buffer = append(append(append(w.Buffer, '['), list...), ']')
	w.Close('}')
}

// named writes a reference to a tool: to one that the provider runs, its type.
func named(b *jsonappend.Buffer, name string, kind conversation.ToolKind) {
	b.Open('{')
	if kind == conversation.Builtin {
		b.String("type", name)
	} else {
		b.String("type", kindWord(kind))
		b.String("name", name)
	}
	b.Close('}')
}
