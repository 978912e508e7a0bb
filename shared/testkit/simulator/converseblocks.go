package simulator

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

var converseBlocks = map[string]map[string]bool{
	"text":             nil,
	"image":            set(`format source`),
	"document":         set(`format name source context citations`),
	"video":            set(`format source`),
	"audio":            set(`format source`),
	"toolUse":          set(`toolUseId name input type`),
	"toolResult":       set(`toolUseId content status type`),
	"guardContent":     nil,
	"cachePoint":       set(`type ttl`),
	"reasoningContent": set(`reasoningText redactedContent`),
	"searchResult":     nil,
	"citationsContent": nil,
	"json":             nil, // in a tool's result
}

// converseTurn is one message.
type converseTurn struct {
	reader *converseReader
	role   string
	open   []string // calls of the turn before
	calls  []string
	text   strings.Builder
	said   bool // there is a text block
	files  bool
}

func (t *converseTurn) read(at string, content gjson.Result) *refusal {
	r := t.reader
	r.input += 3 // the frame of a message
	results := len(r.results)
	for j, b := range content.Array() {
		if refused := t.block(at+".content."+itoa(j), b); refused != nil {
			return refused
		}
		if !b.Get("cachePoint").Exists() {
			r.marks.sum.Write([]byte(t.role + b.Raw))
		}
	}
	switch {
	case t.role == "user" && len(t.open) > 0:
		return refuse("", "Expected toolResult blocks at %s.content for the following Ids: %s", at, strings.Join(t.open, ", "))
	case t.files && !t.said:
		return refuse("", "A text block must be included with documents in %s.content.", at)
	case t.role == "user" && len(r.results) == results:
		r.addUser(t.text.String())
	}
	return nil
}

// block reads one block: an object with one member, which is its kind.
func (t *converseTurn) block(at string, b gjson.Result) *refusal {
	kind, count := "", 0
	b.ForEach(func(k, _ gjson.Result) bool { kind = k.Str; count++; return true })
	known, ok := converseBlocks[kind]
	inner := b.Get(kind)
	switch {
	case count != 1 || !ok:
		return refuse(at, "The content block at %s must have exactly one known member, such as text, image or toolUse.", at)
	case known != nil && unknownIn(inner, known) != "" && t.reader.strict:
		return converseFormat{}.unknown(at + "." + kind + "." + unknownIn(inner, known))
	case t.role == "assistant" && set("image document video audio toolResult")[kind]:
		return modelRefuses(at + ": assistant messages cannot contain " + kind + " blocks")
	case t.role == "user" && set("toolUse reasoningContent")[kind]:
		return modelRefuses(at + ": user messages cannot contain " + kind + " blocks")
	}
	r := t.reader
	switch kind {
	case "text":
		if strings.TrimSpace(inner.Str) == "" {
			return blank("ContentBlock", at)
		}
		t.said = true
		t.text.WriteString(r.add(inner.Str))
	case "image":
		r.addImage()
		return t.source(at, inner, set("png jpeg gif webp"))
	case "document":
		t.files = true
		return t.document(at, inner)
	case "video", "audio":
		r.addAudio()
		return t.source(at, inner, set("mp4 mov mkv webm flv mpeg mpg wmv three_gp mp3 wav opus aac flac ogg m4a pcm"))
	case "cachePoint":
		return r.cachePoint(at, inner)
	case "toolUse":
		return t.toolUse(at, inner)
	case "toolResult":
		return t.toolResult(at, inner)
	case "reasoningContent":
		return t.thought(at, inner)
	}
	return nil
}

func (t *converseTurn) thought(at string, b gjson.Result) *refusal {
	if redacted := b.Get("redactedContent"); redacted.Exists() {
		if !claude.opens(unbase64(redacted.Str)) {
			return modelRefuses(at + ": Invalid `data` in `redacted_thinking` block")
		}
		return nil
	}
	text := b.Get("reasoningText")
	if !claude.proves(text.Get("text").Str, text.Get("signature").Str) {
		return modelRefuses(at + ": Invalid `signature` in `thinking` block")
	}
	return nil
}

var documentName = regexp.MustCompile(`^[a-zA-Z0-9()\[\]-]+( [a-zA-Z0-9()\[\]-]+)*$`)

func (t *converseTurn) document(at string, b gjson.Result) *refusal {
	t.reader.addDocument()
	if !documentName.MatchString(b.Get("name").Str) {
		return refuse("", "The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square brackets. "+
			"The name can't contain more than one consecutive whitespace character.")
	}
	return t.source(at, b, set("pdf csv doc docx xls xlsx html txt md"))
}

func (t *converseTurn) source(at string, b gjson.Result, formats map[string]bool) *refusal {
	source := b.Get("source")
	switch {
	case !formats[b.Get("format").Str]:
		return constraint(at+".format", b.Get("format").Str, "Member must satisfy enum value set")
	case source.Get("bytes").Exists() && !isBase64(source.Get("bytes").Str):
		return refuse(at, "The value at %s.source.bytes is not base64.", at)
	case source.Get("url").Exists():
		return converseFormat{}.unknown(at + ".source.url")
	case !source.Get("bytes").Exists() && !source.Get("s3Location.uri").Exists() && !source.Get("text").Exists() && !source.Get("content").Exists():
		return refuse(at, "The source union at %s is empty.", at)
	}
	return nil
}

func (t *converseTurn) toolUse(at string, b gjson.Result) *refusal {
	id, name := b.Get("toolUseId").Str, b.Get("name").Str
	switch {
	case !converseName.MatchString(id):
		return constraint(at+".toolUse.toolUseId", id, "Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+")
	case !converseName.MatchString(name):
		return constraint(at+".toolUse.name", name, "Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+")
	case !b.Get("input").IsObject():
		return refuse(at, "The format of the value at %s.toolUse.input is invalid. Provide a json object for the field and try again.", at)
	case slices.Contains(t.calls, id):
		return refuse(at, "The toolUse blocks at %s contain duplicate Ids: %s", at, id)
	}
	t.calls = append(t.calls, id)
	t.reader.name(id, name)
	t.reader.add(b.Get("input").Raw)
	return nil
}

func (t *converseTurn) toolResult(at string, b gjson.Result) *refusal {
	id := b.Get("toolUseId").Str
	where := slices.Index(t.open, id)
	if where < 0 {
		return refuse(at, "The number of toolResult blocks at %s exceeds the number of toolUse blocks of previous turn.", at)
	}
	t.open = slices.Delete(slices.Clone(t.open), where, where+1)
	if status := b.Get("status"); status.Exists() && status.Str != "success" && status.Str != "error" {
		return constraint(at+".toolResult.status", status.Str, "Member must satisfy enum value set: [success, error]")
	}
	if !b.Get("content").IsArray() {
		return refuse(at, "The content field at %s.toolResult is required.", at)
	}
	var text strings.Builder
	for _, c := range b.Get("content").Array() {
		switch {
		case c.Get("text").Type == gjson.String:
			text.WriteString(t.reader.add(c.Get("text").Str))
		case c.Get("json").Exists():
			text.WriteString(t.reader.add(c.Get("json").Raw))
		case c.Get("image").Exists(), c.Get("document").Exists(), c.Get("video").Exists():
			t.reader.addImage()
		default:
			return refuse(at, "The content block at %s.toolResult must have exactly one known member.", at)
		}
	}
	t.reader.results = append(t.reader.results, toolResult{name: t.reader.named(id), text: text.String()})
	return nil
}
