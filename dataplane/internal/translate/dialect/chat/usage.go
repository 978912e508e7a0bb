package chat

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

// counts are the numbers of an OpenAI usage object as they are written there.
type counts struct {
	prompt, completion, total            int64
	cached, audioIn, reasoning, audioOut int64
	cacheWrite, image                    int64
}

// mostTokens is what one request can have used, by far: a provider that counts
// more is mistaken, and an account of it would be too.
const mostTokens = 100_000_000

// readUsage reads a usage object. The second result is false for null, for
// what is no object, for one that counts nothing, since some providers send
// zeros until the end, and for one that nobody can have used.
func readUsage(value []byte) (meter.Usage, bool) {
	var c counts
	o := rawjson.NewObject(value)
	for o.Next() {
		switch {
		case o.Is("prompt_tokens"), o.Is("input_tokens"):
			c.prompt = rawjson.Int(o.Value())
		case o.Is("completion_tokens"), o.Is("output_tokens"):
			c.completion = rawjson.Int(o.Value())
		case o.Is("total_tokens"):
			c.total = rawjson.Int(o.Value())
		case o.Is("prompt_tokens_details"), o.Is("input_tokens_details"):
			c.input(o.Value())
		case o.Is("completion_tokens_details"), o.Is("output_tokens_details"):
			c.output(o.Value())
		case o.Is("prompt_cache_hit_tokens"), o.Is("cached_tokens"): // DeepSeek, Moonshot
			c.cached = max(c.cached, rawjson.Int(o.Value()))
		}
	}
	if !o.OK() || c.highest() > mostTokens {
		return meter.Usage{}, false
	}
	u := c.usage()
	return u, !u.IsZero()
}

func (c *counts) highest() int64 {
	return max(c.prompt, c.completion, c.cached, c.audioIn, c.reasoning, c.audioOut, c.cacheWrite, c.image)
}

func (c *counts) input(value []byte) {
	o := rawjson.NewObject(value)
	for o.Next() {
		switch {
		case o.Is("cached_tokens"):
			c.cached = max(c.cached, rawjson.Int(o.Value()))
		case o.Is("cache_write_tokens"):
			c.cacheWrite = rawjson.Int(o.Value())
		case o.Is("audio_tokens"):
			c.audioIn = rawjson.Int(o.Value())
		case o.Is("image_tokens"):
			c.image = rawjson.Int(o.Value())
		}
	}
}

func (c *counts) output(value []byte) {
	o := rawjson.NewObject(value)
	for o.Next() {
		switch {
		case o.Is("reasoning_tokens"):
			c.reasoning = rawjson.Int(o.Value())
		case o.Is("audio_tokens"):
			c.audioOut = rawjson.Int(o.Value())
		}
	}
}

// usage takes the overlapping counts apart: cached, cache writes, audio and
// images are parts of the prompt, reasoning and audio of the completion. A
// provider whose total only adds up with reasoning beside the completion means
// it that way.
func (c *counts) usage() meter.Usage {
	apart := c.reasoning > 0 && (c.reasoning > c.completion || c.total == c.prompt+c.completion+c.reasoning)
	u := meter.Usage{Reasoning: c.reasoning}
	left := c.prompt
	u.CachedRead = take(&left, c.cached)
	u.CacheWrite5m = take(&left, c.cacheWrite)
	u.AudioInput = take(&left, c.audioIn)
	u.Image = take(&left, c.image)
	u.Input = left
	left = c.completion
	if !apart {
		u.Reasoning = take(&left, c.reasoning)
	}
	u.AudioOutput = take(&left, c.audioOut)
	u.Output = left
	return u
}

// take moves at most n from what is left.
func take(left *int64, n int64) int64 {
	n = min(n, *left)
	*left -= n
	return n
}

// writeUsage writes the member "usage", its counts put together again. The
// format does not tell cache writes by how long they are kept.
func writeUsage(b *jsonappend.Buffer, u *meter.Usage) {
	b.Name("usage")
	b.Open('{')
	b.Int("prompt_tokens", u.InputTotal())
	b.Int("completion_tokens", u.OutputTotal())
	b.Int("total_tokens", u.InputTotal()+u.OutputTotal())
	b.Name("prompt_tokens_details")
	b.Open('{')
	b.Int("cached_tokens", u.CachedRead)
	b.Int("audio_tokens", u.AudioInput)
	b.IntIf("cache_write_tokens", u.CacheWrite5m+u.CacheWrite1h)
	b.IntIf("image_tokens", u.Image)
	b.Close('}')
	b.Name("completion_tokens_details")
	b.Open('{')
	b.Int("reasoning_tokens", u.Reasoning)
	b.Int("audio_tokens", u.AudioOutput)
	b.Int("accepted_prediction_tokens", 0)
	b.Int("rejected_prediction_tokens", 0)
	b.Close('}')
	b.Close('}')
}
