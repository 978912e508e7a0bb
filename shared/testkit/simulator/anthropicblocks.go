package simulator

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// anthropicBlocks are the members of the blocks that a request may have.
var anthropicBlocks = map[string]map[string]bool{
	"text":              set(`type text cache_control citations`),
	"image":             set(`type source cache_control`),
	"document":          set(`type source title context citations cache_control`),
	"search_result":     set(`type source title content citations cache_control`),
	"tool_result":       set(`type tool_use_id content is_error cache_control`),
	"tool_use":          set(`type id name input cache_control caller`),
	"thinking":          set(`type thinking signature`),
	"redacted_thinking": set(`type data`),
}

var (
	systemBlocks    = []string{"text"}
	userBlocks      = []string{"text", "image", "document", "search_result", "tool_result"}
	assistantBlocks = []string{"text", "thinking", "redacted_thinking", "tool_use"}
	resultBlocks    = []string{"text", "image", "document", "search_result"}
)

func (r *anthropicReader) system() *refusal {
	system := r.body.Get("system")
	switch {
	case !system.Exists():
		return nil
	case system.Type == gjson.String:
		r.prompt.system = r.add(system.Str)
		return r.marks.block(r.prompt, "system", system)
	case !system.IsArray():
		return refuse("system", "system: Input should be a valid string or list")
	}
	for i, block := range system.Array() {
		text, refused := r.block("system."+itoa(i), block, systemBlocks)
		if refused != nil {
			return refused
		}
		r.prompt.system += text
	}
	return nil
}

// history reads the turns. Messages of one role in a row are one turn, as at
// Anthropic; every tool call has its result at the start of the turn after it.
func (r *anthropicReader) history() *refusal {
	var turn []anthropicTurn
	for i, m := range r.body.Get("messages").Array() {
		at := "messages." + itoa(i)
		role, content := m.Get("role").Str, m.Get("content")
		switch extra := unknownIn(m, set("role content")); {
		case role == "system":
			return refuse("messages", "messages: Unexpected role \"system\". The Messages API accepts a top-level `system` parameter, not \"system\" as an input message role.")
		case role != "user" && role != "assistant":
			return refuse("messages", "%s.role: Input should be 'user' or 'assistant'", at)
		case extra != "" && r.strict:
			return anthropicFormat{}.unknown(at + "." + extra)
		case i == 0 && role != "user":
			return refuse("messages", "messages: first message must use the \"user\" role")
		case !content.Exists():
			return refuse("messages", "%s.content: Field required", at)
		case content.Type == gjson.String && content.Str == "", content.IsArray() && len(content.Array()) == 0:
			return refuse("messages", "%s: all messages must have non-empty content except for the optional final assistant message", at)
		}
		blocks := content.Array()
		if len(turn) > 0 && turn[len(turn)-1].role == role {
			turn[len(turn)-1].blocks = append(turn[len(turn)-1].blocks, blocks...)
		} else {
			turn = append(turn, anthropicTurn{at: at, role: role, blocks: slices.Clone(blocks)})
		}
		if refused := r.message(at, role, content); refused != nil {
			return refused
		}
	}
	return r.paired(turn)
}

type anthropicTurn struct {
	at, role string
	blocks   []gjson.Result
}

// paired checks the calls of each turn against the results of the next.
func (r *anthropicReader) paired(turns []anthropicTurn) *refusal {
	var open []string
	for i, t := range turns {
		if t.role == "user" {
			if refused := answered(t, open); refused != nil {
				return refused
			}
			open = nil
			continue
		}
		for _, b := range t.blocks {
			if id := b.Get("id").Str; b.Get("type").Str == "tool_use" {
				if slices.Contains(open, id) {
					return refuse("messages", "%s: `tool_use` ids must be unique", t.at)
				}
				open = append(open, id)
			}
		}
		thinks := r.body.Get("thinking.type").Str == "enabled"
		if first := t.blocks[0].Get("type").Str; thinks && len(open) > 0 && i == len(turns)-2 && first != "thinking" && first != "redacted_thinking" {
			return refuse("messages", "%s.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final "+
				"`assistant` message must start with a thinking block (preceding the lastmost set of `tool_use` and `tool_result` blocks).", t.at, first)
		}
	}
	return unanswered(turns[len(turns)-1].at, open)
}

func unanswered(at string, open []string) *refusal {
	if len(open) == 0 {
		return nil
	}
	return refuse("messages", "%s: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a "+
		"corresponding `tool_result` block in the next message.", at, strings.Join(open, ", "))
}

func answered(t anthropicTurn, open []string) *refusal {
	other := false
	open = slices.Clone(open)
	for j, b := range t.blocks {
		if b.Get("type").Str != "tool_result" {
			other = true
			continue
		}
		id := b.Get("tool_use_id").Str
		at := slices.Index(open, id)
		if at < 0 {
			return refuse("messages", "%s.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a "+
				"corresponding `tool_use` block in the previous message.", t.at, j, id)
		}
		if other { // results come first
			break
		}
		open = slices.Delete(open, at, at+1)
	}
	return unanswered(t.at, open)
}

func (r *anthropicReader) message(at, role string, content gjson.Result) *refusal {
	r.input += 3 // the frame of a message
	if content.Type == gjson.String {
		text := r.add(content.Str)
		if role == "user" {
			r.addUser(text)
		}
		return r.marks.block(r.prompt, at, content)
	}
	allowed := userBlocks
	if role == "assistant" {
		allowed = assistantBlocks
	}
	results := len(r.results)
	var text strings.Builder
	for j, b := range content.Array() {
		part, refused := r.block(at+".content."+itoa(j), b, allowed)
		if refused != nil {
			return refused
		}
		text.WriteString(part)
	}
	if role == "user" && len(r.results) == results {
		r.addUser(text.String())
	}
	return nil
}

var toolUseID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// block reads one block and returns its text.
func (r *anthropicReader) block(at string, b gjson.Result, allowed []string) (string, *refusal) {
	kind := b.Get("type").Str
	if !slices.Contains(allowed, kind) {
		return "", refuse("messages", "%s: Input tag '%s' found using 'type' does not match any of the expected tags: '%s'", at, kind, strings.Join(allowed, "', '"))
	}
	if extra := unknownIn(b, anthropicBlocks[kind]); extra != "" && r.strict {
		return "", anthropicFormat{}.unknown(at + "." + kind + "." + extra)
	}
	var text string
	var refused *refusal
	switch kind {
	case "text":
		text, refused = r.text(at, b.Get("text"))
	case "image":
		refused = r.source(at+".image", b.Get("source"), set("image/jpeg image/png image/gif image/webp"))
		r.addImage()
	case "document":
		refused = r.source(at+".document", b.Get("source"), set("application/pdf text/plain"))
		r.addDocument()
	case "search_result":
		for j, c := range b.Get("content").Array() {
			if _, refused = r.block(at+".content."+itoa(j), c, systemBlocks); refused != nil {
				return "", refused
			}
		}
	case "tool_use":
		refused = r.toolUse(at, b)
	case "tool_result":
		return "", r.toolResult(at, b)
	case "thinking":
		if !claude.proves(b.Get("thinking").Str, b.Get("signature").Str) {
			return "", refuse("messages", "%s: Invalid `signature` in `thinking` block", at)
		}
	case "redacted_thinking":
		if !claude.opens(b.Get("data").Str) {
			return "", refuse("messages", "%s: Invalid `data` in `redacted_thinking` block", at)
		}
	}
	if refused != nil {
		return "", refused
	}
	return text, r.marks.block(r.prompt, at, b)
}

func (r *anthropicReader) text(at string, text gjson.Result) (string, *refusal) {
	switch {
	case text.Type != gjson.String:
		return "", refuse("messages", "%s.text.text: Field required", at)
	case text.Str == "":
		return "", refuse("messages", "messages: text content blocks must be non-empty")
	case strings.TrimSpace(text.Str) == "":
		return "", refuse("messages", "messages: text content blocks must contain non-whitespace text")
	}
	return r.add(text.Str), nil
}

func (r *anthropicReader) toolUse(at string, b gjson.Result) *refusal {
	switch {
	case !toolUseID.MatchString(b.Get("id").Str):
		return refuse("messages", "%s.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", at)
	case !anthropicToolName.MatchString(b.Get("name").Str):
		return refuse("messages", "%s.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", at)
	case !b.Get("input").IsObject():
		return refuse("messages", "%s.tool_use.input: Input should be a valid dictionary", at)
	}
	r.name(b.Get("id").Str, b.Get("name").Str)
	r.add(b.Get("input").Raw)
	return nil
}

func (r *anthropicReader) toolResult(at string, b gjson.Result) *refusal {
	content := b.Get("content")
	var text strings.Builder
	switch {
	case b.Get("tool_use_id").Type != gjson.String:
		return refuse("messages", "%s.tool_result.tool_use_id: Field required", at)
	case content.Type == gjson.String:
		text.WriteString(r.add(content.Str))
	case content.IsArray():
		for j, c := range content.Array() {
			part, refused := r.block(at+".tool_result.content."+itoa(j), c, resultBlocks)
			if refused != nil {
				return refused
			}
			text.WriteString(part)
		}
	case content.Exists():
		return refuse("messages", "%s.tool_result.content: Input should be a valid string or list", at)
	}
	r.results = append(r.results, toolResult{name: r.named(b.Get("tool_use_id").Str), text: text.String()})
	return r.marks.block(r.prompt, at, b)
}

// source checks where an image or a document is.
func (r *anthropicReader) source(at string, s gjson.Result, kinds map[string]bool) *refusal {
	switch kind := s.Get("type").Str; kind {
	case "base64":
		if media := s.Get("media_type").Str; !kinds[media] || media == "text/plain" {
			return refuse("messages", "%s.source.base64.media_type: Input should be one of the supported types", at)
		}
		if !isBase64(s.Get("data").Str) {
			return refuse("messages", "%s.source.base64.data: Invalid base64 data", at)
		}
	case "url":
		if u := s.Get("url").Str; !strings.HasPrefix(u, "https://") && !strings.HasPrefix(u, "http://") {
			return refuse("messages", "%s.source.url.url: Only HTTPS URLs are supported.", at)
		}
	case "text":
		if !kinds["text/plain"] || s.Get("media_type").Str != "text/plain" || s.Get("data").Type != gjson.String {
			return refuse("messages", "%s.source.text.media_type: Input should be 'text/plain'", at)
		}
		r.add(s.Get("data").Str)
	case "file", "content":
	default:
		return refuse("messages", "%s.source: Input tag '%s' found using 'type' does not match any of the expected tags: 'base64', 'file', 'url'", at, kind)
	}
	return nil
}
