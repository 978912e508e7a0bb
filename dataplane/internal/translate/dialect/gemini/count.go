package gemini

import (
	"bytes"
	"strconv"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// DecodeCount reads the body of :countTokens: either the contents alone or a
// whole generateContentRequest, as the Gemini API has it
// (https://ai.google.dev/api/tokens), or contents with instructions and tools
// beside them, as Vertex has it.
func DecodeCount(body []byte) (*conversation.Request, []fault.Violation) {
	var inner, contents []byte
	for o := rawjson.NewObject(body); o.Next(); {
		switch {
		case rawjson.IsNull(o.Value()):
		case is(&o, "generateContentRequest"):
			inner = o.Value()
		case o.Is("contents"):
			contents = o.Value()
		}
	}
	if inner == nil {
		return Codec{}.DecodeRequest(body)
	}
	const at = "generateContentRequest"
	if contents != nil {
		return &conversation.Request{}, []fault.Violation{{
			Path: "contents", Code: outOfRange, Message: "must not stand beside generateContentRequest",
		}}
	}
	r := &reader{}
	if !r.object(at, bytes.TrimSpace(inner)) {
		return &conversation.Request{}, r.violations
	}
	request, violations := Codec{}.DecodeRequest(inner)
	for i, v := range violations {
		violations[i].Path = at
		if v.Path != "" {
			violations[i].Path += "." + v.Path
		}
	}
	return request, violations
}

// EncodeCount writes the answer of :countTokens.
func EncodeCount(tokens int64) []byte {
	return append(strconv.AppendInt([]byte(`{"totalTokens":`), tokens, 10), '}')
}
