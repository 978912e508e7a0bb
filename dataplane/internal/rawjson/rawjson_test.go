package rawjson_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
)

func TestObjectMembers(t *testing.T) {
	text := ` { "a" : 1e400 , "\u006dodel":"x\"y", "n":null,"o":{"a":[1,{"b":2}]},"a":-0}  `
	o := rawjson.NewObject([]byte(text))
	var keys, values []string
	models := 0
	for o.Next() {
		keys = append(keys, string(o.Key()))
		values = append(values, string(o.Value()))
		start, end := o.ValueSpan()
		require.Equal(t, values[len(values)-1], text[start:end])
		require.Equal(t, byte('"'), text[o.KeyStart()])
		if o.Is("model") {
			models++
		}
	}
	require.True(t, o.OK())
	require.True(t, o.Whole())
	require.Equal(t, 1, o.Start())
	require.Equal(t, []string{"a", `\u006dodel`, "n", "o", "a"}, keys)
	require.Equal(t, []string{"1e400", `"x\"y"`, "null", `{"a":[1,{"b":2}]}`, "-0"}, values)
	require.Equal(t, 1, models)
}

func TestBroken(t *testing.T) {
	for _, text := range []string{
		"", " ", "[]", "1", `"a"`, "{", `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{,}`, `{"a":01}`, `{"a":1.}`,
		`{"a":.5}`, `{"a":+1}`, `{"a":1e}`, `{"a":tru}`, `{"a":nul}`, `{"a":"\x"}`, `{"a":"\u12g4"}`, "{\"a\":\"\n\"}", `{"a":[1,]}`,
		`{"a":[1}`, `{"a":{"b":1]}`, `{a:1}`, `{"a":1 "b":2}`, `{"a":[` + strings.Repeat("[", rawjson.MaxDepth) + `}`,
	} {
		o := rawjson.NewObject([]byte(text))
		for o.Next() {
		}
		require.False(t, o.OK(), text)
		require.False(t, o.Next(), text)
		require.Nil(t, rawjson.Member([]byte(text), "a"), text)
	}
	o := rawjson.NewObject([]byte(`{"a":1} x`))
	for o.Next() {
	}
	require.True(t, o.OK())
	require.False(t, o.Whole(), "something follows")
}

func TestArray(t *testing.T) {
	a := rawjson.NewArray([]byte(` [ 1 , {"a":[2]} ,"x"] `))
	var got []string
	for a.Next() {
		got = append(got, string(a.Value()))
	}
	require.True(t, a.OK())
	require.Equal(t, []string{"1", `{"a":[2]}`, `"x"`}, got)
	for _, text := range []string{"", "{}", "[1", "[1,]", "[,]", "[1 2]", "null"} {
		a := rawjson.NewArray([]byte(text))
		for a.Next() {
		}
		require.False(t, a.OK(), text)
	}
}

func TestValues(t *testing.T) {
	require.Equal(t, "é\"", rawjson.String([]byte(`"\u00e9\""`)))
	require.Empty(t, rawjson.String([]byte(`12`)))
	require.EqualValues(t, 12, rawjson.Int([]byte("12")))
	require.EqualValues(t, 12, rawjson.Int([]byte("12.0")))
	for _, none := range []string{"", "-3", "null", `"7"`, "1e400", "9223372036854775808", "{}"} {
		require.Zero(t, rawjson.Int([]byte(none)), none)
	}
	require.True(t, rawjson.IsNull(nil))
	require.True(t, rawjson.IsNull([]byte("null")))
	require.False(t, rawjson.IsNull([]byte("0")))
	require.Equal(t, `"a\"b"`, string(rawjson.Quote(`a"b`)))
	require.Equal(t, "2", string(rawjson.Member([]byte(`{"a":1,"\u0061":2}`), "a")), "the last one counts")
}

// The grammar is that of encoding/json.
func agrees(t require.TestingT, text []byte) {
	end := rawjson.Skip(text, 0)
	if end >= 0 {
		require.True(t, json.Valid(text[:end]), "%q", text)
	}
	sound := end >= 0 && len(strings.TrimLeft(string(text[end:]), " \t\r\n")) == 0
	if c := text; len(c) > 0 && !strings.ContainsRune(" \t\r\n", rune(c[0])) && strings.Count(string(c), "[")+strings.Count(string(c), "{") < rawjson.MaxDepth {
		require.Equal(t, json.Valid(text), sound, "%q", text)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil || members == nil {
		return
	}
	o := rawjson.NewObject(text)
	for o.Next() {
	}
	require.True(t, o.Whole(), "%q", text)
}

func TestAgreesWithEncodingJSON(t *testing.T) {
	part := rapid.SampledFrom([]string{
		"{", "}", "[", "]", ",", ":", `"a"`, `"\u0062"`, `"\`, "1", "-0", "1e400", "0.5", "01", "true", "null", " ", "\n", `"é"`, "x",
	})
	rapid.Check(t, func(t *rapid.T) {
		agrees(t, []byte(strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), "")))
	})
}

func FuzzSkip(f *testing.F) {
	for _, text := range []string{`{"a":[1,{"b":-0.5e+3}],"\u0061":null}`, `[[],{},"\ud83d"]`, `{"a":tru}`, `-`, `"\"`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { agrees(t, text) })
}

func BenchmarkObject(b *testing.B) {
	text := []byte(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{"content":"hello there"},"finish_reason":null}],"usage":null}`)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		o := rawjson.NewObject(text)
		for o.Next() {
			_ = o.Is("model")
		}
	}
}
