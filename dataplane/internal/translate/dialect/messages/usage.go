package messages

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

// counts are the numbers of a usage object as they are written there. What is
// read from the cache and written to it stands beside input_tokens. In a stream
// message_start has the first numbers and message_delta the last, which are
// totals too and of which some may be missing.
type counts struct {
	input, output, cachedRead, cacheWrite int64
	write5m, write1h, thinking            int64
	tier                                  string
	unbelievable                          bool
}

// read lays the members of a usage object over what was read before.
func (c *counts) read(value []byte) {
	o := rawjson.NewObject(value)
	for o.Next() {
		v := o.Value()
		switch {
		case o.Is("input_tokens"):
			c.take(&c.input, v)
		case o.Is("output_tokens"):
			c.take(&c.output, v)
		case o.Is("cache_read_input_tokens"):
			c.take(&c.cachedRead, v)
		case o.Is("cache_creation_input_tokens"):
			c.take(&c.cacheWrite, v)
		case o.Is("cache_creation"):
			c.inner(v, "ephemeral_5m_input_tokens", &c.write5m)
			c.inner(v, "ephemeral_1h_input_tokens", &c.write1h)
		case o.Is("output_tokens_details"):
			c.inner(v, "thinking_tokens", &c.thinking)
		case o.Is("service_tier"):
			if rawjson.IsString(v) {
				c.tier = tierOf(v)
			}
		}
	}
}

func (c *counts) inner(value []byte, name string, to *int64) {
	o := rawjson.NewObject(value)
	for o.Next() {
		if o.Is(name) {
			c.take(to, o.Value())
		}
	}
}

func (c *counts) take(to *int64, value []byte) {
	if rawjson.IsNull(value) {
		return
	}
	n := rawjson.Int(value)
	if n > dialect.MostTokens || value[0] == '-' {
		c.unbelievable = true
		return
	}
	*to = max(*to, n) // totals only grow; some who copied the format send zeros at one end
}

// usage takes the numbers apart: a write that is not split is of five minutes,
// thoughts are part of the output.
func (c *counts) usage() conversation.Usage {
	if c.unbelievable {
		return conversation.Usage{}
	}
	u := meter.Usage{Input: c.input, CachedRead: c.cachedRead, CacheWrite1h: c.write1h}
	u.CacheWrite5m = max(c.write5m, c.cacheWrite-c.write1h)
	u.Reasoning = min(c.thinking, c.output)
	u.Output = c.output - u.Reasoning
	return conversation.Usage{Usage: u, Known: !u.IsZero()}
}

// tierOf is the neutral word for a tier. The strings are constants, so that
// nothing is allocated for an event that is only looked at.
func tierOf(value []byte) string {
	switch string(value) {
	case `"standard"`:
		return "default"
	case `"priority"`:
		return "priority"
	case `"batch"`:
		return "batch"
	}
	return ""
}

// appendUsage writes the usage of a reply or of message_start, with every
// member that the SDKs' types have. What this format has no count for is
// input or output.
func appendUsage(b *jsonappend.Buffer, u meter.Usage, tier string) {
	b.Name("usage")
	b.Open('{')
	appendCounts(b, u)
	b.Raw("inference_geo", null)
	switch tier {
	case "default", "standard":
		b.String("service_tier", "standard")
	case "priority", "batch":
		b.String("service_tier", tier)
	default:
		b.Raw("service_tier", null)
	}
	b.Raw("speed", null)
	b.Close('}')
}

func appendCounts(b *jsonappend.Buffer, u meter.Usage) {
	b.Int("input_tokens", u.Input+u.Image+u.AudioInput)
	b.Int("cache_creation_input_tokens", u.CacheWrite5m+u.CacheWrite1h)
	b.Int("cache_read_input_tokens", u.CachedRead)
	b.Name("cache_creation")
	b.Open('{')
	b.Int("ephemeral_5m_input_tokens", u.CacheWrite5m)
	b.Int("ephemeral_1h_input_tokens", u.CacheWrite1h)
	b.Close('}')
	b.Int("output_tokens", u.OutputTotal())
	b.Name("output_tokens_details")
	b.Open('{')
	b.Int("thinking_tokens", u.Reasoning)
	b.Close('}')
	b.Raw("server_tool_use", null)
}
