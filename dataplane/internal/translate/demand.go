package translate

import (
	"maps"
	"net/http"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/gemini"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
)

const (
	headerVersion = "Anthropic-Version"
	// anthropicVersion is the only version of Anthropic's API since 2023
	// (https://docs.anthropic.com/en/api/versioning).
	anthropicVersion = "2023-06-01"
	// vertexVersion takes the model's place in a body for Vertex
	// (https://docs.anthropic.com/en/api/claude-on-vertex-ai).
	vertexVersion = `"anthropic_version":"vertex-2023-10-16"`
)

// demanded are the headers that a format must have and the caller did not
// send. Vertex has the version in the body, and nowhere else.
func demanded(spoken format, to decide.Candidate, caller http.Header) http.Header {
	if spoken != messagesFormat || len(caller[headerVersion]) > 0 || isVertexClaude(to) {
		return nil
	}
	return http.Header{headerVersion: {anthropicVersion}}
}

// carried are the caller's headers that go on to a candidate.
func carried(to decide.Candidate, caller http.Header) http.Header {
	if !isVertexClaude(to) || len(caller[headerVersion]) == 0 {
		return caller
	}
	out := maps.Clone(caller)
	delete(out, headerVersion)
	return out
}

func isVertexClaude(to decide.Candidate) bool {
	return to.Provider.Type == catalog.Vertex && isClaude(to.Endpoint.UpstreamModel)
}

// passEdits says what becomes of a body that stays in its format.
func passEdits(c *call.Call, to decide.Candidate, own format) *edits {
	want := &edits{model: to.Endpoint.UpstreamModel, provider: to.Provider.Slug}
	if mayBeForeign(c.Body, own) {
		want.foreign = own
	}
	want.strict = isOpenAI(to.Provider) // the only formats that they are asked in are theirs
	switch own {
	case chatFormat:
		quirks := quirksOf(to.Provider)
		want.usage = c.Request.Stream && !quirks.NoStreamUsage
		want.rename = tokenLimit(quirks)
		if quirks.SystemRole == "system" {
			want.role = [2]string{"developer", "system"}
		}
	case messagesFormat:
		want.userOnly = true
		want.unthink = want.foreign == own && goesOnForeign(c.Body)
		if isVertexClaude(to) {
			want.model, want.drop, want.add = "", []string{"model"}, vertexVersion
		}
	case geminiFormat:
		// The model and the kind of reply stand in the path.
		want.model, want.drop = "", []string{"model", "stream", "metadata"}
		want.noIDs = to.Provider.Type == catalog.Vertex
		want.proofs = gemini.DemandsProof(to.Endpoint.UpstreamModel)
	default:
	}
	return want
}

// isOpenAI reports a provider whose chat knows OpenAI's own members of messages
// and refuses any other. The many that copied the format differ in that, and get
// what the caller wrote.
func isOpenAI(p *catalog.Provider) bool { return p.Type == catalog.OpenAI || p.Type == catalog.Azure }

// tokenLimit renames the limit on the output to what the provider calls it.
func tokenLimit(q dialect.Quirks) [2]string {
	switch q.TokenLimit {
	case "max_tokens":
		return [2]string{"max_completion_tokens", "max_tokens"}
	case "max_completion_tokens":
		return [2]string{"max_tokens", "max_completion_tokens"}
	}
	return [2]string{}
}

// quirksOf are a provider's quirks as codecs know them.
func quirksOf(p *catalog.Provider) dialect.Quirks {
	q := p.Quirks
	if q == nil {
		return dialect.Quirks{}
	}
	return dialect.Quirks{
		TokenLimit: q.TokenLimit, SystemRole: q.SystemRole, ReasoningField: q.ReasoningField,
		NoStreamUsage: q.StreamUsage != nil && !*q.StreamUsage,
		CacheControl:  q.CacheControl != nil && *q.CacheControl,
	}
}

// targetOf is the candidate as codecs know it.
func targetOf(to decide.Candidate) dialect.Target {
	return dialect.Target{
		Model: to.Endpoint.UpstreamModel, Quirks: quirksOf(to.Provider), MaxOutput: to.Endpoint.MaxOutput,
		NoCallIDs: to.Provider.Type == catalog.Vertex,
	}
}
