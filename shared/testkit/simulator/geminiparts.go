package simulator

import (
	"strings"

	"github.com/tidwall/gjson"
)

// history reads the contents. A turn of function calls is answered by a turn
// with as many responses.
func (r *geminiReader) history() *refusal {
	calls := 0 // of the content before
	contents := r.body.Get("contents").Array()
	current := lastQuestion(contents)
	for i, c := range contents {
		at := "contents[" + itoa(i) + "]"
		r.input += 3 // the frame of a message
		role := c.Get("role").Str
		switch {
		case role != "" && role != "user" && role != "model" && role != "function":
			return refuse("", "Please use a valid role: user, model.")
		case unknownIn(c, set("role parts")) != "" && r.strict:
			return geminiFormat{}.unknown(at + "." + unknownIn(c, set("role parts")))
		case len(c.Get("parts").Array()) == 0:
			return refuse("", "* GenerateContentRequest.%s.parts: contents.parts must not be empty.\n", at)
		}
		turn := &geminiTurn{reader: r, current: i > current}
		for j, part := range c.Get("parts").Array() {
			if refused := turn.part(at+".parts["+itoa(j)+"]", role, part); refused != nil {
				return refused
			}
		}
		switch {
		case turn.results != calls && turn.results > 0 && calls == 0:
			return refuse("", "Please ensure that function response turn comes immediately after a function call turn.")
		case turn.results != calls && calls > 0:
			return refuse("", "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
		case turn.calls > 0 && i == 0:
			return refuse("", "Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
		case role != "model" && turn.results == 0:
			r.addUser(turn.text.String())
		}
		calls = turn.calls
	}
	return nil
}

// lastQuestion is the index of the last content in which a user said
// something: proofs of thoughts after it belong to the current turn.
func lastQuestion(contents []gjson.Result) int {
	last := -1
	for i, c := range contents {
		if c.Get("role").Str != "model" && !either(c.Get("parts.0"), "functionResponse", "function_response").Exists() {
			last = i
		}
	}
	return last
}

// geminiTurn is one content.
type geminiTurn struct {
	reader         *geminiReader
	current        bool
	text           strings.Builder
	calls, results int
}

// dummySignatures are accepted in place of real ones, for histories of other
// models (https://ai.google.dev/gemini-api/docs/thought-signatures).
var dummySignatures = set(`context_engineering_is_the_way_to_go skip_thought_signature_validator`)

func (t *geminiTurn) part(at, role string, part gjson.Result) *refusal {
	r := t.reader
	if extra := unknownIn(part, geminiPart); extra != "" && r.strict {
		return geminiFormat{}.unknown(at + "." + extra)
	}
	call := either(part, "functionCall", "function_call")
	result := either(part, "functionResponse", "function_response")
	signature := either(part, "thoughtSignature", "thought_signature").Str
	subject := "text"
	if call.Exists() {
		subject = "call " + call.Get("name").Str
	}
	if signature != "" && !gemini.proves(subject, signature) && !dummySignatures[signature] {
		return refuse("", "Corrupted thought signature.")
	}
	switch {
	case part.Get("text").Type == gjson.String:
		text := r.add(part.Get("text").Str)
		if !part.Get("thought").Bool() {
			t.text.WriteString(text)
		}
	case either(part, "inlineData", "inline_data").Exists():
		return t.media(at, either(part, "inlineData", "inline_data"), "data")
	case either(part, "fileData", "file_data").Exists():
		return t.media(at, either(part, "fileData", "file_data"), "fileUri")
	case call.Exists():
		return t.call(at, role, call, signature)
	case result.Exists():
		return t.result(at, role, result)
	case signature != "" || part.Get("thought").Exists():
	default:
		return refuse("", "* GenerateContentRequest.%s.data: required oneof field 'data' must have one initialized field\n", at)
	}
	return nil
}

func (t *geminiTurn) call(at, role string, call gjson.Result, signature string) *refusal {
	name := call.Get("name").Str
	switch {
	case name == "" || role != "model":
		return refuse("", "* GenerateContentRequest.%s.function_call.name: Name cannot be empty.\n", at)
	case call.Get("args").Exists() && !call.Get("args").IsObject():
		return refuse("", "Invalid value at '%s.function_call.args' (type.googleapis.com/google.protobuf.Struct)", at)
	case t.calls == 0 && signature == "" && t.current && t.reader.terms["reason"]:
		return refuse("", "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing "+
			"thought_signature may lead to degraded model performance. Additional data, function call `default_api:%s`. "+
			"Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.", name)
	}
	t.calls++
	t.reader.add(call.Get("args").Raw)
	return nil
}

func (t *geminiTurn) result(at, role string, result gjson.Result) *refusal {
	switch {
	case result.Get("name").Str == "" || role == "model":
		return refuse("", "* GenerateContentRequest.%s.function_response.name: Name cannot be empty.\n", at)
	case !result.Get("response").IsObject():
		return refuse("", "Invalid value at '%s.function_response.response' (type.googleapis.com/google.protobuf.Struct), it must be an object", at)
	}
	if t.results == 0 {
		t.reader.results = nil
	}
	t.results++
	t.reader.results = append(t.reader.results, toolResult{name: result.Get("name").Str, text: t.reader.add(result.Get("response").Raw)})
	return nil
}

// media reads content by value or by address.
func (t *geminiTurn) media(at string, data gjson.Result, where string) *refusal {
	kind := either(data, "mimeType", "mime_type").Str
	value := data.Get(where).Str
	if where == "fileUri" {
		value = either(data, "fileUri", "file_uri").Str
	}
	switch {
	case !strings.Contains(kind, "/"):
		return refuse("", "Unable to process input: %s needs a mimeType.", at)
	case value == "" || where == "data" && !isBase64(value):
		return refuse("", "Invalid value at '%s.%s' (TYPE_BYTES), Base64 decoding failed", at, where)
	case strings.HasPrefix(kind, "image/"):
		t.reader.addImage()
	case strings.HasPrefix(kind, "audio/"):
		t.reader.addAudio()
	default:
		t.reader.addDocument()
	}
	return nil
}
