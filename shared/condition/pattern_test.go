package condition_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/condition"
)

// TestExpressionsAreBounded: a short expression that is long when it is written
// out is refused, before any memory goes into that.
func TestExpressionsAreBounded(t *testing.T) {
	matches := func(expression string) condition.Condition {
		return condition.Condition{Source: condition.UserID, Op: condition.Matches, Value: condition.One(condition.Text(expression))}
	}
	const tooMuch = "when: want simpler regular expressions: written out, they have at most 1000 steps together"
	for _, expression := range []string{
		strings.Repeat("x{1000}", 70), strings.Repeat(`\pL{0,999}`, 45), `(?:a?){501}$`, `(?:(?:ab){20}c{3}){30}`, `(?:x{600}|y{401,})`,
	} {
		require.Equal(t, []string{tooMuch}, problems(matches(expression)), expression)
	}
	for _, expression := range []string{
		`(?:a?){400}$`, `^[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,3}[a-z]{2,}$`, strings.Repeat("x", 512), `\pL{998}`, `^$`,
	} {
		require.Empty(t, problems(matches(expression)), expression)
	}
	half := matches(`x{600}`)
	require.Equal(t, []string{tooMuch}, problems(condition.Condition{Any: []condition.Condition{half, {Not: &half}}}), "all tests count together")
	require.Equal(t, 601, condition.Steps(condition.Condition{All: []condition.Condition{matches(`x{600}`), matches(`y`)}}))
}

// TestALongTextMatchesNothing: what an expression costs grows with the text.
func TestALongTextMatchesNothing(t *testing.T) {
	p := compile(t, `{"source":"user_id","op":"matches","value":"needle"}`)
	text := strings.Repeat("hay ", 4<<10)
	require.True(t, p.Holds(facts{"user_id": {condition.Text("needle" + text[6:])}}))
	require.False(t, p.Holds(facts{"user_id": {condition.Text("needle" + text)}}))
}

// remembering is a request that answers for every expression.
type remembering struct {
	facts
	asked []string
}

func (r *remembering) Match(_ *condition.Pattern, text string) bool {
	r.asked = append(r.asked, text)
	return text == "12"
}

// TestFactsMayRemember: what expressions look at is asked of facts that remember,
// and nothing else.
func TestFactsMayRemember(t *testing.T) {
	r := &remembering{facts: facts{"metadata n": {
		condition.Null(), condition.Compound(), condition.Text("x"), condition.Text(strings.Repeat("y", 1<<20)), num("12"), condition.Text("z"),
	}}}
	require.True(t, compile(t, `{"source":"metadata","path":"n","op":"matches","value":"^never$"}`).Holds(r))
	require.Equal(t, []string{"x", "12"}, r.asked)
	require.True(t, compile(t, `{"source":"metadata","path":"n","op":"equals","value":"z"}`).Holds(r))
	require.Len(t, r.asked, 2)
}

// TestALongTextIsReadInPart: what decides of a long text is at one end of it, and
// what is folded is folded once.
func TestALongTextIsReadInPart(t *testing.T) {
	text := "KÉRY" + strings.Repeat("Ж", 64<<10) + "ENDİK"
	for test, want := range map[string]bool{
		`"op":"equals","value":"kéry"`: false, `"op":"starts_with","value":"kéryж"`: true, `"op":"starts_with","value":"kéryx"`: false,
		`"op":"ends_with","value":"жendik"`: true, `"op":"ends_with","value":"xendik"`: false,
		`"op":"contains","value":"жend"`: true, `"op":"contains","value":"endж"`: false, `"op":"greater_than","value":"kérx"`: true,
	} {
		p := compile(t, `{"source":"user_id",`+test+`}`)
		for _, v := range []condition.Value{condition.Text(text), condition.Folded(text)} {
			require.Equal(t, want, p.Holds(facts{"user_id": {v}}), test)
		}
	}
	contains := compile(t, `{"source":"user_id","op":"contains","value":"needle"}`)
	require.Zero(t, int(testing.AllocsPerRun(10, func() { contains.Holds(folded) })))
	digits := condition.Text(strings.Repeat("1", 2<<10))
	require.False(t, compile(t, `{"source":"user_id","op":"greater_than","value":5}`).Holds(facts{"user_id": {digits}}), "no number is as long")
}

// folded is a request whose user id is long.
var folded condition.Facts = fixed{condition.Folded(strings.Repeat("Ж", 64<<10))}

// fixed allocates nothing of its own.
type fixed []condition.Value

func (f fixed) Look(condition.Source, string) []condition.Value { return f }
