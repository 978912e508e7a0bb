package provider_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/provider"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
)

// The simulator checks keys, tokens and signatures with code of its own.
func TestTheSimulatorTakesEveryCredential(t *testing.T) {
	sim := simulator.New(simulator.Options{})
	server := httptest.NewUnstartedServer(sim)
	sim.Attach(server.Config)
	server.Start()
	t.Cleanup(server.Close)
	listed := providersOf(t, server.URL)
	keys := simulator.Keys(server.URL)

	const chat = `{"model":"m","messages":[{"role":"user","content":"hi"}]}`
	const contents = `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`
	for slug, c := range map[string]struct{ path, body string }{
		simulator.AtOpenAI:    {"/chat/completions", chat},
		simulator.AtAnthropic: {"/v1/messages", `{"model":"claude-sim-1","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`},
		simulator.AtGoogle:    {"/models/gemini-sim-1:generateContent", contents},
		simulator.AtAzure:     {"/chat/completions", chat},
		simulator.AtVertex:    {"/publishers/google/models/gemini-sim-1:generateContent", contents},
		simulator.AtBedrock:   {"/model/" + url.PathEscape("anthropic.claude-sim-1-v1:0") + "/converse", `{"messages":[{"role":"user","content":[{"text":"hi"}]}]}`},
	} {
		t.Run(slug, func(t *testing.T) {
			p := listed[slug]
			p.Slug, p.Credential = "north", secret.Sealed(keys[slug]) // whose credentials the vault opens
			r := upstream.Request{Provider: &p, Path: c.path, Body: upstream.Bytes([]byte(c.body))}
			if p.Type == catalog.Anthropic {
				r.Set = http.Header{"Anthropic-Version": {"2023-06-01"}}
			}
			client := newClient(t, provider.Options{})
			response, failure := client.Call(t.Context(), r)
			require.Nil(t, failure, "%v", failure)
			body, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			require.Contains(t, string(body), "hi")

			wrong := p
			wrong.Credential = secret.Sealed(strings.NewReplacer(
				simulator.AWSSecretAccessKey, "another", "sk-sim", "sk-else", "AIza", "AIzb", "client_email\":\"", "client_email\":\"x",
			).Replace(keys[slug]))
			if string(wrong.Credential) == string(p.Credential) {
				wrong.Credential = secret.Sealed("another")
			}
			r.Provider = &wrong
			_, failure = newClient(t, provider.Options{}).Call(t.Context(), r)
			require.NotNil(t, failure, "the simulator takes anything")
			require.Contains(t, []upstream.Class{upstream.CredentialRejected, upstream.CredentialFault}, failure.Class, "%v", failure)
			if failure.Class == upstream.CredentialFault {
				require.ErrorIs(t, failure, upstream.ErrRefusedCredential, "the token endpoint refused it")
			}
		})
	}
}

// providersOf are the simulator's providers as its own catalog file has them.
func providersOf(t *testing.T, root string) map[string]catalog.Provider {
	t.Helper()
	text := simulator.CatalogWithKeys(root, func(string) string { return "${KEY}" })
	over, _, err := catalog.Load(strings.NewReader(text), "simulator.yaml", func(string) (string, bool) { return "a-key", true })
	require.NoError(t, err)
	out := map[string]catalog.Provider{}
	for _, p := range catalog.Merge(catalog.Catalog{Schema: catalog.Schema}, over).Providers {
		out[p.Slug] = p
	}
	return out
}
