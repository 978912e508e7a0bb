//go:build e2e

package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/test/harness/client"
)

// expected is what a failure is called in a format's own words.
type expected struct {
	status int
	code   string
	kinds  map[string]string // by surface
}

// kinds names a failure in the words of OpenAI, Anthropic and Google.
func kinds(openAI, anthropic, google string) map[string]string {
	return map[string]string{"chat": openAI, "responses": openAI, "messages": anthropic, "gemini": google}
}

func (e expected) met(t *testing.T, b bench, err error) {
	t.Helper()
	got := b.speaker.failed(t, err)
	require.Equal(t, e.status, got.status, "%+v", got)
	if kind := e.kinds[b.can.surface]; kind != "" {
		require.Equal(t, kind, got.kind, "%+v", got)
	}
	require.NotEmpty(t, got.message)
	require.NotContains(t, got.message, "127.0.0.1")
	if b.can.code || got.code != "" {
		require.Equal(t, e.code, got.code)
	}
}

// failures are what clients raise before anything was answered.
func failures(t *testing.T, b bench) {
	q := question{prompt: "Say hello"}
	invalid := kinds("", "invalid_request_error", "INVALID_ARGUMENT") // OpenAI's form keeps the upstream's own word
	server := kinds("server_error", "api_error", "UNAVAILABLE")
	for name, want := range map[string]expected{
		"fault-status-400":         {400, "upstream_rejected", invalid},
		"fault-context":            {400, "context_length_exceeded", invalid},
		"fault-status-401":         {502, "upstream_credential_rejected", server},
		"fault-status-429-retry-7": {429, "upstream_rate_limited", kinds("rate_limit_error", "rate_limit_error", "RESOURCE_EXHAUSTED")},
		"fault-status-500":         {502, "upstream_server_error", server},
		"fault-reset":              {502, "upstream_unreachable", server},
		"fault-error-first":        {502, "upstream_server_error", kinds("server_error", "overloaded_error", "UNAVAILABLE")},
	} {
		_, err := b.speaker.stream(t.Context(), b.at.model(name), q, func() {})
		want.met(t, b, err)
		require.Equal(t, want.code, b.p.On(t).Logged(b.witness.last()).Get("code").Str, name)
		if name == "fault-error-first" {
			continue // for streams only
		}
		_, err = b.speaker.ask(t.Context(), b.at.model(name), q)
		want.met(t, b, err)
		if name == "fault-status-429-retry-7" {
			require.Equal(t, "7", b.witness.last().Get("Retry-After"))
		}
	}

	_, err := b.speaker.ask(t.Context(), b.at.model("no-such-model"), q)
	expected{404, "model_not_found", kinds("invalid_request_error", "not_found_error", "NOT_FOUND")}.met(t, b, err)
	c := connect(b.p, "sk-wrong")
	_, err = b.can.open(t, c).ask(t.Context(), b.at.model("small"), q)
	expected{401, "unauthorized", kinds("authentication_error", "authentication_error", "UNAUTHENTICATED")}.met(t, b, err)
}

// failedStreams are what clients raise in the middle of an answer.
func failedStreams(t *testing.T, b bench) {
	for _, name := range []string{"fault-error-mid", "fault-cut-3"} {
		events := 0
		_, err := b.speaker.stream(t.Context(), b.at.model(name), question{prompt: "Say hello"}, func() { events++ })
		require.Error(t, err, "%s: a broken answer never looks whole", name)
		require.Positive(t, events, name)
		entry := b.p.On(t).Logged(b.witness.last())
		require.Equal(t, "error", entry.Get("outcome").Str, name)
		require.Positive(t, entry.Get("usage.output").Int(), "what was seen is accounted for")
		require.NotEmpty(t, b.witness.last().Get(client.HeaderRequestID))
	}
}
