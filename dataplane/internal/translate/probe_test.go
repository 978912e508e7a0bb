package translate_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/dialecttest"
)

// Field cases of peer gateways, taken to every pair of formats.

// heard is what a caller makes of a stream that comes through r.
func (p *journey) heard(t *testing.T, reads dialect.Codec, r io.Reader) *conversation.Reply {
	t.Helper()
	p.call.Request.Stream = true
	codec := p.translator.Codec(&p.call, canonical, p.to)
	var out strings.Builder
	reader := sse.NewReader(r, sse.MaxEvent)
	for {
		e, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		piece, failure := codec.Event(e)
		require.Nil(t, failure)
		out.Write(piece.Bytes)
		if piece.Last {
			break
		}
	}
	missing, failure := codec.End()
	require.Nil(t, failure)
	out.Write(missing)
	folded, failure := dialecttest.Fold(reads, strings.NewReader(out.String()))
	require.Nil(t, failure, out.String())
	return folded
}

// TestStreamsAreReadByTheRules is S2 and S3: characters in pieces, line ends of
// all kinds, no space, comments, data in several lines, a byte order mark, no
// last line end.
func TestStreamsAreReadByTheRules(t *testing.T) {
	shapes := map[string]func(string) io.Reader{
		"byte by byte": func(s string) io.Reader { return iotest.OneByteReader(strings.NewReader(s)) },
		"CRLF":         func(s string) io.Reader { return strings.NewReader(strings.ReplaceAll(s, "\n", "\r\n")) },
		"CR":           func(s string) io.Reader { return strings.NewReader(strings.ReplaceAll(s, "\n", "\r")) },
		"no space":     func(s string) io.Reader { return strings.NewReader(strings.ReplaceAll(s, "data: ", "data:")) },
		"comments": func(s string) io.Reader {
			return strings.NewReader(": hi\n\n" + strings.ReplaceAll(s, "data: ", ": c\nid: 7\nretry: 9\ndata: "))
		},
		"lines": func(s string) io.Reader {
			return strings.NewReader(strings.ReplaceAll(s, "data: {", "data: {\ndata: "))
		},
		"byte order mark":  func(s string) io.Reader { return strings.NewReader("\ufeff" + s) },
		"no last line end": func(s string) io.Reader { return strings.NewReader(strings.TrimRight(s, "\n")) },
	}
	for i := range callers {
		for j := range spoken {
			stream, err := os.ReadFile("testdata/conversations/text/stream." + spoken[j].name + ".sse")
			if err != nil {
				continue // Bedrock's events are framed otherwise
			}
			for shape, of := range shapes {
				t.Run(callers[i].name+"-"+spoken[j].name+"/"+shape, func(t *testing.T) {
					reply := newJourney(i, j, []byte(`{}`)).heard(t, callers[i].codec, of(string(stream)))
					require.Equal(t, "Hello 北京🙂é!", reply.Choices[0].Parts[0].Text)
					require.Equal(t, conversation.Stop, reply.Choices[0].Finish)
					require.EqualValues(t, 20, reply.Usage.Input)
				})
			}
		}
	}
}

// TestLongEventsAreDelivered is S1: one event of 200 KB, and one of 3 MB.
func TestLongEventsAreDelivered(t *testing.T) {
	for _, size := range []int{200 << 10, 3 << 20} {
		long := strings.Repeat("é", size/2)
		for j, stream := range map[int]string{
			0: strings.ReplaceAll(chatStream("", ""), "hello", long),
			1: strings.ReplaceAll(responsesStream("null"), "hello", long),
			2: strings.ReplaceAll(messagesStream("null", "null"), "hello", long),
			3: strings.ReplaceAll(geminiStream("null", "null"), "hello", long),
		} {
			for i := range callers {
				if size > 1<<20 && i != j && i != 0 {
					continue // what the size costs, and no more is seen
				}
				reply := newJourney(i, j, []byte(`{}`)).heard(t, callers[i].codec, strings.NewReader(stream))
				if reply.Choices[0].Parts[0].Text != long {
					t.Errorf("%s-%s: %d bytes came back as %d", callers[i].name, spoken[j].name, size, len(reply.Choices[0].Parts[0].Text))
				}
			}
		}
	}
}

// TestSchemasAndNumbersPassAsWritten is T1 and T4: a tool's schema keeps the
// order of its keys, which is part of a provider's cache key, and numbers their
// spelling, in every pair.
func TestSchemasAndNumbersPassAsWritten(t *testing.T) {
	const schema = `{"type":"object","properties":{"z":{"$ref":"#/$defs/u"},"a":{"type":"integer","maximum":12345678901234567890,"default":-0}},"required":["z"],"additionalProperties":false,"$defs":{"u":{"type":"string","enum":["b","a"]}}}`
	const arguments = `{"z":"b","a":12345678901234567890,"f":1e400,"g":0.10}`
	quoted := string(must(json.Marshal(arguments)))
	bodies := map[string]string{
		"chat":      `{"model":"m","messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":` + quoted + `}}]},{"role":"tool","tool_call_id":"c","content":"y"}],"tools":[{"type":"function","function":{"name":"f","parameters":` + schema + `}}],"temperature":0.10,"top_p":1E-1}`,
		"responses": `{"model":"m","input":[{"role":"user","content":"x"},{"type":"function_call","call_id":"c","name":"f","arguments":` + quoted + `},{"type":"function_call_output","call_id":"c","output":"y"}],"tools":[{"type":"function","name":"f","parameters":` + schema + `}],"temperature":0.10,"top_p":1E-1}`,
		"messages":  `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":` + arguments + `}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"y"}]}],"tools":[{"name":"f","input_schema":` + schema + `}],"temperature":0.10,"top_p":1E-1}`,
		"gemini":    `{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"id":"c","name":"f","args":` + arguments + `}}]},{"role":"user","parts":[{"functionResponse":{"id":"c","name":"f","response":{"result":"y"}}}]}],"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":` + schema + `}]}],"generationConfig":{"temperature":0.10,"topP":1E-1}}`,
	}
	for i := range callers {
		for j := range spoken {
			p := newJourney(i, j, []byte(bodies[callers[i].name]))
			r, failure := p.translator.Request(&p.call, p.to)
			require.Nil(t, failure)
			sent := string(r.Body.Join())
			require.Contains(t, sent, schema, "%s-%s", callers[i].name, spoken[j].name)
			require.True(t, strings.Contains(sent, arguments) || strings.Contains(sent, quoted), "%s-%s: %s", callers[i].name, spoken[j].name, sent)
			require.Contains(t, sent, `:0.10`)
			require.Contains(t, sent, `:1E-1`)
		}
	}
}

// TestAloneAndAllowed is the rest of T1: one call at a time, and only some of
// the tools, reach every upstream, or are said not to.
func TestAloneAndAllowed(t *testing.T) {
	body := []byte(`{"model":"m","messages":[{"role":"user","content":"x"}],"parallel_tool_calls":false,"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"g"}}],` +
		`"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"g"}}]}}}`)
	for j, want := range map[int]struct {
		path, value string
		lost        []string
	}{
		1: {"parallel_tool_calls", "false", nil},
		2: {"tool_choice", `{"type":"any","disable_parallel_tool_use":true}`, []string{"tool_choice.allowed", "tools.0"}},
		3: {"toolConfig.functionCallingConfig", `{"mode":"ANY","allowedFunctionNames":["g"]}`, []string{"parallel_tool_calls"}},
		4: {"additionalModelRequestFields.tool_choice", `{"type":"any","disable_parallel_tool_use":true}`, []string{"tool_choice.allowed", "tools.0"}},
	} {
		p := newJourney(0, j, body)
		r, failure := p.translator.Request(&p.call, p.to)
		require.Nil(t, failure)
		require.Equal(t, want.value, gjson.GetBytes(r.Body.Join(), want.path).Raw, spoken[j].name)
		require.Equal(t, want.lost, r.Degraded, spoken[j].name)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
