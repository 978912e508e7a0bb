// Package chat owns the wire format of OpenAI's chat completions
// (https://platform.openai.com/docs/api-reference/chat), both ways, with what
// the many providers that copied it add or spell otherwise: thoughts as
// reasoning_content or as OpenRouter's reasoning_details, content in parts,
// images in replies, cache marks on content parts. It also watches answers of
// the legacy completions, whose choices hold "text". It knows no other format,
// no provider by name and no transport.
package chat

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
)

// Codec is the format. It implements dialect.Codec.
type Codec struct{}

var _ dialect.Codec = Codec{}

// New returns the codec.
func New() Codec { return Codec{} }

// Observe implements dialect.Codec: the caller did not ask for usage.
func (Codec) Observe() dialect.Observer { return NewObserver(false) }

// DecodeStream implements dialect.Codec.
func (Codec) DecodeStream() dialect.StreamDecoder { return &streamReader{} }

// EncodeStream implements dialect.Codec.
func (Codec) EncodeStream(as dialect.Told) dialect.StreamEncoder { return newStreamWriter(as) }

// home is the family whose proofs need no mark in this format.
const home = conversation.OpenAI

// MaxStops is how many stop sequences the format takes.
const MaxStops = 4
