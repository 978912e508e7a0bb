package simulator_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
)

// talk is a realtime connection.
type talk struct {
	rig
	conn *websocket.Conn
}

func (r rig) dial(path string, h http.Header) (talk, *http.Response, error) {
	conn, resp, err := websocket.Dial(r.t.Context(), "ws"+strings.TrimPrefix(r.url, "http")+path, &websocket.DialOptions{HTTPHeader: h, Subprotocols: []string{"realtime"}})
	if err != nil {
		return talk{}, resp, err
	}
	r.t.Cleanup(func() { _ = conn.CloseNow() })
	return talk{rig: r, conn: conn}, resp, nil
}

func (c talk) send(text string) {
	c.t.Helper()
	require.NoError(c.t, c.conn.Write(c.t.Context(), websocket.MessageText, []byte(text)))
}

// until reads events up to one of a type.
func (c talk) until(kind string) []gjson.Result {
	c.t.Helper()
	var out []gjson.Result
	for {
		_, data, err := c.conn.Read(c.t.Context())
		require.NoError(c.t, err)
		out = append(out, gjson.ParseBytes(data))
		if out[len(out)-1].Get("type").Str == kind {
			return out
		}
	}
}

const realtimePath = "/as-openai/v1/realtime?model=gpt-realtime"

func TestRealtime(t *testing.T) {
	r := start(t, simulator.Options{})
	c, resp, err := r.dial(realtimePath, openAIHeader())
	require.NoError(t, err)
	require.Equal(t, "realtime", resp.Header.Get("Sec-Websocket-Protocol"))
	require.Equal(t, "gpt-realtime", c.until("session.created")[0].Get("session.model").Str)
	c.send(`{"type":"session.update","session":{"type":"realtime","instructions":"be brief","tools":[{"type":"function","name":"get_weather","parameters":{"type":"object","properties":{}}}]}}`)
	require.Equal(t, "be brief", c.until("session.updated")[0].Get("session.instructions").Str)
	c.send(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"Say hello"}]}}`)
	require.Equal(t, "conversation.item.created", c.until("conversation.item.done")[0].Get("type").Str)
	c.send(`{"type":"response.create"}`)
	var said string
	events := c.until("response.done")
	for _, e := range events {
		if e.Get("type").Str == "response.output_text.delta" {
			said += e.Get("delta").Str
		}
	}
	require.Equal(t, "response.created", events[0].Get("type").Str)
	require.Contains(t, said, "Say hello")
	last := events[len(events)-1].Get("response")
	require.Equal(t, said, last.Get("output.0.content.0.text").Str)
	require.Equal(t, last.Get("usage.total_tokens").Int(), last.Get("usage.input_tokens").Int()+last.Get("usage.output_tokens").Int())

	c.send(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"get_weather"}]}}`)
	c.send(`{"type":"response.create"}`)
	call := c.until("response.function_call_arguments.done")
	id := call[len(call)-1].Get("call_id").Str
	c.until("response.done")
	c.send(`{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"` + id + `","output":"21 degrees"}}`)
	c.send(`{"type":"response.create"}`)
	all := c.until("response.done")
	require.Contains(t, all[len(all)-1].Get("response.output.0.content.0.text").Str, "get_weather returned: 21 degrees")

	c.send(`{"type":"session.update","session":{"type":"realtime","output_modalities":["audio"]}}`)
	c.send(`{"type":"input_audio_buffer.append","audio":"AAAA"}`)
	c.send(`{"type":"input_audio_buffer.commit"}`)
	c.until("input_audio_buffer.committed")
	c.send(`{"type":"response.create"}`)
	all = c.until("response.done")
	require.Contains(t, all[len(all)-1].Get("response.output.0.content.0.transcript").Str, "3 bytes of speech")
	require.Positive(t, all[len(all)-1].Get("response.usage.input_token_details.audio_tokens").Int())
}

func TestRealtimeErrors(t *testing.T) {
	r := start(t, simulator.Options{})
	for path, h := range map[string]http.Header{
		realtimePath: nil, "/as-openai/v1/realtime": openAIHeader(), realtimePath + "&key=a": openAIHeader(),
	} {
		_, resp, err := r.dial(path, h)
		require.Error(t, err)
		require.Contains(t, []int{400, 401}, resp.StatusCode)
	}
	require.Equal(t, http.StatusUpgradeRequired, r.status(http.MethodGet, realtimePath, openAIHeader()))
	c, _, err := r.dial(realtimePath, openAIHeader())
	require.NoError(t, err)
	c.until("session.created")
	for _, e := range [][2]string{
		{`{`, "invalid_json"},
		{`[]`, "invalid_json"},
		{`{"event_id":"e1"}`, "missing_required_parameter"},
		{`{"type":"session.delete"}`, "invalid_value"},
		{`{"type":"input_audio_buffer.commit"}`, "input_audio_buffer_commit_empty"},
		{`{"type":"input_audio_buffer.append","audio":"!"}`, "invalid_value"},
		{`{"type":"session.update","session":{}}`, "missing_required_parameter"},
		{`{"type":"session.update","session":{"type":"realtime","model":"x"}}`, "session_model_cannot_change"},
		{`{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"x","output":"y"}}`, "invalid_tool_call_id"},
		{`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"text","text":"x"}]}}`, "invalid_value"},
	} {
		c.send(e[0])
		require.Equal(t, e[1], c.until("error")[0].Get("error.code").Str, e[0])
	}
}

func TestRealtimeFaults(t *testing.T) {
	r := start(t, simulator.Options{})
	ask := func(model string) (talk, error) {
		c, _, err := r.dial("/v1/realtime?model="+model, nil)
		if err != nil {
			return c, err
		}
		c.until("session.created")
		c.send(`{"type":"response.create"}`)
		return c, nil
	}
	_, err := ask("fault-status-503")
	require.ErrorContains(t, err, "503")
	c, err := ask("fault-error-mid")
	require.NoError(t, err)
	c.until("error")
	require.NoError(t, c.conn.CloseNow())
	c, err = ask("fault-cut-2")
	require.NoError(t, err)
	for err == nil {
		_, _, err = c.conn.Read(t.Context())
	}
	require.Equal(t, websocket.StatusCode(-1), websocket.CloseStatus(err), "no closing handshake")
	c, err = ask("fault-hang-1")
	require.NoError(t, err)
	c.until("response.output_text.delta")
	require.NoError(t, c.conn.CloseNow())
	require.Eventually(t, func() bool { return r.sim.Stats().Active == 0 }, 5*time.Second, time.Millisecond, "nothing waits for a caller that has gone")
}
