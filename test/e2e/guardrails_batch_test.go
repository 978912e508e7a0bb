//go:build e2e

package e2e_test

import (
	"net/http"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

// TestABatchOfAKeptFileIsHeldToTheDataPolicy: a file was uploaded before
// training was denied. It may be read, and nothing may be made of it.
func TestABatchOfAKeptFileIsHeldToTheDataPolicy(t *testing.T) {
	p := harness.Start(t, harness.Options{Catalog: func(*upstream.Upstream, *upstream.Upstream) string {
		return "models:\n  - {id: sim/kept, context: 1000, endpoints: [{provider: north, upstream_model: instruct, surfaces: [chat, batches, files]}]}\n"
	}})
	key := p.Key()
	sdk := openAIOver(connect(p, key.Secret))
	file, err := sdk.Files.New(t.Context(), openai.FileNewParams{File: batchFile("sim/kept"), Purpose: openai.FilePurposeBatch})
	require.NoError(t, err)
	batch := func() client.Answer {
		answer, err := p.Post(t.Context(), 0, key.Secret, "/v1/batches",
			[]byte(`{"input_file_id":"`+file.ID+`","endpoint":"/v1/chat/completions","completion_window":"24h"}`))
		require.NoError(t, err)
		return answer
	}
	require.Equal(t, http.StatusOK, batch().Status)

	path, id := guardrail(p, `{"name":"no training","whole_workspace":true,"data_policy":{"deny_training":true}}`)
	answer := batch()
	require.Equal(t, http.StatusForbidden, answer.Status, "%s", answer.Body)
	require.Equal(t, []string{"guardrail_blocked", "data_handling_policy_no_routes", id}, texts(answer.Get("error"), "code", "reason", "guardrails.0"))
	read, err := p.Do(t.Context(), client.Call{Method: http.MethodGet, URL: p.Gateways[0] + "/v1/files/" + file.ID, Bearer: key.Secret})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, read.Status, "%s", read.Body)

	p.Change(http.MethodPatch, path, `{"enabled":false}`)
	require.Equal(t, http.StatusOK, batch().Status)
}
