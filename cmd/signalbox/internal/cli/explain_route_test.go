package cli

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
	"github.com/signalbox-dev/signalbox/shared/decide"
)

// The story has the way through the route, the rollout's arm and the preset.
func TestExplainedRouteAndPreset(t *testing.T) {
	record := decide.Record{
		RequestedModel: "acme/small", DecidedModel: "acme/big", SwitchReason: decide.SwitchDynamicRoute,
		Route: &decide.RouteTrace{
			ID: "route_1", Version: 6, Nodes: []string{"start", "plan", "big", "end"}, Rollout: "rollout_1", Arm: decide.ArmCandidate,
		},
		Preset:   &decide.PresetTrace{Slug: "support", Version: 3},
		Policy:   []decide.ResolvedField{{Field: "model", Rung: "preset", Value: "acme/big"}},
		Rankings: []decide.Ranking{{Model: "acme/big", Mode: "balanced", Unit: "nano_usd", Sizes: decide.SizesAssumed}},
		Candidates: []decide.RankedCandidate{{Model: "acme/big", Endpoint: "north:acme/big", Provider: "north", Factors: []decide.Factor{
			{Name: decide.FactorWeight, Input: 50},
		}}},
		Exclusions: []decide.Exclusion{{Model: "acme/tiny", Stage: "route", Reason: "rejected_by_route"}},
	}
	body, err := record.Encode()
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, explain(&out, client.LogDetail{ID: "req_1", Surface: "chat", Status: 200, Outcome: "success", CostUsd: "0", Decision: body}))
	for _, line := range []string{
		"The dynamic route route_1, version 6, was walked: start → plan → big → end.",
		"The rollout rollout_1 compared versions of it: this request went through the candidate one.",
		"The preset @support, version 3, was applied.", "The dynamic route of the API key chose the model.",
		"×50 as often", "rejected_by_route",
	} {
		require.Contains(t, out.String(), line)
	}
}

// A request that the route rejects is not told as one without candidates.
func TestExplainedRejection(t *testing.T) {
	record := decide.Record{
		RequestedModel: "acme/small", Route: &decide.RouteTrace{ID: "route_1", Version: 6, Nodes: []string{"start", "limit", "no"}},
		Refusal:      &decide.RefusalRecord{Code: "route_rejected", Reason: "used_up"},
		Recollection: []byte(`{"usage":{"daily":{"requests":1000,"cost_nanos":1500000000}}}`),
	}
	body, err := record.Encode()
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, explain(&out, client.LogDetail{ID: "req_1", Surface: "chat", Status: 429, Outcome: "rejected", CostUsd: "0", Decision: body}))
	require.Contains(t, out.String(), "The route's reject node no answered")
	require.Contains(t, out.String(), "Before it the key had used: this day 1000 requests, 1.50 USD.")
	require.Contains(t, out.String(), "Refused: route_rejected, used_up.")
	require.NotContains(t, out.String(), "No candidate was left")
}

// A preset that was named is told where the route's model takes its place, and
// where the preset applies it is not.
func TestExplainedPresetThatARouteOverrides(t *testing.T) {
	record := decide.Record{RequestedModel: "@support", DecidedModel: "acme/big", SwitchReason: decide.SwitchDynamicRoute, Route: &decide.RouteTrace{ID: "route_1", Version: 6}}
	told := func() string {
		body, err := record.Encode()
		require.NoError(t, err)
		var out bytes.Buffer
		require.NoError(t, explain(&out, client.LogDetail{ID: "req_1", Surface: "chat", Status: 200, Outcome: "success", CostUsd: "0", Decision: body}))
		return out.String()
	}
	const line = "The preset @support, which was asked for, does not apply"
	require.Contains(t, told(), line)
	record.Preset = &decide.PresetTrace{Slug: "support", Version: 3}
	require.NotContains(t, told(), line)
}
