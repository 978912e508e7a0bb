package cli

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// TestExplainedOutcome tells what became of requests: whose key was used, which
// model answered in place of the first, and which models go.
func TestExplainedOutcome(t *testing.T) {
	began := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	text := func(s string) *string { return &s }
	own := id.MustParse[id.CredentialKind]("byok_01kb7n0z1v8q5r2m3t4w5x6y7z")
	attempts := []decide.AttemptRecord{
		{Model: "acme/small", Provider: "north", Credential: decide.CredentialBYOK, CredentialID: own, Started: began.Add(time.Millisecond), Duration: 80 * time.Millisecond, Status: 429, Failure: "rate_limited", Reason: "first_choice"},
		{Model: "acme/small", Provider: "north", Credential: decide.CredentialManaged, Started: began.Add(82 * time.Millisecond), Duration: 90 * time.Millisecond, Status: 503, Failure: "server_error", Reason: "fallback_credential"},
	}
	candidates := []decide.RankedCandidate{
		{Model: "acme/small", Endpoint: "north:acme/small", Provider: "north", Share: 1}, {Model: "acme/big", Endpoint: "south:acme/big", Provider: "south", Share: 1},
	}
	first := client.Log{
		ID: "req_1", PrimaryRequestID: "req_1", StartedAt: began, DurationMs: 180, Outcome: "error", Status: 502, Code: text("upstream_server_error"),
		DecidedModel: text("acme/small"), CostUsd: "0",
	}
	asked := client.Log{
		ID: "req_2", PrimaryRequestID: "req_1", StartedAt: began, DurationMs: 20, Outcome: "success", Status: 200, Provider: text("west"),
		DecidedModel: text("acme/tiny"), CostUsd: "0", Purpose: text("auto_routing_classifier"),
	}
	second := client.Log{
		ID: "req_3", PrimaryRequestID: "req_1", StartedAt: began.Add(180 * time.Millisecond), DurationMs: 400, Outcome: "success", Status: 200,
		Provider: text("south"), DecidedModel: text("acme/big"), CostUsd: "0.02",
	}
	detail := func(l client.Log, related ...client.Log) client.LogDetail {
		return client.LogDetail{
			ID: l.ID, PrimaryRequestID: l.PrimaryRequestID, StartedAt: l.StartedAt, DurationMs: l.DurationMs, Outcome: l.Outcome, Status: l.Status,
			Code: l.Code, Reason: l.Reason, Provider: l.Provider, DecidedModel: l.DecidedModel, CostUsd: l.CostUsd, Purpose: l.Purpose,
			RequestedModel: text("acme/small"), Surface: "chat", Models: related,
		}
	}
	retired := client.Log{ID: "req_1", PrimaryRequestID: "req_1", StartedAt: began, Outcome: "refused", Status: 410, Code: text("model_retired"), CostUsd: "0"}
	cases := map[string]struct {
		log    client.LogDetail
		record decide.Record
	}{
		"fallback_first": {detail(first, asked, second), decide.Record{
			DecidedModel: "acme/small", Chain: []string{"acme/small", "acme/big"}, Candidates: candidates, Attempts: attempts,
			Refusal: &decide.RefusalRecord{Code: "upstream_server_error"},
		}},
		"fallback_second": {detail(second, first, asked), decide.Record{
			DecidedModel: "acme/big", Chain: []string{"acme/small", "acme/big"}, Candidates: candidates, SwitchReason: decide.SwitchFallbackModel,
			Lifecycle: catalog.Deprecated,
			Attempts:  []decide.AttemptRecord{{Model: "acme/big", Provider: "south", Credential: decide.CredentialNone, Started: began.Add(200 * time.Millisecond), Duration: 300 * time.Millisecond, Status: 200, Reason: "fallback_model"}},
		}},
		"retired": {detail(retired), decide.Record{Refusal: &decide.RefusalRecord{Code: "model_retired", Stage: "rollout"}}},
		"replaced": {detail(second), decide.Record{
			DecidedModel: "acme/big", Candidates: candidates[1:], SwitchReason: decide.SwitchRetired,
		}},
		"nothing_for_auto": {detail(retired), decide.Record{
			Auto: &decide.AutoTrace{
				Algorithm: "auto-1", ConfigVersion: 3, Objective: "cost", SpendProfile: "economy", Universe: 12,
				Exclusions: []decide.AutoExclusion{{Stage: "only", Reason: "not_in_only", Models: 11}, {Stage: "max_price", Reason: "above_spend_profile", Models: 1}},
			},
			Affinity: &decide.AffinityTrace{Source: string(decide.FromOpening)},
			Refusal:  &decide.RefusalRecord{Code: "unsupported_model_or_endpoint", Reason: "no_auto_model", Stage: "max_price"},
		}},
		"limited": {detail(client.Log{ID: "req_1", PrimaryRequestID: "req_1", StartedAt: began, Outcome: "refused", Status: 429, Code: text("key_limit_exceeded"), Reason: text("daily_cost_limit_reached"), CostUsd: "0"}), decide.Record{
			DecidedModel: "acme/small", Chain: []string{"acme/small"}, Candidates: candidates[:1],
			Limits: []decide.LimitCheck{
				{Scope: "member", ID: "user_01kb7n0z1v8q5r2m3t4w5x6y7z", Metric: "requests", Window: "minute", Used: 3, Limit: 60, OK: true},
				{Scope: "key", ID: "rlp_01kb7n0z1v8q5r2m3t4w5x6y7z", Metric: "tokens", Window: "minute", Limit: 1_000_000, OK: true, Unknown: true},
				{Scope: "department", ID: "rlp_01kb7n0z1v8q5r2m3t4w5x6y7z", Metric: "concurrent", Used: 7, Limit: 8, OK: true},
				{Scope: "key", ID: "key_01kb7n0z1v8q5r2m3t4w5x6y7z", Metric: "cost", Window: "daily", Used: 5_250_000_000, Limit: 5_000_000_000},
			},
			Refusal: &decide.RefusalRecord{Code: "key_limit_exceeded", Reason: "daily_cost_limit_reached"},
		}},
		"limited_hard": {detail(client.Log{ID: "req_1", PrimaryRequestID: "req_1", StartedAt: began, Outcome: "refused", Status: 429, Code: text("key_limit_exceeded"), Reason: text("monthly_cost_budget_reached"), CostUsd: "0"}), decide.Record{
			DecidedModel: "acme/small", Chain: []string{"acme/small"}, Candidates: candidates[:1],
			Limits: []decide.LimitCheck{
				{Scope: "workspace", ID: "budget_01kb7n0z1v8q5r2m3t4w5x6y7z", Metric: "cost", Window: "monthly", Used: 1_000_000_000, Limit: 5_000_000_000, Asked: 3_500_000_000, Held: 750_000_000},
				{Scope: "workspace", ID: "ws_01kb7n0z1v8q5r2m3t4w5x6y7z", Metric: "credit", Window: "lifetime", Limit: -1_000_000_000},
			},
			Refusal: &decide.RefusalRecord{Code: "key_limit_exceeded", Reason: "monthly_cost_budget_reached"},
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			body, err := c.record.Encode()
			require.NoError(t, err)
			c.log.Decision = body
			var out bytes.Buffer
			require.NoError(t, explain(&out, c.log))
			golden(t, name, out.Bytes())
			for _, line := range bytes.Split(out.Bytes(), []byte("\n")) {
				require.LessOrEqual(t, len([]rune(string(line))), 140, "too wide for a terminal: %s", line)
			}
		})
	}
}

// TestEverySwitchIsToldInWords: a reason of the contract is never shown as it
// stands in the record.
func TestEverySwitchIsToldInWords(t *testing.T) {
	for _, reason := range []decide.SwitchReason{
		decide.SwitchFallbackProvider, decide.SwitchFallbackModel, decide.SwitchDynamicRoute, decide.SwitchRule,
		decide.SwitchSessionPin, decide.SwitchProviderAlias,
	} {
		text := switched(decide.Record{SwitchReason: reason, DecidedModel: "acme/small"})
		require.NotEmpty(t, text, reason)
		require.NotContains(t, text, string(reason)+".", reason)
		require.NotContains(t, text, "_", reason)
	}
}

// A model that was never called did not fail: what kept it from being asked is
// told instead.
func TestAModelThatIsPassedOverDidNotFail(t *testing.T) {
	record := decide.Record{
		DecidedModel: "acme/big", Chain: []string{"acme/big", "acme/tiny"}, SwitchReason: decide.SwitchFallbackModel,
		Exclusions: []decide.Exclusion{
			{Model: "acme/small", Endpoint: "north:acme/small", Stage: "model_policy", Reason: "model_restricted_by_policy", Rung: "key_guardrail", Guardrail: "guard_a"},
			{Model: "acme/small", Endpoint: "south:acme/small", Stage: "model_policy", Reason: "model_restricted_by_policy", Rung: "key_guardrail", Guardrail: "guard_a"},
			{Model: "acme/small", Endpoint: "west:acme/small", Stage: "context", Reason: "context_too_short"},
			{Model: "acme/big", Endpoint: "west:acme/big", Stage: "only", Reason: "not_in_only", Rung: "request"},
		},
	}
	require.Equal(t, "acme/small was passed over without being asked (model restricted by policy, by the key guardrail guard_a; "+
		"context too short), and acme/big came in its place.", switched(record))
	record.Exclusions = record.Exclusions[3:]
	require.Contains(t, switched(record), "passed over without being asked")
	record.Chain = []string{"acme/small", "acme/big"}
	require.Contains(t, switched(record), "could not answer", "it was asked")
}
