package condition_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/condition"
)

// TestConstants holds what is proven to be constant, and what only looks so.
func TestConstants(t *testing.T) {
	plan := func(rest string) string { return `{"source":"metadata","path":"plan",` + rest + `}` }
	tag := func(rest string) string { return `{"source":"workspace_tag",` + rest + `}` }
	header := func(rest string) string { return `{"source":"header","path":"x-plan",` + rest + `}` }
	endpoint := func(rest string) string { return `{"source":"endpoint",` + rest + `}` }
	all := func(a, b string) string { return `{"all":[` + a + `,` + b + `]}` }
	either := func(a, b string) string { return `{"any":[` + a + `,` + b + `]}` }
	for _, c := range []struct{ test, want string }{
		{plan(`"op":"equals","value":"pro"`), ""},
		{all(plan(`"op":"equals","value":"pro"`), plan(`"op":"equals","value":"free"`)), "when false"},
		{all(plan(`"op":"equals","value":"pro"`), plan(`"op":"equals","value":"PRO"`)), ""},
		{all(plan(`"op":"equals","value":"pro"`), plan(`"op":"in","value":["a","PRO"]`)), ""},
		{all(plan(`"op":"equals","value":"pro"`), plan(`"op":"in","value":["a",1,null]`)), "when false"},
		{all(plan(`"op":"equals","value":1`), plan(`"op":"equals","value":"1.0"`)), ""},
		{all(plan(`"op":"equals","value":"1"`), plan(`"op":"equals","value":"1.0"`)), ""}, // the number 1
		{all(plan(`"op":"equals","value":1`), plan(`"op":"equals","value":2`)), "when false"},
		{all(plan(`"op":"equals","value":true`), plan(`"op":"equals","value":"True"`)), ""},
		{all(plan(`"op":"equals","value":"pro"`), plan(`"op":"not_equals","value":"PRO"`)), "when false"},
		{all(plan(`"op":"equals","value":"pro"`), plan(`"op":"not_equals","value":"x"`)), ""},
		{all(plan(`"op":"equals","value":"pro"`), plan(`"op":"not_exists"`)), "when false"},
		{all(plan(`"op":"not_equals","value":"pro"`), plan(`"op":"not_exists"`)), ""},
		{all(plan(`"op":"equals","value":"pro"`), plan(`"op":"starts_with","value":"PR"`)), ""},
		{all(plan(`"op":"equals","value":"pro"`), plan(`"op":"starts_with","value":"x"`)), "when false"},
		{all(plan(`"op":"equals","value":12`), plan(`"op":"ends_with","value":".0"`)), ""}, // the text 12.0
		{all(plan(`"op":"matches","value":"^a"`), plan(`"op":"not_exists"`)), "when false"},
		{all(plan(`"op":"greater_than","value":5`), plan(`"op":"less_than","value":5`)), "when false"},
		{all(plan(`"op":"greater_than","value":5`), plan(`"op":"less_than","value":6`)), ""},
		{all(plan(`"op":"greater_than","value":"5"`), plan(`"op":"less_than","value":"5"`)), ""},
		{all(plan(`"op":"equals","value":"a"`), `{"source":"user_id","op":"equals","value":"b"}`), ""},
		{either(plan(`"op":"exists"`), plan(`"op":"not_exists"`)), "when true"},
		{either(plan(`"op":"exists"`), plan(`"op":"not_equals","value":"x"`)), "when true"},
		{either(plan(`"op":"matches","value":"a"`), plan(`"op":"equals","value":"x"`)), ""},
		{either(plan(`"op":"in","value":["a","b"]`), plan(`"op":"not_in","value":["A","b"]`)), "when true"},
		{either(plan(`"op":"in","value":["a","b"]`), plan(`"op":"not_in","value":["a"]`)), ""},
		{all(tag(`"op":"equals","value":"a"`), tag(`"op":"equals","value":"b"`)), ""},       // it may have both
		{all(header(`"op":"equals","value":"a"`), header(`"op":"equals","value":"b"`)), ""}, // in two lines
		{all(header(`"op":"greater_than","value":5`), header(`"op":"less_than","value":5`)), ""},
		{all(header(`"op":"equals","value":"a"`), header(`"op":"not_equals","value":"a"`)), "when false"},
		{all(tag(`"op":"equals","value":"a"`), tag(`"op":"not_equals","value":"a"`)), "when false"},
		{all(tag(`"op":"equals","value":"a"`), tag(`"op":"not_exists"`)), "when false"},
		{tag(`"op":"equals","value":null`), "when false"},
		{tag(`"op":"not_equals","value":null`), "when true"},
		{tag(`"op":"in","value":[null,"a"]`), ""},
		{plan(`"op":"equals","value":null`), ""},
		{endpoint(`"op":"equals","value":"chat"`), ""},
		{endpoint(`"op":"equals","value":"chats"`), "when false"},
		{endpoint(`"op":"not_in","value":["a","b"]`), "when true"},
		{endpoint(`"op":"in","value":["chat","Messages"]`), "when true"},
		{endpoint(`"op":"exists"`), "when true"},
		{either(endpoint(`"op":"equals","value":"chat"`), endpoint(`"op":"equals","value":"messages"`)), "when true"},
		{all(endpoint(`"op":"equals","value":"chat"`), plan(`"op":"exists"`)), ""},
		{all(plan(`"op":"exists"`), endpoint(`"op":"equals","value":"x"`)), "when false"},
		{either(plan(`"op":"exists"`), endpoint(`"op":"equals","value":"x"`)), "when.any[1] false"},
		{`{"not":` + endpoint(`"op":"equals","value":"x"`) + `}`, "when true"},
		{either(plan(`"op":"exists"`), `{"not":`+either(tag(`"op":"exists"`), endpoint(`"op":"exists"`))+`}`), "when.any[1] false"},
	} {
		when := read(t, c.test)
		require.Empty(t, problems(when), c.test)
		got := ""
		for _, f := range condition.Constants(when, "when", []string{"chat", "messages"}) {
			got += fmt.Sprintf("%s %t", f.Path, f.Holds)
		}
		require.Equal(t, c.want, got, c.test)
	}
	require.Empty(t, condition.Constants(read(t, endpoint(`"op":"equals","value":"x"`)), "when", nil), "no endpoint is known")
}

// TestLongListsAreNotHeldAgainstEachOther: all tests of a list are, pair by pair,
// so that two of them are worth no more than a glance.
func TestLongListsAreNotHeldAgainstEachOther(t *testing.T) {
	in := func(from, n int) condition.Condition {
		var values []condition.Value
		for i := range n {
			values = append(values, num(fmt.Sprint(from+i)))
		}
		return condition.Condition{Source: condition.Metadata, Path: "n", Op: condition.In, Value: condition.List(values...)}
	}
	all := func(n int) condition.Condition {
		return condition.Condition{All: []condition.Condition{in(0, n), in(1000, n)}}
	}
	require.Equal(t, []condition.Finding{{Path: "when"}}, condition.Constants(all(16), "when", nil))
	require.Empty(t, condition.Constants(all(17), "when", nil))
}
