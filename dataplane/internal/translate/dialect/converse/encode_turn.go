package converse

import (
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/turns"
)

// conversation writes "system" and "messages".
func (w *writer) conversation(messages []conversation.Message) error {
	system, all, names := turns.Of(messages, home)
	w.lose(names...)
	if len(system) > 0 {
		w.b.Name("system")
		if err := w.blocks(system); err != nil {
			return err
		}
	}
	w.b.Name("messages")
	w.b.Open('[')
	for _, t := range all {
		w.b.Next()
		w.b.Open('{')
		w.b.String("role", t.Role)
		w.b.Name("content")
		if err := w.blocks(titled(t.Parts)); err != nil {
			return err
		}
		w.b.Close('}')
	}
	w.b.Close(']')
	return nil
}

// titled puts a text beside documents that have none, which is refused: the
// name that the first of them had.
func titled(parts []turns.Part) []turns.Part {
	first := -1
	for i, p := range parts {
		switch p.Kind {
		case conversation.Text, conversation.Refusal:
			return parts
		case conversation.File:
			if first < 0 {
				first = i
			}
		default:
		}
	}
	if first < 0 {
		return parts
	}
	name := parts[first].Media.Name
	if strings.TrimSpace(name) == "" {
		name = defaultName
	}
	title := turns.Part{Part: &conversation.Part{Kind: conversation.Text, Text: name}, Message: parts[first].Message}
	return append(parts[:first:first], append([]turns.Part{title}, parts[first:]...)...)
}

// blocks writes content: of a turn, a result, or the instructions.
func (w *writer) blocks(parts []turns.Part) error {
	w.b.Open('[')
	for _, p := range parts {
		if err := w.block(p); err != nil {
			return err
		}
	}
	w.b.Close(']')
	return nil
}

// block writes a part and its cache mark.
func (w *writer) block(p turns.Part) error {
	mark := p.Cache
	switch p.Kind {
	case conversation.Text, conversation.Refusal:
		w.b.Next()
		w.b.Open('{')
		w.b.String("text", p.Text)
		w.b.Close('}')
	case conversation.Thought:
		w.thought(p.Thought)
		return nil // a mark cannot stand behind it
	case conversation.Call:
		w.open("toolUse")
		w.b.String("toolUseId", callID(p.Call.ID))
		w.b.String("name", p.Call.Name)
		w.b.Raw("input", turns.Object(p.Call.Arguments))
		w.close()
	case conversation.Result:
		if err := w.result(p); err != nil {
			return err
		}
		for _, q := range p.Result.Parts { // there is no place for a mark inside
			mark = longer(mark, q.Cache)
		}
	default:
		if err := w.media(p); err != nil {
			return err
		}
	}
	w.mark(mark)
	return nil
}

// open begins a block of the kind, close ends it.
func (w *writer) open(kind string) {
	w.b.Next()
	w.b.Open('{')
	w.b.Name(kind)
	w.b.Open('{')
}

func (w *writer) close() { w.b = append(w.b, "}}"...) }

func (w *writer) result(p turns.Part) error {
	w.open("toolResult")
	w.b.String("toolUseId", callID(p.Result.CallID))
	w.b.Name("content")
	w.b.Open('[')
	for _, q := range p.Inner() {
		inner := *q.Part
		inner.Cache = ""
		if err := w.block(turns.Part{Part: &inner, Message: q.Message}); err != nil {
			return err
		}
	}
	w.b.Close(']')
	if p.Result.IsError {
		w.b.String("status", "error")
	}
	w.close()
	return nil
}

func longer(a, b conversation.Cache) conversation.Cache {
	if b == "" || a == conversation.Cache1h {
		return a
	}
	return b
}

// thought writes what is proved: the text with its signature, and what is not
// shown, which is bytes here.
func (w *writer) thought(t *conversation.Thinking) {
	if t.Signature != "" {
		w.open("reasoningContent")
		w.b.Name("reasoningText")
		w.b.Open('{')
		w.b.String("text", t.Text)
		w.b.String("signature", t.Signature)
		w.b.Close('}')
		w.close()
	}
	if _, err := base64.StdEncoding.DecodeString(t.Data); err == nil && t.Data != "" {
		w.open("reasoningContent")
		w.b.String("redactedContent", t.Data)
		w.close()
	}
}

// mark writes a cachePoint.
func (w *writer) mark(c conversation.Cache) {
	if c == "" {
		return
	}
	if !w.maker.caches() {
		w.lose("cache_control")
		return
	}
	w.open("cachePoint")
	w.b.String("type", "default")
	if c == conversation.Cache1h {
		w.b.String("ttl", "1h")
	}
	w.close()
}

// maxCallID is how long an id may be.
const maxCallID = 64

// callID keeps an id in the letters and the length that the API takes; what
// other providers make is not always so. A call and its result change alike.
func callID(id string) string {
	out := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, id)
	if len(out) <= maxCallID {
		return out
	}
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(id)) // never fails
	return fmt.Sprintf("%s_%016x", out[:maxCallID-17], sum.Sum64())
}
