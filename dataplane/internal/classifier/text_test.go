package classifier_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/classifier"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/classify"
)

func read(s catalog.Surface, body string) classify.Text {
	return classifier.New(classifier.Options{}).Read(&call.Call{Surface: s, Body: []byte(body), Request: call.Request{InputTokens: 10}})
}

// The same conversation in the four formats reads the same.
func TestReadsEveryFormat(t *testing.T) {
	want := classify.Text{System: "be kind\n", First: "one", Last: "two\nthree\n", Turns: 2, Bytes: 40, Tools: true, Structured: true}
	bodies := map[catalog.Surface]string{
		catalog.Chat: `{"model":"m","messages":[{"role":"system","content":[{"type":"text","text":"be kind"}]},{"role":"user","content":"one"},
			{"role":"assistant","content":"no"},{"role":"tool","content":"result"},
			{"role":"user","content":[{"type":"text","text":"two"},{"type":"image_url","image_url":{"url":"data:x"}},{"type":"text","text":"three"}]}],
			"tools":[{"type":"function"}],"response_format":{"type":"json_schema"}}`,
		catalog.Responses: `{"instructions":[{"type":"input_text","text":"be kind"}],"input":[{"role":"user","content":"one"},{"type":"message","role":"assistant","content":"no"},
			{"type":"function_call_output","role":"user","content":"result"},
			{"type":"message","role":"user","content":[{"type":"input_text","text":"two"},{"type":"input_text","text":"three"}]}],
			"tools":[{"type":"function"}],"text":{"format":{"type":"json_object"}}}`,
		catalog.Messages: `{"system":[{"type":"text","text":"be kind"}],"messages":[{"role":"user","content":"one"},{"role":"assistant","content":"no"},
			{"role":"user","content":[{"type":"tool_result","content":"result"}]},
			{"role":"user","content":[{"type":"text","text":"two"},{"type":"text","text":"three"}]}],
			"tools":[{"name":"f"}],"tool_choice":{"type":"auto"},"output_config":{"format":{"type":"json_schema"}}}`,
		catalog.Gemini: `{"systemInstruction":{"parts":[{"text":"be kind"}]},"contents":[{"parts":[{"text":"one"}]},{"role":"model","parts":[{"text":"no"}]},
			{"role":"user","parts":[{"functionResponse":{}}]},{"role":"user","parts":[{"text":"two"},{"text":"three"}]}],
			"tools":[{"functionDeclarations":[]}],"generationConfig":{"responseMimeType":"application/json"}}`,
	}
	for surface, body := range bodies {
		t.Run(string(surface), func(t *testing.T) {
			got := read(surface, body)
			got.First = strings.TrimSuffix(got.First, "\n") // a string, or one part
			require.Equal(t, want, got)
		})
	}
}

// A form of output may be demanded by any of its names.
func TestEveryNameOfAFormOfOutput(t *testing.T) {
	for surface, bodies := range map[catalog.Surface][]string{
		catalog.Messages: {`{"output_format":{"type":"json_schema"}}`},
		catalog.Gemini: {
			`{"generationConfig":{"responseSchema":{}}}`, `{"generation_config":{"response_schema":{}}}`,
			`{"generationConfig":{"responseJsonSchema":{}}}`, `{"generation_config":{"response_json_schema":{}}}`,
			`{"generation_config":{"response_mime_type":"application/json"}}`,
		},
	} {
		for _, body := range bodies {
			require.True(t, read(surface, body).Structured, body)
		}
	}
}

func TestFactsThatAreNone(t *testing.T) {
	for surface, bodies := range map[catalog.Surface][]string{
		catalog.Chat: {
			`{"tools":[],"response_format":{"type":"text"}}`, `{"tools":[{}],"tool_choice":"none"}`, `{"tools":null}`, `{"tools":{"a":1}}`, `{`, ``, `[]`, `null`,
			`{"messages":"x"}`, `{"messages":[1,null,{"role":1}]}`, `{"messages":[{"role":"user","content":null}]}`, `{"messages":[{"role":"user","content":""}]}`,
		},
		catalog.Responses:  {`{"text":{"format":{"type":"text"}}}`, `{"tools":[{}],"tool_choice":"none"}`, `{"text":3}`},
		catalog.Messages:   {`{"tools":[{}],"tool_choice":{"type":"none"}}`, `{"output_config":{}}`},
		catalog.Gemini:     {`{"tools":[{}],"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}}`, `{"generationConfig":{"responseMimeType":"text/plain"}}`},
		catalog.Embeddings: {`{"input":"x"}`},
	} {
		for _, body := range bodies {
			require.Equal(t, classify.Text{Bytes: 40}, read(surface, body), "%s %s", surface, body)
		}
	}
}

// However long a text is, and whatever stands in it, an excerpt is whole
// characters and within its bound.
func TestLongTextsAreCut(t *testing.T) {
	for _, filler := range []string{"a", "é", "\\", "\n", `"`, "\u2028", "😀", "\x01"} {
		text := "start " + strings.Repeat(filler, 1<<18) + " end"
		quoted, err := json.Marshal(text)
		require.NoError(t, err)
		got := read(catalog.Chat, `{"messages":[{"role":"system","content":`+string(quoted)+`},{"role":"user","content":`+string(quoted)+`}]}`)
		require.LessOrEqual(t, len(got.Last), classify.MaxTurn)
		require.LessOrEqual(t, len(got.System), classify.MaxSystem)
		require.True(t, strings.HasPrefix(got.Last, "start "), "%.40q", got.Last)
		require.True(t, utf8.ValidString(got.Last) && utf8.ValidString(got.System))
		if quoted[7] != '\\' { // among escapes there may be no place to cut
			require.True(t, strings.HasSuffix(got.Last, " end"), "%.40q", got.Last[len(got.Last)-20:])
		}
	}
	parts := strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"middle"},`, 1<<16), ",")
	got := read(catalog.Chat, `{"messages":[{"role":"user","content":[{"type":"text","text":"start"},`+parts+`,{"type":"text","text":"end"}]}]}`)
	require.LessOrEqual(t, len(got.Last), classify.MaxTurn)
	require.True(t, strings.HasPrefix(got.Last, "start\n"))
	require.True(t, strings.HasSuffix(got.Last, "end\n"))
}

func FuzzRead(f *testing.F) {
	f.Add("chat", `{"messages":[{"role":"user","content":"\ud83d"}]}`)
	f.Add("responses", `{"input":"x","text":{"format":{"type":"json_schema"}}}`)
	f.Add("messages", `{"system":"s","messages":[{"role":"user","content":[{"text":"\\"}]}]}`)
	f.Add("gemini", `{"contents":[{"parts":[{"text":"t"}]}]}`)
	f.Fuzz(func(t *testing.T, surface, body string) {
		got := read(catalog.Surface(surface), body)
		require.LessOrEqual(t, len(got.Last), classify.MaxTurn)
		require.LessOrEqual(t, len(got.First), classify.MaxFirst)
		require.LessOrEqual(t, len(got.System), classify.MaxSystem)
		require.GreaterOrEqual(t, got.Turns, 0)
	})
}
