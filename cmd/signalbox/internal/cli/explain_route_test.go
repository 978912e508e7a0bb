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
