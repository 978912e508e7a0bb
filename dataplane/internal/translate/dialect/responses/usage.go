package responses

import (
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

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
