package chat

import (
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

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
