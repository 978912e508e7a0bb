package gemini

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// CountedMember holds a whole request in the body of :countTokens.
const CountedMember = "generateContentRequest"

// Counted is the request whose tokens the body of :countTokens asks for, as
// :generateContent takes it. The Gemini API has it whole under CountedMember, or
// its contents alone (https://ai.google.dev/api/tokens); Vertex has instructions
// and tools beside the contents. within reports the first of these. A body that
// has two requests is a violation.
func Counted(body []byte) (request []byte, within bool, violations []fault.Violation) {
	var inner, contents []byte
	for o := rawjson.NewObject(body); o.Next(); {
		switch {
		case rawjson.IsNull(o.Value()):
		case is(&o, CountedMember):
			inner = o.Value()
		case o.Is("contents"):
			contents = o.Value()
		}
	}
	switch {
	case inner == nil:
		return body, false, nil
	case contents != nil:
		return nil, true, []fault.Violation{{
			Path: "contents", Code: outOfRange, Message: "must not stand beside " + CountedMember,
		}}
	}
	return inner, true, nil
}
