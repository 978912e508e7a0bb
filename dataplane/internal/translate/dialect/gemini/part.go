package gemini

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
)

// wirePart is one part (https://ai.google.dev/api/caching#Part) as it stands
// in a text: the members are values, nil where there is none.
type wirePart struct {
	text, inline, file, call, response, code, output []byte
	thought                                          bool
	signature                                        []byte
	resolution                                       []byte
	held                                             int  // how many of the first seven there are
	more                                             bool // there are members that no other format has
}

// scanPart reads a part's members without looking into them.
func scanPart(v []byte) wirePart {
	var p wirePart
	o := rawjson.NewObject(v)
	for o.Next() {
		value := o.Value()
		if rawjson.IsNull(value) {
			continue
		}
		switch {
		case o.Is("text"):
			p.text = value
		case is(&o, "inlineData"):
			p.inline = value
		case is(&o, "fileData"):
			p.file = value
		case is(&o, "functionCall"):
			p.call = value
		case is(&o, "functionResponse"):
			p.response = value
		case is(&o, "executableCode"):
			p.code = value
		case is(&o, "codeExecutionResult"):
			p.output = value
		case o.Is("thought"):
			p.thought = string(value) == "true"
		case is(&o, "thoughtSignature"):
			p.signature = value
		case is(&o, "mediaResolution"):
			p.resolution = value
		default:
			p.more = true
		}
	}
	for _, held := range [...][]byte{p.text, p.inline, p.file, p.call, p.response, p.code, p.output} {
		if held != nil {
			p.held++
		}
	}
	return p
}

// wireBlob is inlineData or fileData.
type wireBlob struct{ mime, data, uri, name []byte }

func scanBlob(v []byte) wireBlob {
	var b wireBlob
	o := rawjson.NewObject(v)
	for o.Next() {
		switch {
		case is(&o, "mimeType"):
			b.mime = o.Value()
		case o.Is("data"):
			b.data = o.Value()
		case is(&o, "fileUri"):
			b.uri = o.Value()
		case is(&o, "displayName"):
			b.name = o.Value()
		}
	}
	return b
}

// wireCall is a functionCall. The last two are of calls whose arguments are
// streamed, which Vertex can do.
type wireCall struct {
	id, name, args, partial []byte
	more                    bool
}

func scanCall(v []byte) wireCall {
	var c wireCall
	o := rawjson.NewObject(v)
	for o.Next() {
		switch {
		case o.Is("id"):
			c.id = o.Value()
		case o.Is("name"):
			c.name = o.Value()
		case o.Is("args"):
			c.args = o.Value()
		case is(&o, "partialArgs"):
			c.partial = o.Value()
		case is(&o, "willContinue"):
			c.more = string(o.Value()) == "true"
		}
	}
	return c
}

// arguments are a call's arguments as the model wrote them. Google indents
// whole replies, which is not the model's doing.
func (c wireCall) arguments() string {
	if len(c.args) == 0 || c.args[0] != '{' {
		return "{}"
	}
	return oneLine(string(c.args))
}

// oneLine is JSON without white space between its tokens.
func oneLine(text string) string {
	if !strings.ContainsAny(text, " \t\r\n") {
		return text
	}
	var out bytes.Buffer
	if json.Compact(&out, []byte(text)) != nil {
		return text
	}
	return out.String()
}

// codeText is code that a model ran, as text: no other format has a part for
// it, and the conversation would miss it. Only the fence is ours.
func codeText(v []byte) string {
	var language, code string
	for o := rawjson.NewObject(v); o.Next(); {
		switch {
		case o.Is("language"):
			language = rawjson.String(o.Value())
		case o.Is("code"):
			code = rawjson.String(o.Value())
		}
	}
	if language == "LANGUAGE_UNSPECIFIED" {
		language = ""
	}
	return fenced(strings.ToLower(language), code)
}

// outputText is what such code put out.
func outputText(v []byte) string {
	var output string
	for o := rawjson.NewObject(v); o.Next(); {
		if o.Is("output") {
			output = rawjson.String(o.Value())
		}
	}
	return fenced("", output)
}

func fenced(language, text string) string {
	return "```" + language + "\n" + strings.TrimSuffix(text, "\n") + "\n```\n"
}
