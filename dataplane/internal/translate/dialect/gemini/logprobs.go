package gemini

import (
	"encoding/json"
	"strconv"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// Log probabilities are, in the neutral form, those of chat completions
// ({"content":[{token, logprob, bytes, top_logprobs}]}), and here a
// logprobsResult: the chosen tokens in one list, the likeliest at each step in
// another (https://ai.google.dev/api/generate-content#LogprobsResult). Numbers
// keep their spelling.

// readLogprobs reads a logprobsResult; nil when it has no tokens.
func readLogprobs(value []byte) json.RawMessage {
	var chosen, top []byte
	for o := rawjson.NewObject(value); o.Next(); {
		switch {
		case is(&o, "chosenCandidates"):
			chosen = o.Value()
		case is(&o, "topCandidates"):
			top = o.Value()
		}
	}
	var b jsonappend.Buffer
	b.Open('{')
	b.Name("content")
	b.Open('[')
	empty := len(b)
	tokens, steps := rawjson.NewArray(chosen), rawjson.NewArray(top)
	for tokens.Next() {
		b.Next()
		b.Open('{')
		readToken(&b, tokens.Value())
		b.Name("top_logprobs")
		b.Open('[')
		if steps.Next() {
			readStep(&b, steps.Value())
		}
		b.Close(']')
		b.Close('}')
	}
	if len(b) == empty {
		return nil
	}
	b.Close(']')
	b.Close('}')
	return json.RawMessage(b)
}

func readStep(b *jsonappend.Buffer, value []byte) {
	for o := rawjson.NewObject(value); o.Next(); {
		if !o.Is("candidates") {
			continue
		}
		list := rawjson.NewArray(o.Value())
		for list.Next() {
			b.Next()
			b.Open('{')
			readToken(b, list.Value())
			b.Close('}')
		}
	}
}

func readToken(b *jsonappend.Buffer, value []byte) {
	token, logprob := "", []byte("0")
	for o := rawjson.NewObject(value); o.Next(); {
		switch {
		case o.Is("token"):
			token = rawjson.String(o.Value())
		case is(&o, "logProbability"):
			if v := o.Value(); v[0] == '-' || isDigit(v[0]) {
				logprob = v
			}
		}
	}
	b.String("token", token)
	b.Raw("logprob", logprob)
	b.Name("bytes")
	b.Open('[')
	for _, c := range []byte(token) {
		b.Next()
		*b = strconv.AppendUint(*b, uint64(c), 10)
	}
	b.Close(']')
}

// writeLogprobs writes a logprobsResult member; nothing when there are no
// tokens.
func writeLogprobs(b *jsonappend.Buffer, logprobs json.RawMessage) {
	var content []byte
	for o := rawjson.NewObject(logprobs); o.Next(); {
		if o.Is("content") {
			content = o.Value()
		}
	}
	if len(content) <= 2 || content[0] != '[' {
		return
	}
	b.Name("logprobsResult")
	b.Open('{')
	b.Name("topCandidates")
	b.Open('[')
	for list := rawjson.NewArray(content); list.Next(); {
		b.Next()
		b.Open('{')
		b.Name("candidates")
		b.Open('[')
		for o := rawjson.NewObject(list.Value()); o.Next(); {
			if o.Is("top_logprobs") {
				writeTokens(b, o.Value())
			}
		}
		b.Close(']')
		b.Close('}')
	}
	b.Close(']')
	b.Name("chosenCandidates")
	b.Open('[')
	writeTokens(b, content)
	b.Close(']')
	b.Close('}')
}

func writeTokens(b *jsonappend.Buffer, list []byte) {
	for tokens := rawjson.NewArray(list); tokens.Next(); {
		b.Next()
		b.Open('{')
		for o := rawjson.NewObject(tokens.Value()); o.Next(); {
			switch {
			case o.Is("token"):
				b.Raw("token", o.Value())
			case o.Is("logprob"):
				b.Raw("logProbability", o.Value())
			}
		}
		b.Close('}')
	}
}
