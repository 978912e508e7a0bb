package simulator

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"
	"time"
)

// answer is a reply before it has a format.
type answer struct {
	id        string // hexadecimal, to be prefixed
	created   time.Time
	model     string
	text      string
	reasoning string
	calls     []toolCall
	finish    finish
	usage     *usage // nil: left out
	whole     bool   // stream the text as one event
	refusal   string // in place of the text
	stopped   string // the stop sequence that ended the text
}

type toolCall struct {
	id     string // hexadecimal, to be prefixed
	name   string
	args   json.RawMessage // JSON, or for a custom tool text
	custom bool
}

// usage is in tokens. Cached reads, cache writes, audio and images are part of
// the input, and reasoning of the output.
type usage struct {
	input, output, reasoning int
	cached, write5m, write1h int
	audio, images, spoken    int // spoken is audio in the output
}

func (u usage) total() int { return u.input + u.output }

type finish int

const (
	finishStop finish = iota
	finishLength
	finishTools
	finishRefused
)

// maxQuote bounds what the reply repeats of the prompt.
const maxQuote = 400

// answerTo is the deterministic part: the same prompt gets the same words.
func answerTo(p *prompt, body []byte) answer {
	a := answer{id: hexOf(body), model: p.model}
	if p.reasoning {
		a.reasoning = "The caller wrote " + count(len(pieces(p.user)), "word") + ". Quoting them back is the useful thing to do."
	}
	hints := p.hints()
	for i, t := range p.wanted() {
		a.finish = finishTools
		call := toolCall{id: hexOf(body, t.name, fmt.Sprint(i)), name: t.name, args: instance(t.schema, rotate(hints, i))}
		if !t.schema.Exists() {
			call.args = json.RawMessage(`{}`)
		}
		if t.custom {
			call.custom, call.args = true, json.RawMessage("run "+quote(p.user))
		}
		a.calls = append(a.calls, call)
	}
	switch {
	case p.terms["refuse"]:
		a.finish, a.calls, a.refusal = finishRefused, nil, "I am sorry, but the simulated provider refuses to help with that."
	case len(a.calls) == 0:
		a.text = textFor(p, hints)
		a.shorten(p)
	}
	a.count(p)
	return a
}

func textFor(p *prompt, hints []string) string {
	switch {
	case p.schema.Exists():
		return string(instance(p.schema, hints))
	case p.object:
		raw, _ := json.Marshal(map[string]string{"answer": quote(p.user)}) // strings always encode
		return string(raw)
	case len(p.results) > 0:
		var b strings.Builder
		for _, r := range p.results {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprintf(&b, "The tool %s returned: %s.", r.name, quote(r.text))
		}
		return b.String()
	}
	text := "Hello from the simulated provider. You wrote: “" + quote(p.user) + "”."
	if p.images > 0 {
		text += " I received " + count(p.images, "image") + "."
	}
	if p.audios > 0 {
		text += " I heard " + count(p.audios, "recording") + "."
	}
	if p.documents > 0 {
		text += " I read " + count(p.documents, "document") + "."
	}
	if p.system != "" {
		text += " My instructions are " + count(len(pieces(p.system)), "word") + " long."
	}
	return text + " I am the model " + p.model + ", and I always say the same to the same prompt."
}

// shorten applies stop sequences and the output limit.
func (a *answer) shorten(p *prompt) {
	for _, s := range p.stops {
		if at := strings.Index(a.text, s); s != "" && at >= 0 {
			a.text, a.stopped = a.text[:at], s
		}
	}
	words := pieces(a.text)
	if p.maxTokens > 0 && len(words) > p.maxTokens {
		a.text = strings.Join(words[:p.maxTokens], "")
		a.finish, a.stopped = finishLength, ""
	}
}

func (a *answer) count(p *prompt) {
	u := usage{
		input: p.input, output: len(pieces(a.text + a.refusal)), reasoning: len(pieces(a.reasoning)),
		audio: p.audios * audioTokens, images: p.images * imageTokens,
	}
	if p.terms["cached"] {
		u.cached = u.input / 2
	}
	if p.speaks {
		u.spoken = u.output
	}
	for _, c := range a.calls {
		u.output += 1 + (len(c.args)+3)/4
	}
	u.output = u.output*max(p.choices, 1) + u.reasoning
	a.usage = &u
}

// deltas are the texts of the stream's content events.
func (a *answer) deltas() []string {
	if a.whole && a.text != "" {
		return []string{a.text}
	}
	return pieces(a.text)
}

// argChunks splits a call's arguments the way that providers stream them.
func (c toolCall) argChunks() []string {
	const size = 8
	var out []string
	for rest := string(c.args); rest != ""; {
		n := min(size, len(rest))
		for n < len(rest) && rest[n]&0xC0 == 0x80 { // not inside a character
			n++
		}
		out, rest = append(out, rest[:n]), rest[n:]
	}
	return out
}

func quote(text string) string {
	text = strings.TrimSpace(text)
	if len(text) <= maxQuote {
		return text
	}
	return strings.ToValidUTF8(text[:maxQuote], "") + "…"
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func hexOf(body []byte, more ...string) string {
	h := fnv.New64a()
	h.Write(body)
	for _, m := range more {
		h.Write([]byte{0})
		h.Write([]byte(m))
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

func rotate(hints []string, by int) []string {
	if len(hints) == 0 {
		return nil
	}
	by %= len(hints)
	return append(append([]string{}, hints[by:]...), hints[:by]...)
}
