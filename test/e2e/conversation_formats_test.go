//go:build e2e

package e2e_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

// spoken is a format of upstreams, and what differs between them for callers.
type spoken struct {
	word      string
	provider  string
	path      string // a pattern of its requests'
	thoughts  bool   // it shows them
	asked     bool   // when it is asked to
	proof     string // the member of its requests that proves them
	reasoning bool   // it counts them in its usage
	serial    bool   // it can be told to call one tool at a time
	stops     bool   // it has stop sequences
	mute      bool   // a refusal has no words
}

func (s spoken) model(name string) string { return upstream.Via(s.word, name) }

func spokenFormats() []spoken {
	const claude, gemini = `"signature"`, `"thoughtSignature"`
	return []spoken{
		{word: "compatible", provider: simulator.Provider, path: "^/v1/", thoughts: true, reasoning: true, serial: true, stops: true},
		{word: "openai-chat", provider: simulator.AtOpenAI, path: "/as-openai/v1/chat/", reasoning: true, serial: true, stops: true},
		{
			word: "openai-responses", provider: simulator.AtOpenAI, path: "/as-openai/v1/responses", thoughts: true, asked: true,
			proof: `"encrypted_content"`, reasoning: true, serial: true,
		},
		{word: "azure", provider: simulator.AtAzure, path: "/as-azure/", reasoning: true, serial: true, stops: true},
		{word: "anthropic", provider: simulator.AtAnthropic, path: "/as-anthropic/", thoughts: true, asked: true, proof: claude, serial: true, stops: true},
		{word: "bedrock", provider: simulator.AtBedrock, path: "/as-bedrock/", thoughts: true, asked: true, proof: claude, serial: true, stops: true},
		{
			word: "google", provider: simulator.AtGoogle, path: "/as-google/", thoughts: true, asked: true, proof: gemini,
			reasoning: true, stops: true, mute: true,
		},
		{
			word: "vertex", provider: simulator.AtVertex, path: "/publishers/google/", thoughts: true, asked: true, proof: gemini,
			reasoning: true, stops: true, mute: true,
		},
		{word: "vertex-claude", provider: simulator.AtVertex, path: "/publishers/anthropic/", thoughts: true, asked: true, proof: claude, serial: true, stops: true},
	}
}

// TestEveryUpstreamFormatIsSpoken keeps the table above whole.
func TestEveryUpstreamFormatIsSpoken(t *testing.T) {
	words := make([]string, 0, len(upstream.Formats()))
	for _, s := range spokenFormats() {
		words = append(words, s.word)
	}
	require.ElementsMatch(t, upstream.Formats(), words)
}

// received are the requests for a model that reached the upstream of a format.
func (s spoken) received(p *harness.Platform, name string) []simulator.Request {
	var out []simulator.Request
	for _, r := range p.North.Requests() {
		if strings.HasSuffix(r.Model, name) && regexp.MustCompile(s.path).MatchString(r.Path) {
			out = append(out, r)
		}
	}
	return out
}
