package turns_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/turns"
)

func text(s string) conversation.Part {
	return conversation.Part{Kind: conversation.Text, Text: s}
}

func result(id string) conversation.Part {
	return conversation.Part{Kind: conversation.Result, Result: &conversation.ToolResult{CallID: id}}
}

func message(role conversation.Role, parts ...conversation.Part) conversation.Message {
	return conversation.Message{Role: role, Parts: parts}
}

func thought(t conversation.Thinking) conversation.Part {
	return conversation.Part{Kind: conversation.Thought, Thought: &t}
}

// shown is what the parts say, in order.
func shown(parts []turns.Part) string {
	var out string
	for _, p := range parts {
		switch {
		case p.Result != nil:
			out += "[" + p.Result.CallID + "]"
		case p.Thought != nil:
			out += "(" + p.Thought.Text + p.Thought.Data + ")"
		case p.Call != nil:
			out += "<" + p.Call.ID + ">"
		default:
			out += p.Text
		}
	}
	return out
}

func TestOf(t *testing.T) {
	mine := conversation.Thinking{Text: "m", Signature: "s", Origin: conversation.Anthropic}
	for name, c := range map[string]struct {
		in           []conversation.Message
		instructions string
		turns        []string
	}{
		"nothing":      {nil, "", nil},
		"instructions": {[]conversation.Message{message(conversation.System, text("a")), message(conversation.User, text("u")), message(conversation.Developer, text("b"))}, "ab", []string{"user u"}},
		"alone":        {[]conversation.Message{message(conversation.System, text("a"), text(""))}, "", []string{"user a"}},
		"joined":       {[]conversation.Message{message(conversation.User, text("a")), message(conversation.User, text("b")), message(conversation.Assistant, text("c")), message(conversation.Assistant, text("d"))}, "", []string{"user ab", "assistant cd"}},
		"results first": {
			[]conversation.Message{
				message(conversation.Assistant, text("x")), message(conversation.ToolRole, result("1")), message(conversation.User, text("a")),
				message(conversation.ToolRole, result("2")), message(conversation.User, text("b"), result("3")),
			}, "", []string{"assistant x", "user [1][2][3]ab"},
		},
		"empty turns": {[]conversation.Message{message(conversation.User, text("a")), message(conversation.Assistant, text("")), message(conversation.User, text("b"))}, "", []string{"user ab"}},
		"thoughts": {
			[]conversation.Message{message(
				conversation.Assistant, thought(mine), thought(conversation.Thinking{Data: "h", Origin: conversation.Anthropic}),
				thought(conversation.Thinking{Text: "u"}), thought(conversation.Thinking{Data: "g", Origin: conversation.Google}), text("x"),
			)}, "", []string{"assistant (m)(h)x"},
		},
		"refusals": {[]conversation.Message{message(conversation.Assistant, conversation.Part{Kind: conversation.Refusal, Text: "no"}, conversation.Part{Kind: conversation.Refusal})}, "", []string{"assistant no"}},
	} {
		t.Run(name, func(t *testing.T) {
			instructions, all, names := turns.Of(c.in, conversation.Anthropic)
			require.Equal(t, c.instructions, shown(instructions))
			var got []string
			for _, turn := range all {
				got = append(got, turn.Role+" "+shown(turn.Parts))
			}
			require.Equal(t, c.turns, got)
			require.Empty(t, names)
		})
	}
}

func TestPlaces(t *testing.T) {
	in := []conversation.Message{message(conversation.User, text("a")), {Role: conversation.User, Name: "ada", Parts: []conversation.Part{text("b")}}}
	_, all, names := turns.Of(in, conversation.Anthropic)
	require.Equal(t, []string{"messages.1.name"}, names)
	require.EqualError(t, all[0].Parts[1].Unable("video"), "the format cannot carry video in messages.1")
}

func TestInner(t *testing.T) {
	p := result("a")
	p.Result.Parts = []conversation.Part{text(""), text("x")}
	require.Equal(t, "x", shown(turns.Part{Part: &p}.Inner()))
}

func TestGoesOnUnproved(t *testing.T) {
	call := conversation.Part{Kind: conversation.Call, Call: &conversation.ToolCall{ID: "a"}}
	mine := thought(conversation.Thinking{Data: "d", Origin: conversation.Anthropic})
	theirs := thought(conversation.Thinking{Data: "d", Origin: conversation.OpenAI})
	user := message(conversation.User, text("x"))
	for name, c := range map[string]struct {
		in   []conversation.Message
		want bool
	}{
		"a question":        {[]conversation.Message{user}, false},
		"a new question":    {[]conversation.Message{user, message(conversation.Assistant, text("y")), user}, false},
		"without thoughts":  {[]conversation.Message{user, message(conversation.Assistant, call), message(conversation.ToolRole, result("a"))}, true},
		"and more is said":  {[]conversation.Message{user, message(conversation.Assistant, call), message(conversation.ToolRole, result("a")), user}, true},
		"another's":         {[]conversation.Message{user, message(conversation.Assistant, theirs, call), message(conversation.ToolRole, result("a"))}, true},
		"with its thoughts": {[]conversation.Message{user, message(conversation.Assistant, mine, call), message(conversation.ToolRole, result("a"))}, false},
		"an older turn":     {[]conversation.Message{message(conversation.Assistant, call), message(conversation.ToolRole, result("a")), message(conversation.Assistant, text("y")), user}, false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, turns.GoesOnUnproved(c.in, conversation.Anthropic))
		})
	}
}

func TestObject(t *testing.T) {
	for in, want := range map[string]string{
		"": "{}", " \n": "{}", `{"a":1e400}`: `{"a":1e400}`, " {} ": " {} ", `[1]`: `{"arguments":"[1]"}`, `{"a":`: `{"arguments":"{\"a\":"}`, "x<é": `{"arguments":"x<é"}`,
	} {
		require.Equal(t, want, string(turns.Object(in)))
	}
}

func TestSchema(t *testing.T) {
	for in, want := range map[string]string{
		"": `{"type":"object","properties":{}}`, "null": `{"type":"object","properties":{}}`, "[]": `{"type":"object","properties":{}}`,
		"{}": `{"type":"object"}`, " { } ": `{"type":"object" }`, `{"properties":{"b":1e400,"a":0}}`: `{"type":"object","properties":{"b":1e400,"a":0}}`,
		`{"z":1,"type":"object"}`: `{"z":1,"type":"object"}`,
	} {
		got := turns.Schema(json.RawMessage(in))
		require.Equal(t, want, string(got), in)
		require.True(t, json.Valid(got))
	}
}

func TestChoice(t *testing.T) {
	sent := []*conversation.Tool{{Name: "a"}}
	for name, c := range map[string]struct {
		choice   conversation.ToolChoice
		sent     []*conversation.Tool
		thinking bool
		mode     conversation.ToolMode
		lost     bool
	}{
		"not said":            {conversation.ToolChoice{}, sent, true, "", false},
		"none":                {conversation.ToolChoice{Mode: conversation.None}, sent, true, conversation.None, false},
		"required":            {conversation.ToolChoice{Mode: conversation.Required}, sent, false, conversation.Required, false},
		"required, thinking":  {conversation.ToolChoice{Mode: conversation.Required}, sent, true, conversation.Auto, true},
		"required of nothing": {conversation.ToolChoice{Mode: conversation.Required}, nil, false, conversation.Auto, true},
		"one":                 {conversation.ToolChoice{Mode: conversation.One, Name: "a"}, sent, false, conversation.One, false},
		"one that is not":     {conversation.ToolChoice{Mode: conversation.One, Name: "b"}, sent, false, conversation.Auto, true},
	} {
		t.Run(name, func(t *testing.T) {
			mode, lost := turns.Choice(c.choice, c.sent, c.thinking)
			require.Equal(t, c.mode, mode)
			require.Equal(t, c.lost, lost)
		})
	}
}

func TestTools(t *testing.T) {
	yes, no := true, false
	r := &conversation.Request{
		Tools:      []conversation.Tool{{Name: "a", Strict: &yes}, {Name: "b", Strict: &no}, {Kind: conversation.Custom, Name: "c"}},
		ToolChoice: conversation.ToolChoice{Allowed: []string{"a", "c"}},
	}
	function := func(t *conversation.Tool) bool { return t.Kind == conversation.Function }
	sent, lost := turns.Tools(r, true, function)
	require.Len(t, sent, 1)
	require.True(t, *sent[0].Strict)
	require.Equal(t, []string{"tool_choice.allowed", "tools.1", "tools.2"}, lost)
	r.ToolChoice.Allowed = nil
	sent, lost = turns.Tools(r, false, function)
	require.Len(t, sent, 2)
	require.Nil(t, sent[0].Strict)
	require.Equal(t, []string{"tools.0.strict", "tools.2"}, lost)
	require.True(t, *r.Tools[0].Strict, "the request is left alone: others are tried with it")
}
