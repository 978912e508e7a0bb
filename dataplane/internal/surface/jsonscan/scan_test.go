package jsonscan_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/jsonscan"
)

func TestObjectVisitsMembersAsWritten(t *testing.T) {
	body := []byte(" {\"a\" : 12345678901234567890 , \"b\\n\":[1,{\"a\":2}],\n\"c\":{ },\"d\":\"x\\\"y\",\"a\":null} ")
	var seen []string
	require.NoError(t, jsonscan.Object(body, func(k, v []byte) { seen = append(seen, string(k)+"="+string(v)) }))
	require.Equal(t, []string{"a=12345678901234567890", `b\n=[1,{"a":2}]`, "c={ }", `d="x\"y"`, "a=null"}, seen)
}

func TestObjectNamesThePlace(t *testing.T) {
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
		"two values":     {`{} {}`, "unexpected text after the JSON object", 1, 4},
		"utf8":           {"{\"a\":\"\xff\"}", "invalid UTF-8", 1, 7},
		"depth":          {`{"a":` + strings.Repeat("[", jsonscan.MaxDepth) + "}", "nesting deeper than 256 levels", 1, 261},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := jsonscan.Object([]byte(c.body), func(_, _ []byte) {})
			var syntax *jsonscan.SyntaxError
			require.ErrorAs(t, err, &syntax)
			require.Equal(t, c.want, syntax.Want)
			require.Equal(t, []int{c.line, c.column}, []int{syntax.Line, syntax.Column})
		})
	}
}

func TestDepthLimitIsExact(t *testing.T) {
	inner := jsonscan.MaxDepth - 1
	body := `{"a":` + strings.Repeat("[", inner) + strings.Repeat("]", inner) + "}"
	require.NoError(t, jsonscan.Object([]byte(body), nil))
}

func FuzzObject(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[1.5e+10,-0,true,null,"é\u00e9"]}`, `{"a":{"b":[[]]}}`, "{\"12345678\x1f\":1}", `{"a":.5}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := jsonscan.Object(data, func(k, v []byte) {
			if !json.Valid(v) && utf8.Valid(v) {
				t.Fatalf("visited value is not JSON: %q", v)
			}
			_ = k
		})
		trimmed := strings.TrimLeft(string(data), " \t\r\n")
		want := json.Valid(data) && utf8.Valid(data) && strings.HasPrefix(trimmed, "{")
		var syntax *jsonscan.SyntaxError
		if errors.As(err, &syntax) && strings.HasPrefix(syntax.Want, "nesting") {
			return
		}
		if want != (err == nil) {
			t.Fatalf("encoding/json says %v, scanner says %v: %q", want, err, data)
		}
	})
}

func BenchmarkObject(b *testing.B) {
	body := []byte(`{"model":"acme/small","messages":[{"role":"user","content":"` + strings.Repeat("lorem ipsum dolor ", 700) + `"}]}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if err := jsonscan.Object(body, func(_, _ []byte) {}); err != nil {
			b.Fatal(err)
		}
	}
}
