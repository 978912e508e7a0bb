package merge_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/preset/merge"
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

var (
	anySurface = rapid.SampledFrom([]catalog.Surface{
		catalog.Chat, catalog.Completions, catalog.Responses, catalog.Messages, catalog.Gemini, catalog.Embeddings, catalog.Images,
		catalog.Moderations,
	})
	anyName = rapid.SampledFrom([]string{
		"model", "messages", "input", "contents", "prompt", "stream", "temperature", "top_p", "topP", "top_k", "max_tokens",
		"max_completion_tokens", "max_output_tokens", "maxOutputTokens", "stop", "stop_sequences", "stopSequences", "seed", "n",
		"tools", "tool_choice", "functions", "reasoning", "reasoning_effort", "thinking", "generationConfig", "generation_config",
		"system", "instructions", "systemInstruction", "response_format", "logprobs", "size", "dimensions", "x", "\u00e9", "Temperature", "",
	})
	anyValue = rapid.SampledFrom([]string{
		`1`, `-0`, `1e400`, `12345678901234567890`, `null`, `true`, `""`, `"a"`, `"北京🙂"`, `"\u00e9\/"`, `[]`, `{}`, `["a"]`, `{"topP":1}`,
		`[{"type":"function","function":{}}]`, `[ {"role":"user"} ]`, `[ {"role" : "system" , "content":"x"}]`, `{"parts":[]}`,
	})
	anySpace = rapid.SampledFrom([]string{"", "", " ", "\n\t"})
)

type member struct{ key, value string }

func drawBody(t *rapid.T) (string, []member) {
	var members []member
	var b strings.Builder
	space := func() { b.WriteString(anySpace.Draw(t, "space")) }
	space()
	b.WriteString("{")
	for i := range rapid.IntRange(0, 8).Draw(t, "members") {
		if i > 0 {
			b.WriteString(",")
		}
		name, err := json.Marshal(anyName.Draw(t, "name"))
		require.NoError(t, err)
		m := member{string(name), anyValue.Draw(t, "value")}
		members = append(members, m)
		space()
		b.WriteString(m.key)
		space()
		b.WriteString(":")
		space()
		b.WriteString(m.value)
		space()
	}
	b.WriteString("}")
	space()
	return b.String(), members
}

func drawParams(t *rapid.T) map[string]json.RawMessage {
	params := make(map[string]json.RawMessage)
	for range rapid.IntRange(0, 6).Draw(t, "params") {
		params[anyName.Draw(t, "param")] = json.RawMessage(anyValue.Draw(t, "param value"))
	}
	return params
}

func membersOf(t require.TestingT, text []byte) []member {
	var out []member
	o := rawjson.NewObject(text)
	for o.Next() {
		out = append(out, member{`"` + string(o.Key()) + `"`, string(o.Value())})
	}
	require.True(t, o.Whole(), "%s", text)
	return out
}

// Parameters go in front: what the caller wrote follows, byte for byte, but for
// a generation config, which grows.
func TestParametersChangeNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, members := drawBody(t)
		to := merge.Into{Surface: anySurface.Draw(t, "surface")}
		c := policy.PresetConfig{Params: drawParams(t)}
		out, _, err := merge.Apply(to, []byte(text), &c)
		require.NoError(t, err)
		require.True(t, json.Valid(out), "%s", out)

		got := membersOf(t, out)
		require.GreaterOrEqual(t, len(got), len(members))
		added, kept := got[:len(got)-len(members)], got[len(got)-len(members):]
		if to.Surface != catalog.Gemini {
			require.True(t, slices.Equal(members, kept), "%q became %q", text, out)
			at := strings.IndexByte(text, '{') + 1
			require.True(t, strings.HasSuffix(string(out), text[at:]), "%q became %q", text, out)
		}
		for _, m := range added {
			require.NotContains(t, []string{`"model"`, `"messages"`, `"input"`, `"contents"`, `"prompt"`, `"stream"`}, m.key)
			same := func(o member) bool { return o.key == m.key }
			require.False(t, slices.ContainsFunc(members, same), "%s is the caller's", m.key)
			require.Equal(t, 1, len(got)-len(slices.DeleteFunc(slices.Clone(got), same)), "%s stands twice", m.key)
		}

		again, _, err := merge.Apply(to, out, &c)
		require.NoError(t, err)
		require.Equal(t, string(out), string(again), "what was missing is there now")
	})
}

// Every byte of the caller's is there in its order, but for a null that the
// prompt or parameters stand in the place of.
func TestThePromptTakesNothingAway(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, members := drawBody(t)
		to := merge.Into{Surface: anySurface.Draw(t, "surface"), Count: rapid.Bool().Draw(t, "count")}
		c := policy.PresetConfig{SystemPrompt: rapid.String().Draw(t, "prompt"), Params: drawParams(t)}
		out, _, err := merge.Apply(to, []byte(text), &c)
		require.NoError(t, err)
		require.True(t, json.Valid(out), "%s", out)
		left := string(out)
		for _, b := range []byte(strings.ReplaceAll(text, "null", "")) {
			_, rest, found := strings.Cut(left, string([]byte{b}))
			require.True(t, found, "something of %q is gone from %q", text, out)
			left = rest
		}
		if !to.Count {
			times := func(list []member, key string) (n int) {
				for _, m := range list {
					if m.key == key {
						n++
					}
				}
				return n
			}
			got := membersOf(t, out)
			for _, m := range got {
				require.LessOrEqual(t, times(got, m.key), max(1, times(members, m.key)), "%q became %q", text, out)
			}
		}
	})
}

// A preset adds no member whose name a parser may take for another, not from a
// generation config either.
func TestNamesArePlain(t *testing.T) {
	c := policy.PresetConfig{Params: map[string]json.RawMessage{
		"generationConfig": json.RawMessage(`{"me\u017f\u017fages":[],"model ":"x","a.b":1,"":1,"custom_1":1}`), "mo\u017ft": json.RawMessage(`1`),
	}}
	out, lost, err := merge.Apply(merge.Into{Surface: catalog.Chat}, []byte(`{"messages":[]}`), &c)
	require.NoError(t, err)
	require.JSONEq(t, `{"custom_1":1,"messages":[]}`, string(out))
	require.Len(t, lost, 5)
	require.Subset(t, []string{"generationConfig"}, lost, "records repeat what was lost")
}

func FuzzApply(f *testing.F) {
	f.Add([]byte(`{"model":"@a","messages":[{"role":"system","content":"x"}]}`), "p", "stop", []byte(`"a"`))
	f.Add([]byte(`{"systemInstruction":{"parts":{"text":"x"}},"generation_config":{}}`), "p", "topP", []byte(`1`))
	f.Add([]byte(`{"generateContentRequest":{"contents":[]}}`), "", "temperature", []byte(`1`))
	f.Add([]byte(`{"system":[{}],"instructions":[],"prompt":["a",1]}`), "\x00\"", "tools", []byte(`[{"input_schema":1}]`))
	f.Fuzz(func(t *testing.T, body []byte, prompt, name string, value []byte) {
		c := policy.PresetConfig{SystemPrompt: prompt}
		if json.Valid(value) {
			var raw json.RawMessage
			require.NoError(t, json.Unmarshal(value, &raw))
			c.Params = map[string]json.RawMessage{name: raw}
		}
		for _, surface := range []catalog.Surface{
			catalog.Chat, catalog.Completions, catalog.Responses, catalog.Messages, catalog.Gemini, catalog.Images,
		} {
			for _, count := range []bool{false, true} {
				before := string(body)
				out, _, err := merge.Apply(merge.Into{Surface: surface, Count: count}, body, &c)
				require.Equal(t, before, string(body))
				if err == nil {
					require.Equal(t, json.Valid(body), json.Valid(out), "%q became %q", body, out)
				}
			}
		}
	})
}
