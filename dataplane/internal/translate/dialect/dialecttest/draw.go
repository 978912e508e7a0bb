package dialecttest

import (
	"encoding/json"
	"strings"

	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

// What is drawn is what has gone wrong somewhere: numbers that no float holds,
// text that is escaped in JSON or HTML, schemas whose key order matters. The
// schemas are closed, as some formats make them.
var (
	anyNumber = rapid.SampledFrom([]conversation.Number{
		"0", "1", "0.5", "-0", "12345678901234567890", "1e400", "0.10", "-1.5E-7",
	})
	anyPiece = rapid.SampledFrom([]string{
		"hello", " world", "\n\n", "北京🙂é", `"quoted\"`, "<b>&amp;</b>", "\u2028", "\x01", "data: [DONE]", "{}", "\r\ndata:", "\u0000", "e\u0301", " ",
	})
	anySchema = rapid.SampledFrom([]json.RawMessage{
		json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
		json.RawMessage(`{"type":"object","properties":{"z":{"type":"string","enum":["c","f"]},"a":{"$ref":"#/$defs/n"}},"required":["z"],"additionalProperties":false,"$defs":{"n":{"type":"integer","maximum":12345678901234567890,"minimum":-0}}}`),
		json.RawMessage(`{"additionalProperties":false,"type":"object","properties":{"b<&>":{"type":"number","default":1e400,"description":"é \"q\" \u00e9"}}}`),
	})
	anyObject = rapid.SampledFrom([]string{
		`{}`, `{"city":"Paris","unit":"c"}`, `{"n":12345678901234567890,"f":1e400,"z":-0}`, `{"b":1,"a":{"z":[null,true,"<é🙂>"]}}`,
	})
	anyArguments = rapid.OneOf(anyObject, rapid.SampledFrom([]string{``, `{"city": "Par`, `[1]`, `plain text`, ` {"a" : 1} `}))
	anyName      = rapid.StringMatching(`[a-z][a-z_]{0,6}[a-z]`)
	anyURL       = rapid.SampledFrom([]string{"https://img.example/a.png", "https://img.example/%20?a=1&b=<2>#f"})
	anyBase64    = rapid.SampledFrom([]string{"iVBORw0KGgo=", "JVBERi0xLjQ=", "UklGRg=="})
)

// drawer draws one request or reply. Ids and tool names do not repeat in it.
type drawer struct {
	*rapid.T
	s    *Supports
	next int
}

func (d *drawer) yes(label string) bool { return rapid.Bool().Draw(d.T, label) }

func (d *drawer) text() string {
	text := strings.Join(rapid.SliceOfN(anyPiece, 0, 4).Draw(d.T, "pieces"), "")
	if text == "" || d.yes("any text") {
		text += rapid.StringN(0, 8, -1).Draw(d.T, "string")
	}
	if text == "" {
		return "x"
	}
	return text
}

// unique returns a word that stands nowhere else in what is drawn.
func (d *drawer) unique(prefix string) string {
	d.next++
	return prefix + "_" + strings.Repeat("x", d.next) + "y"
}

func (d *drawer) flag(label string) *bool {
	return rapid.SampledFrom([]*bool{nil, ptr(true), ptr(false)}).Draw(d.T, label)
}

func ptr[T any](v T) *T { return &v }

// pick draws one of values, or the zero value.
func pick[T any](d *drawer, label string, values []T) T {
	var none T
	if len(values) == 0 || !d.yes(label+" set") {
		return none
	}
	return rapid.SampledFrom(values).Draw(d.T, label)
}

// Request draws a request that the format can express.
func Request(t *rapid.T, s *Supports) *conversation.Request {
	d := &drawer{T: t, s: s}
	r := &conversation.Request{Model: s.Target.Model}
	d.tools(r)
	d.instructions(r)
	for range rapid.IntRange(0, 3).Draw(t, "turns") {
		d.turn(r)
	}
	r.Messages = append(r.Messages, d.user())
	if s.Assistants && d.yes("prefill") {
		r.Messages = append(r.Messages, conversation.Message{
			Role: conversation.Assistant, Parts: []conversation.Part{{Kind: conversation.Text, Text: d.text()}},
		})
	}
	for _, name := range s.Params {
		if d.yes(name) {
			d.param(r, name)
		}
	}
	if s.NeedsLimit && r.MaxTokens == 0 {
		d.param(r, "max_tokens")
	}
	if s.MaxStops > 0 && len(r.Stop) > s.MaxStops {
		r.Stop = r.Stop[:s.MaxStops]
	}
	r.Stream = !s.InPath && d.yes("stream")
	return r
}

func (d *drawer) tools(r *conversation.Request) {
	for range rapid.IntRange(0, 2).Draw(d.T, "tools") {
		tool := conversation.Tool{Name: d.unique("tool"), Parameters: anySchema.Draw(d.T, "schema")}
		if d.yes("described") {
			tool.Description = d.text()
		}
		if d.s.has("tools.0.strict") {
			tool.Strict = d.flag("strict")
		}
		r.Tools = append(r.Tools, tool)
	}
	if d.s.CustomTools && d.yes("custom") {
		r.Tools = append(r.Tools, conversation.Tool{Kind: conversation.Custom, Name: d.unique("tool"), Description: d.text()})
	}
	if b := pick(d, "builtin", d.s.Builtins); b.Raw != nil {
		r.Tools = append(r.Tools, b)
	}
}

func (d *drawer) instructions(r *conversation.Request) {
	roles := []conversation.Role{conversation.System}
	if d.s.Developer {
		roles = append(roles, conversation.Developer)
	}
	for _, role := range roles {
		if d.yes(string(role)) {
			r.Messages = append(r.Messages, d.instruction(role))
		}
	}
}

func (d *drawer) instruction(role conversation.Role) conversation.Message {
	m := conversation.Message{Role: role}
	for range rapid.IntRange(1, 2).Draw(d.T, "texts") {
		m.Parts = append(m.Parts, d.marked(role))
	}
	return m
}

// marked draws a text part that may carry a cache mark.
func (d *drawer) marked(role conversation.Role) conversation.Part {
	p := conversation.Part{Kind: conversation.Text, Text: d.text()}
	if d.s.has("cache_control") {
		for _, r := range d.s.CachePlaces {
			if r == role {
				p.Cache = pick(d, "cache", []conversation.Cache{conversation.Cache5m, conversation.Cache1h})
			}
		}
	}
	return p
}

func (d *drawer) turn(r *conversation.Request) {
	r.Messages = append(r.Messages, d.user())
	if d.s.Anywhere && d.yes("midway") {
		r.Messages = append(r.Messages, d.instruction(conversation.System))
	}
	m := d.assistant()
	r.Messages = append(r.Messages, m)
	if results := d.results(m); len(results.Parts) > 0 {
		r.Messages = append(r.Messages, results)
	}
}

func (d *drawer) name(m *conversation.Message) {
	if d.s.Names {
		m.Name = pick(d, "name", []string{"ada", "bob"})
	}
}
