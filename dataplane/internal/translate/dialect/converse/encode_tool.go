package converse

import (
	"slices"
	"strconv"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/turns"
)

// tools writes toolConfig, or what stands for it.
func (w *writer) tools(r *conversation.Request) {
	sent, lost := turns.Tools(r, w.maker.version.HasSchemas(), func(t *conversation.Tool) bool { return t.Kind == conversation.Function })
	w.lose(lost...)
	mode, changed := turns.Choice(r.ToolChoice, sent, w.thinking.On)
	if changed {
		w.lose("tool_choice")
	}
	called, history := calledIn(r.Messages)
	none := mode == conversation.None && !w.maker.claude
	switch {
	case len(sent) == 0 && !history:
		return
	case none && !history:
		for i := range r.Tools {
			w.lose("tools." + strconv.Itoa(i)) // the model does not hear of them
		}
		return
	case none:
		w.lose("tool_choice")
		mode = ""
	}
	if len(sent) == 0 {
		sent = defined(called)
		mode = ""
	}
	w.b.Name("toolConfig")
	w.b.Open('{')
	w.b.Name("tools")
	w.b.Open('[')
	for _, t := range sent {
		w.tool(t)
	}
	w.b.Close(']')
	if !w.alone(mode, r) {
		w.choice(mode, r.ToolChoice.Name)
	}
	w.b.Close('}')
}

func (w *writer) tool(t *conversation.Tool) {
	w.b.Next()
	w.b.Open('{')
	w.b.Name("toolSpec")
	w.b.Open('{')
	w.b.String("name", t.Name)
	w.b.StringIf("description", t.Description)
	w.b.Name("inputSchema")
	w.b.Open('{')
	w.b.Raw("json", turns.Schema(t.Parameters))
	w.b.Close('}')
	if t.Strict != nil && *t.Strict { // else it is what holds anyway
		w.b.Bool("strict", true)
	}
	w.b.Close('}')
	w.b.Close('}')
	w.mark(t.Cache)
}

func (w *writer) choice(mode conversation.ToolMode, name string) {
	switch mode {
	case conversation.Auto:
		w.b.Raw("toolChoice", []byte(`{"auto":{}}`))
	case conversation.Required:
		w.b.Raw("toolChoice", []byte(`{"any":{}}`))
	case conversation.One:
		w.b.Name("toolChoice")
		w.b.Open('{')
		w.b.Name("tool")
		w.b.Open('{')
		w.b.String("name", name)
		w.b.Close('}')
		w.b.Close('}')
	default:
	}
}

// alone writes the choice in Claude's own words where the API has none: no
// calls, or one at a time. It then stands there only, since two are refused.
func (w *writer) alone(mode conversation.ToolMode, r *conversation.Request) bool {
	single := r.ParallelTools != nil && !*r.ParallelTools
	switch {
	case !single && mode != conversation.None:
		return false
	case !w.maker.claude:
		w.lose("parallel_tool_calls")
		return false
	}
	b := &w.extra
	b.Name("tool_choice")
	b.Open('{')
	switch mode {
	case conversation.None:
		b.String("type", "none")
		single = false // there is nothing to say of it
	case conversation.Required:
		b.String("type", "any")
	case conversation.One:
		b.String("type", "tool")
		b.String("name", r.ToolChoice.Name)
	default:
		b.String("type", "auto")
	}
	if single {
		b.Bool("disable_parallel_tool_use", true)
	}
	b.Close('}')
	return true
}

// calledIn returns the names of the tools that were called, and whether there
// are calls or results at all.
func calledIn(messages []conversation.Message) (names []string, any bool) {
	for _, m := range messages {
		for _, p := range m.Parts {
			any = any || p.Call != nil || p.Result != nil
			if p.Call != nil && !slices.Contains(names, p.Call.Name) {
				names = append(names, p.Call.Name)
			}
		}
	}
	return names, any
}

// defined are tools of whom no more is known than the name.
func defined(names []string) []*conversation.Tool {
	if len(names) == 0 {
		names = []string{"tool"}
	}
	var out []*conversation.Tool
	for _, name := range names {
		out = append(out, &conversation.Tool{Name: name})
	}
	return out
}
