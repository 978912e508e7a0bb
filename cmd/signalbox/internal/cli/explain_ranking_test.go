package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/classify"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

var update = flag.Bool("update", false, "rewrite golden files")

type measuredHealth map[string]decide.EndpointHealth

func (m measuredHealth) Endpoint(id string) decide.EndpointHealth { return m[id] }

func (measuredHealth) Credential(id.Credential) decide.CredentialHealth {
	return decide.CredentialHealth{}
}

// TestExplainedRanking tells decisions of the real kernel.
func TestExplainedRanking(t *testing.T) {
	health := measuredHealth{
		"north:acme/small": {
			Calls: 940, Success: 0.985, FirstByte: 620 * time.Millisecond, FirstByteP95: 1900 * time.Millisecond, Throughput: 71.4,
			InputTokens: 2310, OutputTokens: 412, CacheHit: 0.37, Recent: 60, Errors: 0.15, RateLimited: 0.05,
		},
		"south:acme/small": {Calls: 1200, Success: 0.998, FirstByte: 410 * time.Millisecond, Throughput: 90, InputTokens: 2500, OutputTokens: 380},
		"west:acme/small":  {Open: true},
	}
	cases := map[string]decide.Input{
		"balanced":   {Facts: decide.Facts{Model: "acme/small", Models: []string{"acme/big"}, InputTokens: 900}},
		"price":      {Facts: decide.Facts{Model: "acme/small:cheap", InputTokens: 900}},
		"latency":    {Facts: decide.Facts{Model: "acme/small", Provider: decide.Preferences{Sort: policy.Latency, Order: []string{"east"}}}},
		"embeddings": {Facts: decide.Facts{Model: "acme/vec", Surface: catalog.Embeddings, InputTokens: 900}},
		"auto": {
			Facts: decide.Facts{Model: "signalbox/auto", InputTokens: 900},
			Classification: &decide.Classification{
				Result: classify.Local(classify.Text{Last: "Fix the bug in this Go function: func add(a, b int) int { return a - b }"}),
				Source: decide.ByRules, Why: decide.LocalTimeout,
			},
		},
		"conversation": {
			Facts: decide.Facts{Model: "acme/small", InputTokens: 900},
			Conversation: decide.Conversation{
				Source: decide.FromSession, Sure: true, Pins: []decide.Pin{{Model: "acme/small", Provider: "east", Endpoint: "east:acme/small"}},
			},
		},
	}
	for name, in := range cases {
		t.Run(name, func(t *testing.T) {
			record := decided(t, health, in)
			var out bytes.Buffer
			body, err := record.Encode()
			require.NoError(t, err)
			require.NoError(t, explain(&out, client.LogDetail{ID: "req_1", Surface: "chat", Status: 200, Outcome: "success", CostUsd: "0", Decision: body}))
			golden(t, name, out.Bytes())
			for _, line := range bytes.Split(out.Bytes(), []byte("\n")) {
				require.LessOrEqual(t, len([]rune(string(line))), 140, "too wide for a terminal: %s", line)
			}
		})
	}
}

func TestRecordsOfFormerVersionsAreTold(t *testing.T) {
	body := `{"requested_model":"acme/small","candidates":[{"model":"acme/small","endpoint":"north:acme/small","provider":"north","rank":0,` +
		`"score":3000000,"factors":[{"name":"spend","input":3000000,"unit":"nano_usd","contribution":3000000}]}]}`
	var out bytes.Buffer
	require.NoError(t, explain(&out, client.LogDetail{CostUsd: "0", Decision: json.RawMessage(body)}))
	require.Contains(t, out.String(), "0.003 USD")
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", "explain", name+".txt")
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

func decided(t *testing.T, health measuredHealth, in decide.Input) decide.Record {
	t.Helper()
	all := catalog.Catalog{Schema: catalog.Schema, Revision: 4}
	for _, slug := range []string{"north", "south", "east", "west"} {
		all.Providers = append(all.Providers, catalog.Provider{
			Slug: slug, Type: catalog.OpenAICompatible, BaseURL: "https://" + slug + ".example/v1", Credential: secret.Sealed("sealed"),
		})
	}
	small := catalog.Model{ID: "acme/small", Author: "acme", Context: 100_000}
	for slug, price := range map[string]string{"north": "1", "south": "1.2", "east": "1.1", "west": "0.9"} {
		small.Endpoints = append(small.Endpoints, endpointAt(t, slug, small.ID, price, "4"))
	}
	big := catalog.Model{ID: "acme/big", Author: "acme", Context: 100_000, Endpoints: []catalog.Endpoint{endpointAt(t, "north", "acme/big", "10", "40")}}
	vec := catalog.Model{ID: "acme/vec", Author: "acme", Context: 8_000, Output: []catalog.Modality{catalog.Embedding}}
	vec.Endpoints = []catalog.Endpoint{endpointAt(t, "north", vec.ID, "0.02", "0"), endpointAt(t, "south", vec.ID, "0.03", "0")}
	all.Models = []catalog.Model{small, big, vec}
	view, err := catalog.Compile(all)
	require.NoError(t, err)
	pol, err := policy.Compile(policy.Snapshot{
		Schema: policy.Schema, Workspace: id.MustParse[id.WorkspaceKind]("ws_01kb7n0z1v8q5r2m3t4w5x6y7z"),
		Revision: 3, Status: policy.WorkspaceActive, Settings: policy.DefaultSettings(),
		Auto: &policy.Auto{Version: 2, Objective: policy.ForBalance, Spend: policy.SpendAny, AllowFallbacks: true},
	})
	require.NoError(t, err)
	if in.Facts.Surface == "" {
		in.Facts.Surface = catalog.Chat
	}
	in.Policy, in.Catalog, in.Health, in.Seed = pol, view, health, 11
	plan := decide.Decide(in)
	require.Nil(t, plan.Refusal)
	return plan.Record
}

func endpointAt(t *testing.T, provider, model, input, output string) catalog.Endpoint {
	t.Helper()
	in, err := money.ParsePerMillion(input)
	require.NoError(t, err)
	out, err := money.ParsePerMillion(output)
	require.NoError(t, err)
	return catalog.Endpoint{
		ID: catalog.EndpointID(provider, model, ""), Provider: provider, UpstreamModel: "x",
		Price: &catalog.Price{Input: &in, Output: &out},
	}
}
