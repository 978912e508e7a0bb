package meter

import "github.com/signalbox-dev/signalbox/shared/jsonappend"

// AppendJSON writes u as encoding/json would. Every request does it.
func (u *Usage) AppendJSON(b *jsonappend.Buffer) {
	b.Open('{')
	b.Int("input", u.Input)
	b.IntIf("cached_read", u.CachedRead)
	b.IntIf("cache_write_5m", u.CacheWrite5m)
	b.IntIf("cache_write_1h", u.CacheWrite1h)
	b.Int("output", u.Output)
	b.IntIf("reasoning", u.Reasoning)
	b.IntIf("image", u.Image)
	b.IntIf("audio_input", u.AudioInput)
	b.IntIf("audio_output", u.AudioOutput)
	b.BoolIf("estimated", u.Estimated)
	b.Close('}')
}

// AppendJSON writes c as encoding/json would.
func (c *Cost) AppendJSON(b *jsonappend.Buffer) {
	b.Open('{')
	if len(c.Lines) > 0 {
		b.Name("lines")
		b.Open('[')
		for i := range c.Lines {
			l := &c.Lines[i]
			b.Next()
			b.Open('{')
			b.String("meter", l.Meter)
			b.Int("units", l.Units)
			b.Int("price", int64(l.Price))
			b.Int("cost", int64(l.Cost))
			b.Close('}')
		}
		b.Close(']')
	}
	b.Int("total", int64(c.Total))
	b.BoolIf("unpriced", c.Unpriced)
	b.Close('}')
}
