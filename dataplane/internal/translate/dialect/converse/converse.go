// Package converse owns the format of Amazon Bedrock's Converse API, the
// upstream's half of it: requests are written, replies and streams are read. It
// knows no transport, no signature and no other format. The model is named in
// the path, and so is not in the body.
//
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
// and API_runtime_ConverseStream.html beside it
//
// The API has one form for all models; what a model has of its own is said in
// additionalModelRequestFields, by the name of its maker in the model's id:
// thinking, top_k, one call at a time and no calls at all for Claude, topK for
// Nova. An id that does not tell, such as that of an application inference
// profile, has none of it.
//
// There is no word for "call no tool". Claude is told in its own; for others
// the tools are left out, unless the history has calls, which the API takes
// only beside tools: then they stay and the choice is degraded. Calls in the
// history whose tools are not defined any more get definitions without
// parameters for the same reason.
package converse

import (
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/claude"
)

// Codec is the upstream's half of a dialect.Codec.
type Codec struct{}

// New returns the codec.
func New() Codec { return Codec{} }

// home is the family whose proofs of thoughts the format carries: with a
// signature only Claude's are taken back.
const home = conversation.Anthropic

// maker is what the model's id tells of its maker.
type maker struct {
	claude, nova bool
	version      claude.Version
}

func makerOf(model string) maker {
	model = strings.ToLower(model)
	return maker{
		claude:  strings.Contains(model, "anthropic.") || strings.Contains(model, "claude"),
		nova:    strings.Contains(model, "amazon.nova"),
		version: claude.VersionOf(model),
	}
}

// caches reports that the model takes cache marks.
func (m maker) caches() bool { return m.claude || m.nova }
