package translate

import "github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"

// unknownToOpenAI are the members of messages that the gateway gives its callers, or
// takes from them, beyond OpenAI's format, and that OpenAI refuses: "Unknown
// parameter: 'messages[2].reasoning'", "…'messages[0].content[0].cache_control'".
// Thoughts came with the answer of another model, which alone has a use for them.
var unknownToOpenAI = []string{"reasoning_content", "reasoning_details", "reasoning", "cache_control"}

// messages edits the messages at offset at of the text: a role is called what
// the provider calls it, and what it refuses is left out.
func (s *splices) messages(list []byte, at int, want *edits) {
	a := rawjson.NewArray(list)
	for a.Next() {
		from, _ := a.ValueSpan()
		s.message(a.Value(), at+from, want)
	}
}

func (s *splices) message(text []byte, at int, want *edits) {
	cut := newCutter(s, at)
	o := rawjson.NewObject(text)
	for o.Next() {
		cut.next(&o)
		keep := true
		start, end := o.ValueSpan()
		switch {
		case want.role[0] != "" && o.Is("role") && rawjson.String(o.Value()) == want.role[0]:
			s.Replace(at+start, at+end, rawjson.Quote(want.role[1]))
		case !want.strict:
		case o.Is("content"):
			want.unmark(s, o.Value(), at+start)
		default:
			keep = !isOne(&o, unknownToOpenAI)
			want.markedBy(&o)
		}
		cut.done(&o, keep)
	}
	cut.end()
}

// unmark leaves cache marks out of a list of objects: parts or tools.
func (e *edits) unmark(s *splices, list []byte, at int) {
	a := rawjson.NewArray(list)
	for a.Next() {
		from, _ := a.ValueSpan()
		e.unmarkOne(s, a.Value(), at+from)
	}
}

func (e *edits) unmarkOne(s *splices, text []byte, at int) {
	cut := newCutter(s, at)
	o := rawjson.NewObject(text)
	for o.Next() {
		cut.next(&o)
		if o.Is("function") {
			start, _ := o.ValueSpan()
			e.unmarkOne(s, o.Value(), at+start)
		}
		cut.done(&o, !e.markedBy(&o))
	}
	cut.end()
}

func (e *edits) markedBy(o *rawjson.Object) bool {
	marked := o.Is("cache_control")
	if marked {
		e.lose("cache_control")
	}
	return marked
}

// contents edits the contents of the Gemini format.
func (s *splices) contents(list []byte, at int, want *edits) {
	if want.noIDs {
		s.anonymous(list, at)
	}
	if want.foreign == geminiFormat {
		s.dropProofs(list, at)
	}
	if want.proofs {
		s.addProofs(list, at)
	}
	s.Sort()
}

// anonymous leaves the ids out of calls and results in contents of the Gemini
// format: Vertex refuses them ("Unknown name \"id\" at
// 'contents[1].parts[0].function_call'"), and goes by name and order.
func (s *splices) anonymous(contents []byte, at int) {
	members(contents, at, []string{"parts"}, func(parts []byte, at int) {
		members(parts, at, []string{"functionCall", "function_call", "functionResponse", "function_response"}, func(call []byte, at int) {
			cut := newCutter(s, at)
			o := rawjson.NewObject(call)
			for o.Next() {
				cut.next(&o)
				cut.done(&o, !o.Is("id"))
			}
			cut.end()
		})
	})
}

// members calls visit for each member of one of names of the objects in a
// list; a single object stands for a list of one, as with Google.
func members(list []byte, at int, names []string, visit func(value []byte, at int)) {
	one := func(text []byte, at int) {
		o := rawjson.NewObject(text)
		for o.Next() {
			if isOne(&o, names) {
				start, _ := o.ValueSpan()
				visit(o.Value(), at+start)
			}
		}
	}
	if len(list) > 0 && list[0] == '{' {
		one(list, at)
		return
	}
	a := rawjson.NewArray(list)
	for a.Next() {
		from, _ := a.ValueSpan()
		one(a.Value(), at+from)
	}
}
