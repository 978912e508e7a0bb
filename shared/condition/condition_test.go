package condition_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/condition"
)

// facts are by "source path".
type facts map[string][]condition.Value

func (f facts) Look(s condition.Source, path string) []condition.Value {
	return f[strings.TrimSpace(string(s)+" "+path)]
}

func read(t testing.TB, text string) condition.Condition {
	t.Helper()
	var c condition.Condition
	require.NoError(t, json.Unmarshal([]byte(text), &c))
	return c
}

func num(text string) condition.Value {
	v, ok := condition.Number(text)
	if !ok {
		panic(text)
	}
	return v
}

func problems(c condition.Condition) []string {
	var list []string
	for _, p := range condition.Check(c, "when", condition.Sources()...) {
		list = append(list, p.Path+": "+p.Message)
	}
	return list
}

var request = facts{
	"metadata plan":  {condition.Text("Pro")},
	"metadata seats": {num("12")},
	"metadata score": {condition.Text("9.5")},
	"metadata big":   {num("12345678901234567890")},
	"metadata null":  {condition.Null()},
	"metadata empty": {condition.Text("")},
	"metadata on":    {condition.Bool(true)},
	"workspace_tag":  {condition.Text("gold"), condition.Text("eu")},
	"model":          {condition.Text("acme/small")},
}

// TestOperators holds what each operator means, for values that are there and
// for those that are not.
func TestOperators(t *testing.T) {
	cases := []struct {
		test string
		want bool
	}{
		{`"path":"plan","op":"equals","value":"pro"`, true},
		{`"path":"plan","op":"equals","value":"PRO "`, false},
		{`"path":"plan","op":"not_equals","value":"pro"`, false},
		{`"path":"plan","op":"not_equals","value":"free"`, true},
		{`"path":"seats","op":"equals","value":12.0`, true},
		{`"path":"seats","op":"equals","value":"12"`, true},
		{`"path":"seats","op":"equals","value":"12.0"`, true},
		{`"path":"score","op":"equals","value":9.50`, true},
		{`"path":"score","op":"equals","value":"9.50"`, false}, // two texts
		{`"path":"big","op":"equals","value":12345678901234567890`, true},
		{`"path":"big","op":"equals","value":12345678901234567891`, false},
		{`"path":"on","op":"equals","value":true`, true},
		{`"path":"on","op":"equals","value":"True"`, true},
		{`"path":"on","op":"equals","value":false`, false},
		{`"path":"on","op":"equals","value":1`, false},

		// A missing value equals nothing, not even null or "", and satisfies
		// every negative operator.
		{`"path":"none","op":"equals","value":null`, false},
		{`"path":"none","op":"equals","value":""`, false},
		{`"path":"none","op":"not_equals","value":null`, true},
		{`"path":"none","op":"not_equals","value":"x"`, true},
		{`"path":"none","op":"not_in","value":["x"]`, true},
		{`"path":"none","op":"in","value":[null,""]`, false},
		{`"path":"none","op":"not_exists"`, true},
		{`"path":"none","op":"exists"`, false},
		{`"path":"none","op":"contains","value":"x"`, false},
		{`"path":"none","op":"less_than","value":5`, false},
		{`"path":"none","op":"matches","value":".*"`, false},

		{`"path":"null","op":"equals","value":null`, true},
		{`"path":"null","op":"equals","value":""`, false},
		{`"path":"null","op":"equals","value":"null"`, false},
		{`"path":"null","op":"exists"`, true},
		{`"path":"null","op":"matches","value":".*"`, false},
		{`"path":"null","op":"less_than","value":5`, false},
		{`"path":"empty","op":"equals","value":""`, true},
		{`"path":"empty","op":"equals","value":null`, false},
		{`"path":"empty","op":"exists"`, true},

		{`"path":"plan","op":"contains","value":"R"`, true},
		{`"path":"plan","op":"starts_with","value":"pr"`, true},
		{`"path":"plan","op":"starts_with","value":"ro"`, false},
		{`"path":"plan","op":"ends_with","value":"RO"`, true},
		{`"path":"plan","op":"ends_with","value":"Pr"`, false},
		{`"path":"seats","op":"starts_with","value":1`, true},
		{`"path":"plan","op":"in","value":["free","PRO"]`, true},
		{`"path":"plan","op":"not_in","value":["free","PRO"]`, false},
		{`"path":"seats","op":"in","value":[11,12]`, true},
		{`"path":"plan","op":"matches","value":"^p.o$"`, true},
		{`"path":"plan","op":"matches","value":"(?-i)^p"`, false},

		{`"path":"seats","op":"greater_than","value":9`, true}, // not as texts
		{`"path":"seats","op":"greater_than","value":"9"`, true},
		{`"path":"seats","op":"greater_than","value":12`, false},
		{`"path":"seats","op":"less_than","value":12.5`, true},
		{`"path":"score","op":"less_than","value":10`, true},
		{`"path":"plan","op":"greater_than","value":5`, false},
		{`"path":"plan","op":"less_than","value":5`, false},
		{`"path":"plan","op":"greater_than","value":"FREE"`, true},
		{`"path":"on","op":"greater_than","value":0`, false},
	}
	for _, c := range cases {
		t.Run(c.test, func(t *testing.T) {
			test := read(t, `{"source":"metadata",`+c.test+`}`)
			require.Empty(t, problems(test))
			p, err := condition.Compile(test, condition.Sources()...)
			require.NoError(t, err)
			require.Equal(t, c.want, p.Holds(request))

			p, err = condition.Compile(condition.Condition{Not: &test}, condition.Sources()...)
			require.NoError(t, err)
			require.Equal(t, !c.want, p.Holds(request), "not")
		})
	}
}

// TestSeveralValues: a test of a list holds when one value passes, and its
// opposite when none does.
func TestSeveralValues(t *testing.T) {
	for text, want := range map[string]bool{
		`{"source":"workspace_tag","op":"equals","value":"EU"}`:      true,
		`{"source":"workspace_tag","op":"not_equals","value":"eu"}`:  false,
		`{"source":"workspace_tag","op":"not_equals","value":"us"}`:  true,
		`{"source":"workspace_tag","op":"in","value":["us","gold"]}`: true,
		`{"source":"key_scope","op":"exists"}`:                       false,
		`{"source":"key_scope","op":"not_in","value":["a"]}`:         true,
		`{"source":"model","op":"starts_with","value":"acme/"}`:      true,
		`{"all":[{"source":"model","op":"exists"},{"any":[{"source":"key_scope","op":"exists"},{"not":{"source":"session_id","op":"exists"}}]}]}`: true,
		`{"all":[{"source":"model","op":"exists"},{"source":"session_id","op":"exists"}]}`:                                                        false,
		`{"any":[{"source":"user_id","op":"exists"},{"source":"session_id","op":"exists"}]}`:                                                      false,
	} {
		p, err := condition.Compile(read(t, text), condition.Sources()...)
		require.NoError(t, err, text)
		require.Equal(t, want, p.Holds(request), text)
	}
}

// TestEveryProblemIsListed checks one condition with many things wrong, and
// that no problem repeats a value.
func TestEveryProblemIsListed(t *testing.T) {
	c := read(t, `{"all":[
		{"source":"cookie","op":"is","value":"canary"},
		{"source":"metadata","op":"equals","value":"canary"},
		{"source":"header","path":"X-Api-Key","op":"exists"},
		{"source":"header","path":"bad name","op":"exists","value":"canary"},
		{"source":"workspace_tag","path":"x","op":"in","value":"canary"},
		{"source":"model","op":"equals","value":["canary"]},
		{"source":"model","op":"in","value":[]},
		{"source":"model","op":"matches","value":"(canary"},
		{"source":"model","op":"matches","value":4},
		{"source":"model","op":"contains","value":""},
		{"source":"model","op":"less_than","value":true},
		{"source":"model","op":"equals"},
		{"source":"body","path":"a..b","op":"exists"},
		{"source":"body","path":"a.a.a.a.a.a.a.a.a.a.a.a.a","op":"exists"},
		{"op":"equals","value":"canary"},
		{"source":"model"},
		{},
		{"any":[]},
		{"not":{"source":"model","op":"exists"},"source":"model","op":"exists"},
		{"any":[{"any":[{"any":[{"any":[{"source":"model","op":"exists"}]}]}]}]}
	]}`)
	got := problems(c)
	require.NotContains(t, strings.Join(got, "\n"), "canary")
	ops := "equals, not_equals, contains, starts_with, ends_with, exists, not_exists, greater_than, less_than, in, not_in, matches"
	sources := "body, header, metadata, workspace_tag, key_scope, endpoint, model, session_id, user_id"
	require.Equal(t, []string{
		"when.all[0].source: want one of " + sources,
		"when.all[0].op: want one of " + ops,
		"when.all[1].path: is required with the source metadata",
		"when.all[2].path: this header may hold a secret and cannot be read",
		"when.all[3].path: want the name of a header",
		"when.all[3].value: exists takes no value",
		"when.all[4].path: the source workspace_tag has no parts",
		"when.all[4].value: in wants a list of values",
		"when.all[5].value: equals wants one value; in takes a list",
		"when.all[6].value: want 1 to 256 values",
		"when.all[7].value: want a regular expression in the syntax of RE2",
		"when.all[8].value: want a regular expression as a text",
		"when.all[9].value: want a text that is not empty",
		"when.all[10].value: want a number, or a text to order by",
		"when.all[11].value: is required with equals",
		"when.all[12].path: want no empty segments",
		"when.all[13].path: want at most 12 segments",
		"when.all[14].source: is required: one of " + sources,
		"when.all[15].op: is required: one of " + ops,
		"when.all[16]: want a test (source, op and value), or one of all, any and not",
		"when.all[17].any: want 1 to 64 conditions",
		"when.all[18]: want either a test or one of all, any and not, and nothing beside it",
		"when.all[19].any[0].any[0].any[0]: want all, any and not nested at most 4 deep",
	}, got)
	_, err := condition.Compile(c, condition.Sources()...)
	require.ErrorIs(t, err, condition.ErrInvalid)
}

func TestOnlyAllowedSources(t *testing.T) {
	c := read(t, `{"source":"body","path":"a","op":"exists"}`)
	require.Len(t, condition.Check(c, "when", condition.Metadata, condition.Model), 1)
	require.Empty(t, condition.Check(c, "when", condition.Body))
}

func TestTooManyTests(t *testing.T) {
	test := read(t, `{"source":"model","op":"exists"}`)
	half := condition.Condition{}
	for range condition.MaxTests/2 + 1 {
		half.Any = append(half.Any, test)
	}
	require.Equal(t, []string{"when: want at most 64 tests"}, problems(condition.Condition{All: []condition.Condition{half, half}}))
}

func TestSecretHeaders(t *testing.T) {
	for _, name := range []string{
		"Authorization", "proxy-authorization", "COOKIE", "Set-Cookie", "x-api-key", "X-Goog-Api-Key", "my-token", "Client-Secret",
		"x-password-hint", "X-Signalbox-Metadata",
	} {
		require.True(t, condition.SecretHeader(name), name)
	}
	for _, name := range []string{"accept", "user-agent", "x-team", "traceparent"} {
		require.False(t, condition.SecretHeader(name), name)
	}
}

func TestJSONKeepsWhatWasWritten(t *testing.T) {
	for _, text := range []string{
		`{"source":"metadata","path":"a","op":"equals","value":12345678901234567890}`,
		`{"source":"metadata","path":"a","op":"equals","value":1e400}`,
		`{"source":"metadata","path":"a","op":"equals","value":null}`,
		`{"source":"metadata","path":"a","op":"in","value":["x",1,true,null]}`,
		`{"source":"metadata","path":"a","op":"in","value":[]}`,
		`{"all":[{"source":"model","op":"exists"}]}`,
		`{"not":{"any":[{"source":"model","op":"exists"}]}}`,
	} {
		body, err := json.Marshal(read(t, text))
		require.NoError(t, err)
		require.Equal(t, text, string(body))
	}
}

// FuzzCondition: whatever is decoded, checking and evaluating it ends without
// a panic, a compiled condition survives being written and read, and not turns
// its answer around.
func FuzzCondition(f *testing.F) {
	for _, text := range []string{
		`{"source":"metadata","path":"plan","op":"equals","value":"pro"}`,
		`{"all":[{"any":[{"not":{"source":"model","op":"matches","value":"^a"}}]},{"source":"workspace_tag","op":"in","value":["x",2,null]}]}`,
		`{"source":"header","path":"x-team","op":"less_than","value":1e999}`,
		`{"any":[],"all":null,"source":"?"}`,
	} {
		f.Add(text, "12")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		var c condition.Condition
		if json.Unmarshal([]byte(text), &c) != nil {
			return
		}
		found := condition.Check(c, "when", condition.Sources()...)
		p, err := condition.Compile(c, condition.Sources()...)
		require.Equal(t, len(found) == 0, err == nil)
		if err != nil {
			return
		}
		have := facts{"model": {condition.Text(value)}, "metadata plan": {condition.Text(value), condition.Bool(true)}}
		body, err := json.Marshal(c)
		require.NoError(t, err)
		again, err := condition.Compile(read(t, string(body)), condition.Sources()...)
		require.NoError(t, err)
		require.Equal(t, p.Holds(have), again.Holds(have))
		if not, err := condition.Compile(condition.Condition{Not: &c}, condition.Sources()...); err == nil {
			require.Equal(t, p.Holds(have), !not.Holds(have))
		}
	})
}
