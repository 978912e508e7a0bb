//go:build e2e

package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

// conversations are the clients of the four formats of conversations.
func conversations() []abilities {
	return []abilities{
		{name: "openai-go chat", surface: "chat", open: openChat},
		{name: "openai-go responses", surface: "responses", open: openResponses},
		{name: "anthropic-sdk-go", surface: "messages", open: openAnthropic},
		{name: "genai", surface: "gemini", open: openGemini},
	}
}

// TestRoutesThroughClients holds what a route does to the clients of every
// format, and to both gateways.
func TestRoutesThroughClients(t *testing.T) {
	p := harness.Start(t, harness.Options{Gateways: 2})
	for name, test := range map[string]func(*testing.T, *harness.Platform){
		"by metadata, or not at all": routedByMetadata, "sessions keep their branch": sessionsKeepTheirBranch,
		"fallbacks": routedFallbacks, "a limit": routedByUse, "a preset": routedToPreset,
	} {
		t.Run(name, func(t *testing.T) { test(t, p.On(t)) })
	}
}

const both = "sim/both"

// routedByMetadata sends who pays to one model at one provider, and refuses who
// does not.
func routedByMetadata(t *testing.T, p *harness.Platform) {
	key := p.Key()
	newRoute(p, "plans", plans(both, `"provider":{"ignore":["north"]},`), key)
	refused := expected{http.StatusForbidden, "route_rejected", kinds("permission_error", "permission_error", "PERMISSION_DENIED")}
	for _, can := range conversations() {
		c := connect(p, key.Secret)
		b := bench{p: p, can: can, connection: c, speaker: can.open(t, c)}
		q := question{prompt: "Say hello", metadata: map[string]string{"customer_plan": "pro"}}
		for way, ask := range b.named(t) {
			got, err := ask(upstream.Small, q)
			require.NoError(t, err, "%s, %s", can.name, way)
			require.Equal(t, both, got.model, "%s, %s", can.name, way)
			require.Equal(t, upstream.South, c.witness.last().Get(client.HeaderProvider))
			version, nodes := routedTo(t, p, c.witness.last())
			require.Equal(t, 1, version)
			require.Equal(t, []string{"start", "pays", "big", "end"}, nodes)

			got, err = ask("south:"+both, question{prompt: "Say hello"})
			require.NoError(t, err, "%s, %s", can.name, way)
			require.Equal(t, both, got.model, "what leads to no model node stays as it was asked for")

			_, err = ask(upstream.Small, question{prompt: "Say hello", metadata: map[string]string{"customer_plan": "free"}})
			refused.met(t, b, err)
			failed := can.open(t, c).failed(t, err)
			require.Equal(t, "This needs the plan “pro”.", failed.message)
			require.True(t, failed.reason == "needs_a_plan" || can.surface == "gemini", "%+v", failed) // genai keeps none
		}
		before := p.North.Stats().Total
		_, err := b.speaker.ask(t.Context(), "north:"+both, q)
		require.Error(t, err, "%s: who names a provider is held to what the route restricts", can.name)
		require.Equal(t, before, p.North.Stats().Total)
		got, err := b.speaker.ask(t.Context(), "south:"+upstream.Fallback("status-503"), q)
		require.NoError(t, err)
		require.Equal(t, upstream.Fallback("status-503"), got.model, "%s: and keeps the model", can.name)
	}
}

// plans is a graph that sends who pays to a model, with other fields of its
// node, and refuses who does not. A request that says nothing goes where it likes.
func plans(model, fields string) string {
	return graph("pays", `
		{"id":"pays","type":"condition","when":{"source":"metadata","path":"customer_plan","op":"equals","value":"pro"},"true":"big","false":"free"},
		{"id":"free","type":"condition","when":{"source":"metadata","path":"customer_plan","op":"exists"},"true":"no","false":"end"},
		{"id":"no","type":"reject","status":403,"code":"needs_a_plan","message":"This needs the plan “pro”."},
		{"id":"big","type":"model","model":"`+model+`",`+fields+`"next":"end"}`)
}

// named are both ways in which a client asks a model by its name.
func (b bench) named(t *testing.T) map[string]func(string, question) (answer, error) {
	return map[string]func(string, question) (answer, error){
		"plain": func(model string, q question) (answer, error) {
			return b.speaker.ask(t.Context(), model, q)
		},
		"streamed": func(model string, q question) (answer, error) {
			return b.speaker.stream(t.Context(), model, q, func() {})
		},
	}
}

// sessionsKeepTheirBranch asks for forty sessions, each in every format and at
// both gateways.
func sessionsKeepTheirBranch(t *testing.T, p *harness.Platform) {
	const sessions = 40
	key := p.Key()
	newRoute(p, "trial", graph("split", `
		{"id":"split","type":"percentage","branches":[{"id":"stable","percent":50,"next":"old"},{"id":"trial","percent":50,"next":"new"}]},
		{"id":"old","type":"model","model":"`+upstream.Small+`","next":"end"},
		{"id":"new","type":"model","model":"`+both+`","next":"end"}`), key)
	served := make(map[string]int)
	for n := range sessions {
		session := "conversation-" + strings.Repeat("x", n)
		model := ""
		for gateway := range p.Gateways {
			can := conversations()[(n+gateway)%len(conversations())]
			c := connectTo(p, gateway, key.Secret)
			c.http.Transport = inSession{c.witness, session}
			got, err := can.open(t, c).ask(t.Context(), "sim/any", question{prompt: "Say hello"})
			require.NoError(t, err)
			require.True(t, model == "" || model == got.model, "session %d: %s at one gateway, %s at another", n, model, got.model)
			model = got.model
		}
		served[model]++
	}
	require.Len(t, served, 2, "both branches have some of the sessions")
}

// inSession says which session each request is of.
type inSession struct {
	next    http.RoundTripper
	session string
}

// RoundTrip is of http.RoundTripper.
func (s inSession) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Signalbox-Session-Id", s.session)
	return s.next.RoundTrip(r) //nolint:wrapcheck // it is not there
}

// routedFallbacks has a model that fails, and one to go on with.
func routedFallbacks(t *testing.T, p *harness.Platform) {
	key := p.Key()
	newRoute(p, "careful", graph("model", `
		{"id":"model","type":"model","model":"`+upstream.Model("status-503")+`","fallback_models":["`+both+`"],"next":"end"}`), key)
	for _, can := range conversations() {
		c := connect(p, key.Secret)
		got, err := can.open(t, c).ask(t.Context(), upstream.Small, question{prompt: "Say hello", models: []string{upstream.Small}})
		require.NoError(t, err, can.name)
		require.Equal(t, both, got.model, "%s: the route's fallbacks take the place of the caller's", can.name)
		require.Equal(t, "1", c.witness.last().Get(client.HeaderRetries))
	}
}

// routedByUse gives two requests a month to one model, and the rest to another,
// whichever gateway they come to.
func routedByUse(t *testing.T, p *harness.Platform) {
	key := p.Key()
	newRoute(p, "tries", graph("tries", `
		{"id":"tries","type":"rate_limit","window":"monthly","max_requests":2,"within":"big","exceeded":"small"},
		{"id":"big","type":"model","model":"`+both+`","next":"end"},
		{"id":"small","type":"model","model":"`+upstream.Small+`","next":"end"}`), key)
	ask := func(gateway int) string {
		c := connectTo(p, gateway, key.Secret)
		got, err := openChat(t, c).ask(t.Context(), "sim/any", question{prompt: "Say hello"})
		require.NoError(t, err)
		p.Logged(c.witness.last()) // it is on record, and so in this gateway's count
		return got.model
	}
	require.Equal(t, both, ask(0))
	require.Equal(t, both, ask(0))
	require.Equal(t, upstream.Small, ask(0), "the third is one too many")
	p.Eventually(func() bool { return ask(1) == upstream.Small }, "the other gateway does not hear of it")
	require.Equal(t, upstream.Small, ask(1))
}

// routedToPreset has a route that fixes a preset.
func routedToPreset(t *testing.T, p *harness.Platform) {
	key := p.Key()
	newPreset(p, "routed", `{"model":"`+both+`","system_prompt":"Answer like a route."}`, "team")
	newRoute(p, "preset", graph("model", `{"id":"model","type":"model","model":"@routed","next":"end"}`), key)
	for _, can := range conversations() {
		c := connect(p, key.Secret)
		got, err := can.open(t, c).ask(t.Context(), upstream.Small, question{prompt: "Say hello"})
		require.NoError(t, err, can.name)
		require.Equal(t, both, got.model, can.name)
		require.Contains(t, got.text, "My instructions are 4 words long.", can.name)
	}
}
