//go:build e2e

package e2e_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	dataplane "github.com/signalbox-dev/signalbox/dataplane/app"
	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
)

// talk is a caller's side of a two-way conversation.
type talk struct {
	t    *testing.T
	conn *websocket.Conn
	head http.Header
}

func dial(ctx context.Context, p *harness.Platform, gateway int, query string, header http.Header, protocols ...string) (*websocket.Conn, *http.Response, error) {
	url := "ws" + strings.TrimPrefix(p.Gateways[gateway], "http") + "/v1/realtime" + query
	return websocket.Dial(ctx, url, &websocket.DialOptions{HTTPHeader: header, Subprotocols: protocols, HTTPClient: p.HTTP}) //nolint:wrapcheck // what it says is looked at
}

func bearer(key client.Key) http.Header {
	return http.Header{"Authorization": {"Bearer " + key.Secret}}
}

func begin(t *testing.T, p *harness.Platform, gateway int, key client.Key) *talk {
	t.Helper()
	conn, resp, err := dial(t.Context(), p, gateway, "?model="+sim("realtime"), bearer(key))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return &talk{t: t, conn: conn, head: resp.Header}
}

func (k *talk) say(event string) {
	k.t.Helper()
	require.NoError(k.t, k.conn.Write(k.t.Context(), websocket.MessageText, []byte(event)))
}

// until reads events to the first of a type, and returns all of them.
func (k *talk) until(kind string) []gjson.Result {
	k.t.Helper()
	var events []gjson.Result
	for {
		_, data, err := k.conn.Read(k.t.Context())
		require.NoError(k.t, err, "before %s: %v", kind, events)
		event := gjson.ParseBytes(data)
		events = append(events, event)
		if event.Get("type").Str == kind {
			return events
		}
		require.NotEqual(k.t, "error", event.Get("type").Str, "%s", data)
	}
}

// turn says something and returns the response's text and the whole of it.
func (k *talk) turn(prompt string) (string, gjson.Result) {
	k.t.Helper()
	text, err := json.Marshal(prompt)
	require.NoError(k.t, err)
	k.say(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":` + string(text) + `}]}}`)
	k.say(`{"type":"response.create"}`)
	events := k.until("response.done")
	var deltas strings.Builder
	for _, event := range events {
		if strings.HasSuffix(event.Get("type").Str, "text.delta") {
			deltas.WriteString(event.Get("delta").Str)
		}
	}
	return deltas.String(), events[len(events)-1].Get("response")
}

func TestRealtime(t *testing.T) {
	p := harness.Start(t, harness.Options{Simulator: true, Gateways: 2, Configure: func(c *dataplane.Config) {
		c.HTTP.DrainTimeout = 200 * time.Millisecond
	}})
	key := p.Key()

	t.Run("turns of text, accounted for once", func(t *testing.T) {
		p := p.On(t)
		k := begin(t, p, 0, key)
		created := k.until("session.created")
		require.Equal(t, sim("realtime"), created[0].Get("session.model").Str)
		k.say(`{"type":"session.update","session":{"type":"realtime","output_modalities":["text"],"instructions":"Be brief."}}`)
		k.until("session.updated")
		var input, output int64
		for _, prompt := range []string{"Say hello", "And 北京🙂é"} {
			text, response := k.turn(prompt)
			require.Contains(t, text, prompt)
			input += response.Get("usage.input_tokens").Int()
			output += response.Get("usage.output_tokens").Int()
		}
		require.NoError(t, k.conn.Close(websocket.StatusNormalClosure, ""))
		entry := p.Logged(k.head)
		require.Equal(t, "realtime", entry.Get("surface").Str)
		require.Equal(t, "success", entry.Get("outcome").Str, "%s", entry.Raw)
		require.Equal(t, "sim", entry.Get("provider").Str)
		require.Equal(t, sim("realtime"), entry.Get("decided_model").Str)
		require.Equal(t, input, entry.Get("usage.input").Int()+entry.Get("usage.cached_read").Int()+entry.Get("usage.audio_input").Int())
		require.Equal(t, output, entry.Get("usage.output").Int())
		require.Positive(t, entry.Get("cost_nanos").Int())
		all, err := p.Logs(t.Context())
		require.NoError(t, err)
		n := 0
		for _, one := range all {
			if one.Get("surface").Str == "realtime" {
				n++
			}
		}
		require.Equal(t, 1, n, "one conversation is one entry")
	})
	t.Run("sound", func(t *testing.T) {
		k := begin(t, p.On(t), 0, key)
		k.until("session.created")
		k.say(`{"type":"input_audio_buffer.append","audio":"` + strings.Repeat("AAAA", 1<<16) + `"}`)
		k.say(`{"type":"input_audio_buffer.commit"}`)
		k.until("input_audio_buffer.committed")
		k.say(`{"type":"response.create"}`)
		k.until("response.done")
		require.NoError(t, k.conn.Close(websocket.StatusNormalClosure, ""))
	})
	t.Run("a key in the subprotocol, as browsers have it", func(t *testing.T) {
		conn, _, err := dial(t.Context(), p, 0, "?model="+sim("realtime"), nil, "realtime", "openai-insecure-api-key."+key.Secret)
		require.NoError(t, err)
		require.Equal(t, "realtime", conn.Subprotocol())
		_, _, err = conn.Read(t.Context())
		require.NoError(t, err)
		require.NoError(t, conn.Close(websocket.StatusNormalClosure, ""))
	})
	t.Run("refusals come before the upgrade", func(t *testing.T) {
		p := p.On(t)
		dead := p.Key()
		p.Revoke(dead)
		for name, tc := range map[string]struct {
			query  string
			key    client.Key
			status int
			code   string
		}{
			"unknown model":      {"?model=sim/none", key, 404, "model_not_found"},
			"no realtime model":  {"?model=" + sim("small"), key, 400, "unsupported_model_or_endpoint"},
			"no model":           {"", key, 400, "no_default_model"},
			"revoked key":        {"?model=" + sim("realtime"), dead, 401, "unauthorized"},
			"wrong key":          {"?model=" + sim("realtime"), client.Key{Secret: "sk-wrong"}, 401, "unauthorized"},
			"fallback by models": {"?model=" + sim("realtime") + "&models=x", key, 400, "validation_error"},
		} {
			conn, resp, err := dial(t.Context(), p, 0, tc.query, bearer(tc.key))
			if err == nil {
				_ = conn.CloseNow()
			}
			require.Error(t, err, name)
			require.NotNil(t, resp, "%s: %v", name, err)
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.Equal(t, tc.status, resp.StatusCode, "%s: %s", name, body)
			require.Equal(t, tc.code, gjson.GetBytes(body, "error.code").Str, "%s: %s", name, body)
		}
	})
	t.Run("a caller that vanishes", func(t *testing.T) {
		p := p.On(t)
		k := begin(t, p, 0, key)
		k.until("session.created")
		_, response := k.turn("Say hello")
		require.NoError(t, k.conn.CloseNow())
		entry := p.Logged(k.head)
		require.Equal(t, response.Get("usage.output_tokens").Int(), entry.Get("usage.output").Int(), "what was said is accounted for: %s", entry.Raw)
		p.Eventually(func() bool { return p.North.Stats().Active == 0 }, "the provider's side is open")
	})
	t.Run("a shutdown ends it with an error event", func(t *testing.T) {
		p := p.On(t)
		k := begin(t, p, 1, key)
		k.until("session.created")
		k.turn("Say hello")
		var stopping sync.WaitGroup
		defer stopping.Wait()
		stopping.Go(func() { p.StopGateway(1) })
		_, data, err := k.conn.Read(t.Context())
		require.NoError(t, err)
		event := gjson.ParseBytes(data)
		require.Equal(t, "error", event.Get("type").Str, "%s", data)
		require.NotEmpty(t, event.Get("error.message").Str)
		_, _, err = k.conn.Read(t.Context())
		require.Equal(t, websocket.StatusServiceRestart, websocket.CloseStatus(err), "%v", err)
		stopping.Wait()
		entry := p.Logged(k.head)
		require.Positive(t, entry.Get("usage.output").Int(), "%s", entry.Raw)
	})
}
