package upstream

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
)

// format is one way in which upstreams are asked for a conversation: a
// provider of the simulator's catalog, and what its models are called there.
type format struct {
	provider string
	prefix   string // of the upstream's names, which tells formats and families apart
	surfaces string // those that the provider's type does not imply
}

// formats are all of them, by the word that names them in a model's id.
var formats = map[string]format{
	"compatible":       {provider: simulator.Provider},
	"openai-chat":      {provider: simulator.AtOpenAI, prefix: "gpt-chat-", surfaces: "chat"},
	"openai-responses": {provider: simulator.AtOpenAI, prefix: "gpt-responses-", surfaces: "responses"},
	"azure":            {provider: simulator.AtAzure, prefix: "gpt-azure-", surfaces: "chat"},
	"anthropic":        {provider: simulator.AtAnthropic, prefix: "claude-"},
	"bedrock":          {provider: simulator.AtBedrock, prefix: "anthropic.claude-"},
	"google":           {provider: simulator.AtGoogle, prefix: "gemini-3-"},
	"vertex":           {provider: simulator.AtVertex, prefix: "gemini-3-vertex-"},
	"vertex-claude":    {provider: simulator.AtVertex, prefix: "claude-vertex-"},
}

// Formats are the words for the formats that upstreams speak, sorted.
func Formats() []string { return slices.Sorted(maps.Keys(formats)) }

// Via returns the id of the model name at the upstream of a format. Its only
// endpoint is there.
func Via(word, name string) string { return "via-" + word + "/" + name }

// Simulated is the catalog.yaml of the simulator's own providers and models,
// all of them at North, with their keys.
func (p Pair) Simulated() string {
	keys := simulator.Keys(p.North.URL)
	return simulator.CatalogWithKeys(p.North.URL, func(slug string) string { return keys[slug] })
}

// Everywhere is a catalog.yaml over Simulated. It has each name once for every
// format, as Via says; a name may ask for a fault, as the simulator's models do.
func (Pair) Everywhere(names ...string) string {
	var b strings.Builder
	b.WriteString("models:\n")
	for _, word := range Formats() {
		f := formats[word]
		surfaces := ""
		if f.surfaces != "" {
			surfaces = ", surfaces: [" + f.surfaces + "]"
		}
		for _, name := range names {
			fmt.Fprintf(&b, "  - id: %s\n    context: 128000\n    max_output: 16384\n", Via(word, name))
			b.WriteString("    capabilities: [tools, structured_output, reasoning, vision]\n    input_modalities: [text, image, file, audio]\n")
			fmt.Fprintf(&b, "    endpoints:\n      - {provider: %s, upstream_model: %q, price: {input: \"1\", output: \"4\"}%s}\n",
				f.provider, f.prefix+name, surfaces)
		}
	}
	return b.String()
}
