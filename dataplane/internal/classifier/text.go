package classifier

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/classify"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

// Read takes from a call what a classification goes by: bounded excerpts of its
// text, and the facts. What it cannot make out is not there. The call's body
// is only read.
func (*Classifier) Read(c *call.Call) classify.Text {
	var r reader
	for o := rawjson.NewObject(c.Body); o.Next(); {
		switch c.Surface {
		case catalog.Chat:
			r.chat(o.Name(), o.Value())
		case catalog.Responses:
			r.responses(o.Name(), o.Value())
		case catalog.Messages:
			r.messages(o.Name(), o.Value())
		case catalog.Gemini:
			r.gemini(o.Name(), o.Value())
		default: // signalbox/auto serves no other
		}
	}
	return r.text(c.Request.InputTokens * meter.BytesPerToken)
}

// reader gathers the parts of one body, still as JSON.
type reader struct {
	system      []byte
	first, last []byte // contents of user turns
	turns       int
	tools       bool
	forbidden   bool // the tools must not be used
	structured  bool
}

func (r *reader) text(size int64) classify.Text {
	t := classify.Text{
		System: classify.Head(textOf(r.system, classify.MaxSystem), classify.MaxSystem),
		Last:   classify.Excerpt(textOf(r.last, classify.MaxTurn), classify.MaxTurn),
		Turns:  r.turns, Bytes: size, Tools: r.tools && !r.forbidden, Structured: r.structured,
	}
	if r.turns > 1 {
		t.First = classify.Head(textOf(r.first, classify.MaxFirst), classify.MaxFirst)
	}
	return t
}

func (r *reader) chat(name string, value []byte) {
	switch name {
	case "messages":
		r.conversation(value, "content")
	case "tools", "functions":
		r.tools = r.tools || notEmpty(value)
	case "tool_choice", "function_call":
		r.forbidden = rawjson.String(value) == "none"
	case "response_format":
		r.format(value)
	}
}

func (r *reader) responses(name string, value []byte) {
	switch name {
	case "input":
		if rawjson.IsString(value) {
			r.turn(value)
			return
		}
		r.conversation(value, "content")
	case "instructions":
		r.system = value
	case "tools":
		r.tools = notEmpty(value)
	case "tool_choice":
		r.forbidden = rawjson.String(value) == "none"
	case "text":
		r.format([]byte(gjson.GetBytes(value, "format").Raw))
	}
}

func (r *reader) messages(name string, value []byte) {
	switch name {
	case "messages":
		r.conversation(value, "content")
	case "system":
		r.system = value
	case "tools":
		r.tools = notEmpty(value)
	case "tool_choice":
		r.forbidden = gjson.GetBytes(value, "type").Str == "none"
	case "output_format":
		r.format(value)
	case "output_config":
		r.format([]byte(gjson.GetBytes(value, "format").Raw))
	}
}

func (r *reader) gemini(name string, value []byte) {
	switch name {
	case "contents":
		r.conversation(value, "parts")
	case "systemInstruction", "system_instruction":
		r.system = []byte(gjson.GetBytes(value, "parts").Raw)
	case "tools":
		r.tools = notEmpty(value)
	case "toolConfig", "tool_config":
		mode := gjson.GetBytes(value, "functionCallingConfig.mode").Str + gjson.GetBytes(value, "function_calling_config.mode").Str
		r.forbidden = mode == "NONE"
	case "generationConfig", "generation_config":
		for _, key := range []string{"responseMimeType", "response_mime_type"} {
			r.structured = r.structured || gjson.GetBytes(value, key).Str == "application/json"
		}
		for _, key := range []string{"responseSchema", "response_schema", "responseJsonSchema", "response_json_schema"} {
			r.structured = r.structured || gjson.GetBytes(value, key).IsObject()
		}
	}
}

// format reads a form of output in the words of OpenAI and Anthropic.
func (r *reader) format(value []byte) {
	switch gjson.GetBytes(value, "type").Str {
	case "json_schema", "json_object":
		r.structured = true
	}
}

func notEmpty(list []byte) bool {
	a := rawjson.NewArray(list)
	return a.Next()
}

// conversation finds the user's turns and the system instructions of a list of
// messages whose text stands in the named member.
func (r *reader) conversation(list []byte, member string) {
	for a := rawjson.NewArray(list); a.Next(); {
		role, kind := "user", "" // Gemini's role may be left out
		var content []byte
		for o := rawjson.NewObject(a.Value()); o.Next(); {
			switch {
			case o.Is("role"):
				role = rawjson.String(o.Value())
			case o.Is("type"):
				kind = rawjson.String(o.Value())
			case o.Is(member):
				content = o.Value()
			}
		}
		switch {
		case kind != "" && kind != "message": // a call or its result, of Responses
		case role == "user":
			r.turn(content)
		case (role == "system" || role == "developer") && r.system == nil:
			r.system = content
		}
	}
}

// turn notes one turn of the user that has any text.
func (r *reader) turn(content []byte) {
	if !hasText(content) {
		return
	}
	if r.turns == 0 {
		r.first = content
	}
	r.last = content
	r.turns++
}

// hasText: a string that is not empty, or a part with text; the results of
// tools are parts without.
func hasText(content []byte) bool {
	if rawjson.IsString(content) {
		return len(content) > len(`""`)
	}
	for a := rawjson.NewArray(content); a.Next(); {
		for o := rawjson.NewObject(a.Value()); o.Next(); {
			if o.Is("text") && rawjson.IsString(o.Value()) && len(o.Value()) > len(`""`) {
				return true
			}
		}
	}
	return false
}

// textOf joins the text of a content, a string or parts. Of each text only the
// first and the last limit bytes are decoded, and of all parts about twice as
// many are kept: those at the beginning and those at the end.
func textOf(content []byte, limit int) string {
	if rawjson.IsString(content) {
		return decode(content, limit)
	}
	var head, tail bytes.Buffer
	for a := rawjson.NewArray(content); a.Next(); {
		for o := rawjson.NewObject(a.Value()); o.Next(); {
			if !o.Is("text") || !rawjson.IsString(o.Value()) {
				continue
			}
			text := decode(o.Value(), limit)
			if head.Len() < limit {
				head.WriteString(text)
				head.WriteByte('\n')
				continue
			}
			if tail.Len() > 4*limit {
				tail.Next(tail.Len() - limit)
			}
			tail.WriteString(text)
			tail.WriteByte('\n')
		}
	}
	return head.String() + tail.String()
}

// decode reads a JSON string; of a long one, its beginning and its end.
func decode(raw []byte, limit int) string {
	inner := raw[1 : len(raw)-1]
	if len(inner) <= 4*limit {
		return unquote(inner)
	}
	cut := unquote(untilEscape(inner[:limit])) + unquote(afterEscape(inner, len(inner)-limit))
	return strings.ToValidUTF8(cut, "") // a character may be torn as well
}

func unquote(inner []byte) string {
	return gjson.ParseBytes(append(append([]byte{'"'}, inner...), '"')).String()
}

// longestEscape is that of \uXXXX, in bytes.
const longestEscape = 6

// untilEscape cuts an escape that may be torn off the end of a text.
func untilEscape(text []byte) []byte {
	at := bytes.LastIndexByte(text, '\\')
	if at < 0 || at < len(text)-longestEscape {
		return text
	}
	for at > 0 && text[at-1] == '\\' {
		at--
	}
	return text[:at]
}

// afterEscape is the text from about there, where no escape is torn. A text
// that is nothing but escapes has no such place.
func afterEscape(text []byte, from int) []byte {
	for ; from < len(text); from++ {
		if bytes.IndexByte(text[max(0, from-longestEscape):from], '\\') < 0 {
			return text[from:]
		}
	}
	return nil
}
