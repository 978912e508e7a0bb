package content_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/content"
	"github.com/signalbox-dev/signalbox/shared/condition"
)

const body = ` {"model":"acme/small","n":2,"big":12345678901234567890,"on":true,"off":false,"nil":null,"empty":"","a.b":"dotted",
	"messages":[{"role":"user","content":[{"type":"text","text":"H\u00e9llo"}]},["x","y"]],
	"nested":{"deep":{"deeper":1.50}},"twice":1,"twice":"last","esc\u0061ped":"yes","*":"star","#":"hash","0":"zero",
	"contents":[{"parts":[{"text":"hi"}]}]}`

func look(c call.Call, s condition.Source, path string) []condition.Value {
	return content.Of(&c, nil).Look(s, path)
}

func number(literal string) condition.Value {
	v, ok := condition.Number(literal)
	if !ok {
		panic(literal)
	}
	return v
}

func TestBody(t *testing.T) {
	text := func(s string) *condition.Value { v := condition.Text(s); return &v }
	of := func(v condition.Value) *condition.Value { return &v }
	for path, want := range map[string]*condition.Value{
		"model": text("acme/small"), "n": of(number("2")), "big": of(number("12345678901234567890")),
		"on": of(condition.Bool(true)), "off": of(condition.Bool(false)), "nil": of(condition.Null()), "empty": text(""),
		"messages": of(condition.Compound()), "messages.0": of(condition.Compound()), "messages.0.role": text("user"),
		"messages.0.content.0.text": text("Héllo"), "messages.1.1": text("y"), "nested.deep.deeper": of(number("1.50")),
		"twice": text("last"), "escaped": text("yes"), "contents.0.parts.0.text": text("hi"), "0": text("zero"),
		// Names are names, whatever they mean elsewhere.
		"*": text("star"), "#": text("hash"), "@this": nil, "messages.#": nil, "messages.#.role": nil, "mod*": nil, "model|@reverse": nil,
		"a.b": nil, "a\\.b": nil, "messages.2": nil, "messages.-1": nil, "messages.+0": nil, "messages.x": nil,
		"model.x": nil, "none": nil, "nested.none": nil, "nil.x": nil, "n.0": nil, "": nil, "Model": nil,
	} {
		got := look(call.Call{Body: []byte(body)}, condition.Body, path)
		if want == nil {
			require.Empty(t, got, path)
			continue
		}
		require.Equal(t, []condition.Value{*want}, got, path)
	}
	require.Empty(t, look(call.Call{Body: []byte("--b\r\nmodel"), Form: "b"}, condition.Body, "model"))
	require.Empty(t, look(call.Call{}, condition.Body, "model"))
	require.Empty(t, look(call.Call{Body: []byte(`{"model":`)}, condition.Body, "model"))
}

// A text that is too long to compare is there, and nothing more.
func TestALongTextIsThere(t *testing.T) {
	long := `{"prompt":"` + strings.Repeat("x", 256<<10) + `"}`
	require.Equal(t, []condition.Value{condition.Compound()}, look(call.Call{Body: []byte(long)}, condition.Body, "prompt"))
	exists, err := condition.Compile(condition.Condition{Source: condition.Body, Path: "prompt", Op: condition.Exists}, condition.Sources()...)
	require.NoError(t, err)
	require.True(t, exists.Holds(content.Of(&call.Call{Body: []byte(long)}, nil)))
	contains, err := condition.Compile(condition.Condition{
		Source: condition.Body, Path: "prompt", Op: condition.Contains, Value: condition.One(condition.Text("x")),
	}, condition.Sources()...)
	require.NoError(t, err)
	require.False(t, contains.Holds(content.Of(&call.Call{Body: []byte(long)}, nil)))
}

// So is a number.
func TestALongNumberIsThere(t *testing.T) {
	long := `{"n":` + strings.Repeat("1", 1<<10+1) + `}`
	require.Equal(t, []condition.Value{condition.Compound()}, look(call.Call{Body: []byte(long)}, condition.Body, "n"))
}

// TestAllPathsInOnePass: what the first look says of every path is what a look of
// its own would, and none after it reads the body.
func TestAllPathsInOnePass(t *testing.T) {
	paths := []string{
		"model", "messages.0.content.0.text", "messages.1.1", "messages.01.1", "messages", "messages.0", "messages.9", "nested.deep", "nested.deep.deeper",
		"twice", "escaped", "none", "none.none", "n.0", "model", "a.b", "",
	}
	c := call.Call{Body: []byte(body)}
	k := content.Of(&c, paths)
	k.Look(condition.Body, "twice")
	clear(c.Body)
	for _, path := range paths {
		require.Equal(t, look(call.Call{Body: []byte(body)}, condition.Body, path), k.Look(condition.Body, path), path)
	}
	require.NotEmpty(t, k.Look(condition.Body, "messages.01.1"))
}

func TestHeaders(t *testing.T) {
	c := call.Call{Header: http.Header{
		"X-Team": {"blue", "red"}, "Authorization": {"Bearer canary"}, "Cookie": {"canary"}, "X-Api-Key": {"canary"},
		"X-Signalbox-Metadata": {"canary"}, "X-My-Secret": {"canary"}, "X-Token": {"canary"}, "X-Password": {"canary"},
	}}
	require.Equal(t, []condition.Value{condition.Text("blue"), condition.Text("red")}, look(c, condition.Header, "x-TEAM"))
	require.Empty(t, look(c, condition.Header, "x-none"))
	for name := range c.Header {
		if name != "X-Team" {
			require.Empty(t, look(c, condition.Header, strings.ToLower(name)), name)
		}
	}
	require.Empty(t, look(c, condition.Model, ""))
}

func TestAPathIsReadOnce(t *testing.T) {
	c := call.Call{Body: []byte(`{"n":1}`)}
	k := content.Of(&c, nil)
	before := k.Look(condition.Body, "n")
	copy(c.Body, `{"n":2}`)
	require.Equal(t, before, k.Look(condition.Body, "n"))
}

// FuzzBody: no path of any body panics, and where both read it, a value is what
// encoding/json reads there.
func FuzzBody(f *testing.F) {
	for _, path := range []string{"model", "messages.0.content.0.text", "messages.1.1", "twice", "nested.deep.deeper", "..", "0"} {
		f.Add([]byte(body), path)
	}
	f.Fuzz(func(t *testing.T, body []byte, path string) {
		got := look(call.Call{Body: body}, condition.Body, path)
		var whole any
		decoder := json.NewDecoder(strings.NewReader(string(body)))
		decoder.UseNumber()
		if !json.Valid(body) || decoder.Decode(&whole) != nil {
			return
		}
		for _, segment := range strings.Split(path, ".") {
			switch at := whole.(type) {
			case map[string]any:
				var there bool
				if whole, there = at[segment]; !there {
					require.Empty(t, got)
					return
				}
			case []any:
				i, err := strconv.Atoi(segment)
				if err != nil || i < 0 || i >= len(at) || segment[0] == '+' {
					require.Empty(t, got)
					return
				}
				whole = at[i]
			default:
				require.Empty(t, got)
				return
			}
		}
		if want, ok := condition.Of(whole); ok && len(got) == 1 {
			require.Equal(t, want, got[0])
		}
	})
}

func BenchmarkBody(b *testing.B) {
	text := []byte(`{"messages":[` + strings.Repeat(`{"role":"user","content":"`+strings.Repeat("word ", 200)+`"},`, 9) + `{"role":"user","content":"last"}],"tier":"gold"}`)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		content.Of(&call.Call{Body: text}, nil).Look(condition.Body, "tier")
	}
}
