package cli

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

// A person reads which guardrail demanded what, and which of them left out an
// endpoint.
func TestExplainNamesGuardrails(t *testing.T) {
	const record = `{"requested_model":"acme/small","policy_revision":3,"catalog_revision":7,"seed":"1",
		"policy":[{"field":"guardrail.providers.block","rung":"key_guardrail","value":"north","guardrail":"guard_a"},
			{"field":"provider.only","rung":"request","value":"north"}],
		"exclusions":[{"model":"acme/small","endpoint":"north:acme/small","stage":"provider_policy",
			"reason":"provider_restricted_by_policy","rung":"key_guardrail","guardrail":"guard_a"}],
		"refusal":{"code":"guardrail_blocked","reason":"provider_restricted_by_policy","stage":"provider_policy"}}`
	var out bytes.Buffer
	require.NoError(t, explain(&out, client.LogDetail{CostUsd: "0", Decision: json.RawMessage(record)}))
	for _, want := range []string{
		"from the key guardrail guard_a", "from the request\n", "(provider_policy, by the key guardrail guard_a)", "guardrail_blocked", "provider_restricted_by_policy",
	} {
		require.Contains(t, out.String(), want)
	}
}
