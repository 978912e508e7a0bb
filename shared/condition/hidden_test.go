package condition_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/condition"
)

var hider = condition.NewHider([]byte("the key of a workspace"))

// TestJudge holds what can be told of hidden and of unrecorded values.
func TestJudge(t *testing.T) {
	record := facts{
		"metadata plan":  {hider.Hide(condition.Text("Pro"))},
		"metadata score": {hider.Hide(condition.Text("9.50"))},
		"metadata huge":  {hider.Hide(condition.Text("1E400"))},
		"metadata seats": {hider.Hide(num("12"))},
		"metadata on":    {hider.Hide(condition.Bool(true))},
		"metadata null":  {hider.Hide(condition.Null())},
		"metadata lost":  {condition.Unrecorded()},
		"workspace_tag":  {hider.Hide(condition.Text("gold")), hider.Hide(condition.Text("eu"))},
	}
	yes, no, unknown := condition.True, condition.False, condition.Unknown
	for test, want := range map[string]condition.Truth{
		`"path":"plan","op":"equals","value":"PRO"`:         yes,
		`"path":"plan","op":"equals","value":"free"`:        no,
		`"path":"plan","op":"not_equals","value":"pro"`:     no,
		`"path":"plan","op":"in","value":["free","pro"]`:    yes,
		`"path":"plan","op":"not_in","value":["free",null]`: yes,
		`"path":"plan","op":"exists"`:                       yes,
		`"path":"plan","op":"not_exists"`:                   no,
		`"path":"plan","op":"equals","value":12`:            no,
		`"path":"plan","op":"equals","value":null`:          no,
		`"path":"plan","op":"greater_than","value":12`:      no,
		`"path":"plan","op":"greater_than","value":"a"`:     unknown,
		`"path":"plan","op":"contains","value":"p"`:         unknown,
		`"path":"plan","op":"starts_with","value":"p"`:      unknown,
		`"path":"plan","op":"ends_with","value":"p"`:        unknown,
		`"path":"plan","op":"matches","value":"p"`:          unknown,
		`"path":"none","op":"exists"`:                       no,
		`"path":"none","op":"contains","value":"p"`:         no,
		`"path":"none","op":"not_equals","value":"p"`:       yes,

		`"path":"score","op":"equals","value":"9.50"`:            yes,
		`"path":"score","op":"equals","value":"9.5"`:             no, // two texts
		`"path":"score","op":"equals","value":9.5`:               unknown,
		`"path":"score","op":"equals","value":9.50`:              yes,
		`"path":"score","op":"in","value":[9.5,"9.50"]`:          yes,
		`"path":"score","op":"less_than","value":12`:             unknown,
		`"path":"huge","op":"equals","value":1e400`:              unknown, // which compares by the text as it was written
		`"path":"seats","op":"less_than","value":13`:             yes,
		`"path":"seats","op":"equals","value":"12.0"`:            yes,
		`"path":"on","op":"equals","value":true`:                 yes,
		`"path":"null","op":"equals","value":null`:               yes,
		`"path":"lost","op":"exists"`:                            unknown,
		`"path":"lost","op":"not_exists"`:                        unknown,
		`"path":"lost","op":"equals","value":"x"`:                unknown,
		`"path":"lost","op":"not_in","value":["x"]`:              unknown,
		`"path":"lost","op":"less_than","value":4`:               unknown,
		`"path":"score","op":"not_equals","value":12345678901.5`: unknown,
	} {
		p := compile(t, `{"source":"metadata",`+test+`}`)
		require.Equal(t, want, p.Judge(record, hider), test)
		require.Equal(t, want.Not(), compile(t, `{"not":{"source":"metadata",`+test+`}}`).Judge(record, hider), test)
	}
	lost, held, broken := `{"source":"metadata","path":"lost","op":"exists"}`, `{"source":"metadata","path":"plan","op":"exists"}`, `{"source":"metadata","path":"none","op":"exists"}`
	for test, want := range map[string]condition.Truth{
		`{"all":[` + lost + `,` + held + `]}`:                     unknown,
		`{"all":[` + lost + `,` + broken + `]}`:                   no,
		`{"all":[` + held + `,` + held + `]}`:                     yes,
		`{"any":[` + lost + `,` + held + `]}`:                     yes,
		`{"any":[` + lost + `,` + broken + `]}`:                   unknown,
		`{"any":[` + broken + `,` + broken + `]}`:                 no,
		`{"source":"workspace_tag","op":"equals","value":"EU"}`:   yes,
		`{"source":"workspace_tag","op":"not_in","value":["us"]}`: yes,
		`{"source":"workspace_tag","op":"contains","value":"u"}`:  unknown,
		`{"source":"key_scope","op":"not_exists"}`:                yes,
	} {
		require.Equal(t, want, compile(t, test).Judge(record, hider), test)
	}
}

func compile(t require.TestingT, text string) *condition.Program {
	var c condition.Condition
	require.NoError(t, json.Unmarshal([]byte(text), &c))
	p, err := condition.Compile(c, condition.Sources()...)
	require.NoError(t, err, text)
	return p
}

// TestJudgeIsNeverWrong: whatever a value and a test are, what Judge knows of
// the hidden value is what Holds says of the value itself.
func TestJudgeIsNeverWrong(t *testing.T) {
	values := rapid.OneOf(
		rapid.SampledFrom([]string{"Pro", "pro", "", "12", "12.0", " 12", "1.2e1", "1E400", "1e400", "true", "ÜBER", "\u212a", "9007199254740993", "9007199254740992"}),
		rapid.String(),
	)
	rapid.Check(t, func(t *rapid.T) {
		text, other := values.Draw(t, "value"), values.Draw(t, "operand")
		op := rapid.SampledFrom(condition.Ops()).Draw(t, "op")
		operand := condition.Text(other)
		if n, ok := condition.Number(other); ok && rapid.Bool().Draw(t, "number") {
			operand = n
		}
		c := condition.Condition{Source: condition.UserID, Op: op, Value: condition.One(operand)}
		switch op {
		case condition.Exists, condition.NotExists:
			c.Value = condition.Operand{}
		case condition.In, condition.NotIn:
			c.Value = condition.List(operand)
		default:
		}
		p, err := condition.Compile(c, condition.Sources()...)
		if err != nil {
			return
		}
		holds := p.Holds(facts{"user_id": {condition.Text(text)}})
		record := facts{"user_id": {hider.Hide(condition.Text(text))}}
		if judged := p.Judge(record, hider); judged != condition.Unknown {
			require.Equal(t, holds, judged == condition.True)
		}
		require.Equal(t, holds, p.Judge(facts{"user_id": {condition.Text(text)}}, hider) == condition.True, "in clear all is known")
	})
}

// TestHide: a hidden text says nothing of itself, and survives a record.
func TestHide(t *testing.T) {
	v := hider.Hide(condition.Text("Canary"))
	require.True(t, v.Hidden())
	require.Equal(t, v, hider.Hide(condition.Text("cANARY")), "case does not count")
	require.NotEqual(t, v, condition.NewHider([]byte("another")).Hide(condition.Text("canary")))
	body, err := json.Marshal(condition.Recorded{Value: v})
	require.NoError(t, err)
	// HMAC-SHA-256 by another implementation.
	require.JSONEq(t, `{"hmac":"cfe9566fd64280372f918abf39f7ad06"}`, string(body))
	for _, one := range []condition.Value{
		v, hider.Hide(condition.Text("12")), condition.Text("in clear"), num("12.50"), condition.Bool(false), condition.Null(),
	} {
		body, err := json.Marshal(condition.Recorded{Value: one})
		require.NoError(t, err)
		var back condition.Recorded
		require.NoError(t, json.Unmarshal(body, &back), string(body))
		require.Equal(t, one, back.Value)
	}
	var operand condition.Operand
	require.Error(t, json.Unmarshal([]byte(`{"hmac":"00"}`), &operand), "nobody compares with a digest")
	require.False(t, compile(t, `{"source":"user_id","op":"contains","value":"c"}`).Holds(facts{"user_id": {v}}))
}

// TestFoldingIsToLower: comparing without making a lower-case copy says what
// comparing the copies would.
func TestFoldingIsToLower(t *testing.T) {
	texts := rapid.OneOf(rapid.StringMatching(`[abAB]{0,4}`), rapid.StringOf(rapid.SampledFrom([]rune("aAkKsß\u212aİıſǅΣς"))))
	rapid.Check(t, func(t *rapid.T) {
		have, want := texts.Draw(t, "have"), texts.Draw(t, "want")
		if rapid.Bool().Draw(t, "raw") {
			have += string([]byte{0xff})
		}
		for op, says := range map[condition.Op]func(a, b string) bool{
			condition.Equals: func(a, b string) bool { return a == b }, condition.StartsWith: strings.HasPrefix, condition.EndsWith: strings.HasSuffix,
		} {
			if want == "" && op != condition.Equals {
				continue
			}
			c := condition.Condition{Source: condition.UserID, Op: op, Value: condition.One(condition.Text(want))}
			p, err := condition.Compile(c, condition.UserID)
			require.NoError(t, err)
			require.Equal(t, says(strings.ToLower(have), strings.ToLower(want)), p.Holds(facts{"user_id": {condition.Text(have)}}), op)
		}
	})
}
