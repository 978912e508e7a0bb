package translate_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

// TestNamesOfToolsFitAndComeBack: a name that is longer than a format takes, or
// of other letters, reaches the upstream as one that it takes, the same in the
// definition, the choice and the history, and the caller hears its own.
func TestNamesOfToolsFitAndComeBack(t *testing.T) {
	found := regexp.MustCompile(`[A-Za-z]+__[^"]*`)
	for _, name := range []string{"mcp__short", "mcp__" + strings.Repeat("long_", 24), "mcp__né.t:x y", "mcp__" + strings.Repeat("x", 55) + "_0123abcd"} {
		quoted, err := json.Marshal(name)
		require.NoError(t, err)
		body := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":%s,"arguments":"{}"}}]},`+
			`{"role":"tool","tool_call_id":"c","content":"y"}],"tools":[{"type":"function","function":{"name":%s}}],"tool_choice":{"type":"function","function":{"name":%s}}}`, quoted, quoted, quoted)
		for j := 1; j < len(spoken); j++ {
			p := newJourney(0, j, []byte(body))
			r, failure := p.translator.Request(&p.call, p.to)
			require.Nil(t, failure)
			sent := found.FindAllString(string(r.Body.Join()), -1)
			require.GreaterOrEqual(t, len(sent), 3, spoken[j].name)
			for _, s := range sent {
				require.Equal(t, sent[0], s, spoken[j].name)
			}
			legal := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
			if spoken[j].name == "messages" {
				legal = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
			}
			require.Regexp(t, legal, sent[0], spoken[j].name)
			require.Equal(t, legal.MatchString(name), sent[0] == name, "what fits stays")

			whole, stream := calls(spoken[j].name, sent[0])
			codec := p.translator.Codec(&p.call, canonical, p.to)
			out, failure := codec.Whole([]byte(whole))
			require.Nil(t, failure)
			reply, failure := callers[0].codec.DecodeReply(out)
			require.Nil(t, failure)
			require.Equal(t, name, calledIn(reply), spoken[j].name)
			if stream != "" {
				require.Equal(t, name, calledIn(p.heard(t, callers[0].codec, strings.NewReader(stream))), spoken[j].name)
			}
		}
	}
}

// calls are answers of a format that call a tool.
func calls(format, name string) (whole, stream string) {
	switch format {
	case "responses":
		whole = strings.Replace(responsesWhole("null"), `"output":[`, `"output":[{"type":"function_call","id":"fc_1","call_id":"c","name":"`+name+`","arguments":"{}"},`, 1)
		return whole, strings.ReplaceAll(responsesStream("null"), `"output":[{`, `"output":[{"type":"function_call","id":"fc_1","call_id":"c","name":"`+name+`","arguments":"{}"},{`)
	case "messages":
		block := `{"type":"tool_use","id":"c","name":"` + name + `","input":{}}`
		whole = strings.Replace(messagesWhole("null"), `"content":[`, `"content":[`+block+`,`, 1)
		return whole, strings.Replace(messagesStream("null", "null"), `{"type":"text","text":""}`, block, 1)
	case "gemini":
		call := `{"functionCall":{"name":"` + name + `","args":{}}},`
		return strings.Replace(geminiWhole("null"), `"parts":[`, `"parts":[`+call, 1), strings.Replace(geminiStream("null", "null"), `"parts":[`, `"parts":[`+call, 1)
	default:
		return strings.Replace(converseWhole("null"), `"content":[`, `"content":[{"toolUse":{"toolUseId":"c","name":"`+name+`","input":{}}},`, 1), ""
	}
}

func calledIn(r *conversation.Reply) string {
	for _, p := range r.Choices[0].Parts {
		if p.Call != nil {
			return p.Call.Name
		}
	}
	return ""
}
