//go:build e2e

package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

// TestPresetsThroughClients holds what a preset adds, by each of its names, to
// the clients of every format.
func TestPresetsThroughClients(t *testing.T) {
	p := harness.Start(t, harness.Options{Models: []string{"first", "second", "public", "spare"}})
	key := p.Key()
	newPreset(p, "tone", `{"model":"sim/first","system_prompt":"Be kind.","params":{"temperature":0.25,"max_tokens":900}}`, "team")
	publish(p, "tone", `{"model":"sim/second","system_prompt":"Be bold.","params":{"temperature":0.75,"max_tokens":900}}`)
	newPreset(p, "spare", `{"model":"sim/spare","system_prompt":"Be there.","params":{"temperature":0.5}}`, "team")
	other, err := p.CreateWorkspace(t.Context(), "globex")
	require.NoError(t, err)
	owned := *p
	owned.Workspace = other
	owned.Change(http.MethodPut, "/v1/presets/publisher", `{"handle":"globex"}`)
	newPreset(&owned, "shared", `{"model":"sim/public","system_prompt":"Be public.","params":{"temperature":0.125,"max_tokens":900}}`, "public")

	for _, can := range conversations() {
		c := connect(p, key.Secret)
		b := bench{p: p, can: can, connection: c, speaker: can.open(t, c)}
		for model, want := range map[string]merged{
			"@tone":          {"sim/second", "Be bold.", 0.75},
			"@tone#1":        {"sim/first", "Be kind.", 0.25},
			"@globex/shared": {"sim/public", "Be public.", 0.125},
		} {
			t.Run(can.name+" "+model, func(t *testing.T) { want.met(t, b, model) })
		}
		t.Run(can.name+" falls back to @spare", func(t *testing.T) { b.fallsBackToPreset(t, p) })
		t.Run(can.name+" names none", func(t *testing.T) {
			_, err := b.speaker.ask(t.Context(), "@none", question{prompt: "Say hello"})
			expected{http.StatusNotFound, "model_not_found", kinds("invalid_request_error", "not_found_error", "NOT_FOUND")}.met(t, b, err)
		})
	}
}

// merged is what a preset makes of a request.
type merged struct {
	model, system string
	temperature   float64
}

func (m merged) met(t *testing.T, b bench, name string) {
	t.Helper()
	for way, ask := range b.named(t) {
		got, err := ask(name, question{prompt: "Say hello", system: "Mind the gap.", limit: 500})
		require.NoError(t, err, way)
		require.Equal(t, m.model, got.model)
		body := lastBody(t, b.p, m.model)
		require.Equal(t, m.system+"\n\nMind the gap.", systemOf(body), "%s", body.Raw)
		require.InDelta(t, m.temperature, body.Get("temperature").Num, 0)
		limit := body.Get("max_tokens").Int() + body.Get("max_completion_tokens").Int()
		require.EqualValues(t, 500, limit, "what the caller says counts: %s", body.Raw)
	}
}

// fallsBackToPreset has a preset behind a model that fails: it applies to its
// own turn alone.
func (b bench) fallsBackToPreset(t *testing.T, p *harness.Platform) {
	t.Helper()
	failing := upstream.Model("status-503")
	got, err := b.speaker.ask(t.Context(), failing, question{prompt: "Say hello", models: []string{"@spare"}})
	require.NoError(t, err)
	require.Equal(t, "sim/spare", got.model)
	require.Equal(t, "1", b.witness.last().Get(client.HeaderRetries))
	body := lastBody(t, p, "sim/spare")
	require.Equal(t, "Be there.", systemOf(body))
	require.InDelta(t, 0.5, body.Get("temperature").Num, 0)
	first := lastBody(t, p, "sim/fault-status-503")
	require.Empty(t, systemOf(first), "%s", first.Raw)
	require.False(t, first.Get("temperature").Exists())
}

// lastBody is what North was last sent for a model of the harness.
func lastBody(t *testing.T, p *harness.Platform, model string) gjson.Result {
	t.Helper()
	seen := p.North.For(model[len("sim/"):])
	require.NotEmpty(t, seen, "%s was asked", model)
	return gjson.ParseBytes(seen[len(seen)-1].Body)
}

// systemOf joins the instructions of a chat body.
func systemOf(body gjson.Result) string {
	text := ""
	for _, m := range body.Get("messages").Array() {
		if role := m.Get("role").Str; role != "system" && role != "developer" {
			continue
		}
		parts := []gjson.Result{m.Get("content")}
		if parts[0].IsArray() {
			parts = m.Get("content.#.text").Array()
		}
		for _, part := range parts {
			if text != "" {
				text += "\n\n"
			}
			text += part.Str
		}
	}
	return text
}
