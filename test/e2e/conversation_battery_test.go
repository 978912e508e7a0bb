//go:build e2e

package e2e_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
)

// abilities are what a client has.
type abilities struct {
	name    string
	surface string // that it speaks to
	open    func(*testing.T, connection) speaker
	serial  bool // it can ask for one call at a time
	stop    bool // it has stop sequences
	code    bool // its errors keep the gateway's code
	more    map[string]func(*testing.T, bench)
}

// TestClientsAtEveryUpstream holds every client of conversations to everything
// that it must be able to do, at the upstream of every format.
func TestClientsAtEveryUpstream(t *testing.T) {
	clients := []abilities{
		{name: "openai-go chat", surface: "chat", open: openChat, serial: true, stop: true, code: true},
		{name: "openai-go responses", surface: "responses", open: openResponses, serial: true, code: true},
		{
			name: "anthropic-sdk-go", surface: "messages", open: openAnthropic, serial: true, stop: true,
			more: map[string]func(*testing.T, bench){"counting": anthropicCounts},
		},
		{
			name: "genai", surface: "gemini", open: openGemini, stop: true,
			more: map[string]func(*testing.T, bench){"counting": geminiCounts, "chats": geminiChats},
		},
	}
	p := conversing(t, clients)
	key := p.Key()
	for _, can := range clients {
		for _, at := range spokenFormats() {
			t.Run(can.name+" at "+at.word, func(t *testing.T) {
				t.Parallel()
				c := connect(p, key.Secret)
				battery(t, bench{p: p.On(t), can: can, at: at, connection: c, speaker: can.open(t, c)})
			})
		}
	}
}

func battery(t *testing.T, b bench) {
	t.Helper()
	all := map[string]func(*testing.T, bench){
		"plain and streamed": plainAndStreamed, "tools": toolsAndResults, "tool choice": toolChoice, "structured output": structured,
		"images": images, "thoughts": thinks, "ends": ends, "cached input": cachedInput, "refusals": failures, "streams that fail": failedStreams,
		"leaving": leaves,
	}
	maps.Copy(all, b.can.more)
	for name, test := range all {
		t.Run(name, func(t *testing.T) { test(t, b) })
	}
}

// bench is one client at the upstream of one format.
type bench struct {
	connection
	p       *harness.Platform
	can     abilities
	at      spoken
	speaker speaker
}

// own is the name of a model of which the client's requests are counted.
func (b bench) own(name string) string { return ownModel(b.can.surface, name) }

// ways are both ways in which a client asks.
func (b bench) ways() map[string]func(*testing.T, string, question) answer {
	return map[string]func(*testing.T, string, question) answer{"plain": b.ask, "streamed": b.stream}
}

func (b bench) ask(t *testing.T, name string, q question) answer {
	t.Helper()
	got, err := b.speaker.ask(t.Context(), b.at.model(name), q)
	require.NoError(t, err)
	return got
}

func (b bench) stream(t *testing.T, name string, q question) answer {
	t.Helper()
	got, err := b.speaker.stream(t.Context(), b.at.model(name), q, func() {})
	require.NoError(t, err)
	return got
}

// accounted checks that the log says of the newest request what its caller was
// told.
func (b bench) accounted(t *testing.T, got answer, streamed bool) {
	t.Helper()
	sum, entry := sumOf(t, b.p, b.witness.last())
	told := got.usage
	if b.can.surface == "messages" { // which has no word for it
		told.reasoning = sum.reasoning
	}
	require.Equal(t, told, sum)
	require.Equal(t, b.can.surface, entry["surface"])
	require.Equal(t, b.at.provider, entry["provider"])
	require.Equal(t, "success", entry["outcome"])
	require.Equal(t, streamed, entry["stream"])
	require.Equal(t, got.model, entry["decided_model"])
	// A dollar and four for a million tokens, which are 1000 and 4000 nanos.
	require.InDelta(t, 1000*sum.input+4000*sum.output, entry["cost_nanos"], 0)
}

func plainAndStreamed(t *testing.T, b bench) {
	q := question{system: "Be brief.", prompt: "Say hello to 北京🙂é."}
	plain := b.ask(t, "small", q)
	require.Contains(t, plain.text, "You wrote: “Say hello to 北京🙂é.”. My instructions are 2 words long.")
	require.Equal(t, b.at.model("small"), plain.model)
	require.Equal(t, stopped, plain.finish)
	require.Positive(t, plain.usage.input)
	require.Positive(t, plain.usage.output)
	require.Equal(t, b.at.provider, b.witness.last().Get(client.HeaderProvider))
	require.Equal(t, plain.model, b.witness.last().Get(client.HeaderModel))
	b.accounted(t, plain, false)

	events := 0
	streamed, err := b.speaker.stream(t.Context(), b.at.model("small"), q, func() { events++ })
	require.NoError(t, err)
	require.Greater(t, events, 10, "it arrives in pieces")
	plain.turn, streamed.turn = nil, nil
	require.Equal(t, plain, streamed)
	b.accounted(t, streamed, true)
}

func toolsAndResults(t *testing.T, b bench) {
	q := question{prompt: "get_weather for “Paris” and get_time", tools: true}
	for kind, ask := range b.ways() {
		got := ask(t, "small", q)
		require.Equal(t, called, got.finish, kind)
		require.Len(t, got.calls, 2, kind)
		require.Equal(t, "get_weather", got.calls[0].name)
		require.JSONEq(t, `{"city":"Paris","unit":"c"}`, got.calls[0].input)
		require.Equal(t, "get_time", got.calls[1].name)
		require.JSONEq(t, `{}`, got.calls[1].input)
		require.NotEmpty(t, got.calls[0].id)
		require.NotEqual(t, got.calls[0].id, got.calls[1].id)
		b.accounted(t, got, kind == "streamed")

		back := ask(t, "small", question{tools: true, earlier: &got, results: map[string]string{
			got.calls[0].id: "18 degrees", got.calls[1].id: "noon",
		}})
		require.Equal(t, stopped, back.finish, kind)
		require.Contains(t, back.text, "The tool get_weather returned: ")
		require.Contains(t, back.text, "18 degrees")
		require.Contains(t, back.text, "The tool get_time returned: ")
		require.Contains(t, back.text, "noon")
	}
}

func toolChoice(t *testing.T, b bench) {
	demanded := b.ask(t, "small", question{prompt: "Hello", tools: true, demand: true})
	require.Len(t, demanded.calls, 1)
	if !b.can.serial {
		return
	}
	q := question{prompt: "get_weather for “Paris” and get_time", tools: true, serial: true}
	got := b.ask(t, "small", q)
	entry := b.p.On(t).Logged(b.witness.last())
	lost := entry.Get("decision.routing_degraded").Raw
	if b.at.serial {
		require.Len(t, got.calls, 1)
		require.NotContains(t, lost, "parallel_tool_calls")
		return
	}
	require.Len(t, got.calls, 2, "there is no way to ask it")
	require.Contains(t, lost, "parallel_tool_calls", "the account says that a wish was not met: %s", entry.Raw)
}

func structured(t *testing.T, b bench) {
	for kind, ask := range b.ways() {
		got := ask(t, "small", question{prompt: "Describe “Ada”", schema: true})
		var person struct {
			Name string `json:"name"`
			Age  *int   `json:"age"`
		}
		require.NoError(t, json.Unmarshal([]byte(got.text), &person), "%s: %s", kind, got.text)
		require.Equal(t, "Ada", person.Name)
		require.NotNil(t, person.Age)
	}
}

func images(t *testing.T, b bench) {
	got := b.ask(t, "small", question{prompt: "What is this?", image: true})
	require.Contains(t, got.text, "I received 1 image.")
	b.accounted(t, got, false)
}

// thinks lets the proof of thoughts go back to who gave it, with the results of
// the calls that were thought of; the simulated provider refuses a false one.
func thinks(t *testing.T, b bench) {
	for kind, ask := range b.ways() {
		plain := ask(t, b.own("proof"), question{prompt: "Say hello", thinking: true, show: b.at.asked})
		require.Contains(t, plain.text, "You wrote: “Say hello”", kind)
		b.accounted(t, plain, kind == "streamed")
		if b.at.reasoning && b.can.surface != "messages" {
			require.Positive(t, plain.usage.reasoning, kind)
		}
		if b.at.thoughts {
			require.Contains(t, plain.thoughts, "The caller wrote 2 words. Quoting them back is the useful thing to do.", kind)
		}
		next := ask(t, b.own("proof"), question{prompt: "And now?", thinking: true, earlier: &plain})
		require.Contains(t, next.text, "And now?", kind)

		got := ask(t, b.own("proof"), question{prompt: "get_weather for “Paris”", tools: true, thinking: true, show: b.at.asked})
		require.Len(t, got.calls, 1)
		before := len(b.at.received(b.p, b.own("proof")))
		back := ask(t, b.own("proof"), question{
			tools: true, thinking: true, show: b.at.asked, earlier: &got, results: map[string]string{got.calls[0].id: "18 degrees"},
		})
		require.Contains(t, back.text, "18 degrees")
		seen := b.at.received(b.p, b.own("proof"))
		require.Len(t, seen, before+1)
		require.Contains(t, string(seen[before].Body), b.at.proof, "%s: the proof goes back", kind)
	}
}

func ends(t *testing.T, b bench) {
	for kind, ask := range b.ways() {
		short := ask(t, "small", question{prompt: "Say hello", limit: 16})
		require.Equal(t, cutShort, short.finish, kind)
		require.Equal(t, int64(16), short.usage.output, kind)

		no := ask(t, "refuse-1", question{prompt: "Say hello"})
		require.Equal(t, refused, no.finish, kind)
		if !b.at.mute {
			require.Contains(t, no.text+no.refusal, "refuses to help", kind)
		}
		if b.can.stop {
			got := ask(t, "small", question{prompt: "Say hello", stop: "simulated"})
			require.Equal(t, stopped, got.finish, kind)
			require.Equal(t, b.at.stops, got.text == "Hello from the ", "%s: %s", kind, got.text)
			if !b.at.stops {
				require.Contains(t, b.p.On(t).Logged(b.witness.last()).Get("decision.routing_degraded").Raw, "stop")
			}
		}
	}
}

func cachedInput(t *testing.T, b bench) {
	for kind, ask := range b.ways() {
		got := ask(t, "cached-1", question{prompt: "Say hello to all of them"})
		require.Positive(t, got.usage.cached, kind)
		require.Less(t, got.usage.cached, got.usage.input, kind)
		sum, _ := sumOf(t, b.p, b.witness.last())
		require.Equal(t, got.usage.cached, sum.cached, kind)
		require.Equal(t, got.usage.input, sum.input, kind)
	}
}

// leaves goes away in the middle of a stream.
func leaves(t *testing.T, b bench) {
	name := b.own("fault-hang-3")
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	_, err := b.speaker.stream(ctx, b.at.model(name), question{prompt: "Say hello"}, leave)
	if err != nil {
		require.ErrorIs(t, err, context.Canceled)
	}
	b.p.On(t).Eventually(func() bool {
		seen := b.at.received(b.p, name)
		return len(seen) == 1 && seen[0].Aborted
	}, "the upstream call goes on")
	entry := b.p.On(t).Logged(b.witness.last())
	require.Equal(t, "canceled", entry.Get("outcome").Str)
	require.Equal(t, b.can.surface, entry.Get("surface").Str)
	require.Positive(t, entry.Get("usage.output").Int(), "what was seen is accounted for")
	require.EqualValues(t, 499, entry.Get("status").Int())
	require.NotEqual(t, http.StatusOK, entry.Get("status").Int())
}
