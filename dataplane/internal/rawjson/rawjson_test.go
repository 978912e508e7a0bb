package rawjson_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

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
		require.NotNil(t, o.Err(), text)
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
	for _, text := range []string{"", "acme/small", `a"b`, `a\b`, "<&>", "\x00\x1f\x7f~", "é\u2028", "\xff"} {
		want, err := json.Marshal(text)
		require.NoError(t, err)
		require.Equal(t, string(want), string(rawjson.Quote(text)))
	}
	_, ok := rawjson.Text([]byte("null"))
	require.False(t, ok)
}

func TestErrNamesThePlace(t *testing.T) {
	cases := map[string]struct {
		body         string
		want         string
		line, column int
	}{
		"empty":          {"", "expected a JSON object", 1, 1},
		"array":          {"[1]", "expected a JSON object", 1, 1},
		"trailing comma": {"{\"a\":1,\n}", "expected a member name in double quotes", 2, 1},
		"no colon":       {`{"a" 1}`, "expected ':'", 1, 6},
		"bare word":      {`{"a":nope}`, "expected a value", 1, 6},
		"cut":            {`{"a":"long enough text`, "unexpected end inside a string", 1, 23},
		"control":        {"{\"a\":\"0123456789\x01\"}", "unescaped control character in a string", 1, 17},
		"escape":         {`{"a":"\x"}`, "invalid escape in a string", 1, 7},
		"leading zero":   {`{"a":01}`, "expected ',' or '}'", 1, 7},
		"in an array":    {`{"a":[1 2]}`, "expected ',' or ']'", 1, 9},
		"two values":     {`{} {}`, "unexpected text after the JSON object", 1, 4},
		"utf8":           {"{\"a\":\"\xff\"}", "invalid UTF-8", 1, 7},
		"depth":          {`{"a":` + strings.Repeat("[", rawjson.MaxDepth) + "}", "nesting deeper than 256 levels", 1, 261},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := rawjson.NewObject([]byte(c.body))
			for o.Next() {
			}
			err := o.Err()
			require.NotNil(t, err)
			require.Equal(t, c.want, err.Want)
			require.Equal(t, []int{c.line, c.column}, []int{err.Line, err.Column})
		})
	}
}

func TestDepthLimitIsExact(t *testing.T) {
	inner := rawjson.MaxDepth - 1
	o := rawjson.NewObject([]byte(`{"a":` + strings.Repeat("[", inner) + strings.Repeat("]", inner) + "}"))
	for o.Next() {
	}
	require.Nil(t, o.Err())
}

// The grammar is that of encoding/json, with bounded depth, and UTF-8 is
// demanded where the whole text is judged.
func agrees(t require.TestingT, text []byte) {
	o := rawjson.NewObject(text)
	for o.Next() {
		require.True(t, json.Valid(o.Value()), "%q", text)
	}
	err := o.Err()
	if err != nil && strings.HasPrefix(err.Want, "nesting") {
		return
	}
	sound := json.Valid(text) && strings.HasPrefix(strings.TrimLeft(string(text), " \t\r\n"), "{")
	require.Equal(t, sound, o.Whole(), "%q", text)
	require.Equal(t, sound && utf8.Valid(text), err == nil, "%q", text)

	a := rawjson.NewArray(append(append([]byte("["), text...), ']'))
	for a.Next() {
		require.True(t, json.Valid(a.Value()), "%q", text)
	}
	if sound {
		require.True(t, a.OK(), "%q", text)
	}
}

func TestAgreesWithEncodingJSON(t *testing.T) {
	part := rapid.SampledFrom([]string{
		"{", "}", "[", "]", ",", ":", `"a"`, `"\u0062"`, `"\`, "1", "-0", "1e400", "0.5", "01", "true", "null", " ", "\n", `"é"`, "x",
	})
	rapid.Check(t, func(t *rapid.T) {
		agrees(t, []byte("{"+strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), "")+"}"))
		agrees(t, []byte(strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "bare"), "")))
	})
}

func FuzzObject(f *testing.F) {
	for _, text := range []string{`{"a":[1,{"b":-0.5e+3}],"\u0061":null}`, `[[],{},"\ud83d"]`, `{"a":tru}`, `-`, `"\"`, "{\"12345678\x1f\":1}", `{"a":.5}`} {
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

func BenchmarkLongText(b *testing.B) {
	text := []byte(`{"model":"acme/small","messages":[{"role":"user","content":"` + strings.Repeat("lorem ipsum dolor ", 700) + `"}]}`)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		o := rawjson.NewObject(text)
		for o.Next() {
		}
		if o.Err() != nil {
			b.Fatal(o.Err())
		}
	}
}
