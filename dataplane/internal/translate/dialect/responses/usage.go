package responses

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

// counts are the numbers of a usage object as they are written. Cached reads,
// cache writes, audio and images are parts of the input, reasoning and audio
// of the output.
type counts struct {
	input, output, total               int64
	cached, cacheWrite, audioIn, image int64
	reasoning, audioOut                int64
}

// mostTokens is what one request can have used, by far: a provider that counts
// more is mistaken, and an account of it would be too.
const mostTokens = 100_000_000

// readUsage reads a usage object. It is not known of null, of what is no
// object, of one that counts nothing, and of one that nobody can have used.
func readUsage(value []byte) conversation.Usage {
	var c counts
	o := rawjson.NewObject(value)
	for o.Next() {
		v := o.Value()
		switch {
		case o.Is("input_tokens"):
			c.input = rawjson.Int(v)
		case o.Is("output_tokens"):
			c.output = rawjson.Int(v)
		case o.Is("total_tokens"):
			c.total = rawjson.Int(v)
		case o.Is("input_tokens_details"):
			c.inputDetails(v)
		case o.Is("output_tokens_details"):
			c.outputDetails(v)
		}
	}
	if max(c.input, c.output, c.cached, c.cacheWrite, c.audioIn, c.image, c.reasoning, c.audioOut) > mostTokens {
		return conversation.Usage{}
	}
	u := c.usage()
	return conversation.Usage{Usage: u, Known: !u.IsZero()}
}

func (c *counts) inputDetails(value []byte) {
	o := rawjson.NewObject(value)
	for o.Next() {
		switch v := o.Value(); {
		case o.Is("cached_tokens"):
			c.cached = rawjson.Int(v)
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

// usage takes the overlapping counts apart. A provider whose total only adds up
// with reasoning beside the output means it that way.
func (c *counts) usage() meter.Usage {
	apart := c.reasoning > 0 && (c.reasoning > c.output || c.total == c.input+c.output+c.reasoning)
	u := meter.Usage{Reasoning: c.reasoning, Input: c.input, Output: c.output}
	u.CachedRead = take(&u.Input, c.cached)
	u.CacheWrite5m = take(&u.Input, c.cacheWrite)
	u.AudioInput = take(&u.Input, c.audioIn)
	u.Image = take(&u.Input, c.image)
	if !apart {
		u.Reasoning = take(&u.Output, c.reasoning)
	}
	u.AudioOutput = take(&u.Output, c.audioOut)
	return u
}

// take moves at most n from what is left.
func take(left *int64, n int64) int64 {
	n = min(n, *left)
	*left -= n
	return n
}

// writeUsage writes the member "usage", its counts put together again. It is
// there, with zeros, when nothing is known: clients demand it of a complete
// response. Cache writes are not told by how long they are kept.
func writeUsage(b *jsonappend.Buffer, u *meter.Usage) {
	b.Name("usage")
	b.Open('{')
	b.Int("input_tokens", u.InputTotal())
	b.Name("input_tokens_details")
	b.Open('{')
	b.Int("cached_tokens", u.CachedRead)
	b.Int("cache_write_tokens", u.CacheWrite5m+u.CacheWrite1h)
	b.IntIf("audio_tokens", u.AudioInput)
	b.IntIf("image_tokens", u.Image)
	b.Close('}')
	b.Int("output_tokens", u.OutputTotal())
	b.Name("output_tokens_details")
	b.Open('{')
	b.Int("reasoning_tokens", u.Reasoning)
	b.IntIf("audio_tokens", u.AudioOutput)
	b.Close('}')
	b.Int("total_tokens", u.InputTotal()+u.OutputTotal())
	b.Close('}')
}
