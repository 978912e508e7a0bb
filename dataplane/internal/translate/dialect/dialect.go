// Package dialect owns what the codecs of all wire formats have in common: the
// contract of a codec, what it is told about the two sides, and the way in
// which it reports what it could not carry. Each format is a package beneath
// it and knows no other; the conformance suite is in dialecttest.
package dialect

import (
	"encoding/json"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// Codec is a wire format that both callers and upstreams speak. Implementations
// have no state.
type Codec interface {
	Caller
	Upstream
	// Observe reads an answer that passes as it is.
	Observe() Observer
}

// Caller is a wire format as callers speak it.
type Caller interface {
	// DecodeRequest reads a caller's body, whose JSON is known to be sound.
	// Every member that is wrong is listed with its path.
	DecodeRequest(body []byte) (*conversation.Request, []fault.Violation)
	// EncodeReply writes a complete answer.
	EncodeReply(r *conversation.Reply, as Told) []byte
	// EncodeStream writes one streamed answer.
	EncodeStream(as Told) StreamEncoder
}

// Upstream is a wire format as upstreams speak it.
type Upstream interface {
	// EncodeRequest writes a body. The error is a *Unable: the content of the
	// conversation cannot be said in this format.
	EncodeRequest(r *conversation.Request, to Target) (Encoded, error)
	// DecodeReply reads a complete answer.
	DecodeReply(body []byte) (*conversation.Reply, *upstream.Failure)
	// DecodeStream reads one streamed answer.
	DecodeStream() StreamDecoder
}

// Target is the upstream that a request is written for.
type Target struct {
	Model  string // as the upstream names it
	Quirks Quirks
	// MaxOutput is the most tokens that the endpoint puts out, 0 unknown: what
	// formats that demand a limit are given when the caller set none.
	MaxOutput int64
	// NoCallIDs is true where calls and results may have no ids and go by their
	// name and order: Vertex refuses ids in the Gemini format.
	NoCallIDs bool
}

// Quirks are the spellings in which providers of one format differ. The zero
// value is the format as its inventor has it.
type Quirks struct {
	TokenLimit     string // the member that limits the output: max_completion_tokens or max_tokens
	SystemRole     string // of instructions: system or developer
	NoStreamUsage  bool   // refuses stream_options
	CacheControl   bool   // parts of content may carry Anthropic's cache_control
	ReasoningField string // of thoughts in a reply: reasoning_content or reasoning
}

// Encoded is a request's body, and what of the request is not in it.
type Encoded struct {
	Body []byte
	// Degraded lists the paths, in the neutral request's own terms ("seed",
	// "tools.0.strict"), that this format has no place for. Sorted.
	Degraded []string
}

// Unable says that content has no form in a format. It is never dropped.
type Unable struct{ What string } // "an image by URL in messages.3"

// Error implements error.
func (u *Unable) Error() string { return "the format cannot carry " + u.What }

// Told is what a caller hears of the reply besides its content.
type Told struct {
	Model   string // the canonical id
	ID      string // the request's id, for formats whose replies have ids: a codec adds its own prefix
	Created time.Time
	Usage   bool // chat streams: the caller asked for the usage chunk
	// Format is "text.format" of a request to Responses, in one line; replies
	// repeat it, and LangChain's client reads structured output only where they
	// do. nil: it said nothing.
	Format json.RawMessage
}

// StreamDecoder reads the events of one upstream stream. One goroutine uses it.
type StreamDecoder interface {
	// Decode appends what an event means to out. What cannot be read is an
	// error of the event alone: ErrMalformed.
	Decode(e sse.Event, out []conversation.Event) ([]conversation.Event, *upstream.Failure, error)
	// End appends what was still open, once, after the last event; the failure
	// says that the stream was cut.
	End(out []conversation.Event) ([]conversation.Event, *upstream.Failure)
	// Done reports that the terminal marker, or what means it, was seen.
	Done() bool
}

// StreamEncoder writes the events of one stream for a caller. One goroutine
// uses it.
type StreamEncoder interface {
	// Encode appends the wire form of an event to dst: whole server-sent events,
	// or nothing.
	Encode(dst []byte, e *conversation.Event) []byte
	// End appends what ends a complete stream, the terminal marker included.
	End(dst []byte) []byte
}

// Observer watches an answer that passes from an upstream to a caller of the
// same format. One goroutine uses it.
type Observer interface {
	// Event looks at an event's data, which is not empty. The error is
	// ErrMalformed.
	Event(name, data []byte) (Sight, error)
	// Whole looks at a complete answer.
	Whole(body []byte) (Sight, error)
	// Seen is what was seen so far. Usage that was not reported is left zero,
	// with Known false.
	Seen() Seen
	// Terminal is what the upstream left out of a stream whose finish reason
	// came: "data: [DONE]\n\n", or nothing where the format needs no more. The
	// second result is false when the stream was cut.
	Terminal() ([]byte, bool)
}

// Sight is one look at passing JSON.
type Sight struct {
	Models  []Span            // where the model's name stands, to be replaced; spans of whole JSON strings
	Cut     Span              // of an event: a member, with its comma, that the caller did not ask for; none when empty
	Drop    bool              // the caller did not ask for this event
	Content bool              // text, reasoning, a tool call, a refusal or a finish reason
	Last    bool              // the terminal event
	Failure *upstream.Failure // the answer is an error
}

// Span is a range of bytes.
type Span struct{ Start, End int }

// Seen is what an Observer saw.
type Seen struct {
	Usage       conversation.Usage
	ServedModel string
	Finished    bool
	Output      bool  // text or a tool call
	Tokens      int64 // estimate of what came out
}

// ErrMalformed says that JSON is not of the format at all.
var ErrMalformed = malformed{}

type malformed struct{}

// Error implements error.
func (malformed) Error() string { return "not one sound JSON object of the format" }
