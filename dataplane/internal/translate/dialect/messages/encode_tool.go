package messages

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// tools writes the definitions and the choice. There is no word for only some
// of the tools: the others are left out, which comes to the same but for the
// place that the definitions have in the prompt, and so in its cache.
func (w *writer) tools(r *conversation.Request) {
	choice := r.ToolChoice
	if len(choice.Allowed) > 0 {
		w.lose("tool_choice.allowed")
	}
	open := false
	names := make([]string, 0, len(r.Tools))
	for i := range r.Tools {
		t := &r.Tools[i]
		if !isWritable(t) || len(choice.Allowed) > 0 && !slices.Contains(choice.Allowed, t.Name) {
			w.lose("tools." + strconv.Itoa(i))
			continue
		}
		if !open {
			w.b.Name("tools")
			w.b.Open('[')
			open = true
		}
		names = append(names, t.Name)
		w.b.Next()
		appendTool(&w.b, t)
	}
	if open {
		w.b.Close(']')
	}
	w.choice(choice, r.ParallelTools, names)
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
	b.Raw("input_schema", objectSchema(t.Parameters))
	if t.Strict != nil {
		b.Bool("strict", *t.Strict)
	}
	appendCache(b, t.Cache)
	b.Close('}')
}

// objectSchema is a schema as it is written, with the type that the API
// demands of it and that callers leave out when a function takes nothing.
func objectSchema(schema json.RawMessage) []byte {
	root := gjson.ParseBytes(schema)
	switch {
	case !root.IsObject():
		return []byte(`{"type":"object","properties":{}}`)
	case root.Get("type").Exists():
		return schema
	}
	inner := []byte(root.Raw)[1:]
	out := []byte(`{"type":"object"`)
	if !isEmptyObject(root) {
		out = append(out, ',')
	}
	return append(out, inner...)
}

func isEmptyObject(v gjson.Result) bool {
	empty := true
	v.ForEach(func(_, _ gjson.Result) bool {
		empty = false
		return false
	})
	return empty
}

// choice writes which of the named tools are to be called. The API refuses a
// choice without tools, and one that forces a call while the model thinks.
func (w *writer) choice(c conversation.ToolChoice, parallel *bool, names []string) {
	mode := c.Mode
	if mode == conversation.One && !slices.Contains(names, c.Name) {
		mode = ""
		w.lose("tool_choice")
	}
	forced := mode == conversation.Required || mode == conversation.One
	if forced && (w.thinking.On || len(names) == 0) {
		mode, forced = conversation.Auto, false
		w.lose("tool_choice")
	}
	if len(names) == 0 || mode == "" && parallel == nil {
		return
	}
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
		w.b.String("name", c.Name)
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
