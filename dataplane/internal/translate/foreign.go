package translate

import (
	"bytes"
	"regexp"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/gemini"
)

// A conversation may have been answered by models of several families, and the
// caller sends all their thoughts back in its own format, sealed by the gateway
// where the proof is another family's. Where the next model is of that format's
// own family the body passes as it is, but these thoughts: the provider would
// refuse them for what proves them.

// mayBeForeign is a quick look for thoughts that a family cannot check.
func mayBeForeign(body []byte, own format) bool {
	switch own {
	case messagesFormat:
		return bytes.Contains(body, []byte(`"sb1.`)) || bytes.Contains(body, []byte(`"signature":""`)) || bytes.Contains(body, []byte(`"signature": ""`))
	case responsesFormat:
		return bytes.Contains(body, []byte(`"sb1.`)) || bytes.Contains(body, []byte(`"rs_`)) || bytes.Contains(body, []byte(`"reasoning_text"`))
	case geminiFormat:
		return bytes.Contains(body, []byte(`"c2IxL`)) // base64 of the seal
	default:
		return false
	}
}

// foreignBlock reports a block of a message in Anthropic's format that holds
// thoughts which Anthropic did not prove.
func foreignBlock(block []byte) bool {
	var kind, proof string
	o := rawjson.NewObject(block)
	for o.Next() {
		switch {
		case o.Is("type"):
			kind = rawjson.String(o.Value())
		case o.Is("signature"), o.Is("data"):
			proof = rawjson.String(o.Value())
		}
	}
	return (kind == "thinking" || kind == "redacted_thinking") && (proof == "" || conversation.IsSealed(proof))
}

// ours are the ids that the gateway gives to thoughts of models whose items
// have none.
var ours = regexp.MustCompile(`^rs_[0-9A-HJKMNP-TV-Z]{26}_[0-9]+$`)

// foreignItem reports an item of Responses that holds thoughts of another
// family, or of a model that proves nothing, for which OpenAI would look in vain.
// OpenAI, which is strict, takes no thoughts in full text either.
func foreignItem(item []byte, strict bool) bool {
	var kind, id, proof string
	told := false
	o := rawjson.NewObject(item)
	for o.Next() {
		switch {
		case o.Is("type"):
			kind = rawjson.String(o.Value())
		case o.Is("id"):
			id = rawjson.String(o.Value())
		case o.Is("encrypted_content"):
			proof = rawjson.String(o.Value())
		case o.Is("content"):
			told = !isBlank(o.Value())
		}
	}
	return kind == "reasoning" && (conversation.IsSealed(proof) || proof == "" && (ours.MatchString(id) || told && strict))
}

// dropItems leaves foreign items out of the input at offset at of the text.
func (s *splices) dropItems(input []byte, at int, strict bool) {
	cut := newListCutter(s, at)
	a := rawjson.NewArray(input)
	for a.Next() {
		cut.next(&a, !foreignItem(a.Value(), strict))
	}
	cut.end()
}

// dropBlocks leaves foreign blocks out of the messages at offset at, and the
// messages of which nothing would be left.
func (s *splices) dropBlocks(messages []byte, at int) {
	cut := newListCutter(s, at)
	a := rawjson.NewArray(messages)
	for a.Next() {
		from, _ := a.ValueSpan()
		content, inner := contentOf(a.Value())
		all, foreign := 0, 0
		for b := rawjson.NewArray(content); b.Next(); all++ {
			if foreignBlock(b.Value()) {
				foreign++
			}
		}
		keep := foreign == 0 || foreign < all
		cut.next(&a, keep)
		if foreign == 0 || !keep {
			continue
		}
		blocks := newListCutter(s, at+from+inner)
		for b := rawjson.NewArray(content); b.Next(); {
			blocks.next(&b, !foreignBlock(b.Value()))
		}
		blocks.end()
	}
	cut.end()
}

func contentOf(message []byte) (content []byte, at int) {
	o := rawjson.NewObject(message)
	for o.Next() {
		if o.Is("content") {
			content = o.Value()
			at, _ = o.ValueSpan()
		}
	}
	return content, at
}

// goesOnForeign reports that the last turn of the model's began with foreign
// thoughts and called tools: without them a model that thinks on a budget
// refuses to go on, and has to go on without thinking.
func goesOnForeign(body []byte) bool {
	foreign, results := false, false
	members(bytes.TrimSpace(body), 0, []string{"messages"}, func(list []byte, _ int) {
		for a := rawjson.NewArray(list); a.Next(); {
			content, _ := contentOf(a.Value())
			results = false
			for b := rawjson.NewArray(content); b.Next(); {
				switch {
				case foreignBlock(b.Value()):
					foreign = true
				case hasType(b.Value(), "thinking"), hasType(b.Value(), "redacted_thinking"):
					foreign = false
				case hasType(b.Value(), "tool_result"):
					results = true
				}
			}
		}
	})
	return foreign && results
}

func hasType(object []byte, kind string) bool {
	o := rawjson.NewObject(object)
	for o.Next() {
		if o.Is("type") {
			return rawjson.String(o.Value()) == kind
		}
	}
	return false
}

// dropProofs takes foreign proofs from the parts of contents at offset at. A
// call gets in its place what Google says to send for one of another model.
func (s *splices) dropProofs(contents []byte, at int) {
	members(contents, at, []string{"parts"}, func(parts []byte, at int) {
		a := rawjson.NewArray(parts)
		for a.Next() {
			from, _ := a.ValueSpan()
			s.dropProof(a.Value(), at+from)
		}
	})
}

func (s *splices) dropProof(part []byte, at int) {
	called := false
	for o := rawjson.NewObject(part); o.Next(); {
		called = called || o.Is("functionCall") || o.Is("function_call")
	}
	cut := newCutter(s, at)
	o := rawjson.NewObject(part)
	for o.Next() {
		cut.next(&o)
		keep := true
		if (o.Is("thoughtSignature") || o.Is("thought_signature")) && gemini.IsForeign(rawjson.String(o.Value())) {
			if keep = called; called {
				start, end := o.ValueSpan()
				s.Replace(at+start, at+end, rawjson.Quote(gemini.AnyProof))
			}
		}
		cut.done(&o, keep)
	}
	cut.end()
}

// addProofs gives the calls of the current turn that have no proof the one that
// Google says to send for those of another model. Of calls made at once only the
// first is asked for it.
func (s *splices) addProofs(contents []byte, at int) {
	var unproved []int // offsets of parts, since the user last said something
	for a := rawjson.NewArray(contents); a.Next(); {
		from, _ := a.ValueSpan()
		role, parts, inner := partsOf(a.Value())
		switch called, says := firstCall(parts); {
		case role != "model" && says:
			unproved = nil
		case role == "model" && called >= 0:
			unproved = append(unproved, at+from+inner+called)
		}
	}
	for _, part := range unproved {
		s.Replace(part+1, part+1, []byte(`"thoughtSignature":"`+gemini.AnyProof+`",`))
	}
}

func partsOf(content []byte) (role string, parts []byte, at int) {
	for o := rawjson.NewObject(content); o.Next(); {
		switch {
		case o.Is("role"):
			role = rawjson.String(o.Value())
		case o.Is("parts"):
			parts = o.Value()
			at, _ = o.ValueSpan()
		}
	}
	return role, parts, at
}

// firstCall is where the first call stands that has no proof, -1 when it has
// one or there is none, and whether there is anything but calls and results.
func firstCall(parts []byte) (at int, says bool) {
	at = -1
	for a, first := rawjson.NewArray(parts), true; a.Next(); {
		call, result, proved := false, false, false
		for o := rawjson.NewObject(a.Value()); o.Next(); {
			call = call || o.Is("functionCall") || o.Is("function_call")
			result = result || o.Is("functionResponse") || o.Is("function_response")
			proved = proved || o.Is("thoughtSignature") || o.Is("thought_signature")
		}
		if call && first {
			if first = false; !proved {
				at, _ = a.ValueSpan()
			}
		}
		says = says || !call && !result
	}
	return at, says
}
