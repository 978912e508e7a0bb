package openai

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

// counts are the numbers of a usage object as they are written there, under
// the names of either format.
type counts struct {
	input, output, total               int64
	cached, cacheWrite, audioIn, image int64
	reasoning, audioOut                int64
}

// ReadUsage reads a usage object. It is not known of null, of what is no
// object, of one that counts nothing, since some providers send zeros until the
// end, and of one that nobody can have used.
func ReadUsage(value []byte) conversation.Usage {
	var c counts
	o := rawjson.NewObject(value)
	for o.Next() {
		v := o.Value()
		switch {
		case o.Is("prompt_tokens"), o.Is("input_tokens"):
			c.input = rawjson.Int(v)
		case o.Is("completion_tokens"), o.Is("output_tokens"):
			c.output = rawjson.Int(v)
		case o.Is("total_tokens"):
			c.total = rawjson.Int(v)
		case o.Is("prompt_tokens_details"), o.Is("input_tokens_details"):
			c.inputDetails(v)
		case o.Is("completion_tokens_details"), o.Is("output_tokens_details"):
			c.outputDetails(v)
		case o.Is("prompt_cache_hit_tokens"), o.Is("cached_tokens"): // DeepSeek, Moonshot
			c.cached = max(c.cached, rawjson.Int(v))
		}
	}
	if !o.OK() || c.highest() > dialect.MostTokens {
		return conversation.Usage{}
	}
	u := c.usage()
	return conversation.Usage{Usage: u, Known: !u.IsZero()}
}

func (c *counts) highest() int64 {
	return max(c.input, c.output, c.cached, c.cacheWrite, c.audioIn, c.image, c.reasoning, c.audioOut)
}

func (c *counts) inputDetails(value []byte) {
	o := rawjson.NewObject(value)
	for o.Next() {
		switch v := o.Value(); {
		case o.Is("cached_tokens"):
			c.cached = max(c.cached, rawjson.Int(v))
		case o.Is("cache_write_tokens"):
			c.cacheWrite = rawjson.Int(v)
		case o.Is("audio_tokens"):
			c.audioIn = rawjson.Int(v)
		case o.Is("image_tokens"):
			c.image = rawjson.Int(v)
		}
	}
}

func (c *counts) outputDetails(value []byte) {
	o := rawjson.NewObject(value)
	for o.Next() {
		switch v := o.Value(); {
		case o.Is("reasoning_tokens"):
			c.reasoning = rawjson.Int(v)
		case o.Is("audio_tokens"):
			c.audioOut = rawjson.Int(v)
		}
	}
}

// usage takes the overlapping counts apart: cached reads, cache writes, sound
// and pictures are parts of the input, reasoning and sound of the output. A
// provider whose total only adds up with reasoning beside the output means it
// that way.
func (c *counts) usage() meter.Usage {
	apart := c.reasoning > 0 && (c.reasoning > c.output || c.total == c.input+c.output+c.reasoning)
	u := meter.Usage{Reasoning: c.reasoning, Input: c.input, Output: c.output}
	u.CachedRead = dialect.Take(&u.Input, c.cached)
	u.CacheWrite5m = dialect.Take(&u.Input, c.cacheWrite)
	u.AudioInput = dialect.Take(&u.Input, c.audioIn)
	u.Image = dialect.Take(&u.Input, c.image)
	if !apart {
		u.Reasoning = dialect.Take(&u.Output, c.reasoning)
	}
	u.AudioOutput = dialect.Take(&u.Output, c.audioOut)
	return u
}
