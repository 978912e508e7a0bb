package simulator

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The slugs under which the catalog lists the simulator. All are the same
// server: the second stands for another company, so that a fallback can be
// seen, and the others for the companies whose APIs they have.
const (
	Provider    = "sim"
	Backup      = "sim-backup"
	AtOpenAI    = "sim-openai"
	AtAnthropic = "sim-anthropic"
	AtGoogle    = "sim-google"
	AtAzure     = "sim-azure"
	AtVertex    = "sim-vertex"
	AtBedrock   = "sim-bedrock"
)

// providerEntry is one provider. One without a path is at the base URL itself.
type providerEntry struct {
	slug, name, kind, path string
	more                   string // members that only its type has
	key                    func(root string) string
}

func providers() []providerEntry {
	fixed := func(key string) func(string) string { return func(string) string { return key } }
	return []providerEntry{
		{slug: Provider, name: "Simulated provider", kind: "openai-compatible"},
		{slug: Backup, name: "Simulated backup provider", kind: "openai-compatible"},
		{slug: AtOpenAI, name: "Simulated OpenAI", kind: "openai", path: "/as-openai/v1", key: fixed(OpenAIKey)},
		{slug: AtAnthropic, name: "Simulated Anthropic", kind: "anthropic", path: "/as-anthropic", key: fixed(AnthropicKey)},
		{slug: AtGoogle, name: "Simulated Google", kind: "google", path: "/as-google", key: fixed(GoogleKey)},
		{slug: AtAzure, name: "Simulated Azure", kind: "azure", path: "/as-azure", key: fixed(AzureKey)},
		{
			slug: AtVertex, name: "Simulated Vertex", kind: "vertex", path: "/as-vertex", more: "project: " + GoogleProject + "\n    location: global",
			key: func(root string) string { return ServiceAccount(root + "/as-vertex/token") },
		},
		{
			slug: AtBedrock, name: "Simulated Bedrock", kind: "bedrock", path: "/as-bedrock", more: "location: us-east-1",
			key: fixed(string(obj("access_key_id", AWSAccessKeyID, "secret_access_key", AWSSecretAccessKey, "session_token", AWSSessionToken))),
		},
	}
}

// modelEntry is one model that the simulator offers by name; it answers any
// other name as well.
type modelEntry struct {
	id        string // canonical
	caps      string
	more      string // members of models that are not for conversations
	endpoints []endpointEntry
}

type endpointEntry struct {
	provider string
	upstream string
	input    string // USD per million tokens
	output   string
	surfaces string // those that the model does not imply
}

func offered() []modelEntry {
	const basic, rich = "tools, structured_output", "tools, structured_output, reasoning, vision"
	return []modelEntry{
		{id: "signalbox-sim/small", caps: basic, endpoints: alone("small", "0.10", "0.40")},
		{id: "signalbox-sim/large", caps: rich, endpoints: []endpointEntry{
			{provider: Provider, upstream: "large", input: "1.00", output: "4.00"}, {provider: Backup, upstream: "large", input: "1.20", output: "4.80"},
		}},
		{id: "signalbox-sim/slow", caps: basic, endpoints: alone("slow-fault-latency-800ms-tps-20", "6.00", "24.00")},
		{id: "signalbox-sim/flaky", caps: basic, endpoints: []endpointEntry{
			{provider: Provider, upstream: "flaky-fault-status-503", input: "6.00", output: "24.00"},
			{provider: Backup, upstream: "flaky", input: "9.00", output: "36.00"},
		}},
		{id: "signalbox-sim/limited", caps: basic, endpoints: alone("limited-fault-status-429-retry-7", "6.00", "24.00")},
		{id: "signalbox-sim/cut", caps: basic, endpoints: alone("cut-fault-cut-5", "6.00", "24.00")},
		{id: "signalbox-sim/reason", caps: rich, endpoints: alone("reason", "0.50", "2.00")},
		{id: "signalbox-sim/claude", caps: rich, endpoints: []endpointEntry{
			{provider: AtAnthropic, upstream: "claude-sim-4-5", input: "3.00", output: "15.00"},
			{provider: AtBedrock, upstream: "anthropic.claude-sim-4-5-v1:0", input: "3.10", output: "15.50"},
			{provider: AtVertex, upstream: "claude-sim-4-5@20260101", input: "3.20", output: "16.00"},
		}},
		{id: "signalbox-sim/gemini", caps: rich, endpoints: []endpointEntry{
			{provider: AtGoogle, upstream: "gemini-sim-1", input: "1.25", output: "10.00"},
			{provider: AtVertex, upstream: "gemini-sim-1", input: "1.30", output: "10.40"},
		}},
		{id: "signalbox-sim/gpt", caps: rich, endpoints: []endpointEntry{
			{provider: AtOpenAI, upstream: "gpt-sim-1", input: "1.25", output: "10.00", surfaces: "chat, responses, batches, files"},
			{provider: AtAzure, upstream: "gpt-sim-1", input: "1.30", output: "10.40", surfaces: "chat, responses"},
		}},
		{id: "signalbox-sim/instruct", caps: basic, endpoints: []endpointEntry{
			{provider: Provider, upstream: "instruct", input: "0.10", output: "0.40", surfaces: "chat, completions, batches, files"},
		}},
		special("embed", "text", "embedding", "embeddings"),
		special("image", "text, image", "image", "images, image_edits"),
		special("voice", "text", "audio", "speech"),
		special("scribe", "audio", "text", "transcriptions, translations"),
		special("video", "text, image", "video", "videos"),
		special("song", "text", "audio", "music"),
		special("rerank", "text", "", "rerank"),
		special("ocr", "file, image", "text", "ocr, parse"),
		special("moderate", "text, image", "", "moderations"),
		special("decide", "text", "text", "decisions"),
		special("realtime", "text, audio", "text, audio", "realtime"),
	}
}

// alone is the one endpoint of a model.
func alone(upstream, input, output string) []endpointEntry {
	return []endpointEntry{{provider: Provider, upstream: upstream, input: input, output: output}}
}

// special is a model that is for one thing. Its name is the upstream's.
func special(name, input, output, surfaces string) modelEntry {
	more := "    input_modalities: [" + input + "]\n"
	if output != "" {
		more += "    output_modalities: [" + output + "]\n"
	}
	return modelEntry{id: "signalbox-sim/" + name, more: more, endpoints: []endpointEntry{
		{provider: Provider, upstream: name, input: "0.50", output: "1.00", surfaces: surfaces},
	}}
}

// Catalog returns a catalog.yaml that lists the simulator at baseURL, such as
// http://127.0.0.1:9101/v1, as providers without a key. Vertex is not among
// them: it has no calls without a credential.
func Catalog(baseURL string) string { return CatalogWithKeys(baseURL, nil) }

// CatalogWithKeys is Catalog with the keys of all providers that take one.
// The key of a provider is written as named returns it, which may be a
// reference such as ${NAME} to what Keys has for it.
func CatalogWithKeys(baseURL string, named func(slug string) string) string {
	root := strings.TrimSuffix(baseURL, "/v1")
	var b strings.Builder
	b.WriteString("providers:\n")
	for _, p := range providers() {
		url, access := baseURL, "keyless: true"
		switch {
		case p.slug == AtVertex && named == nil:
			continue
		case p.key != nil && named == nil:
			url = root + "/" + keylessPrefix + p.path
		case p.key != nil:
			url, access = root+p.path, "api_key: "+string(encoded(named(p.slug)))
		}
		fmt.Fprintf(&b, "  - slug: %s\n    name: %s\n    type: %s\n    base_url: %s\n    %s\n", p.slug, p.name, p.kind, url, access)
		if p.more != "" {
			fmt.Fprintf(&b, "    %s\n", p.more)
		}
		b.WriteString("    data_policy: {trains: false, retains: false, zero_data_retention: true}\n")
	}
	b.WriteString("models:\n")
	for _, m := range offered() {
		fmt.Fprintf(&b, "  - id: %s\n    context: 128000\n    max_output: 16384\n    capabilities: [%s]\n%s    endpoints:\n", m.id, m.caps, m.more)
		for _, e := range m.endpoints {
			if e.provider == AtVertex && named == nil {
				continue
			}
			surfaces := ""
			if e.surfaces != "" {
				surfaces = ", surfaces: [" + e.surfaces + "]"
			}
			fmt.Fprintf(&b, "      - {provider: %s, upstream_model: %q, price: {input: %q, output: %q}%s}\n", e.provider, e.upstream, e.input, e.output, surfaces)
		}
	}
	return b.String()
}

// Keys are the credentials of the providers of CatalogWithKeys, by slug.
func Keys(baseURL string) map[string]string {
	out := map[string]string{}
	for _, p := range providers() {
		if p.key != nil {
			out[p.slug] = p.key(strings.TrimSuffix(baseURL, "/v1"))
		}
	}
	return out
}

// modelList answers GET /v1/models.
func modelList() json.RawMessage {
	var data []json.RawMessage
	for _, m := range offered() {
		name := m.endpoints[0].upstream
		data = append(data, obj("id", name, "object", "model", "created", 1767225600, "owned_by", "signalbox"))
	}
	return obj("object", "list", "data", data)
}

// claudeList and geminiList are the same of those APIs, cut to one model: what
// is asked of them is whether the key is good.
func claudeList() json.RawMessage {
	return obj("data", []any{obj("type", "model", "id", "claude-sim-1", "display_name", "Claude Sim", "created_at", "2026-01-01T00:00:00Z")},
		"has_more", true, "first_id", "claude-sim-1", "last_id", "claude-sim-1")
}

func geminiList() json.RawMessage {
	return obj("models", []any{obj("name", "models/gemini-sim-1", "displayName", "Gemini Sim")}, "nextPageToken", "next")
}
