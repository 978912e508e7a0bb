package messages

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/turns"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// tools writes the definitions and the choice, which is refused without tools.
func (w *writer) tools(r *conversation.Request) {
	sent, lost := turns.Tools(r, w.version.HasSchemas(), isWritable)
	w.lose(lost...)
	mode, changed := turns.Choice(r.ToolChoice, sent, w.thinking.On)
	if changed {
		w.lose("tool_choice")
	}
	if len(sent) == 0 {
		return
	}
	w.b.Name("tools")
	w.b.Open('[')
	for _, t := range sent {
		w.b.Next()
		appendTool(&w.b, t)
	}
	w.b.Close(']')
	if mode != "" || r.ParallelTools != nil {
		w.choice(mode, r.ToolChoice.Name, r.ParallelTools)
	}
}

// isWritable: of the tools that others run, and those that take text, this
// format knows nothing.
func isWritable(t *conversation.Tool) bool {
	return t.Kind == conversation.Function || t.Kind == conversation.Builtin && t.Origin == home && len(t.Raw) > 0
}

func appendTool(b *jsonappend.Buffer, t *conversation.Tool) {
	if t.Kind == conversation.Builtin {
		*b = append(*b, t.Raw...)
		return
	}
	b.Open('{')
	b.String("name", t.Name)
	b.StringIf("description", t.Description)
	b.Raw("input_schema", turns.Schema(t.Parameters))
	if t.Strict != nil {
		b.Bool("strict", *t.Strict)
	}
	appendCache(b, t.Cache)
	b.Close('}')
}

func (w *writer) choice(mode conversation.ToolMode, name string, parallel *bool) {
	w.b.Name("tool_choice")
	w.b.Open('{')
	switch mode {
	case conversation.None:
		w.b.String("type", "none")
		parallel = nil // there is nothing to say of it
	case conversation.Required:
		w.b.String("type", "any")
	case conversation.One:
		w.b.String("type", "tool")
		w.b.String("name", name)
	default:
		w.b.String("type", "auto")
	}
	if parallel != nil {
		w.b.Bool("disable_parallel_tool_use", !*parallel)
	}
	w.b.Close('}')
}

func appendCache(b *jsonappend.Buffer, mark conversation.Cache) {
	switch mark {
	case "":
	case conversation.Cache1h:
		b.Raw("cache_control", []byte(`{"type":"ephemeral","ttl":"1h"}`))
	default:
		b.Raw("cache_control", []byte(`{"type":"ephemeral"}`))
	}
}
