package simulator

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The slugs under which Catalog lists the simulator. Both are the same server:
// the second stands for another company, so that a fallback can be seen.
const (
	Provider = "sim"
	Backup   = "sim-backup"
)

// modelEntry is one model that the simulator offers by name; it answers any
// other name as well.
type modelEntry struct {
	id        string // canonical
	caps      string
	endpoints []endpointEntry
}

type endpointEntry struct {
	provider string
	upstream string
	input    string // USD per million tokens
	output   string
}

func offered() []modelEntry {
	const basic, rich = "tools, structured_output", "tools, structured_output, reasoning, vision"
	return []modelEntry{
		{"signalbox-sim/small", basic, []endpointEntry{{Provider, "small", "0.10", "0.40"}}},
		{"signalbox-sim/large", rich, []endpointEntry{
			{Provider, "large", "1.00", "4.00"}, {Backup, "large", "1.20", "4.80"},
		}},
		{"signalbox-sim/slow", basic, []endpointEntry{{Provider, "slow-fault-latency-800ms-tps-20", "0.05", "0.20"}}},
		{"signalbox-sim/flaky", basic, []endpointEntry{
			{Provider, "flaky-fault-status-503", "0.01", "0.04"}, {Backup, "flaky", "2.00", "8.00"},
		}},
		{"signalbox-sim/limited", basic, []endpointEntry{{Provider, "limited-fault-status-429-retry-7", "0.01", "0.04"}}},
		{"signalbox-sim/cut", basic, []endpointEntry{{Provider, "cut-fault-cut-5", "0.01", "0.04"}}},
	}
}

// Catalog returns a catalog.yaml that lists the simulator at baseURL, such as
// http://127.0.0.1:9101/v1, as providers without a key.
func Catalog(baseURL string) string {
	var b strings.Builder
	b.WriteString("providers:\n")
	for _, p := range []struct{ slug, name string }{{Provider, "Simulated provider"}, {Backup, "Simulated backup provider"}} {
		fmt.Fprintf(&b, "  - slug: %s\n    name: %s\n    type: openai-compatible\n    base_url: %s\n    keyless: true\n", p.slug, p.name, baseURL)
		b.WriteString("    data_policy: {trains: false, retains: false, zero_data_retention: true}\n")
	}
	b.WriteString("models:\n")
	for _, m := range offered() {
		fmt.Fprintf(&b, "  - id: %s\n    context: 128000\n    max_output: 16384\n    capabilities: [%s]\n    endpoints:\n", m.id, m.caps)
		for _, e := range m.endpoints {
			fmt.Fprintf(&b, "      - {provider: %s, upstream_model: %s, price: {input: %q, output: %q}}\n", e.provider, e.upstream, e.input, e.output)
		}
	}
	return b.String()
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
