package attempt_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// preset gives the last step of the plan a preset.
func (w *world) preset(prompt string, params map[string]json.RawMessage) {
	w.plan.Chain[len(w.plan.Chain)-1].Preset = &policy.PresetVersion{Config: policy.PresetConfig{SystemPrompt: prompt, Params: params}}
}

// Each entry of the chain has its own preset, and none sees another's.
func TestEachStepCompletesWhatTheCallerSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model("acme/a", 0, "north", "south")
		w.preset("first", map[string]json.RawMessage{"seed": json.RawMessage("1"), "voice": json.RawMessage(`"x"`)})
		w.model("acme/b", 0, "east")
		w.model("acme/c", 0, "west")
		w.preset("third", map[string]json.RawMessage{"top_p": json.RawMessage("0.5"), "size": json.RawMessage(`"x"`)})
		w.on("north", refuse(503, 0))
		w.on("south", refuse(503, 0))
		w.on("east", refuse(503, 0))
		w.on("west", plain(okPlain))
		c := plainCall()
		c.Body = []byte(`{"model":"@p","messages":[{"role":"user","content":"hi"}]}`)
		reply, _, failure := w.attempt(t.Context(), c)
		require.Nil(t, failure)
		require.Equal(t, []string{
			`{"seed":1,"model":"up-acme/a","messages":[{"role":"system","content":"first"},{"role":"user","content":"hi"}]}`,
			`{"seed":1,"model":"up-acme/a","messages":[{"role":"system","content":"first"},{"role":"user","content":"hi"}]}`,
			`{"model":"up-acme/b","messages":[{"role":"user","content":"hi"}]}`,
			`{"top_p":0.5,"model":"up-acme/c","messages":[{"role":"system","content":"third"},{"role":"user","content":"hi"}]}`,
		}, w.bodies)
		require.Equal(t, []string{"preset.size"}, reply.Degraded)
		_, failure = read(t, reply)
		require.Nil(t, failure)
	})
}

func TestABodyThatTakesNoPresetIsTheCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model("acme/a", 0, "north")
		w.preset("first", nil)
		w.model("acme/b", 0, "north")
		c := plainCall()
		c.Body = []byte(`[]`)
		reply, records, failure := w.attempt(t.Context(), c)
		require.Nil(t, reply)
		require.Empty(t, records)
		require.Empty(t, w.calls)
		require.Equal(t, fault.UpstreamRejected, failure.Code)
		require.Equal(t, 400, failure.Status)
	})
}

// What a provider does not report is estimated by what was sent.
func TestThePresetCountsInAnEstimate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.model("acme/a", 0, "north")
		w.preset(strings.Repeat("x", 400), nil)
		w.on("north", plain(`{"model":"up","choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}]}`))
		c := plainCall()
		c.Body, c.Request.InputTokens = []byte(`{"messages":[]}`), 7
		reply, _, failure := w.attempt(t.Context(), c)
		require.Nil(t, failure)
		_, failure = read(t, reply)
		require.Nil(t, failure)
		require.EqualValues(t, 107, reply.Meter.Seen().Usage.Input)
	})
}
