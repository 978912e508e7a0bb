// Package meter owns what a request used, normalised over all providers, and
// what that costs. It knows nothing of formats: codecs fill a Usage.
package meter

import "github.com/signalbox-dev/signalbox/shared/money"

// BytesPerToken estimates the tokens of a text, or of a request, of which
// nothing but its size is looked at.
const BytesPerToken = 4

// Usage counts what one reply used. The meters do not overlap: Input leaves
// out cached reads and cache writes, Output leaves out reasoning, and neither
// holds audio or image tokens. Providers that report overlapping counts are
// taken apart by their codec.
type Usage struct {
	Input        int64 `json:"input"`
	CachedRead   int64 `json:"cached_read,omitempty"`
	CacheWrite5m int64 `json:"cache_write_5m,omitempty"`
	CacheWrite1h int64 `json:"cache_write_1h,omitempty"`
	Output       int64 `json:"output"`
	Reasoning    int64 `json:"reasoning,omitempty"`
	Image        int64 `json:"image,omitempty"`
	AudioInput   int64 `json:"audio_input,omitempty"`
	AudioOutput  int64 `json:"audio_output,omitempty"`

	// Estimated says that the provider reported nothing and a tokenizer, or
	// the size of the text, was used instead.
	Estimated bool `json:"estimated,omitempty"`
}

// InputTotal is every input token, cached or not.
func (u Usage) InputTotal() int64 {
	return u.Input + u.CachedRead + u.CacheWrite5m + u.CacheWrite1h + u.Image + u.AudioInput
}

// OutputTotal is every output token, reasoning and audio included.
func (u Usage) OutputTotal() int64 { return u.Output + u.Reasoning + u.AudioOutput }

// IsZero reports whether nothing was used.
func (u Usage) IsZero() bool { u.Estimated = false; return u == Usage{} }

// Line is one meter's part of a cost.
type Line struct {
	Meter string           `json:"meter"` // input, cached_read, cache_write_5m, cache_write_1h, output, reasoning, image, audio, request
	Units int64            `json:"units"`
	Price money.PerMillion `json:"price"` // nano-USD per million units; for request, per million requests
	Cost  money.Nanos      `json:"cost"`
}

// Cost is a bill: its lines and their sum.
type Cost struct {
	Lines []Line      `json:"lines,omitempty"`
	Total money.Nanos `json:"total"`
	// Unpriced says that a used meter had no price, so that the total is a
	// lower bound.
	Unpriced bool `json:"unpriced,omitempty"`
}
