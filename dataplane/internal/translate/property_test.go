package translate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate"
)

// member is one member of an object as it is written.
type member struct{ key, value string }

var (
	anyKey = rapid.SampledFrom([]string{
		`"model"`, `"\u006dodel"`, `"models"`, `"provider"`, `"routing"`, `"session_id"`, `"preset"`, `"messages"`,
		`"x"`, `"Model"`, `"mod\u0045l"`, `"MODELS"`, `"\u017fession_id"`, `"Stream"`, `"model "`, `"seed"`, `"metadata"`, `"\"model\""`,
	})
	anyValue = rapid.SampledFrom([]string{
		`1`, `-0`, `1e400`, `12345678901234567890`, `0.10`, `null`, `true`, `""`, `"北京🙂"`, `"\u00e9\/"`, `[]`, `{}`,
		`{"model":"inner","models":[1]}`, `{"Model":"inner","Stream":1,"PROVIDER":{}}`, `[{"properties":{"Models":{}}}]`, `[ {"a" : 1} , 2 ]`, `"}\"]"`,
	})
	anySpace = rapid.SampledFrom([]string{"", "", "", " ", "\n\t", "\r\n  "})
)

// drawObject writes an object, and the same with every model replaced.
func drawObject(t *rapid.T) (text, renamed string, members []member) {
	n := rapid.IntRange(0, 8).Draw(t, "members")
	var b, re strings.Builder
	write := func(s string) { b.WriteString(s); re.WriteString(s) }
	space := func() { write(anySpace.Draw(t, "space")) }
	space()
	write("{")
	for i := range n {
		if i > 0 {
			write(",")
		}
		m := member{anyKey.Draw(t, "key"), anyValue.Draw(t, "value")}
		members = append(members, m)
		space()
		write(m.key)
		space()
		write(":")
		space()
		b.WriteString(m.value)
		if m.key == `"model"` || m.key == `"\u006dodel"` {
			re.WriteString(`"small-v1"`)
		} else {
			re.WriteString(m.value)
		}
		space()
	}
	write("}")
	space()
	return b.String(), re.String(), members
}

// membersOf reads what edit wrote.
func membersOf(t require.TestingT, text []byte) []member {
	var out []member
	o := rawjson.NewObject(text)
	for o.Next() {
		out = append(out, member{`"` + string(o.Key()) + `"`, string(o.Value())})
	}
	require.True(t, o.Whole(), "%s", text)
	return out
}

func TestEditChangesNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, renamed, members := drawObject(t)
		r, failure := translate.New(nil).Request(chat(text), north)
		require.Nil(t, failure)
		require.True(t, json.Valid(r.Body.Join()), "%s", r.Body.Join())

		var want []member
		hasModel, gone := false, false
		for _, m := range members {
			var name string
			require.NoError(t, json.Unmarshal([]byte(m.key), &name))
			switch name {
			case "model":
				hasModel = true
				want = append(want, member{m.key, `"small-v1"`})
			case "models", "provider", "routing", "session_id", "preset",
				"Model", "modEl", "MODELS", "\u017fession_id", "Stream": // an upstream may compare without case
				gone = true
			default:
				want = append(want, m)
			}
		}
		if !hasModel {
			want = append([]member{{`"model"`, `"small-v1"`}}, want...)
		}
		require.Equal(t, want, membersOf(t, r.Body.Join()))
		if !gone && hasModel {
			require.Equal(t, renamed, string(r.Body.Join()), "white space and order stay")
		}
	})
}

func TestEveryEventKeepsItsBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		end := rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "line end")
		prefix := rapid.SampledFrom([]string{"data: ", "data:", "id: 7" + end + "data: ", ": c" + end + "data: "}).Draw(t, "prefix")
		text := rapid.SampledFrom([]string{"hi", "北京🙂", `\u00e9\n`, `\"model\":\"small-v1\"`}).Draw(t, "text")
		before := rapid.SampledFrom([]string{"", `"x":1e400,`, `"seed": 12345678901234567890 ,`}).Draw(t, "before")
		after := rapid.SampledFrom([]string{"", `,"usage":null`, ` , "usage" : null, "z":1`, `, "z" : {"model":"in"}`}).Draw(t, "after")
		left := after
		event := func(model string) string {
			return prefix + `{` + before + `"model": "` + model + `","choices":[{"index":0,"delta":{"content":"` + text + `"}}]` + after + `}` + end + end
		}
		c := chat("{}")
		c.Request.Stream, c.Request.StreamUsage = true, rapid.Bool().Draw(t, "usage asked for")
		codec := translate.New(nil).Codec(c, canonical, north)
		n := rapid.IntRange(1, 4).Draw(t, "events")
		got, _ := run(t, codec, strings.Repeat(event("small-v1"), n))
		if !c.Request.StreamUsage { // the gateway did, and OpenAI's chunks have the member then
			left = strings.NewReplacer(`,"usage":null`, "", `, "usage" : null`, "").Replace(after)
		}
		after = left
		require.Equal(t, strings.Repeat(event(canonical), n), strings.Replace(got, "-- first content\n", "", 1))
	})
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"model":"a","models":["b"],"stream_options":{"x":1},"provider_options":{"north":{}}}`), true)
	f.Add([]byte(`{"provider":{},"\u006dodel":1 , "n":-0}`), false)
	f.Add([]byte(`{`), false)
	f.Fuzz(func(t *testing.T, body []byte, stream bool) {
		c := chat(string(body))
		c.Request.Stream = stream
		r, failure := translate.New(nil).Request(c, north)
		if failure != nil {
			return
		}
		require.Equal(t, json.Valid(body), json.Valid(r.Body.Join()), "%q gave %q", body, r.Body.Join())
		for _, m := range membersOf(t, r.Body.Join()) {
			var name string
			if json.Unmarshal([]byte(m.key), &name) == nil {
				require.NotContains(t, []string{"models", "provider", "routing", "session_id", "preset"}, name)
			}
			if name == "model" {
				require.Equal(t, `"small-v1"`, m.value)
			}
		}
	})
}

func FuzzStream(f *testing.F) {
	f.Add([]byte("data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"))
	f.Add([]byte("{\"model\":\"m\"}\nevent: error\ndata: x\n\n"))
	f.Add([]byte("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1e9,\"completion_tokens\":-1}}\r\rdata: {"))
	f.Fuzz(func(t *testing.T, in []byte) {
		c := chat("{}")
		c.Request.Stream = true
		codec := translate.New(nil).Codec(c, canonical, north)
		out, failure := run(t, codec, string(in))
		if failure == nil {
			require.Contains(t, out, "[DONE]", "a complete stream has its marker")
		}
		u := codec.Seen().Usage
		for _, n := range []int64{u.Input, u.CachedRead, u.Output, u.Reasoning, u.AudioInput, u.AudioOutput} {
			require.GreaterOrEqual(t, n, int64(0))
		}
	})
}

func FuzzWhole(f *testing.F) {
	f.Add([]byte(`{"model":"m","choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`))
	f.Add([]byte(`{"error":{"message":"x"}}`))
	f.Add([]byte(`{"model":1,"model":2,"choices":null}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		out, failure := translate.New(nil).Codec(chat("{}"), canonical, north).Whole(body)
		if failure == nil {
			require.True(t, json.Valid(body))
			require.True(t, json.Valid(out), "%q gave %q", body, out)
		}
	})
}
