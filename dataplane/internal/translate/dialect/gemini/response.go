package gemini

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// A function's response is an object in this format and text in the neutral
// form. They answer to each other like this:
//
//	{"result": x}, {"output": x}        the text x, or x as it is written
//	{"error": x}                        the same, and an error
//	{"content": [{"type": "text", …}]}  one text a part, as MCP has it; "isError"
//	any other object                    the object as it is written
//
// (https://ai.google.dev/api/caching#FunctionResponse says that "output" and
// "error" are so understood.)

// outcome is what a function's response says.
type outcome struct {
	texts   []string
	isError bool
}

// readOutcome reads a response, which is an object.
func readOutcome(response []byte) outcome {
	o := rawjson.NewObject(response)
	var value, content, flag []byte
	members, isError := 0, false
	for o.Next() {
		members++
		switch {
		case o.Is("result"), o.Is("output"):
			value = o.Value()
		case o.Is("error"):
			value, isError = o.Value(), true
		case o.Is("content"):
			content = o.Value()
		case o.Is("isError"):
			flag = o.Value()
		}
	}
	switch {
	case members == 1 && value != nil:
		if text, ok := rawjson.Text(value); ok {
			return outcome{[]string{text}, isError}
		}
		return outcome{[]string{string(value)}, isError}
	case members == 1 && content != nil, members == 2 && content != nil && (string(flag) == "true" || string(flag) == "false"):
		if texts, ok := readContent(content); ok {
			return outcome{texts, string(flag) == "true"}
		}
	}
	return outcome{[]string{string(response)}, false}
}

// readContent reads MCP's list of texts; false when it holds anything else.
func readContent(content []byte) ([]string, bool) {
	var texts []string
	list := rawjson.NewArray(content)
	for list.Next() {
		o := rawjson.NewObject(list.Value())
		var text, kind []byte
		for o.Next() {
			switch {
			case o.Is("type"):
				kind = o.Value()
			case o.Is("text"):
				text = o.Value()
			default:
				return nil, false
			}
		}
		if string(kind) != `"text"` || !rawjson.IsString(text) {
			return nil, false
		}
		texts = append(texts, rawjson.String(text))
	}
	return texts, list.OK() && len(texts) > 0
}

// writeOutcome writes a response that readOutcome reads as the same. Without
// texts it is an empty object.
func writeOutcome(b *jsonappend.Buffer, out outcome) {
	if len(out.texts) == 1 && !out.isError && isOwnResponse(out.texts[0]) {
		*b = append(*b, out.texts[0]...)
		return
	}
	b.Open('{')
	switch {
	case len(out.texts) == 1 && out.isError:
		b.String("error", out.texts[0])
	case len(out.texts) == 1:
		b.String("result", out.texts[0])
	case len(out.texts) > 1:
		b.Name("content")
		b.Open('[')
		for _, text := range out.texts {
			b.Next()
			b.Open('{')
			b.String("type", "text")
			b.String("text", text)
			b.Close('}')
		}
		b.Close(']')
		b.BoolIf("isError", out.isError)
	case out.isError:
		b.String("error", "")
	}
	b.Close('}')
}

// isOwnResponse reports whether a text is an object that comes back as it is.
func isOwnResponse(text string) bool {
	if !isObject(text) {
		return false
	}
	back := readOutcome([]byte(text))
	return len(back.texts) == 1 && back.texts[0] == text && !back.isError
}

// isObject reports whether a text is one JSON object from its first byte to
// its last.
func isObject(text string) bool {
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return false
	}
	o := rawjson.NewObject([]byte(text))
	for o.Next() {
		continue
	}
	return o.Whole()
}
