package gemini

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// counts are the numbers of a usageMetadata as they are written there
// (https://ai.google.dev/api/generate-content#UsageMetadata).
type counts struct {
	prompt, cached, tools, candidates, thoughts, total int64
	in, kept, used, out                                modalities // of prompt, cached, tools and candidates
	broken                                             bool
}

// modalities are the parts of a count that have meters of their own.
type modalities struct{ audio, image int64 }

// readUsage reads a usageMetadata. It is not Known when it counts nothing, as
// in the first events of a stream, or more than can be.
func readUsage(value []byte) conversation.Usage {
	var c counts
	o := rawjson.NewObject(value)
	for o.Next() {
		v := o.Value()
		switch {
		case is(&o, "promptTokenCount"):
			c.prompt = c.number(v)
		case is(&o, "cachedContentTokenCount"):
			c.cached = c.number(v)
		case is(&o, "toolUsePromptTokenCount"):
			c.tools = c.number(v)
		case is(&o, "candidatesTokenCount"), is(&o, "responseTokenCount"):
			c.candidates = c.number(v)
		case is(&o, "thoughtsTokenCount"):
			c.thoughts = c.number(v)
		case is(&o, "totalTokenCount"):
			c.total = c.number(v)
		case is(&o, "promptTokensDetails"):
			c.in = c.modalities(v)
		case is(&o, "cacheTokensDetails"):
			c.kept = c.modalities(v)
		case is(&o, "toolUsePromptTokensDetails"):
			c.used = c.modalities(v)
		case is(&o, "candidatesTokensDetails"), is(&o, "responseTokensDetails"):
			c.out = c.modalities(v)
		}
	}
	if !o.OK() || c.broken {
		return conversation.Usage{}
	}
	u := c.usage()
	u.Known = !u.IsZero()
	return u
}

func (c *counts) number(v []byte) int64 {
	n := rawjson.Int(v)
	if n > dialect.MostTokens || len(v) > 0 && v[0] == '-' {
		c.broken = true
	}
	return n
}

func (c *counts) modalities(v []byte) modalities {
	var m modalities
	list := rawjson.NewArray(v)
	for list.Next() {
		var tokens int64
		var modality []byte
		for o := rawjson.NewObject(list.Value()); o.Next(); {
			switch {
			case o.Is("modality"):
				modality = o.Value()
			case is(&o, "tokenCount"):
				tokens = c.number(o.Value())
			}
		}
		switch string(modality) {
		case `"AUDIO"`:
			m.audio += tokens
		case `"IMAGE"`:
			m.image += tokens
		}
	}
	return m
}

// usage takes the overlapping counts apart. Cached tokens are part of the
// prompt, those of tools beside it, and thoughts beside the candidates, unless
// the total only adds up without them.
func (c *counts) usage() conversation.Usage {
	var u conversation.Usage
	left := c.prompt
	u.CachedRead = dialect.Take(&left, c.cached)
	u.AudioInput = dialect.Take(&left, c.in.audio-min(c.kept.audio, c.in.audio))
	u.Image = dialect.Take(&left, c.in.image-min(c.kept.image, c.in.image))
	u.Input = left

	left = c.tools
	u.AudioInput += dialect.Take(&left, c.used.audio)
	u.Image += dialect.Take(&left, c.used.image)
	u.Input += left

	left = c.candidates
	u.Reasoning = c.thoughts
	if inside := c.prompt + c.tools + c.candidates; c.thoughts > 0 && c.thoughts <= c.candidates && c.total == inside {
		u.Reasoning = dialect.Take(&left, c.thoughts)
	}
	u.AudioOutput = dialect.Take(&left, c.out.audio)
	u.Output = left
	return u
}

// writeUsage writes a usageMetadata; nothing for one that counts nothing.
func writeUsage(b *jsonappend.Buffer, u conversation.Usage) {
	if u.IsZero() {
		return
	}
	prompt, candidates := u.InputTotal(), u.Output+u.AudioOutput
	b.Name("usageMetadata")
	b.Open('{')
	b.Int("promptTokenCount", prompt)
	b.IntIf("cachedContentTokenCount", u.CachedRead)
	b.Int("candidatesTokenCount", candidates)
	b.IntIf("thoughtsTokenCount", u.Reasoning)
	b.Int("totalTokenCount", prompt+candidates+u.Reasoning)
	writeModalities(b, "promptTokensDetails", prompt, u.AudioInput, u.Image)
	writeModalities(b, "candidatesTokensDetails", candidates, u.AudioOutput, 0)
	b.Close('}')
}

func writeModalities(b *jsonappend.Buffer, name string, all, audio, image int64) {
	if all == 0 {
		return
	}
	b.Name(name)
	b.Open('[')
	for _, m := range [...]struct {
		name   string
		tokens int64
	}{{"TEXT", all - audio - image}, {"AUDIO", audio}, {"IMAGE", image}} {
		if m.tokens > 0 {
			b.Next()
			b.Open('{')
			b.String("modality", m.name)
			b.Int("tokenCount", m.tokens)
			b.Close('}')
		}
	}
	b.Close(']')
}
