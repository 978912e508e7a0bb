// Package messages owns the format of Anthropic's Messages API, both ways: as
// callers write it, and as upstreams that speak it do. It knows no transport,
// no provider and no other format.
//
// https://docs.anthropic.com/en/api/messages and
// https://docs.anthropic.com/en/docs/build-with-claude/streaming
//
// What of a request goes over into other formats in another shape:
//
//   - a tool that Anthropic runs itself (web search, code execution, MCP) is a
//     Builtin, which other formats degrade. Its calls and results in the history
//     become a call and a result as of any tool, so that they are told apart
//     from what the model said; a call whose result is not there yet becomes text.
//   - a document made of text blocks is one text, one with images is its parts;
//     its context, and a search result's source, are text in front of it.
//   - a cache mark on the whole request is one on its last part.
//   - the positions of citations inside a document have no neutral form, and
//     citations in the history are not repeated to an upstream, which would not
//     take them without its own encrypted index.
//
// Towards upstreams, instructions stand in front of the conversation wherever
// they stood, results in front of what else a turn says, and turns of one role
// are one. A conversation of instructions alone is sent as the user's.
package messages

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
)

// Codec implements dialect.Codec.
type Codec struct{}

// New returns the codec.
func New() Codec { return Codec{} }

var _ dialect.Codec = Codec{}

const home = conversation.Anthropic

// The values of "type".
const (
	typeText     = "text"
	typeThinking = "thinking"
	typeRedacted = "redacted_thinking"
	typeToolUse  = "tool_use"
)
